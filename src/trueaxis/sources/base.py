"""What every source of rows can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from functools import reduce
from operator import add
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array


class Addable(Protocol):
    """A sum in the making."""

    def __add__(self, other: Any, /) -> Any: ...


S = TypeVar("S")
T = TypeVar("T", bound=Addable)
Kernel = Callable[[Any, Float64Array | None], T]
"""(block, weights of its rows or None) → a sum over the block."""


class Source(ABC):
    """Rows of a matrix, handed out in blocks of a fixed partition.

    The partition depends on the shape of the data alone and sums are merged in its order, so that
    results are the same bits whatever the number of threads. A source says where rows live, and
    `trueaxis._products` how a block of its kind is multiplied; nothing else depends on either.

    Attributes
    ----------
    weights : ndarray of shape (n,) or None
        What each row counts.
    unit : float
        The rows are X / unit: a power of two that keeps squares from overflowing.
    passes : int
        How often all rows have been read since the source was posed.
    has_rows : bool
        Whether a number for every row may be kept: an array of n numbers is small beside the rows
        where these are in memory, and too large where n has no bounds.
    names : ndarray of str or None
        Names of the columns that the data themselves hold.
    observed : float
        The share of the entries that were observed; below 1 NaN stands for the others.
    """

    weights: Float64Array | None = None
    unit: float = 1.0
    passes: int = 0
    has_rows: bool = True
    names: Array | None = None
    observed: float = 1.0

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype:
        """The precision in which products with the rows are made."""

    @property
    def header(self) -> Any:
        """No rows, of the columns of the data and their names, in a form scikit-learn knows."""
        return np.empty((0, self.shape[1]))

    @property
    def answers(self) -> np.dtype:
        """The precision that answers are given in."""
        return self.dtype

    @abstractmethod
    def reduce(self, kernel: Kernel[T]) -> T:
        """The sum of ``kernel(block, weights_of_its_rows)`` over all blocks."""

    @abstractmethod
    def collect(self, kernel: Callable[[Any], Array]) -> Any:
        """``kernel(block)`` of all blocks, one under the other, where the rows' results belong."""

    def collect_checked(
        self, kernel: Callable[[Any], Array], check: Callable[[Source], Any]
    ) -> Any:
        """What `collect` returns, unless `check` refuses the rows: lazy where that is lazy.

        What is no number in a row is none in a float that is made of all of it: where these are
        finite, the rows need not be read again.
        """
        found = self.collect(kernel)
        if found.dtype.kind != "f" or not np.isfinite(found).all():
            check(self)
        return found

    @abstractmethod
    def take(self, rows: Array) -> tuple[Float64Array, Float64Array | None]:
        """A float64 copy of some rows, in rising order, and their weights."""

    @abstractmethod
    def where(self, present: Array) -> Source:
        """The rows for which the boolean array is true, or all where they cannot be left out."""

    def locate(self, row: int) -> str:
        """How an error names a row."""
        return f"row {row}"

    def every(self, step: int) -> Source | None:
        """Every so many-th row, posed as these are, where it can be read without the others."""
        return None

    def wide(self) -> Any:
        """All rows as one array, dense or sparse and not in units, or None where they are not."""
        return None

    def entries(self) -> Source:
        """The same rows where NumPy has their entries, which some losses ask for in every sweep."""
        return self

    def foresee(self, rows: list[Array]) -> None:  # noqa: B027  # most have them at hand
        """Be told of rows that `take` will be asked for: where they are read, once is enough."""

    def posed(
        self, workers: Workers, *, weights: Float64Array | None = None, unit: float = 1.0
    ) -> Self:
        """The same rows, counted by `weights` in a unit, for these threads."""
        other = copy(self)
        other._workers = workers
        other.weights, other.unit, other.passes = weights, unit, 0
        return other

    @property
    def workers(self) -> Workers:
        """The threads that blocks are handed to; this one alone before `posed`."""
        return self._workers

    _workers: Workers = Workers(1)


class BlockSource(Source):
    """A source whose blocks are parts of something in memory."""

    _blocks: list[slice]
    _small: bool

    @abstractmethod
    def _block(self, rows: slice) -> Any:
        """Some rows, in units."""

    def reduce(self, kernel: Kernel[T]) -> T:
        """The sum of ``kernel(block, weights_of_its_rows)``, merged in the order of the rows."""
        weights = self.weights

        def one(rows: slice) -> T:
            return kernel(self._block(rows), None if weights is None else weights[rows])

        total: T = reduce(add, self._map(one))
        return total

    def collect(self, kernel: Callable[[Any], Array]) -> Array:
        """``kernel(block)`` of all blocks, one under the other."""
        parts = self._map(lambda rows: kernel(self._block(rows)))
        found = next(parts)
        out = np.empty((self.shape[0], *found.shape[1:]), found.dtype)
        out[self._blocks[0]] = found
        for rows, part in zip(self._blocks[1:], parts, strict=True):
            out[rows] = part
        return out

    def _map(self, function: Callable[[slice], S]) -> Iterator[S]:
        self.passes += 1
        return self.workers.map(function, self._blocks, small=self._small)


def partition(n: int, step: int) -> list[slice]:
    """n rows in blocks of `step`, the last one smaller perhaps."""
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]
