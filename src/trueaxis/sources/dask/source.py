"""Rows of a Dask array or DataFrame, which stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any, Self
from uuid import uuid4

import dask.array
import numpy as np
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.task_spec import Task
from dask.utils import parse_bytes
from scipy import sparse

from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.sources.base import Kernel, Source, T
from trueaxis.sources.dask.graph import Graph, futures_in, itself, placed
from trueaxis.sources.dask.partition import Collect, Partition, Reduce, Stack, Take, precision
from trueaxis.sources.dask.placement import Placement


class DaskSource(Source):
    """Partitions of a Dask array or DataFrame, on the scheduler that the user has set.

    A sweep is one task graph. A task reads a partition, or a few that lie on one worker, in blocks
    of rows that stay in cache as those of `DenseSource` do, with BLAS on one thread. The sums of
    the partitions are added in a tree that depends on their number alone: each run gives the same
    bits. Only sums, and the rows that `take` asks for, leave the workers; `collect` returns a lazy
    array. What is lost with a worker Dask makes again, from what X was made from.

    Every sweep computes the partitions anew unless they are persisted: where the memory of the
    workers holds the rows, ``X = X.persist()`` comes before the fit.

    Parameters
    ----------
    X : dask array of shape (n, m), or dask DataFrame
        Of real numbers. The rows of the partitions of a DataFrame are counted first, in a graph
        of their own; an array with several chunks of columns is rechunked to whole rows.

    Examples
    --------
    >>> import dask.array as da
    >>> source = DaskSource(da.ones((6, 2), chunks=(3, 2)))
    >>> source.reduce(lambda block, weights: block.sum(axis=0))
    array([6., 6.])
    """

    has_rows = False

    def __init__(self, X: Any) -> None:
        self._header: Any = None
        self._names: tuple[Any, ...] | None = None
        lengths: Any = None
        if hasattr(X, "to_dask_array"):
            X = X.to_frame() if X.ndim == 1 else X
            self._names = tuple(X.columns)
            self._columns = len(self._names)
            self._answers = precision(dict(zip(self._names, X.dtypes, strict=True)))
            self._header = X.dtypes.to_frame().T.iloc[:0]  # these columns, and no rows
            is_sparse = False
        else:
            X = _in_whole_rows(X)
            self._columns = X.shape[1]
            self._answers = precision({None: X.dtype})
            lengths, is_sparse = X.chunks[0], sparse.issparse(X._meta)
        self._futures = futures_in(X)
        self._blocks: list[Delayed] = list(np.ravel(np.array(X.to_delayed(), dtype=object)))
        self._first = None if lengths is None else _ends(lengths)
        self._dtype = np.dtype(np.float64) if is_sparse else self._answers
        self._example: Any = np.zeros((1, self._columns), self._dtype)
        if is_sparse:
            self._example = sparse.csr_array(self._example)
        self._present: Array | None = None
        self._parts: list[Delayed] | None = None  # the weights, by partition, on the workers
        self._foreseen: tuple[Array, Array] | None = None
        self._placement: Placement | None = None
        self._refuse_nothing()

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return int(self._bounds[-1]), self._columns

    @property
    def dtype(self) -> np.dtype:
        """float32 where the data are, and float64 otherwise."""
        return self._dtype

    @property
    def answers(self) -> np.dtype:
        """The dtype of the data, where that is float32 or float64."""
        return self._answers

    @property
    def header(self) -> Any:
        """No rows, of the columns of the data and their names."""
        return np.empty((0, self._columns)) if self._header is None else self._header

    def posed(
        self, workers: Workers, *, weights: Float64Array | None = None, unit: float = 1.0
    ) -> Self:
        """The same rows, counted by `weights`, which are sent out once, in a unit."""
        other = super().posed(workers, weights=weights, unit=unit)
        if weights is None:
            other._parts = None
        elif weights is not self.weights:
            name = f"trueaxis-{uuid4().hex}"
            parts = np.split(weights, self._bounds[1:-1])
            layer = {(name, i): Task((name, i), itself, part) for i, part in enumerate(parts)}
            graph = HighLevelGraph.from_collections(name, layer)
            other._parts = list(dask.persist(*(Delayed(key, graph, layer=name) for key in layer)))
        return other

    def reduce(self, kernel: Kernel[T]) -> T:
        """The sum of ``kernel(block, weights_of_its_rows)`` over all blocks, in one graph."""
        self.passes += 1
        task = Reduce(kernel)
        total: T = self._sum([(i, task) for i, rows in enumerate(self._lengths) if rows])
        return total

    def collect(self, kernel: Callable[[Any], Array]) -> Any:
        """``kernel(block)`` of all blocks: a lazy array in the partitions of X."""
        return self.collect_checked(kernel, None)

    def collect_checked(
        self, kernel: Callable[[Any], Array], check: Callable[[Source], Any] | None
    ) -> Any:
        """The same, with each partition shown to `check` when it is computed."""
        self.passes += 1
        like = kernel(self._example)[:0]
        graph, partitions = Graph(self._inputs), len(self._blocks)
        graph.each(Collect(kernel, check, like), partitions, like.ndim)
        lengths = (np.nan,) * partitions if self._first is None else self._lengths
        chunks = (lengths, *((size,) for size in like.shape[1:]))
        return dask.array.Array(graph.whole(self._futures), graph.name, chunks, meta=like)

    def take(self, rows: Array) -> tuple[Float64Array, Float64Array | None]:
        """A float64 copy of some rows, in rising order, and their weights: no others travel."""
        picked = self._known(rows)
        if picked is None:
            picked = self._fetch(rows)
        picked = picked.astype(np.float64) * (1.0 / self.unit)
        return picked, None if self.weights is None else self.weights[rows]

    def foresee(self, rows: list[Array]) -> None:
        """Fetch all of these rows in one graph, and keep them."""
        wanted = np.unique(np.concatenate(rows))
        if self._known(wanted) is None:
            self._foreseen = wanted, self._fetch(wanted)

    def where(self, present: Array) -> DaskSource:
        """The rows for which the boolean array is true; workers leave the others out."""
        other = copy(self)
        other._present = present
        if self._present is not None:
            other._present = self._present.copy()
            other._present[self._present] = present
        other._foreseen = other._parts = other.weights = None
        return other

    def locate(self, row: int) -> str:
        """How an error names a row, and the partition that it is in."""
        i = int(np.searchsorted(self._bounds, row, side="right")) - 1
        return self._partition(i).locate(row - int(self._bounds[i]))

    @property
    def _bounds(self) -> Array:
        """Where each partition begins among the rows that are present, and where the last ends."""
        if self._first is None:
            counted = dask.compute(*(dask.delayed(len)(block) for block in self._blocks))
            self._first = _ends(counted)
            self._refuse_nothing()
        if self._present is None:
            return self._first
        return _ends(self._present)[self._first]

    @property
    def _lengths(self) -> tuple[int, ...]:
        """How many rows of each partition are present."""
        return tuple(np.diff(self._bounds).tolist())

    def _partition(self, i: int) -> Partition:
        first = rows = None
        if self._first is not None:
            first, end = self._first[i : i + 2].tolist()
            rows = end - first
        return Partition(i, first, rows, self._columns, self._answers, self._names)

    def _refuse_nothing(self) -> None:
        rows = None if self._first is None else int(self._first[-1])
        for count, what in ((rows, "sample(s)"), (self._columns, "feature(s)")):
            if count == 0:
                raise ValueError(
                    f"Found array with 0 {what} (shape=({rows}, {self._columns})) while a "
                    "minimum of 1 is required."
                )

    def _known(self, rows: Array) -> Array | None:
        """Some rows, if they were foreseen."""
        if self._foreseen is None:
            return None
        numbers, values = self._foreseen
        at = np.minimum(np.searchsorted(numbers, rows), len(numbers) - 1)
        return values[at] if np.array_equal(numbers[at], rows) else None

    def _fetch(self, rows: Array) -> Array:
        """Some rows, in the dtype of the data and not in units."""
        begins = self._bounds
        bounds = np.searchsorted(rows, begins)
        parts: Stack = self._sum(
            [
                (int(i), Take(rows[bounds[i] : bounds[i + 1]] - begins[i]))
                for i in np.flatnonzero(np.diff(bounds))
            ],
            unit=1.0,
        )
        return np.concatenate(parts.parts)

    def _sum(self, tasks: Sequence[tuple[int, Any]], unit: float | None = None) -> Any:
        """What tasks on some partitions return, added up in one graph and in a fixed order."""
        graph = Graph(partial(self._inputs, unit=unit))
        size = self.shape[0] * self._columns * self._dtype.itemsize / len(self._blocks)
        if self._placement is None or None in self._placement.homes:
            self._placement = placed(self._blocks, self._futures)
        return graph.total(tasks, self._placement, size)

    def _inputs(self, i: int, unit: float | None = None) -> tuple[Any, ...]:
        """What a task on a partition is given: the partition, its block, unit, rows and weights."""
        present = None
        if self._present is not None and self._first is not None:
            present = self._present[self._first[i] : self._first[i + 1]]
        weights = None if self._parts is None else self._parts[i]
        unit = self.unit if unit is None else unit
        return self._partition(i), self._blocks[i], unit, present, weights


def _ends(lengths: Any) -> Array:
    """0, and the running sums of the lengths."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))])


def _in_whole_rows(X: Any) -> Any:
    """An array with chunks of known size that hold whole rows."""
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got a {X.ndim}D Dask array of shape {X.shape} instead. Reshape "
            "it to (n_samples, n_features)."
        )
    if np.isnan([size for sizes in X.chunks for size in sizes]).any():
        raise ValueError(
            f"The chunks of X have unknown sizes (shape {X.shape}). Call X.compute_chunk_sizes() "
            "first, or, for an array made from a DataFrame, pass the DataFrame itself or "
            "to_dask_array(lengths=True)."
        )
    if len(X.chunks[1]) > 1:
        largest = max(X.chunks[0]) * X.shape[1] * X.dtype.itemsize
        fits = largest <= parse_bytes(dask.config.get("array.chunk-size"))
        # By tasks alone: they can be made again one by one where a worker is lost.
        X = X.rechunk({0: X.chunks[0] if fits else "auto", 1: -1}, method="tasks")
    return X
