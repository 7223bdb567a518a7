"""What the products of every kind of block have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Protocol, TypeAlias

import numpy as np

from trueaxis._typing import Array, Float64Array

Block: TypeAlias = Any
"""Some rows of the data, of a type that `project` and `dense_rows` know."""

_PADDING = {np.dtype(np.float64): 8, np.dtype(np.float32): 16}  # the widest vector, in numbers
_LINE = 64  # bytes in a line of the cache


@dataclass(frozen=True, slots=True)
class Center:
    """c in float64, and for rows in float32 as a sum hi + lo of two vectors of that."""

    whole: Float64Array
    hi: Array
    lo: Array | None

    def parts(self, rows: np.dtype) -> tuple[Array, Array | None]:
        """What is to be subtracted from rows of this dtype, one after the other."""
        parts = (self.whole, None) if rows == np.float64 else (self.hi, self.lo)
        return sound(parts[0]), None if parts[1] is None else sound(parts[1])


class Projection(Protocol):
    """A block of rows about a center, multiplied with the columns of P.

    With B = X − c: ``Z`` = BP, padded with columns of zeros; ``squares`` are the ‖b_i‖², and
    ``inside`` the squared norms of the first columns of Z. These three are NumPy arrays. B itself
    is made again where it is needed. Z may lie in a buffer that the next block on the same thread
    overwrites.
    """

    @property
    def Z(self) -> Array:
        """BP."""
        ...

    @property
    def squares(self) -> Float64Array:
        """‖b_i‖²."""
        ...

    @property
    def inside(self) -> Float64Array:
        """The squared norms of the first columns of Z."""
        ...

    def deviations(self, rows: slice | Array = slice(None)) -> Array:
        """B as a dense array, of some rows only where they are given."""
        ...

    def accumulate(
        self, first: int, q: int, d: Float64Array
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Σ d_i b_i z_iᵀ, Σ d_i b_i and Σ d_i z_i z_iᵀ in float64, of columns first … first+q−1.

        Returns
        -------
        product : ndarray of shape (m, q)
        mean : ndarray of shape (m,)
        gram : ndarray of shape (q, q)
        """
        ...

    def gram(self, d: Float64Array) -> Float64Array:
        """Σ d_i b_i b_iᵀ in float64; B may be overwritten."""
        ...


@singledispatch
def project(block: Block, center: Center, P: Array, inner: int) -> Projection:
    """Scores and norms of a block of rows.

    Parameters
    ----------
    block : rows of shape (n, m)
        Of any type for which a form of this function is registered.
    center : Center
        From `split_center`, with the dtype of P.
    P : ndarray of shape (m, k)
        From `padded_columns`; its dtype is that of the products. float32 products of float64
        rows lose no digit of a small b to a large x: only b is rounded, not x and c.
    inner : int
        Number of columns of Z whose squares `Projection.inside` adds up.
    """
    raise TypeError(f"There are no products for blocks of type {type(block).__name__}.")


@singledispatch
def accumulate_twice(
    rows: Any, first: int, q: int, d: Float64Array, other: Float64Array
) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array, Float64Array]:
    """What `Projection.accumulate` returns for the weights d; mean and gram for others besides."""
    _, mean, _ = rows.accumulate(0, 0, other)
    Z = rows.Z[:, first : first + q]
    gram = (Z.T * other).astype(Z.dtype, copy=False) @ Z
    return *rows.accumulate(first, q, d), mean, gram.astype(np.float64, copy=False)


@singledispatch
def dense_rows(block: Block, rows: slice) -> Array:
    """Some rows of a block as a dense array."""
    return np.asarray(block[rows])


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
    padded = aligned(m, round_up(k, dtype), dtype)
    padded[:, :k] = P
    padded[:, k:] = 0
    return padded


def squared_norms(R: Array) -> Float64Array:
    """‖r_i‖² of the rows, in float64."""
    return np.asarray(np.einsum("ij,ij->i", R, R).astype(np.float64, copy=False))


def round_up(columns: int, dtype: np.dtype) -> int:
    """The number of columns that fills whole vectors."""
    width = _PADDING[dtype]
    return -(-columns // width) * width


def sound(A: Array) -> Array:
    """A itself, or a copy where its numbers lie across the addresses that numbers have.

    What was pickled for another process arrives at any address.
    """
    return A if A.flags.aligned else A.copy()


def on_line(P: Array) -> Array:
    """P itself where it begins with a line of the cache, or a copy that does."""
    if P.ctypes.data % _LINE == 0:
        return P
    copy = aligned(1, P.size, P.dtype).reshape(P.shape)
    copy[...] = P
    return copy


def aligned(rows: int, columns: int, dtype: np.dtype) -> Array:
    """An array that begins with a line of the cache, so that no vector straddles two."""
    size = rows * columns * dtype.itemsize
    raw = np.empty(size + _LINE, np.uint8)
    first = -raw.ctypes.data % _LINE
    return raw[first : first + size].view(dtype).reshape(rows, columns)
