"""The two matrix products that a sweep makes with a block of rows, and their reference form.

Everything that costs time in a sweep is here: ``project`` (before the loss is known) and
``accumulate`` (after it). Products are made in the precision of the rows, sums leave in float64.
"""

from __future__ import annotations

import threading

import numpy as np

from trueaxis._typing import Array, Float64Array

_scratch = threading.local()


def split_center(center: Float64Array, dtype: np.dtype) -> tuple[Array, Array | None]:
    """c as a sum of two vectors of `dtype`: x − hi is nearly exact where x is close to c.

    At a mean of 1e8 a float32 center alone would be wrong by 4.
    """
    hi = center.astype(dtype)
    if dtype == np.float64:
        return hi, None
    lo = (center - hi.astype(np.float64)).astype(dtype)
    return hi, lo if lo.any() else None


def project(
    block: Array, center: tuple[Array, Array | None], P: Array
) -> tuple[Array, Array, Float64Array]:
    """Deviations B = X − c, scores B P and squared norms ‖b_i‖² of a block of rows.

    B lies in a buffer that the next call on the same thread overwrites.
    """
    hi, lo = center
    B = _buffer(block.shape, P.dtype)
    np.subtract(block, hi, out=B)
    if lo is not None:
        B -= lo
    squares = np.einsum("ij,ij->i", B, B)
    return B, B @ P, squares.astype(np.float64, copy=False)


def accumulate(B: Array, Q: Array) -> Float64Array:
    """BᵀQ in float64."""
    return np.asarray((B.T @ Q).astype(np.float64, copy=False))


def accumulate_gram(B: Array, d: Float64Array) -> Float64Array:
    """Σ d_i b_i b_iᵀ in float64; B is overwritten."""
    B *= np.sqrt(d)[:, None].astype(B.dtype, copy=False)
    # NumPy recognizes a matrix times its own transpose, and makes half of the products.
    return np.asarray((B.T @ B).astype(np.float64, copy=False))


def _buffer(shape: tuple[int, ...], dtype: np.dtype) -> Array:
    """A C-ordered array of this thread's own, reused from call to call."""
    size = int(np.prod(shape))
    kept = getattr(_scratch, "kept", None)
    if kept is None or kept.dtype != dtype or kept.size < size:
        kept = _scratch.kept = np.empty(size, dtype)
    return np.asarray(kept[:size].reshape(shape))
