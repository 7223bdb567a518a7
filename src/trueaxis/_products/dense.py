"""The two matrix products that a sweep makes with a block of rows in a NumPy array.

Deviations b = x − c are made in the precision of the rows and rounded to that of the products,
which is the dtype of P; sums leave in float64. Each product has a NumPy form, which is the
reference, and a compiled one for the skinny factors of a fit, which NumPy's general product
handles at a third of the speed (``benchmarks/sweep.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import numpy as np

from trueaxis._products.base import (
    Center,
    accumulate_twice,
    dense_rows,
    on_line,
    padded_columns,
    project,
    round_up,
    split_center,
    squared_norms,
)
from trueaxis._products.scratch import scratch
from trueaxis._typing import Array, Float64Array

kernels: ModuleType | None
try:
    kernels = import_module("trueaxis._kernels")
except ImportError:  # no C compiler was there when the package was installed
    kernels = None

_MOST_COLUMNS = 64  # with more, a general product is as fast
# Types of rows and products that are compiled.
_PAIRS = {
    (np.dtype(np.float64), np.dtype(np.float64)),
    (np.dtype(np.float32), np.dtype(np.float32)),
    (np.dtype(np.float64), np.dtype(np.float32)),
}
_EVERY = slice(None)


@dataclass(frozen=True, slots=True)
class DenseProjection:
    """The `Projection` of an array: B is rounded to the dtype of P, and never written as a whole.

    Making it again costs less than writing it. Z and B lie in buffers that the next block on the
    same thread overwrites.
    """

    block: Array
    center: Center
    Z: Array
    squares: Float64Array
    inside: Float64Array

    def deviations(self, rows: slice | Array = _EVERY) -> Array:
        """B, or some rows of it."""
        return _subtract(self.block[rows], self.center, self.Z.dtype)

    def accumulate(
        self, first: int, q: int, d: Float64Array
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Σ d_i b_i z_iᵀ, Σ d_i b_i and Σ d_i z_i z_iᵀ."""
        if kernels is None or not _compiled(self.block, self.Z):
            return accumulate_reference(self, first, q, d)
        m = self.block.shape[1]
        S = np.zeros((q + 1, round_up(m, self.Z.dtype)))
        G = np.zeros((q + 1, self.Z.shape[1]))
        center = self.center.parts(self.block.dtype)
        kernels.accumulate(self.block, *center, self.Z, first, q, d, S, G)
        return S[:q, :m].T, S[q, :m], G[:q, first : first + q]

    def gram(self, d: Float64Array) -> Float64Array:
        """Σ d_i b_i b_iᵀ."""
        B = self.deviations()
        B *= np.sqrt(d)[:, None].astype(B.dtype, copy=False)
        # NumPy recognizes a matrix times its own transpose, and makes half of the products.
        return np.asarray((B.T @ B).astype(np.float64, copy=False))


@project.register
def _(block: np.ndarray, center: Center, P: Array, inner: int) -> DenseProjection:
    block = _in_rows(block)
    if kernels is None or not _compiled(block, P):
        return project_reference(block, center, P, inner)
    n, P = len(block), on_line(P)
    Z = scratch("Z", (n, P.shape[1]), P.dtype)
    squares, inside = np.empty(n), np.empty(n)
    kernels.project(block, *center.parts(block.dtype), P, inner, Z, squares, inside)
    return DenseProjection(block, center, Z, squares, inside)


_accumulate_apart = accumulate_twice.dispatch(object)


@accumulate_twice.register
def _(
    rows: DenseProjection, first: int, q: int, d: Float64Array, other: Float64Array
) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array, Float64Array]:
    Z, spare = rows.Z, first + q
    if kernels is None or not _compiled(Z, Z) or spare == Z.shape[1] or np.any(other[d == 0.0]):
        return _accumulate_apart(rows, first, q, d, other)
    # The scores are rows too, and those about the origin.
    S, G = np.zeros((q + 1, Z.shape[1])), np.zeros((q + 1, Z.shape[1]))
    kernels.accumulate(Z, np.zeros(Z.shape[1], Z.dtype), None, Z, first, q, other, S, G)
    # Σ d_i b_i (other_i/d_i), by a column that pads Z, reads the rows once less.
    Z[:, spare] = np.divide(other, d, out=np.zeros_like(d), where=d != 0.0)
    product, mean, gram = rows.accumulate(first, q + 1, d)
    return product[:, :q], mean, gram[:q, :q], product[:, q], S[:q, first:spare]


