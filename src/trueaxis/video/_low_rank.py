r"""The background as a low-rank matrix, fitted where it is seen.

With frames as rows, D = L + S + noise, and L has rank r + 1: a picture c, and r ways in which the
light on it changes,

.. math:: L_{tj} = c_j + \sum_k z_{tk} W_{jk} .

Principal component pursuit charges λ|S_tj| for an entry of S, so whatever stays long enough is
cheaper in L: somebody standing still becomes background. Here the charge is Tukey's bisquare ρ,
which is bounded, and entries known to be foreground do not count at all (ω_tj = 0). What is
minimized is

.. math:: \sum_{tj} \omega_{tj}\, \rho\Big(\frac{D_{tj} - L_{tj}}{\sigma_j}\Big)
    + \kappa \sum_j \frac{(W_j - V_j)^\top \overline{zz^\top} (W_j - V_j)}{2\sigma_j^2} .

The second term is κ frames' worth of belief that light acts as it mostly does: V = [c − c̄, 1], a
gain and an offset for the whole picture. It decides at pixels that are seldom seen; W_j learns
there what the frames say where they say it, such as a lamp that lights one corner.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from trueaxis._typing import Array

N_LIGHTS = 2  # gain and offset
_CUTOFF = 6.0  # residual, in noise standard deviations, beyond which the bisquare ignores an entry
_BELIEF = 8.0  # κ
_STEPS = 6  # of reweighting, for the coordinates of a frame
_PIXELS = 5_000  # that the coordinates of a frame are found from
_LEAST_NOISE = 1.0  # gray levels of 256: what rounding and compression leave
_BLOCK = 1 << 21  # entries that are worked on together


@dataclass(frozen=True)
class LowRank:
    """The picture c (m,), its changes W (m, r), and the noise σ (m,) of every pixel."""

    center: Array
    axes: Array
    noise: Array

    @classmethod
    def lit_evenly(cls, center: Array, noise: Array) -> LowRank:
        """The model in which light acts by a gain and an offset for the whole picture."""
        return cls(center, affine_axes(center), noise)

    def expand(self, Z: Array) -> Array:
        """L, pixels by frames: c + W zᵀ."""
        L: Array = self.center[:, None] + self.axes @ Z.T
        return L

    def coordinates(self, P: Array, seen: Array | None = None) -> Array:
        """z of every frame, by reweighted least squares on some of the pixels.

        Parameters
        ----------
        P : ndarray of shape (m, n)
            Pixels by frames.
        seen : ndarray of shape (m, n), bool, optional
            ω: where the background is known to be seen.
        """
        some = np.linspace(0, len(P) - 1, min(len(P), _PIXELS)).astype(np.intp)
        σ = self.noise[some, None]
        H = self.axes[some] / σ
        Y = (P[some] - self.center[some, None]) / σ
        ω = np.float32(1.0) if seen is None else seen[some].astype(np.float32)
        HH = (H[:, :, None] * H[:, None, :]).reshape(len(some), -1)
        r = H.shape[1]
        # A hundredth of a percent of the pixels' worth of belief that the light stayed.
        ridge = 1e-4 * HH.sum(axis=0, dtype=np.float64).reshape(r, r) + 1e-9 * np.eye(r)
        Z = np.zeros((P.shape[1], r), dtype=np.float32)
        for _ in range(_STEPS):
            residual = Y - H @ Z.T
            spread = np.maximum(1.4826 * np.median(np.abs(residual), axis=0), 1.0)
            w = ω * bisquare_weight(residual / (_CUTOFF * spread))
            A = (w.T @ HH).reshape(-1, r, r) + ridge
            b = (w * Y).T @ H
            Z = np.linalg.solve(A, b[..., None].astype(np.float64))[..., 0].astype(np.float32)
        return Z

    def refit(self, P: Array, Z: Array, seen: Array) -> LowRank:
        """(c, W) of every pixel given z: one step of reweighted least squares, and σ with it."""
        center, axes = np.empty_like(self.center), np.empty_like(self.axes)
        r = axes.shape[1]
        G = np.column_stack([np.ones(len(Z), np.float32), Z])
        GG = (G[:, :, None] * G[:, None, :]).reshape(len(G), -1)
        belief = np.zeros((r + 1, r + 1))
        belief[1:, 1:] = _BELIEF * (Z.T @ Z / len(Z)) + 1e-9 * np.eye(r)
        belief[0, 0] = 0.1
        expected = np.column_stack([self.center, affine_axes(self.center)[:, :r]])
        for block in blocks(*P.shape):
            w = seen[block] * bisquare_weight(
                self.residual(P, Z, block) / (_CUTOFF * self.noise[block, None])
            )
            A = (w @ GG).reshape(-1, r + 1, r + 1) + belief
            b = (w * P[block]) @ G + expected[block] @ belief
            solved = np.linalg.solve(A, b[..., None])[..., 0]
            center[block], axes[block] = solved[:, 0], solved[:, 1:]
        return replace(self, center=center, axes=axes)

    def residual(self, P: Array, Z: Array, block: slice = slice(None)) -> Array:
        """D − L, pixels by frames."""
        R: Array = P[block] - self.center[block, None] - self.axes[block] @ Z.T
        return R

    def with_noise_of(self, P: Array, Z: Array, seen: Array) -> LowRank:
        r"""σ from the residuals where the background is seen.

        The greater of what the median and what the 90 % quantile of their sizes say under a
        Gaussian law, so that water and leaves count as noise; drawn to the picture's median σ₀
        as by four frames, and not below 0.7 σ₀.
        """
        noise = np.empty_like(self.noise)
        count = np.empty_like(self.noise)
        for block in blocks(*P.shape):
            size = np.where(seen[block], np.abs(self.residual(P, Z, block)), np.inf)
            size.sort(axis=1)
            n = seen[block].sum(axis=1)
            rows, last = np.arange(len(size)), np.maximum(n - 1, 0)
            middle = size[rows, last // 2] / 0.6745
            far = size[rows, (0.9 * last).astype(np.intp)] / 1.6449
            noise[block] = np.where(n > 0, np.maximum(middle, far), 0.0)
            count[block] = n
        common = max(float(np.median(noise[count > 0])) if (count > 0).any() else 0.0, _LEAST_NOISE)
        noise = np.sqrt((count * noise**2 + 4.0 * common**2) / (count + 4.0))
        return replace(self, noise=np.maximum(noise, 0.7 * common).astype(np.float32))


def affine_axes(center: Array) -> Array:
    """V = [c − c̄, 1], the first column scaled to the size of the second."""
    deviation = center - center.mean()
    spread = max(float(deviation.std()), 1.0)
    return np.column_stack([deviation / spread, np.ones_like(center)]).astype(np.float32)


def bisquare_weight(u: Array) -> Array:
    """ρ′(u)/u up to a factor: (1 − u²)² for |u| < 1, 0 beyond."""
    left = np.maximum(1.0 - u * u, 0.0)
    return left * left


def blocks(n_rows: int, n_columns: int) -> list[slice]:
    """Slices of rows that hold about a fixed number of entries."""
    rows = max(1, _BLOCK // max(n_columns, 1))
    return [slice(first, first + rows) for first in range(0, n_rows, rows)]
