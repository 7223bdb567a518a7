"""Rows that are read in order, from the first to the last, whenever they are needed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from copy import copy
from functools import reduce
from itertools import pairwise, zip_longest
from operator import add
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from trueaxis._threads import SMALL
from trueaxis._typing import Array, Float64Array
from trueaxis.sources.base import Kernel, Source, T

S = TypeVar("S")

BLOCK_BYTES = 1 << 22  # read at once: stays in cache between the two products of a sweep
_REAL = "biuf"  # kinds of dtype whose values are real numbers


class StreamSource(Source):
    """Rows that come in blocks, each of which is read again in every pass.

    One thread reads the blocks in order while others compute with those before it; a few blocks
    are in memory at any time, however many there are. Rows that a fit wants to see one by one are
    read in one pass, all together (`foresee`).

    A kind of stream reads blocks (`_read`) and has names for itself and for them (`place`,
    `block_name`); what a block must be like is checked here.

    Parameters
    ----------
    sizes : sequence of int
        The number of rows in each block.
    columns : int
    dtype : dtype
        That of the values as they are stored.
    """

    has_rows = False
    place: str

    def __init__(self, sizes: Sequence[int], columns: int, dtype: np.dtype) -> None:
        ends = np.cumsum([0, *sizes])
        self._spans = [slice(int(i), int(j)) for i, j in pairwise(ends)]
        self._rows = self._spans
        self._shape = int(ends[-1]), columns
        self._dtype = products_dtype(dtype)
        self._small = self._shape[0] * columns < SMALL
        if 0 in self._shape:
            raise ValueError(
                f"{self.place} has {self._shape[0]} rows and {columns} columns; there is nothing "
                "to fit in 0 sample(s) or 0 feature(s)."
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        """float32 where the values are stored so, and float64 otherwise."""
        return self._dtype

    @abstractmethod
    def _read(self) -> Generator[Any, None, None]:
        """All blocks in order, as they are stored."""

    def block_name(self, number: int) -> str:
        """How an error names a block."""
        return f"block {number}"

    def reduce(self, kernel: Kernel[T]) -> T:
        """The sum of ``kernel(block, weights_of_its_rows)``, merged in the order of the rows."""
        weights = self.weights

        def one(rows: slice, block: Any) -> T:
            return kernel(self._in_units(block), None if weights is None else weights[rows])

        with closing(self._map(one)) as parts:
            total: T = reduce(add, (part for _, part in parts))
        return total

    def collect(self, kernel: Callable[[Any], Array]) -> Array:
        """``kernel(block)`` of all blocks, one under the other."""
        out: Array | None = None
        with closing(self._map(lambda _, block: kernel(self._in_units(block)))) as parts:
            for rows, part in parts:
                if out is None:
                    out = np.empty((self.shape[0], *part.shape[1:]), part.dtype)
                out[rows] = part
        assert out is not None  # no stream is without rows
        return out

    def take(self, rows: Array) -> tuple[Float64Array, Float64Array | None]:
        """A float64 copy of some rows, and their weights: a pass, where they were not foreseen."""
        rows = np.asarray(rows)
        self.foresee([rows])
        assert self._seen is not None
        numbers, values = self._seen
        picked = values[np.searchsorted(numbers, rows)].astype(np.float64)
        return picked * (1.0 / self.unit), None if self.weights is None else self.weights[rows]

    def foresee(self, rows: list[Array]) -> None:
        """Read these rows now, in one pass, for `take`."""
        numbers = np.unique(np.concatenate(rows))
        if self._has_seen(numbers):
            return

        def some(span: slice, block: Any) -> Array:
            first, last = np.searchsorted(numbers, (span.start, span.stop))
            picked: Any = block[numbers[first:last] - span.start]
            dense: Array = picked.toarray() if _is_sparse(picked) else picked
            return dense.astype(self.dtype, copy=False)

        values = np.empty((len(numbers), self.shape[1]), self.dtype)
        first = 0
        with closing(self._map(some)) as parts:
            for _, part in parts:
                values[first : first + len(part)] = part
                first += len(part)
        self._seen = (numbers, values)

    _seen: tuple[Array, Array] | None = None

    def _has_seen(self, rows: Array) -> bool:
        return self._seen is not None and bool(np.isin(rows, self._seen[0]).all())

    def where(self, present: Array) -> StreamSource:
        """The rows for which the boolean array is true; the others are read and left out."""
        other = copy(self)
        counts = [int(np.count_nonzero(present[rows])) for rows in self._spans]
        ends = np.cumsum([0, *counts])
        other._rows = [slice(int(i), int(j)) for i, j in pairwise(ends)]
        other._shape = int(ends[-1]), self.shape[1]
        other._present, other._seen = present, None
        return other

    _present: Array | None = None

    def locate(self, row: int) -> str:
        """The row, the block that holds it, and what the block is of."""
        number = next(i for i, rows in enumerate(self._rows) if rows.start <= row < rows.stop)
        within = row - self._rows[number].start
        return f"row {row} of {self.place}, which is row {within} of {self.block_name(number)}"

    def _map(self, function: Callable[[slice, Any], S]) -> Generator[tuple[slice, S], None, None]:
        """(numbers of the rows, result) of all blocks that have rows, in order: one pass."""
        self.passes += 1

        def one(item: tuple[int, Any]) -> tuple[slice, S]:
            number, block = item
            block = checked_block(block, self.shape[1], self._whereabouts(number))
            rows = self._spans[number]
            if block.shape[0] != rows.stop - rows.start:
                raise self._changed(number, block.shape[0])
            if self._present is not None:
                block = block[self._present[rows]]
            return self._rows[number], function(self._rows[number], block)

        return self.workers.flow(one, self._numbered(), small=self._small)

    def _numbered(self) -> Iterator[tuple[int, Any]]:
        """The blocks that have rows to be looked at, with their numbers."""
        missing = object()
        with closing(self._read()) as blocks:
            pairs: Iterator[tuple[Any, Any]] = zip_longest(self._rows, blocks, fillvalue=missing)
            for number, (rows, block) in enumerate(pairs):
                if rows is missing or block is missing:
                    raise self._changed(number, None)
                if rows.stop > rows.start:
                    yield number, block
                del block  # or it would stay while the next is read

    def _changed(self, number: int, size: int | None) -> ValueError:
        expected = len(self._spans)
        if size is not None:
            rows = self._spans[number]
            what = f"has {size} rows, and had {rows.stop - rows.start} when it was first seen"
        elif number < expected:
            what = f"is missing: there were {expected} blocks when they were first counted"
        else:
            what = f"is new: there were {expected} blocks when they were first counted"
        return ValueError(
            f"{self._whereabouts(number)} {what}. The rows must not change during a fit."
        )

    def _whereabouts(self, number: int) -> str:
        return f"{self.block_name(number)} of {self.place}"

    def _in_units(self, block: Any) -> Any:
        """Numbers of the dtype of products, in units."""
        block = block.astype(np.float64 if _is_sparse(block) else self.dtype, copy=False)
        return block if self.unit == 1.0 else block * self.dtype.type(1.0 / self.unit)


def _is_sparse(block: Any) -> bool:
    return bool(sparse.issparse(block))


def products_dtype(stored: np.dtype) -> np.dtype:
    """The dtype of products with values stored in this one, as for arrays in memory."""
    single = stored.kind == "f" and stored.itemsize == 4
    return np.dtype(np.float32 if single else np.float64)


def checked_dtype(dtype: Any, where: str) -> np.dtype:
    """The dtype, if its values are real numbers."""
    if not isinstance(dtype, np.dtype) or dtype.kind not in _REAL:
        raise ValueError(
            f"{where} has dtype {dtype}; its values must be real numbers. Convert them with astype."
        )
    return dtype


def checked_block(block: Any, columns: int | None, where: str) -> Any:
    """Rows as a matrix of real numbers with this many columns, or with any number of them."""
    if _is_sparse(block):
        block = sparse.csr_array(block)
        block.sum_duplicates()
    else:
        try:
            block = np.asarray(block)
        except ValueError as error:
            raise ValueError(f"{where} is no matrix of numbers: {error}.") from None
    if block.ndim != 2:
        raise ValueError(
            f"{where} has {block.ndim} dimension(s), shape {block.shape}; it must have 2, rows "
            "and columns."
        )
    checked_dtype(block.dtype, where)
    if columns is not None and block.shape[1] != columns:
        raise ValueError(
            f"{where} has {block.shape[1]} columns, where those before it have {columns}. Every "
            "block must have the same columns."
        )
    return block
