"""Rows of a NumPy array in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import reduce
from operator import add
from typing import TypeVar

import numpy as np

from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.sources.base import T

S = TypeVar("S")

_BLOCK_BYTES = 1 << 22  # stays in cache between the two products of a sweep
_MIN_BLOCK_BYTES = 1 << 17  # below this, handing a block out costs more than the products with it
_MIN_BLOCKS = 8  # where there is enough: to keep several threads busy to the end
_MIN_ROWS = 16
_SMALL = 1 << 17  # entries below which a thread costs more than it saves


class DenseSource:
    """Blocks of rows of an array that is in memory.

    Parameters
    ----------
    X : ndarray of shape (n, m), float32 or float64
        In any memory layout; never written to, never copied as a whole.
    weights : ndarray of shape (n,), optional
        What each row counts.
    workers : Workers
        The threads that blocks are handed to.
    unit : float
        The rows are X / unit: a power of two that keeps squares from overflowing.

    Examples
    --------
    >>> import numpy as np
    >>> source = DenseSource(np.eye(3), workers=Workers(1))
    >>> source.reduce(lambda block, weights: block.sum(axis=0))
    array([1., 1., 1.])
    """

    def __init__(
        self,
        X: Array,
        *,
        weights: Float64Array | None = None,
        workers: Workers,
        unit: float = 1.0,
    ) -> None:
        self._X = X
        self._weights = weights
        self._workers = workers
        self._inverse_unit = 1.0 / unit
        n, m = X.shape
        size = min(_BLOCK_BYTES, max(_MIN_BLOCK_BYTES, n * m * X.itemsize // _MIN_BLOCKS))
        step = max(_MIN_ROWS, size // max(1, m * X.itemsize))
        self._blocks = [slice(i, min(i + step, n)) for i in range(0, n, step)]

    def weighted(self, weights: Float64Array | None) -> DenseSource:
        """The same rows with other weights."""
        other = copy(self)
        other._weights = weights
        return other

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, m = self._X.shape
        return n, m

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array."""
        return self._X.dtype

    def reduce(self, kernel: Callable[[Array, Float64Array | None], T]) -> T:
        """The sum of ``kernel(block, weights_of_its_rows)``, merged in the order of the rows."""
        weights = self._weights

        def one(rows: slice) -> T:
            return kernel(self._block(rows), None if weights is None else weights[rows])

        total: T = reduce(add, self._map(one))
        return total

    def collect(self, kernel: Callable[[Array], Array]) -> Array:
        """``kernel(block)`` of all blocks, one under the other."""
        parts = self._map(lambda rows: kernel(self._block(rows)))
        found = next(parts)
        out = np.empty((self._X.shape[0], *found.shape[1:]), found.dtype)
        out[self._blocks[0]] = found
        for rows, part in zip(self._blocks[1:], parts, strict=True):
            out[rows] = part
        return out

    def take(self, rows: Array) -> tuple[Array, Float64Array | None]:
        """A float64 copy of some rows, and their weights."""
        picked = self._X[rows].astype(np.float64) * self._inverse_unit
        return picked, None if self._weights is None else self._weights[rows]

    def _block(self, rows: slice) -> Array:
        block = self._X[rows]
        return block if self._inverse_unit == 1.0 else block * block.dtype.type(self._inverse_unit)

    def _map(self, function: Callable[[slice], S]) -> Iterator[S]:
        return self._workers.map(function, self._blocks, small=self._X.size < _SMALL)
