"""The second derivatives of the objective, on a sample of its rows.

A sweep tells the slope of J over all rows; how J bends is a matter of fewer rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueaxis._products import (
    Center,
    Projection,
    padded_columns,
    project,
    split_center,
)
from trueaxis._subspace import Subspace
from trueaxis._sweep import Look
from trueaxis._typing import Array, Float64Array
from trueaxis.losses import Loss

_LOST = 1e-4  # of ‖b‖²: in float32 t then keeps three digits, as many as curvature needs
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
    stands for. As D ⟂ W, r_iᵀD is b_iᵀD with b_i = x_i − c, and Σ r_i q_iᵀ is (I − WWᵀ)Σ b_i q_iᵀ,
    of which the sum alone is made here: it adds up over rows.
    """

    block: Array
    center: Center
    lifted: Array
    pull: Array
    bend: Array
    k: int

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
        k, dtype = point.n_components, rows.dtype
        center = split_center(point.center, dtype)
        seen = Look(point, loss, dtype, lost=_LOST)(rows)
        t = np.maximum(seen.t, np.finfo(dtype).eps * max(float(np.median(seen.t)), 1e-300))
        count = np.full(len(t), share) if omega is None else share * omega
        _, d = loss.value_and_weight(t)
        _, after = loss.value_and_weight(t * (1 + _STEP))
        with np.errstate(over="ignore"):  # where no residual is left, the bound is none
            # 4ρ″ = 2 ∂d/∂t; where a loss has a corner, no more than t bends in ℓ2,0.
            bend = 2.0 * np.clip((after - d) / (_STEP * t), -d / t, 0.0)
        # As wide as products with directions come; the columns that pad them stay zeros.
        width = padded_columns(np.zeros((1, k + moves_center)), dtype).shape[1]
        lifted = np.zeros((len(t), width), dtype)
        lifted[:, :k] = seen.rows.Z[:, :k]
        lifted[:, k : k + moves_center] = 1.0
        pull, bend = (count * d).astype(dtype), (count * bend).astype(dtype)
        return cls(rows, center, lifted, pull[:, None], bend, k)

    def __call__(self, D: Float64Array, trust: float) -> Float64Array:
        """Σ b_i q_iᵀ that (I − WWᵀ) maps to −Σ d r rᵀΔ + trust · 4ρ″ r (rᵀDz̃) z̃ᵀ."""
        seen = self._along(D)
        U = seen.Z
        along = np.einsum("ij,ij->i", U, self.lifted)
        U[:, self.k :] = 0.0
        U *= -self.pull
        U += self.lifted * (trust * self.bend * along)[:, None]
        return _gathered(seen, D.shape[1])

    def scatter(self, N: Float64Array) -> Float64Array:
        """Σ b_i q_iᵀ that (I − WWᵀ) maps to (Σ d r rᵀ)N, for directions N ⟂ W."""
        seen = self._along(N)
        U = seen.Z
        U *= self.pull
        return _gathered(seen, N.shape[1])

    def _along(self, D: Float64Array) -> Projection:
        """b_iᵀD."""
        return project(self.block, self.center, padded_columns(D, self.lifted.dtype), 0)


def _gathered(seen: Projection, q: int) -> Float64Array:
    """Σ b_i q_iᵀ, with the q_i where the products were."""
    product, _, _ = seen.accumulate(0, q, np.ones(len(seen.Z)))
    return product
