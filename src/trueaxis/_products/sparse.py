"""The products of a sweep with a block of sparse rows, which are centered in the sums alone.

With x_i as it is stored and c apart, B = X − 1cᵀ is never formed:

    BP = XP − 1(cᵀP),   ‖b_i‖² = ‖x_i‖² − 2cᵀx_i + ‖c‖²,   BᵀQ = XᵀQ − c(1ᵀQ).

What these differences lose is what x_i and c have in common; rows whose residual is lost in them
are formed one by one (`SparseProjection.deviations`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from trueaxis._products.base import Center, dense_rows, project, squared_norms
from trueaxis._typing import Array, Float64Array

_EVERY = slice(None)


@dataclass(frozen=True, slots=True)
class SparseProjection:
    """The `Projection` of rows in compressed storage; float64 inside."""

    block: Any
    center: Float64Array
    Z: Array
    squares: Float64Array
    inside: Float64Array

    def deviations(self, rows: slice | Array = _EVERY) -> Array:
        """B, or some rows of it: dense, for it is."""
        return np.asarray(self.block[rows].toarray(order="C") - self.center)

    def accumulate(
        self, first: int, q: int, d: Float64Array
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Σ d_i b_i z_iᵀ, Σ d_i b_i and Σ d_i z_i z_iᵀ."""
        Z = self.Z[:, first : first + q]
        Q = np.column_stack([Z * d[:, None], d])
        sums = self.block.T @ Q - np.outer(self.center, Q.sum(axis=0))
        return sums[:, :q], sums[:, q], Z.T @ Q[:, :q]

    def gram(self, d: Float64Array) -> Float64Array:
        """Σ d_i b_i b_iᵀ = XᵀDX − c fᵀ − f cᵀ + (Σd) ccᵀ, f = XᵀD1."""
        weighted = self.block.multiply(d[:, None]).tocsr()
        A = (self.block.T @ weighted).toarray()
        pull = np.outer(self.center, np.asarray(weighted.sum(axis=0)).ravel())
        A -= pull + pull.T
        A += d.sum() * np.outer(self.center, self.center)
        return np.asarray(A)


def _project(block: Any, center: Center, P: Array, inner: int) -> SparseProjection:
    c, P = center.whole, P.astype(np.float64, copy=False)
    block = block.astype(np.float64, copy=False)
    Z = block @ P - c @ P
    squares = np.asarray(block.multiply(block).sum(axis=1)).ravel()
    squares = np.maximum(squares - 2.0 * (block @ c) + c @ c, 0.0)
    return SparseProjection(block, c, Z, squares, squared_norms(Z[:, :inner]))


def _dense_rows(block: Any, rows: slice) -> Array:
    return np.asarray(block[rows].toarray(order="C"))


for _kind in (sparse.csr_array, sparse.csr_matrix):
    project.register(_kind, _project)
    dense_rows.register(_kind, _dense_rows)
