"""The second derivatives of the objective, on a sample of its rows.

A sweep tells the slope of J over all rows; how J bends is a matter of fewer rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueaxis._subspace import Subspace
from trueaxis._typing import Array, Float64Array
from trueaxis.losses import Loss

_STEP = 1e-5  # relative, of the difference that ρ″ is taken from


@dataclass(frozen=True)
class RowCurvature:
    r"""What the rows take off the Hessian of J at (W, c), for directions D = [Δ, δ] ⟂ W.

    With z̃ = (z, 1) where the center moves and z̃ = z where it does not, the residual of a row
    moves by −Dz̃, and along a geodesic of subspaces

        J″ = Σ d_i (‖Dz̃_i‖² − ‖Δᵀr_i‖²) + 4ρ″(t_i) (r_iᵀDz̃_i)².

    The first term is ⟨D, D S̃⟩ with the S̃ = Σ d_i z̃_i z̃_iᵀ that a sweep over all rows knows
    exactly. The others, none positive where ρ is concave, are linear in the scatter of residuals;
    they are taken here over the rows of a sample, times `share`, the number of rows that each
    stands for.
    """

    rows: Array
    basis: Array
    center: Array
    lifted: Array
    pull: Array
    bend: Array

    @classmethod
    def at(
        cls,
        point: Subspace,
        rows: Array,
        omega: Float64Array | None,
        share: float,
        loss: Loss,
        *,
        moves_center: bool,
    ) -> RowCurvature:
        """The curvature of the rows of the sample, weighted by `omega`, at a point."""
        W, c = point.basis.astype(rows.dtype), point.center.astype(rows.dtype)
        Z = rows @ W - c @ W
        squares = np.einsum("ij,ij->i", rows, rows) - 2 * (rows @ c) + c @ c
        t = (squares - np.einsum("ij,ij->i", Z, Z)).astype(np.float64)
        t = np.maximum(t, np.finfo(rows.dtype).eps * max(float(np.median(t)), 1e-300))
        count = np.full(len(t), share) if omega is None else share * omega
        _, d = loss.value_and_weight(t)
        _, after = loss.value_and_weight(t * (1 + _STEP))
        # 4ρ″ = 2 ∂d/∂t; where a loss has a corner, no more than t bends in ℓ2,0.
        bend = 2.0 * np.clip((after - d) / (_STEP * t), -d / t, 0.0)
        if moves_center:
            Z = np.column_stack([Z, np.ones(len(Z), Z.dtype)])
        pull = (count * d).astype(rows.dtype)
        return cls(rows, W, c, Z, pull, (count * bend).astype(rows.dtype))

    def __call__(self, D: Float64Array, trust: float) -> Float64Array:
        """The part of HD from the rows, −Σ d r rᵀΔ + trust · 4ρ″ r (rᵀDz̃) z̃ᵀ."""
        U = self._along(D)
        along = np.einsum("ij,ij->i", U, self.lifted)
        Q = self.lifted * (trust * self.bend * along)[:, None]
        k = self.basis.shape[1]
        Q[:, :k] -= self.pull[:, None] * U[:, :k]
        return self._gathered(Q)

    def scatter(self, N: Float64Array) -> Float64Array:
        """(Σ d r rᵀ)N for directions N ⟂ W."""
        return self._gathered(self._along(N) * self.pull[:, None])

    def _along(self, D: Float64Array) -> Array:
        """r_iᵀD, which is (x_i − c)ᵀD for D ⟂ W."""
        D = D.astype(self.rows.dtype)
        return np.asarray(self.rows @ D - self.center @ D)

    def _gathered(self, Q: Array) -> Float64Array:
        """Σ r_i q_iᵀ = (I − WWᵀ) Σ (x_i − c) q_iᵀ."""
        V = self.rows.T @ Q - np.outer(self.center, Q.sum(axis=0))
        return np.asarray((V - self.basis @ (self.basis.T @ V)).astype(np.float64))
