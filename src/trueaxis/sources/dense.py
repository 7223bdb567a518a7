"""Rows of a NumPy array in memory."""

from __future__ import annotations

import numpy as np

from trueaxis._threads import SMALL, Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.sources.base import BlockSource, partition

_BLOCK_BYTES = 1 << 22  # stays in cache between the two products of a sweep
_MIN_BLOCK_BYTES = 1 << 19  # below this, handing a block out costs more than the products with it
_MIN_BLOCKS = 8  # where there is enough: to keep several threads busy to the end
_MIN_ROWS = 16


class DenseSource(BlockSource):
    """Blocks of rows of an array that is in memory.

    Parameters
    ----------
    X : ndarray of shape (n, m), float32 or float64
        In any memory layout; never written to, never copied as a whole.
    weights : ndarray of shape (n,), optional
        What each row counts.
    workers : Workers, optional
        The threads that blocks are handed to.

    Examples
    --------
    >>> import numpy as np
    >>> source = DenseSource(np.eye(3))
    >>> source.reduce(lambda block, weights: block.sum(axis=0))
    array([1., 1., 1.])
    """

    def __init__(
        self,
        X: Array,
        *,
        weights: Float64Array | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.array = X
        self.weights = weights
        if workers is not None:
            self._workers = workers
        n, m = X.shape
        size = min(_BLOCK_BYTES, max(_MIN_BLOCK_BYTES, n * m * X.itemsize // _MIN_BLOCKS))
        self._blocks = partition(n, max(_MIN_ROWS, size // max(1, m * X.itemsize)))
        self._small = X.size < SMALL

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, m = self.array.shape
        return n, m

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array, in the native byte order that it has, perhaps spelled out."""
        return np.dtype(self.array.dtype.type)

    def take(self, rows: Array) -> tuple[Float64Array, Float64Array | None]:
        """A float64 copy of some rows, and their weights."""
        # `take` copies whole rows, three times as fast, but first all of an array that has none.
        whole = self.array.flags.c_contiguous
        picked = self.array.take(rows, axis=0) if whole else self.array[rows]
        picked = picked.astype(np.float64, copy=False)
        if self.unit != 1.0:
            picked *= 1.0 / self.unit
        return picked, None if self.weights is None else self.weights[rows]

    def where(self, present: Array) -> DenseSource:
        """A copy of the rows for which the boolean array is true."""
        return DenseSource(self.array[present])

    def every(self, step: int) -> DenseSource:
        """A view of every so many-th row."""
        weights = None if self.weights is None else self.weights[step // 2 :: step]
        rows = DenseSource(self.array[step // 2 :: step])
        return rows.posed(self.workers, weights=weights, unit=self.unit)

    def wide(self) -> Array:
        """The array itself."""
        return self.array

    def _block(self, rows: slice) -> Array:
        block = self.array[rows]
        return block if self.unit == 1.0 else block * block.dtype.type(1.0 / self.unit)
