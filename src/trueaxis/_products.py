"""The two matrix products that a sweep makes with a block of rows.

Everything that costs time in a sweep is here: `project` before the loss is known, `accumulate`
after it. Deviations b = x − c are made in the precision of the rows and rounded to that of the
products, which is the dtype of P; sums leave in float64. Each has a NumPy form, which is the
reference, and a compiled one for the skinny factors of a fit, which NumPy's general product
handles at a third of the speed (``benchmarks/sweep.py``).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import numpy as np

from trueaxis._typing import Array, Float64Array

kernels: ModuleType | None
try:
    kernels = import_module("trueaxis._kernels")
except ImportError:  # no C compiler was there when the package was installed
    kernels = None

_PADDING = {np.dtype(np.float64): 8, np.dtype(np.float32): 16}  # the widest vector, in numbers
_LINE = 64  # bytes in a line of the cache
_MOST_COLUMNS = 64  # with more, a general product is as fast
# Types of rows and products that are compiled.
_PAIRS = {
    (np.dtype(np.float64), np.dtype(np.float64)),
    (np.dtype(np.float32), np.dtype(np.float32)),
    (np.dtype(np.float64), np.dtype(np.float32)),
}
_scratch = threading.local()


@dataclass(frozen=True, slots=True)
class Center:
    """c in float64, and for rows in float32 as a sum hi + lo of two vectors of that."""

    whole: Float64Array
    hi: Array
    lo: Array | None

    def parts(self, rows: np.dtype) -> tuple[Array, Array | None]:
        """What is to be subtracted from rows of this dtype, one after the other."""
        return (self.whole, None) if rows == np.float64 else (self.hi, self.lo)


def split_center(center: Float64Array, dtype: np.dtype) -> Center:
    """c such that x − c is nearly exact where x is close to c.

    At a mean of 1e8 a float32 center alone would be wrong by 4.

    Parameters
    ----------
    center : ndarray of shape (m,)
        c in float64.
    dtype : dtype
        What the products are made in, as for `padded_columns`. The rows may have this dtype, or
        float64 where it is float32: the center serves both.
    """
    whole = np.ascontiguousarray(center, dtype=np.float64)
    if dtype == np.float64:
        return Center(whole, whole, None)
    hi = whole.astype(dtype)
    lo = (whole - hi).astype(dtype)
    return Center(whole, hi, lo if lo.any() else None)


def padded_columns(P: Array, dtype: np.dtype) -> Array:
    """P with columns of zeros up to the width of the vectors, for `project`.

    Parameters
    ----------
    P : ndarray of shape (m, k)
    dtype : dtype
        What the products are made in: that of the rows, or float32 for float64 rows.

    Returns
    -------
    ndarray of shape (m, at least k)
    """
    m, k = P.shape
    padded = _aligned(m, _round_up(k, dtype), dtype)
    padded[:, :k] = P
    padded[:, k:] = 0
    return padded


@dataclass(frozen=True, slots=True)
class Projection:
    """A block of rows about a center, multiplied with the columns of P.

    With B = X − c, rounded to the dtype of P: ``Z`` = BP, padded with columns of zeros;
    ``squares`` are the ‖b_i‖², and ``inside`` the squared norms of the first `inner` columns of
    Z. B itself is made again where it is needed: that costs less than writing it. Z lies in a
    buffer that the next block on the same thread overwrites.
    """

    block: Array
    center: Center
    Z: Array
    squares: Float64Array
    inside: Float64Array

    def deviations(self) -> Array:
        """B, in a buffer that the next block on the same thread overwrites."""
        return _subtract(self.block, self.center, self.Z.dtype)


def project(block: Array, center: Center, P: Array, inner: int) -> Projection:
    """Scores and norms of a block of rows.

    Parameters
    ----------
    block : ndarray of shape (n, m)
        Rows, float64 or float32.
    center : Center
        From `split_center`, with the dtype of P.
    P : ndarray of shape (m, k)
        From `padded_columns`; its dtype is that of the products. float32 products of float64
        rows lose no digit of a small b to a large x: only b is rounded, not x and c.
    inner : int
        Number of columns of Z whose squares `Projection.inside` adds up.
    """
    if block.strides[1] != block.itemsize or block.strides[0] % block.itemsize:
        block = np.array(block, order="C")
    elif not block.flags.aligned:
        block = np.require(block, requirements=["C", "A"])
    if kernels is None or not _compiled(block, P):
        return project_reference(block, center, P, inner)
    n = len(block)
    Z = _buffer("Z", (n, P.shape[1]), P.dtype)
    squares, inside = np.empty(n), np.empty(n)
    kernels.project(block, *center.parts(block.dtype), P, inner, Z, squares, inside)
    return Projection(block, center, Z, squares, inside)


def project_reference(block: Array, center: Center, P: Array, inner: int) -> Projection:
    """`project` in NumPy."""
    B = _subtract(block, center, P.dtype)
    Z = B @ P
    return Projection(block, center, Z, squared_norms(B), squared_norms(Z[:, :inner]))


def accumulate(
    rows: Projection, first: int, q: int, d: Float64Array
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Σ d_i b_i z_iᵀ, Σ d_i b_i and Σ d_i z_i z_iᵀ in float64, of columns first … first+q−1 of Z.

    Returns
    -------
    product : ndarray of shape (m, q)
    mean : ndarray of shape (m,)
    gram : ndarray of shape (q, q)
    """
    if kernels is None or not _compiled(rows.block, rows.Z):
        return accumulate_reference(rows, first, q, d)
    m = rows.block.shape[1]
    S = np.zeros((q + 1, _round_up(m, rows.Z.dtype)))
    G = np.zeros((q + 1, rows.Z.shape[1]))
    center = rows.center.parts(rows.block.dtype)
    kernels.accumulate(rows.block, *center, rows.Z, first, q, d, S, G)
    return S[:q, :m].T, S[q, :m], G[:q, first : first + q]


