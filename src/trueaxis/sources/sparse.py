"""Rows of a SciPy sparse matrix, which is never made dense."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from trueaxis._typing import Array, Float64Array
from trueaxis.sources.base import BlockSource, partition

_BLOCK_ENTRIES = 1 << 19  # stored entries of a block
_BLOCK_ROWS = 1 << 16  # scores and distances of a block's rows are dense
_MIN_BLOCKS = 8
_SMALL = 1 << 16  # stored entries below which a thread costs more than it saves


class SparseSource(BlockSource):
    """Blocks of rows of a matrix in compressed storage.

    Parameters
    ----------
    X : sparse array or matrix of shape (n, m)
        Kept in CSR form: a copy where it is in another. Products are made in float64.

    Examples
    --------
    >>> from scipy import sparse
    >>> source = SparseSource(sparse.eye_array(3, format="csr"))
    >>> source.take([0, 2])[0]
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """

    def __init__(self, X: Any) -> None:
        self.array = sparse.csr_array(X)
        if not self.array.has_canonical_format:
            self.array = self.array.copy()
            self.array.sum_duplicates()
        n, _ = self.array.shape
        size = min(_BLOCK_ENTRIES, max(1, self.array.nnz // _MIN_BLOCKS))
        step = max(16, n * size // max(1, self.array.nnz))
        self._blocks = partition(n, min(step, _BLOCK_ROWS))
        self._small = self.array.nnz < _SMALL

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, m = self.array.shape
        return n, m

    @property
    def dtype(self) -> np.dtype:
        """That of the products."""
        return np.dtype(np.float64)

    @property
    def answers(self) -> np.dtype:
        """The dtype of the matrix."""
        return np.dtype(self.array.dtype)

    def take(self, rows: Array) -> tuple[Float64Array, Float64Array | None]:
        """A dense float64 copy of some rows, and their weights."""
        picked = self.array[rows].toarray().astype(np.float64, copy=False) * (1.0 / self.unit)
        return picked, None if self.weights is None else self.weights[rows]

    def where(self, present: Array) -> SparseSource:
        """A copy of the rows for which the boolean array is true."""
        return SparseSource(self.array[present])

    def wide(self) -> Any:
        """The matrix in compressed storage."""
        return self.array

    def _block(self, rows: slice) -> Any:
        # Rows of CSR lie one after another: a view of them, where slicing would copy.
        X = self.array
        first, last = X.indptr[rows.start], X.indptr[rows.stop]
        data = X.data[first:last].astype(np.float64, copy=False)
        block = sparse.csr_array(
            (
                data if self.unit == 1.0 else data * (1.0 / self.unit),
                X.indices[first:last],
                X.indptr[rows.start : rows.stop + 1] - first,
            ),
            shape=(rows.stop - rows.start, X.shape[1]),
            copy=False,
        )
        block.has_canonical_format = True
        return block
