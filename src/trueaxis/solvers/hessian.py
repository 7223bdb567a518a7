"""The Hessian of J where a sample of the rows, and the steps made, tell how it bends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg

from trueaxis._typing import Float64Array

_CG_STEPS = 25
_CG_SHARE = 0.05  # of the gradient that a step may leave to the next
_FLAT = 0.01  # curvature below this share of that of ⟨D, DS̃⟩ counts as none
_LEAST_TRUST = 0.2  # below which an indefinite Hessian is not made milder
_FEW_STEPS = 3  # after which the least Ritz value is near the least eigenvalue


class Curvature(Protocol):
    """What rows take off the Hessian; see `trueaxis._curvature.RowCurvature`."""

    def __call__(self, D: Float64Array, trust: float) -> Float64Array:
        """Their part of HD, that of ρ″ by `trust` only."""
        ...

    def scatter(self, N: Float64Array) -> Float64Array:
        """(Σ d r rᵀ)N for directions N ⟂ W."""
        ...


class Stage(NamedTuple):
    """Where conjugate gradients stand.

    ========  ==================================================
    D         what they have found
    fall      −⟨g, D⟩ − ½⟨D, HD⟩, by which the model falls to D
    left      ⟨R, S̃⁻¹R⟩ of the residual R = −g − HD
    least     the least Ritz value of S̃⁻¹H
    definite  whether H was positive along every direction tried
    ========  ==================================================
    """

    D: Float64Array
    fall: float
    left: float
    least: float
    definite: bool = True


class Minimum(NamedTuple):
    """D with HD ≈ −g, the ½⟨g, H⁻¹g⟩ to be gained there, and whether H was seen to be positive."""

    D: Float64Array
    gain: float
    definite: bool


@dataclass
class Hessian:
    """The Hessian of J at a point: D ↦ DS̃ + (the rows' part) + what has been learned.

    The rows' part is a sample's. Where it is small beside DS̃ its noise does not matter; along
    the axes N that nearly belong to W the two nearly cancel. There the scatter of residuals A_r
    is made that of all rows: with E = (A_r − A)N, A_r − ENᵀ − NEᵀ + N(NᵀE)Nᵀ maps N to AN.
    Changes of the gradient seen along steps, the `pairs`, are added as BFGS does. `trust` is 1,
    and less where the sample's ρ″ would leave H indefinite.
    """

    S: Float64Array
    rows: Curvature
    N: Float64Array
    E: Float64Array
    k: int
    pairs: list[tuple[Float64Array, Float64Array]] = field(default_factory=list)
    trust: float = 1.0
    learned: list[tuple[Float64Array, float, Float64Array, float]] = field(default_factory=list)

    def __call__(self, D: Float64Array) -> Float64Array:
        """HD."""
        H = D @ self.S + self.rows(D, self.trust)
        N, E, D_N = self.N, self.E, self.N.T @ D[:, : self.k]
        H[:, : self.k] += E @ D_N + N @ (E.T @ D[:, : self.k] - (N.T @ E) @ D_N)
        for Hs, sHs, y, sy in self.learned:
            H = H - Hs * (float(np.vdot(Hs, D)) / sHs) + y * (float(np.vdot(y, D)) / sy)
        return np.asarray(H)

    def minimize(self, gradient: Float64Array, enough: float = 0.0) -> Minimum:
        """Where the model is least, with H trusted as far as it is positive.

        It need not be found where it is seen to be less than `enough` below.
        """
        while True:
            self._learn()
            found = self._solve(gradient, enough)
            if found.definite or self.trust <= _LEAST_TRUST:
                return found
            self.trust /= 2

    def again(
        self, pair: tuple[Float64Array, Float64Array], gradient: Float64Array
    ) -> Float64Array:
        """The step that H leads to with one pair more."""
        self.pairs.append(pair)
        return self.minimize(gradient).D

    def _learn(self) -> None:
        """Make H·step = change for the pairs, where the curvature along the step is positive."""
        self.learned = []
        for step, change in self.pairs:
            Hs = self(step)
            sHs, sy = float(np.vdot(step, Hs)), float(np.vdot(step, change))
            if sHs > 0 and sy > 0:
                self.learned.append((Hs, sHs, change, sy))

    def _solve(self, gradient: Float64Array, enough: float) -> Minimum:
        """D with HD = −gradient, but for a share of it; not definite where H is not positive.

        Conjugate gradients fall short of ½⟨g, H⁻¹g⟩ by ½⟨R, H⁻¹R⟩, which is at most ⟨R, S̃⁻¹R⟩/2λ
        for the least eigenvalue λ of S̃⁻¹H: half of the least Ritz value, to be safe.
        """
        first = None
        for step, stage in enumerate(self._conjugate_gradients(gradient)):
            first = stage.left if first is None else first
            if not stage.definite:
                break
            if stage.left <= _CG_SHARE**2 * first:
                break
            if step >= _FEW_STEPS and stage.fall + stage.left / stage.least <= enough:
                return Minimum(stage.D, stage.fall + stage.left / stage.least, definite=True)
        return Minimum(stage.D, -float(np.vdot(gradient, stage.D)) / 2, stage.definite)

    def _conjugate_gradients(self, gradient: Float64Array) -> Iterator[Stage]:
        """Conjugate gradients for HD = −gradient, preconditioned with S̃, from D = 0."""
        try:
            factor = scipy.linalg.cho_factor(self.S, check_finite=False)
        except scipy.linalg.LinAlgError:
            # The scores along some axis are rounding of those along the others.
            yield Stage(np.zeros_like(gradient), 0.0, 0.0, 0.0, definite=False)
            return

        def solved(R: Float64Array) -> Float64Array:
            return np.asarray(scipy.linalg.cho_solve(factor, R.T, check_finite=False).T)

        D, R = np.zeros_like(gradient), -gradient
        Y = solved(R)
        Q, size, fall = Y, float(np.vdot(R, Y)), 0.0
        lengths: list[float] = []
        ratios: list[float] = []
        yield Stage(D, fall, size, 0.0)
        while size > 0 and len(lengths) < _CG_STEPS:
            HQ = self(Q)
            bend = float(np.vdot(Q, HQ))
            if bend <= _FLAT * float(np.vdot(Q, Q @ self.S)):
                yield Stage(D if lengths else Q, fall, size, 0.0, definite=False)
                return
            α = size / bend
            D, R = D + α * Q, R - α * HQ
            fall += α * size / 2
            Y = solved(R)
            before, size = size, float(np.vdot(R, Y))
            lengths.append(α)
            ratios.append(size / before)
            yield Stage(D, fall, size, _least_ritz_value(lengths, ratios))
            Q = Y + ratios[-1] * Q


def _least_ritz_value(lengths: list[float], ratios: list[float]) -> float:
    """The least eigenvalue of the tridiagonal matrix that conjugate gradients have made.

    With step lengths α and ratios β: 1/α_j + β_{j−1}/α_{j−1} on the diagonal, √β_j/α_j beside it.
    """
    α, β = np.array(lengths), np.array(ratios)
    diagonal = 1 / α
    diagonal[1:] += β[:-1] / α[:-1]
    beside = np.sqrt(np.maximum(β[:-1], 0.0)) / α[:-1]
    return float(scipy.linalg.eigvalsh_tridiagonal(diagonal, beside, check_finite=False)[0])
