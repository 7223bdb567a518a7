"""Rows of a `numpy.memmap`, which the system reads when they are touched."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, TypeVar

import numpy as np

from trueaxis._typing import Array, Float64Array
from trueaxis.sources.base import BlockSource, partition
from trueaxis.sources.dense import DenseSource
from trueaxis.sources.stream import products_dtype

S = TypeVar("S")

_AHEAD = 4  # blocks that the system is asked to read while one is worked on
_PRIVATE = "c"  # the mode of a map whose changes are nowhere but in its pages


class MappedSource(BlockSource):
    """Blocks of rows of an array that is mapped from a file.

    The system is told which pages are next and which have been used, so that reading overlaps
    computing and the pages held are few. Values of other types than float32 and float64 are
    converted block by block. A number for every row is small beside what is mapped.

    Parameters
    ----------
    X : memmap of shape (n, m)
        Real numbers of any type and byte order; never written to.
    """

    def __init__(self, X: np.memmap[Any, Any]) -> None:
        self.array = X.view(np.ndarray)
        self._dtype = products_dtype(X.dtype)
        self._map_of = X
        self._file = None if X.filename is None else os.fspath(X.filename)
        self._size = self._size_now()
        like = DenseSource(np.broadcast_to(np.empty((), self._dtype), X.shape))
        self._blocks, self._small = like._blocks, like._small
        raw: Any = X._mmap  # type: ignore[attr-defined]
        first = np.frombuffer(raw, np.uint8).ctypes.data
        self._begin = self.array.ctypes.data - first
        self._begin_in_file = X.offset - X.offset % mmap.ALLOCATIONGRANULARITY + self._begin
        rows_in_order = self.array.strides[0] >= self.array.strides[1] > 0
        advises = hasattr(raw, "madvise") and hasattr(mmap, "MADV_DONTNEED")
        self._raw: Any = raw if rows_in_order and advises and X.mode != _PRIVATE else None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, m = self.array.shape
        return n, m

    @property
    def dtype(self) -> np.dtype:
        """float32 where the values are stored so, and float64 otherwise."""
        return self._dtype

    def take(self, rows: Array) -> tuple[Float64Array, Float64Array | None]:
        """A float64 copy of some rows, and their weights."""
        self._check_size()
        picked = self.array[rows].astype(np.float64) * (1.0 / self.unit)
        return picked, None if self.weights is None else self.weights[rows]

    def where(self, present: Array) -> PickedSource:
        """The rows for which the boolean array is true."""
        return PickedSource(self._map_of, np.flatnonzero(present))

    def wide(self) -> Array:
        """The array itself."""
        return self.array

    def locate(self, row: int) -> str:
        """The row and the file."""
        return f"row {row}" if self._file is None else f"row {row} of {self._file!r}"

    def _block(self, rows: slice) -> Array:
        self._check_size()
        block = self.array[rows].astype(self._dtype, copy=False)
        return block if self.unit == 1.0 else block * block.dtype.type(1.0 / self.unit)

    def _map(self, function: Callable[[slice], S]) -> Iterator[S]:
        if self._raw is None or self._small:
            yield from super()._map(function)
            return

        def one(rows: slice) -> S:
            size, last = rows.stop - rows.start, rows.stop + _AHEAD * (rows.stop - rows.start)
            coming = last - size if rows.start else rows.stop
            # Asking for pages that are there costs as much as a fifth of the products with them.
            if not self._is_there(file, coming):
                self._advise(mmap.MADV_WILLNEED, coming, last)
            found = function(rows)
            self._advise(mmap.MADV_DONTNEED, rows.start, rows.stop)
            return found

        with ExitStack() as stack:
            file = None
            if self._file is not None and hasattr(os, "RWF_NOWAIT"):
                file = stack.enter_context(open(self._file, "rb")).fileno()
            yield from super()._map(one)

    def _is_there(self, file: int | None, row: int) -> bool:
        """Whether the system holds the page of a row, which it can say without waiting for it."""
        if row >= len(self.array):
            return True
        if file is None:
            return False
        place = self._begin_in_file + row * self.array.strides[0]
        try:
            return os.preadv(file, [bytearray(1)], place, os.RWF_NOWAIT) == 1
        except OSError:  # it would have to wait, or cannot say
            return False

    def _advise(self, advice: int, start: int, stop: int) -> None:
        """Tell the system of the pages that hold these rows, and of no page besides."""
        n, step = len(self.array), self.array.strides[0]
        page = mmap.PAGESIZE
        first = -(-(self._begin + start * step) // page) * page
        last = (self._begin + min(stop, n) * step) // page * page
        if last > first:
            self._raw.madvise(advice, first, last - first)

    def _size_now(self) -> int:
        return 0 if self._file is None else os.stat(self._file).st_size

    def _check_size(self) -> None:
        size = self._size_now()
        if size < self._size:
            raise ValueError(
                f"{self._file!r} had {self._size} bytes when it was opened, and now has {size}. "
                "The file must not change during a fit."
            )


class PickedSource(MappedSource):
    """Some rows of a map, copied a block at a time."""

    def __init__(self, X: np.memmap[Any, Any], picked: Array) -> None:
        super().__init__(X)
        self._picked = picked
        size = self._blocks[0].stop
        self._blocks = partition(len(picked), size)
        self._raw = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self._picked), self.array.shape[1]

    def take(self, rows: Array) -> tuple[Float64Array, Float64Array | None]:
        """A float64 copy of some rows, and their weights."""
        self._check_size()
        picked = self.array[self._picked[rows]].astype(np.float64) * (1.0 / self.unit)
        return picked, None if self.weights is None else self.weights[rows]

    def wide(self) -> Array:
        """A copy: they are few."""
        return self.array[self._picked].astype(self.dtype, copy=False)

    def _block(self, rows: slice) -> Array:
        self._check_size()
        block = self.array[self._picked[rows]].astype(self.dtype, copy=False)
        return block if self.unit == 1.0 else block * block.dtype.type(1.0 / self.unit)
