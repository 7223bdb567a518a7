"""Rows of a thing on disk that is cut like an array: a data set of HDF5, an array of Zarr."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from trueaxis._typing import Array
from trueaxis.sources.base import partition
from trueaxis.sources.stream import BLOCK_BYTES, StreamSource, checked_dtype

_MOST_BYTES = 4 * BLOCK_BYTES  # of a block that follows the chunks of the storage


class SlicedSource(StreamSource):
    """Blocks ``X[i:j]`` of anything with ``shape``, ``dtype`` and slices that NumPy can hold.

    Where the storage has chunks a block is of whole ones, so that none is decoded twice in a pass.

    Parameters
    ----------
    X : object
        It stays open as long as the source is used.

    Examples
    --------
    >>> import numpy as np
    >>> source = SlicedSource(np.arange(6.0).reshape(3, 2))
    >>> source.reduce(lambda block, weights: block.sum(axis=0))
    array([6., 9.])
    """

    def __init__(self, X: Any) -> None:
        self._stored = X
        name = getattr(X, "name", None)
        file = getattr(getattr(X, "file", None), "filename", None)
        self.place = type(X).__name__ + (f" {name!r}" if name else "")
        if file:
            self.place += f" of {str(file)!r}"
        if len(X.shape) != 2:
            raise ValueError(
                f"{self.place} has shape {tuple(X.shape)}; it must have 2 dimensions, rows and "
                "columns."
            )
        dtype = checked_dtype(X.dtype, self.place)
        n, m = (int(size) for size in X.shape)
        self._parts = partition(n, rows_at_once(m * dtype.itemsize, getattr(X, "chunks", None)))
        super().__init__([part.stop - part.start for part in self._parts], m, dtype)

    def block_name(self, number: int) -> str:
        """The number of the block and its rows."""
        part = self._parts[number]
        return f"block {number} (rows {part.start} to {part.stop - 1})"

    def _read(self) -> Generator[Any, None, None]:
        for number, part in enumerate(self._parts):
            if tuple(self._stored.shape) != self._stored_shape:
                raise ValueError(
                    f"{self.place} had shape {self._stored_shape} and now has "
                    f"{tuple(self._stored.shape)}. The rows must not change during a fit."
                )
            yield self._rows_at(number, part)

    @property
    def _stored_shape(self) -> tuple[int, int]:
        return self._parts[-1].stop, self.shape[1]

    def _rows_at(self, number: int, part: slice) -> Array:
        try:
            return np.asarray(self._stored[part])
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            raise OSError(
                f"{self._whereabouts(number)} cannot be read: {error}. The file may be truncated, "
                "damaged or closed."
            ) from error


def rows_at_once(row_bytes: int, chunks: Any = None) -> int:
    """How many rows a block has: whole chunks of the storage, where these are not too large."""
    target = max(1, BLOCK_BYTES // max(1, row_bytes))
    high = int(chunks[0]) if isinstance(chunks, tuple) and len(chunks) == 2 else 1
    if high < 1 or high * row_bytes > _MOST_BYTES:
        return target
    return high * max(1, target // high)