@dense_rows.register
def _(block: np.ndarray, rows: slice) -> Array:
    return block[rows]


def times(A: Array, B: Array) -> Array:
    """AB, for a B of fewer columns than A has rows.

    In panels as wide as the compiled product takes. Where a build of BLAS has not this machine's
    vectors, thin products take it up to twice the time (``benchmarks/gram.py``).
    """
    if kernels is None:
        return np.asarray(A @ B)
    out = np.empty((len(A), B.shape[1]), A.dtype)
    nowhere = split_center(np.zeros(A.shape[1]), A.dtype)
    for panel in _panels(B.shape[1]):
        rows = project(A, nowhere, padded_columns(B[:, panel], A.dtype), 0)
        out[:, panel] = rows.Z[:, : panel.stop - panel.start]
    return out


def transposed_times(A: Array, B: Array, center: Float64Array | None = None) -> Float64Array:
    """(A − 1cᵀ)ᵀB, likewise; c is 0 where it is not given."""
    c = split_center(np.zeros(A.shape[1]) if center is None else center, A.dtype)
    if kernels is None:
        return np.asarray((_subtract(A, c, A.dtype).T @ B).astype(np.float64, copy=False))
    out = np.empty((A.shape[1], B.shape[1]))
    A, ones = _in_rows(A), np.ones(len(A))
    for panel in _panels(B.shape[1]):
        rows = DenseProjection(A, c, padded_columns(B[:, panel], A.dtype), ones, ones)
        out[:, panel], _, _ = rows.accumulate(0, panel.stop - panel.start, ones)
    return out


def add_outer(A: Array, total: Float64Array) -> None:
    """Adds AAᵀ to `total`, of which the part above the diagonal is left undefined."""
    if kernels is None:
        total += A @ A.T
        return
    nowhere = split_center(np.zeros(A.shape[1]), A.dtype)
    for panel in _panels(len(A)):
        below = project(A[panel.start :], nowhere, padded_columns(A[panel].T, A.dtype), 0)
        total[panel.start :, panel] += below.Z[:, : panel.stop - panel.start]


def _panels(columns: int) -> list[slice]:
    return [slice(i, min(i + _MOST_COLUMNS, columns)) for i in range(0, columns, _MOST_COLUMNS)]


def project_reference(block: Array, center: Center, P: Array, inner: int) -> DenseProjection:
    """`project` in NumPy."""
    B = _subtract(block, center, P.dtype)
    Z = B @ P
    return DenseProjection(block, center, Z, squared_norms(B), squared_norms(Z[:, :inner]))


def accumulate_reference(
    rows: DenseProjection, first: int, q: int, d: Float64Array
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """`DenseProjection.accumulate` in NumPy."""
    Z = rows.Z[:, first : first + q]
    Q = np.empty((len(d), q + 1), Z.dtype)
    np.multiply(Z, d[:, None], out=Q[:, :q], casting="same_kind")
    Q[:, q] = d
    sums = (rows.deviations().T @ Q).astype(np.float64, copy=False)
    gram = (Z.T @ Q[:, :q]).astype(np.float64, copy=False)
    return sums[:, :q], sums[:, q], gram


def _in_rows(block: Array) -> Array:
    """The block itself, or a copy where its rows do not lie as the kernels read them."""
    if block.dtype.isnative:
        block = block.view(block.dtype.type)  # "<f8" and "=f8" are one type, but not to a buffer
    if block.strides[1] != block.itemsize or block.strides[0] % block.itemsize:
        return np.array(block, order="C")
    return block if block.flags.aligned else np.require(block, requirements=["C", "A"])


def _compiled(rows: Array, products: Array) -> bool:
    return products.shape[1] <= _MOST_COLUMNS and (rows.dtype, products.dtype) in _PAIRS


def _subtract(block: Array, center: Center, dtype: np.dtype) -> Array:
    hi, lo = center.parts(block.dtype)
    B = scratch("B", block.shape, dtype)
    np.subtract(block, hi, out=B)
    if lo is not None:
        B -= lo
    return B
