"""Rows of a ``.npy`` file, which is read and not mapped."""

from __future__ import annotations

import os
from collections.abc import Generator
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from trueaxis._typing import Array, Float64Array
from trueaxis.sources.base import Source, partition
from trueaxis.sources.mapped import MappedSource
from trueaxis.sources.sliced import rows_at_once
from trueaxis.sources.stream import StreamSource, checked_dtype


class NpySource(StreamSource):
    """Blocks of rows of a ``.npy`` file in C order.

    A file that is mapped and cut short by somebody else ends the process; one that is read is an
    error with a message.

    Parameters
    ----------
    path : Path
    shape : tuple of int
    dtype : dtype
        As the file stores the values.
    offset : int
        Where in the file they begin.
    """

    def __init__(self, path: Path, shape: tuple[int, int], dtype: np.dtype, offset: int) -> None:
        self._path, self._stored, self._offset = path, dtype, offset
        self.place = repr(str(path))
        n, m = shape
        self._row_bytes = m * dtype.itemsize
        self._parts = partition(n, rows_at_once(self._row_bytes))
        super().__init__([part.stop - part.start for part in self._parts], m, dtype)
        self._size = os.stat(path).st_size
        if self._size < offset + n * self._row_bytes:
            whole = (self._size - offset) // max(1, self._row_bytes)
            raise ValueError(
                f"{self.place} is truncated: it should hold {n} rows of {m} columns and ends "
                f"within row {whole}. Write it again."
            )

    def block_name(self, number: int) -> str:
        """The number of the block and its rows."""
        part = self._parts[number]
        return f"block {number} (rows {part.start} to {part.stop - 1})"

    def take(self, rows: Array) -> tuple[Float64Array, Float64Array | None]:
        """A float64 copy of some rows, and their weights; each is read by itself."""
        rows = np.asarray(rows)
        stored = rows if self._present is None else np.flatnonzero(self._present)[rows]
        raw = np.empty((len(rows), self.shape[1]), self._stored)
        with self._path.open("rb", buffering=0) as file:
            for number, row in zip(stored, raw, strict=True):
                file.seek(self._offset + int(number) * self._row_bytes)
                self._fill(file, row)
        picked = raw.astype(np.float64) * (1.0 / self.unit)
        return picked, None if self.weights is None else self.weights[rows]

    def foresee(self, rows: list[Array]) -> None:
        """Nothing: `take` finds every row where it lies."""

    def _read(self) -> Generator[Any, None, None]:
        with self._path.open("rb", buffering=0) as file:
            file.seek(self._offset)
            for part in self._parts:
                block = np.empty((part.stop - part.start, self.shape[1]), self._stored)
                self._fill(file, block)
                yield block
                del block
            if os.fstat(file.fileno()).st_size != self._size:
                raise self._resized(file)

    def _fill(self, file: FileIO, rows: Array) -> None:
        left = memoryview(rows.reshape(-1).view(np.uint8).data)
        while left:
            count = file.readinto(left)
            if not count:
                raise self._resized(file)
            left = left[count:]

    def _resized(self, file: FileIO) -> ValueError:
        return ValueError(
            f"{self.place} had {self._size} bytes when it was opened, and now has "
            f"{os.fstat(file.fileno()).st_size}. The file must not change during a fit."
        )


def open_npy(path: Path) -> Source:
    """The rows of a ``.npy`` file."""
    place = repr(str(path))
    with path.open("rb") as file:
        try:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, fortran, dtype = read(file)
        except (ValueError, EOFError, OSError) as error:
            raise ValueError(
                f"{place} is no .npy file, or truncated: {error}. Write it with numpy.save."
            ) from None
        offset = file.tell()
    dtype = checked_dtype(dtype, place)
    if len(shape) != 2:
        raise ValueError(f"{place} has shape {shape}; it must have 2 dimensions, rows and columns.")
    n, m = shape
    if fortran and n * m:
        # Rows of this order are nowhere in one piece.
        if os.stat(path).st_size < offset + n * m * dtype.itemsize:
            raise ValueError(
                f"{place} is truncated: it should hold an array of shape {shape}. Write it again."
            )
        return MappedSource(np.memmap(path, dtype, "r", offset, (n, m), "F"))
    return NpySource(path, (n, m), dtype, offset)
