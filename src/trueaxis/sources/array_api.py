"""Rows of an array of another library, on the device where it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueaxis._device import DeviceBlock, like, namespace, to_host
from trueaxis._typing import Array, Float64Array
from trueaxis.sources.base import BlockSource, partition
from trueaxis.sources.dense import DenseSource

_BLOCK_BYTES = 1 << 25  # the deviations of a block are written; many small ones keep a device idle


class ArrayApiSource(BlockSource):
    """Blocks of rows of an array that follows the Array API standard: PyTorch's, CuPy's, ...

    The library has threads of its own: blocks are handed out one after the other. Numbers a row and
    sums come to the host, where losses and solvers run, and with them the rows of samples. All rows
    come in two cases, and once: where they are fewer than the columns, which a copy of them is
    reduced by, and where a loss is one of the entries of residuals (ℓ1).

    Parameters
    ----------
    X : array of shape (n, m), float32 or float64
        On any device; never written to, never copied as a whole.

    Examples
    --------
    >>> import array_api_strict as xp
    >>> source = ArrayApiSource(xp.eye(3))
    >>> source.take([0, 2])[0]
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """

    _small = True

    def __init__(self, X: Any) -> None:
        self.array = X
        self._xp = namespace(X)
        n, m = X.shape
        self._blocks = partition(n, max(1, _BLOCK_BYTES // (m * self.dtype.itemsize)))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, m = self.array.shape
        return n, m

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array, as NumPy has it."""
        return DeviceBlock(self.array, self._xp).dtype

    def take(self, rows: Array) -> tuple[Float64Array, Float64Array | None]:
        """A float64 copy of some rows on the host, and their weights."""
        picked = to_host(self._rows(rows)).astype(np.float64) * (1.0 / self.unit)
        return picked, None if self.weights is None else self.weights[rows]

    def where(self, present: Array) -> ArrayApiSource:
        """A copy of the rows for which the boolean array is true, where they live."""
        return ArrayApiSource(self._rows(np.flatnonzero(present)))

    def wide(self) -> Array:
        """All rows on the host: they are fewer than the columns."""
        return to_host(self.array)

    def entries(self) -> DenseSource:
        """The rows on the host, copied where they live elsewhere."""
        return DenseSource(to_host(self.array))

    def _block(self, rows: slice) -> DeviceBlock:
        block = self.array[rows, :]
        return DeviceBlock(block if self.unit == 1.0 else block * (1.0 / self.unit), self._xp)

    def _rows(self, rows: Array) -> Any:
        return self._xp.take(self.array, like(self.array, np.asarray(rows, np.int64)), axis=0)