def accumulate_reference(
    rows: Projection, first: int, q: int, d: Float64Array
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """`accumulate` in NumPy."""
    Z = rows.Z[:, first : first + q]
    Q = np.empty((len(d), q + 1), Z.dtype)
    np.multiply(Z, d[:, None], out=Q[:, :q], casting="same_kind")
    Q[:, q] = d
    sums = (rows.deviations().T @ Q).astype(np.float64, copy=False)
    gram = (Z.T @ Q[:, :q]).astype(np.float64, copy=False)
    return sums[:, :q], sums[:, q], gram


def squared_norms(R: Array) -> Float64Array:
    """‖r_i‖² of the rows, in float64."""
    return np.asarray(np.einsum("ij,ij->i", R, R).astype(np.float64, copy=False))


def accumulate_gram(rows: Projection, d: Float64Array) -> Float64Array:
    """Σ d_i b_i b_iᵀ in float64."""
    B = rows.deviations()
    B *= np.sqrt(d)[:, None].astype(B.dtype, copy=False)
    # NumPy recognizes a matrix times its own transpose, and makes half of the products.
    return np.asarray((B.T @ B).astype(np.float64, copy=False))


def _compiled(rows: Array, products: Array) -> bool:
    return products.shape[1] <= _MOST_COLUMNS and (rows.dtype, products.dtype) in _PAIRS


def _subtract(block: Array, center: Center, dtype: np.dtype) -> Array:
    hi, lo = center.parts(block.dtype)
    B = _buffer("B", block.shape, dtype)
    np.subtract(block, hi, out=B)
    if lo is not None:
        B -= lo
    return B


def _round_up(columns: int, dtype: np.dtype) -> int:
    width = _PADDING[dtype]
    return -(-columns // width) * width


def _buffer(name: str, shape: tuple[int, int], dtype: np.dtype) -> Array:
    """A C-ordered array of this thread's own, reused from call to call.

    A fresh one of this size would come as untouched pages from the system for every block, which
    takes as long as the products do.
    """
    rows, columns = shape
    kept = getattr(_scratch, name, None)
    if kept is None or kept.dtype != dtype or kept.size < rows * columns:
        kept = _aligned(rows, columns, dtype)
        setattr(_scratch, name, kept)
    return np.asarray(kept.reshape(-1)[: rows * columns].reshape(shape))


def _aligned(rows: int, columns: int, dtype: np.dtype) -> Array:
    """An array that begins with a line of the cache, so that no vector straddles two."""
    size = rows * columns * dtype.itemsize
    raw = np.empty(size + _LINE, np.uint8)
    first = -raw.ctypes.data % _LINE
    return raw[first : first + size].view(dtype).reshape(rows, columns)
