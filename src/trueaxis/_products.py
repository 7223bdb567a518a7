"""The two matrix products that a sweep makes with a block of rows.

Everything that costs time in a sweep is here: `project` before the loss is known, `accumulate`
after it. Products are made in the precision of the rows, sums leave in float64. Each has a NumPy
form, which is the reference, and a compiled one for the skinny factors of a fit, which NumPy's
general product handles at a third of the speed (``benchmarks/sweep.py``).
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
_MOST_COLUMNS = 64  # with more, a general product is as fast
_scratch = threading.local()

Center = tuple[Array, Array | None]


def split_center(center: Float64Array, dtype: np.dtype) -> Center:
    """c as a sum of two vectors of `dtype`: x − hi is nearly exact where x is close to c.

    At a mean of 1e8 a float32 center alone would be wrong by 4.
    """
    hi = np.ascontiguousarray(center, dtype=dtype)
    if dtype == np.float64:
        return hi, None
    lo = (center - hi.astype(np.float64)).astype(dtype)
    return hi, lo if lo.any() else None


def padded_columns(P: Array, dtype: np.dtype) -> Array:
    """P in the given precision, with columns of zeros up to the width of the vectors."""
    m, k = P.shape
    padded = np.zeros((m, _round_up(k, dtype)), dtype)
    padded[:, :k] = P
    return padded


@dataclass(frozen=True, slots=True)
class Projection:
    """A block of rows about a center, multiplied with the columns of P.

    ``B`` = X − c and ``Z`` = BP are padded with columns of zeros; B lies in a buffer that the
    next block on the same thread overwrites. ``squares`` are the ‖b_i‖², and ``inside`` the
    squared norms of the first `inner` columns of Z.
    """

    B: Array
    Z: Array
    squares: Float64Array
    inside: Float64Array


def project(block: Array, center: Center, P: Array, inner: int) -> Projection:
    """Deviations and scores of a block of rows; `P` comes from `padded_columns`."""
    if block.strides[1] != block.itemsize:
        block = np.ascontiguousarray(block)
    n, m = block.shape
    B = _buffer((n, _round_up(m, P.dtype)), P.dtype)
    if kernels is None or P.shape[1] > _MOST_COLUMNS or block.dtype != P.dtype:
        return project_reference(block, center, P, inner, B)
    Z = np.empty((n, P.shape[1]), P.dtype)
    squares, inside = np.empty(n), np.empty(n)
    kernels.project(block, *center, P, inner, B, Z, squares, inside)
    return Projection(B, Z, squares, inside)


def project_reference(block: Array, center: Center, P: Array, inner: int, B: Array) -> Projection:
    """`project` in NumPy, into the padded buffer B."""
    hi, lo = center
    m = block.shape[1]
    D = B[:, :m]
    B[:, m:] = 0
    np.subtract(block, hi, out=D)
    if lo is not None:
        D -= lo
    Z = D @ P
    return Projection(B, Z, squared_norms(D), squared_norms(Z[:, :inner]))


def accumulate(
    rows: Projection, m: int, first: int, q: int, d: Float64Array
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Σ d_i b_i z_iᵀ, Σ d_i b_i and Σ d_i z_i z_iᵀ in float64, of columns first … first+q−1 of Z.

    Returns
    -------
    product : ndarray of shape (m, q)
    mean : ndarray of shape (m,)
    gram : ndarray of shape (q, q)
    """
    if kernels is None or rows.Z.shape[1] > _MOST_COLUMNS:
        return accumulate_reference(rows, m, first, q, d)
    S = np.zeros((q + 1, rows.B.shape[1]))
    G = np.zeros((q + 1, rows.Z.shape[1]))
    kernels.accumulate(rows.B, rows.Z, first, q, d, S, G)
    return S[:q, :m].T, S[q, :m], G[:q, first : first + q]


def accumulate_reference(
    rows: Projection, m: int, first: int, q: int, d: Float64Array
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """`accumulate` in NumPy."""
    Z = rows.Z[:, first : first + q]
    Q = np.empty((len(d), q + 1), Z.dtype)
    np.multiply(Z, d[:, None], out=Q[:, :q], casting="same_kind")
    Q[:, q] = d
    sums = (rows.B[:, :m].T @ Q).astype(np.float64, copy=False)
    gram = (Z.T @ Q[:, :q]).astype(np.float64, copy=False)
    return sums[:, :q], sums[:, q], gram


def squared_norms(R: Array) -> Float64Array:
    """‖r_i‖² of the rows, in float64."""
    return np.asarray(np.einsum("ij,ij->i", R, R).astype(np.float64, copy=False))


def accumulate_gram(rows: Projection, m: int, d: Float64Array) -> Float64Array:
    """Σ d_i b_i b_iᵀ in float64; the deviations are overwritten."""
    B = rows.B[:, :m]
    B *= np.sqrt(d)[:, None].astype(B.dtype, copy=False)
    # NumPy recognizes a matrix times its own transpose, and makes half of the products.
    return np.asarray((B.T @ B).astype(np.float64, copy=False))


def _round_up(columns: int, dtype: np.dtype) -> int:
    width = _PADDING[dtype]
    return -(-columns // width) * width


def _buffer(shape: tuple[int, ...], dtype: np.dtype) -> Array:
    """A C-ordered array of this thread's own, reused from call to call."""
    size = int(np.prod(shape))
    kept = getattr(_scratch, "kept", None)
    if kept is None or kept.dtype != dtype or kept.size < size:
        kept = _scratch.kept = np.empty(size, dtype)
    return np.asarray(kept[:size].reshape(shape))
