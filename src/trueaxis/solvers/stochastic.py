r"""Stochastic majorize-minimize: one look at each row, and a memory of its scatter that fades.

A concave ρ has, at the point θ_b where block b finds the axes, the majorizer (Mairal 2013)

    ρ(t_i(θ)) ≤ ρ(t_i(θ_b)) + ½ d_i (t_i(θ) − t_i(θ_b)),   d_i = 2ρ′(t_i(θ_b)),

and what is minimized after b blocks is the mean of those of all rows so far,

    ḡ_b = (1 − γ_b) ḡ_{b−1} + γ_b g_b,   θ_{b+1} = argmin ḡ_b,

which is again Σ w_i d_i t_i(θ) up to a constant: the center is the weighted mean of the rows, and
the axes are the leading eigenvectors of their weighted scatter. With n rows before the block and ν
in it, the memory fades by the share

    (n / (n + ν))^a,   so that   w_i = (n_i / n)^a   and   γ ≈ (a + 1) ν / (n + ν):

Σγ diverges and Σγ² does not, as convergence asks for. At a = 0 nothing fades, which is right where
d_i does not depend on θ (p = 2). With a = ½ what the first rows count, with weights taken at the
poor points of the beginning, vanishes like n^{−3/2}, while the mean is over as many rows as 89 % of
them would be if all counted alike: (2a + 1) / (a + 1)².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from trueaxis._typing import Float64Array


@dataclass(frozen=True, slots=True)
class Memory:
    """Weighted mass, mean and scatter of rows gone by, of the scatter the q widest directions.

    ======  ==============================================  =============
    mass    s = Σ w_i
    mean    μ = Σ w_i x_i / s                               shape (m,)
    factor  F with FᵀF ≈ S = Σ w_i (x_i − μ)(x_i − μ)ᵀ      shape (≤ q, m)
    rest    tr S − ‖F‖², what narrower directions hold
    ======  ==============================================  =============

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]])
    >>> memory = Memory.empty(2).joined(rows[:2], np.ones(2), 5).joined(rows[2:], np.ones(1), 5)
    >>> memory.mean
    array([2., 1.])
    >>> round(float(memory.trace), 6)
    8.0
    """

    mass: float
    mean: Float64Array
    factor: Float64Array
    rest: float

    @classmethod
    def empty(cls, m: int) -> Memory:
        """No rows of m columns."""
        return cls(0.0, np.zeros(m), np.zeros((0, m)), 0.0)

    @property
    def trace(self) -> float:
        """Σ w_i ‖x_i − μ‖²."""
        return float(np.vdot(self.factor, self.factor)) + self.rest

    def faded(self, share: float) -> Memory:
        """The same rows, each counted by a share of its weight."""
        return Memory(self.mass * share, self.mean, self.factor * np.sqrt(share), self.rest * share)

    def joined(self, rows: Float64Array, w: Float64Array, width: int) -> Memory:
        """These rows and others, of weights w, in at most `width` directions.

        S = S₁ + S₂ + (s₁s₂ / (s₁ + s₂)) (μ₂ − μ₁)(μ₂ − μ₁)ᵀ.
        """
        s = float(w.sum())
        if s <= 0.0:
            return self
        mean = rows[0] + (w @ (rows - rows[0])) / s
        deviations = np.sqrt(w)[:, None] * (rows - mean)
        mass, jump = self.mass + s, mean - self.mean
        parts = [deviations]
        if self.mass > 0.0:
            parts += [self.factor, np.sqrt(self.mass * s / mass) * jump[None]]
        center = self.mean + (s / mass) * jump if self.mass > 0.0 else mean
        factor, cut = widest(np.vstack(parts), width)
        return Memory(mass, center, factor, self.rest + cut)

    def about(self, center: Float64Array | None) -> Float64Array:
        """A factor of Σ w_i (x_i − c)(x_i − c)ᵀ = S + s(μ − c)(μ − c)ᵀ; about μ for None."""
        if center is None:
            return self.factor
        return np.vstack([self.factor, np.sqrt(self.mass) * (self.mean - center)[None]])

    def axes(self, k: int, center: Float64Array | None = None) -> Float64Array:
        """The k widest directions about a center, as columns; fewer where no more are known."""
        _, _, Vt = scipy.linalg.svd(self.about(center), full_matrices=False, check_finite=False)
        return np.asarray(Vt[:k].T)


def widest(rows: Float64Array, width: int) -> tuple[Float64Array, float]:
    """At most `width` rows F with FᵀF next to that of the rows given, and the trace left out."""
    n, m = rows.shape
    if n <= width:
        return rows, 0.0
    if n > m:
        R, *_ = scipy.linalg.qr(rows, mode="r", check_finite=False)
        rows = np.asarray(R[:m], dtype=np.float64)
        if m <= width:
            return rows, 0.0
    _, s, Vt = scipy.linalg.svd(rows, full_matrices=False, check_finite=False)
    return np.asarray(s[:width, None] * Vt[:width]), float(np.sum(s[width:] ** 2))


def share_kept(before: float, new: float, exponent: float) -> float:
    """(n / (n + ν))^a: what is kept of the memory when ν rows follow n."""
    return float((before / (before + new)) ** exponent) if before > 0.0 else 1.0
