r"""The sweep of the true ℓ1 objective: its value and slopes on one block of rows.

With r_i = (I − WWᵀ)(x_i − c) and the weights ω_i of the rows,

    J(W, c) = Σ ω_i ‖r_i‖₁ = Σ_ij ω_i |r_ij|,

and, for μ > 0, the smooth function above it Σ_ij ω_i √(r_ij² + μ²).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from trueaxis._moments import Slopes
from trueaxis._products import Block, dense_rows
from trueaxis._subspace import Subspace
from trueaxis._sweep import pieces
from trueaxis._typing import Array, Float64Array

_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True)
class SlopeSweep:
    """A block of rows in, its `Slopes` at (W, c) and μ out.

    With B = rows − c, Z = BW, R = B − ZWᵀ and S = ω ∘ R/√(R² + μ²), the sign of R at μ = 0:

        ∂/∂W = −(SᵀZ + BᵀSW),   ∂/∂c = −(I − WWᵀ)Sᵀ1.

    10nmk operations. Whatever the precision of the rows, all is in float64: a residual that is
    close to zero is what decides the slope of |r|, and it is a difference of large numbers.
    """

    point: Subspace
    mu: float

    def __call__(self, block: Block, omega: Float64Array | None) -> Slopes:
        """Slopes of the rows of `block`, which carry the sample weights `omega`."""
        n, m = block.shape
        return reduce(
            add,
            (
                self._of(dense_rows(block, rows), None if omega is None else omega[rows])
                for rows in pieces(n, m)
            ),
        )

    def _of(self, rows: Array, omega: Float64Array | None) -> Slopes:
        W = self.point.basis
        B = np.subtract(rows, self.point.center, dtype=np.float64)
        Z = B @ W
        R = Z @ W.T
        np.subtract(B, R, out=R)
        size = np.abs(R)
        H = size
        if self.mu > 0:
            H = R * R
            H += self.mu * self.mu
            np.sqrt(H, out=H)
        if omega is None:
            objective, smooth, count = float(size.sum()), float(H.sum()), float(len(rows))
        else:
            objective, smooth = float(omega @ size.sum(axis=1)), float(omega @ H.sum(axis=1))
            count = float(omega.sum())
        S = np.divide(R, np.maximum(H, _TINY), out=R)
        if omega is not None:
            S *= omega[:, None]
        pull = S.sum(axis=0)
        return Slopes(
            smooth=smooth,
            objective=objective,
            entries=count * len(pull),
            basis=-(S.T @ Z + B.T @ (S @ W)),
            center=-(pull - W @ (W.T @ pull)),
        )


@dataclass(frozen=True, slots=True)
class AbsoluteSums:
    """A block of rows in, Σ ω_i |x_ij − c_j| of each column j out."""

    center: Float64Array

    def __call__(self, block: Block, omega: Float64Array | None) -> Float64Array:
        """The sums over `block`, whose rows carry the sample weights `omega`."""
        total = np.zeros(len(self.center))
        for rows in pieces(*block.shape):
            B = np.abs(np.subtract(dense_rows(block, rows), self.center, dtype=np.float64))
            total += B.sum(axis=0) if omega is None else omega[rows] @ B
        return total
