"""The Hessian of J where a sample of the rows, and the steps made, tell how it bends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import scipy.linalg

from trueaxis._typing import Float64Array

_CG_STEPS = 25
_CG_SHARE = 0.05  # of the gradient that a step may leave to the next
_FLAT = 0.01  # curvature below this share of that of ⟨D, DS̃⟩ counts as none
_LEAST_TRUST = 0.2  # below which an indefinite Hessian is not made milder


class Curvature(Protocol):
    """What rows take off the Hessian; see `trueaxis._curvature.RowCurvature`."""

    def __call__(self, D: Float64Array, trust: float) -> Float64Array:
        """Their part of HD, that of ρ″ by `trust` only."""
        ...

    def scatter(self, N: Float64Array) -> Float64Array:
        """(Σ d r rᵀ)N for directions N ⟂ W."""
        ...


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

    def minimize(self, gradient: Float64Array, trust: float) -> tuple[Float64Array, bool]:
        """D with HD ≈ −gradient, H trusted no more than `trust`; False where H is indefinite."""
        self.trust = trust
        while True:
            self._learn()
            D, definite = self._solve(gradient)
            if definite or self.trust <= _LEAST_TRUST:
                return D, definite
            self.trust /= 2

    def again(
        self, pair: tuple[Float64Array, Float64Array], gradient: Float64Array
    ) -> Float64Array:
        """The step that H leads to with one pair more."""
        self.pairs.append(pair)
        return self.minimize(gradient, self.trust)[0]

    def _learn(self) -> None:
        """Make H·step = change for the pairs, where the curvature along the step is positive."""
        self.learned = []
        for step, change in self.pairs:
            Hs = self(step)
            sHs, sy = float(np.vdot(step, Hs)), float(np.vdot(step, change))
            if sHs > 0 and sy > 0:
                self.learned.append((Hs, sHs, change, sy))

    def _solve(self, gradient: Float64Array) -> tuple[Float64Array, bool]:
        """Conjugate gradients preconditioned with S̃, which end where H is not positive."""
        factor = scipy.linalg.cho_factor(self.S, check_finite=False)

        def solved(R: Float64Array) -> Float64Array:
            return np.asarray(scipy.linalg.cho_solve(factor, R.T, check_finite=False).T)

        D, R = np.zeros_like(gradient), -gradient
        Y = solved(R)
        Q, size = Y, float(np.vdot(R, Y))
        first = size
        for step in range(_CG_STEPS):
            if size <= 0:
                break
            HQ = self(Q)
            bend = float(np.vdot(Q, HQ))
            if bend <= _FLAT * float(np.vdot(Q, Q @ self.S)):
                return (D if step else Q), False
            D, R = D + (size / bend) * Q, R - (size / bend) * HQ
            Y = solved(R)
            before, size = size, float(np.vdot(R, Y))
            if size <= _CG_SHARE**2 * first:
                break
            Q = Y + (size / before) * Q
        return D, True
