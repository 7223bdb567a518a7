"""What a worker does with one partition of a matrix: the part of it that travels, and what runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy import sparse

from trueaxis._threads import Workers, single_threaded_blas
from trueaxis._typing import Array, Float64Array
from trueaxis.sources.base import BlockSource, Source
from trueaxis.sources.dense import DenseSource
from trueaxis.sources.sparse import SparseSource


@dataclass(frozen=True)
class Partition:
    """What X declares of a partition before it is there; of the block it is, it makes a source.

    Parameters
    ----------
    number : int
        Its place among the partitions.
    first, rows : int or None
        Where it begins among the rows, and how many it has; None where nobody has counted.
    columns : int
    dtype : dtype
        The precision of the rows; a block of whole numbers is converted.
    names : tuple, optional
        The columns, where the block is a DataFrame.
    """

    number: int
    first: int | None
    rows: int | None
    columns: int
    dtype: np.dtype
    names: tuple[Any, ...] | None = None

    def open(self, block: Any) -> BlockSource:
        """The rows of a block, if it is what X declares."""
        rows: Any = block if self.names is None else self._values(block)
        is_sparse = sparse.issparse(rows)
        rows = rows if is_sparse else np.atleast_1d(np.asarray(rows))
        shape = (rows.shape[0] if self.rows is None else self.rows, self.columns)
        if rows.shape != shape:
            raise ValueError(
                f"Partition {self.number} of X has shape {rows.shape}, but X declares "
                f"{shape}. Mend what makes the partitions, or what was declared of them: "
                "the `chunks` or `meta` given to Dask."
            )
        if rows.dtype.kind not in "biuf":
            raise ValueError(
                f"Partition {self.number} of X has dtype {rows.dtype}, but X declares "
                f"{self.dtype}. Every partition must hold real numbers."
            )
        rows = rows.astype(self.dtype, copy=False)
        return _SparsePart(rows, self) if is_sparse else _DensePart(rows, self)

    def _values(self, frame: Any) -> Array:
        names, found = list(self.names or ()), list(frame.columns)
        if found != names:
            missing = [name for name in names if name not in found]
            further = [name for name in found if name not in names]
            what = (
                f"lacks the columns {missing}"
                if missing
                else f"has the further columns {further}"
                if further
                else f"has its columns in the order {found}"
            )
            raise ValueError(
                f"Partition {self.number} of X {what}, but X declares {names}. Every partition "
                "must have the same columns in the same order."
            )
        try:
            return np.asarray(frame.to_numpy(dtype=self.dtype, na_value=np.nan))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Partition {self.number} of X holds what is no number: {error}."
            ) from None

    def locate(self, row: int) -> str:
        """How an error names a row of this partition."""
        place = f"row {row} of partition {self.number}"
        return place if self.first is None else f"row {self.first + row} ({place})"


class _DensePart(DenseSource):
    """The rows of a partition."""

    def __init__(self, X: Array, partition: Partition) -> None:
        super().__init__(X)
        self._partition = partition

    def locate(self, row: int) -> str:
        return self._partition.locate(row)


class _SparsePart(SparseSource):
    """The rows of a partition in compressed storage."""

    def __init__(self, X: Any, partition: Partition) -> None:
        super().__init__(X)
        self._partition = partition

    def locate(self, row: int) -> str:
        return self._partition.locate(row)


Task = Callable[[BlockSource], Any]
"""The rows of a partition → what is to be told of them."""


def run(
    task: Task,
    partition: Partition,
    block: Any,
    unit: float = 1.0,
    present: Array | None = None,
    weights: Float64Array | None = None,
) -> Any:
    """A task on the rows of one block: those that are present, counted by their weights."""
    with single_threaded_blas():
        rows: Source = partition.open(block)
        if present is not None:
            rows = rows.where(present)
        return task(rows.posed(Workers(1), weights=weights, unit=unit))  # type: ignore[arg-type]


def run_some(numbers: Sequence[int], *given: Any) -> dict[int, Any]:
    """What several tasks tell, under these numbers; what `run` takes is given for each in turn."""
    size = len(given) // len(numbers)
    return {number: run(*given[at * size :][:size]) for at, number in enumerate(numbers)}


def added(number: int, *found: dict[int, Any]) -> dict[int, Any]:
    """The sum of what was found, from the lowest number on, under a number of its own."""
    terms = {i: term for some in found for i, term in some.items()}
    return {number: reduce(add, (terms[i] for i in sorted(terms)))}


@dataclass(frozen=True)
class Reduce:
    """The sum over the rows."""

    kernel: Callable[..., Any]

    def __call__(self, rows: BlockSource) -> Any:
        """What `Source.reduce` returns."""
        return rows.reduce(self.kernel)


@dataclass(frozen=True)
class Collect:
    """A result for every row, unless `check` refuses some; `like` is that of no rows."""

    kernel: Callable[[Any], Array]
    check: Callable[[Source], Any] | None
    like: Array

    def __call__(self, rows: BlockSource) -> Array:
        """What `Source.collect` returns."""
        if not rows.shape[0]:
            return self.like
        if self.check is not None:
            return np.asarray(rows.collect_checked(self.kernel, self.check))
        return rows.collect(self.kernel)


@dataclass(frozen=True)
class Take:
    """A copy of the rows with these numbers."""

    numbers: Array

    def __call__(self, rows: BlockSource) -> Stack:
        """The rows."""
        return Stack((rows.take(self.numbers)[0].astype(rows.answers, copy=False),))


@dataclass(frozen=True)
class Stack:
    """Rows of several partitions, one under the other."""

    parts: tuple[Array, ...]

    def __add__(self, other: Stack) -> Stack:
        """Those rows, and the others after them."""
        return Stack(self.parts + other.parts)


def precision(dtypes: dict[Any, Any]) -> np.dtype:
    """float32 where all columns are, float64 for other real numbers; what is none is refused."""
    for column, dtype in dtypes.items():
        if getattr(dtype, "kind", "O") not in "biuf":
            what = "X" if column is None else f"Column {column!r} of X"
            raise ValueError(
                f"{what} has dtype {dtype}; it must hold real numbers. Convert it with astype, "
                "or leave it out."
            )
    found = {str(dtype).lower() for dtype in dtypes.values()}
    return np.dtype(np.float32 if found == {"float32"} else np.float64)
