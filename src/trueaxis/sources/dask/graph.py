"""Task graphs over the partitions of a collection."""

from __future__ import annotations

import pickle
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any
from uuid import uuid4

import numpy as np
from dask.base import compute_as_if_collection
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.task_spec import Task, TaskRef

from trueaxis.sources.dask.partition import added, run, run_some
from trueaxis.sources.dask.placement import Placement

_FAN = 64  # sums that are added at once
_TOGETHER = 1 << 29  # bytes of partitions that one task reads: they are in memory at once
_CARRIED = 1 << 23  # bytes that a graph may repeat with its tasks

Inputs = Callable[[int], tuple[Any, ...]]
"""The number of a partition → what `run` takes beside the task, a `Delayed` for what is afar."""


class Graph:
    """A graph in the making: tasks, each on one partition or a few.

    Parameters
    ----------
    inputs : callable
    """

    def __init__(self, inputs: Inputs) -> None:
        self.name = f"trueaxis-{uuid4().hex}"
        self._inputs = inputs
        self._layer: dict[Any, Any] = {}
        self._tasks: dict[int, Any] = {}
        self._needed: dict[int, Delayed] = {}

    def each(self, task: Any, partitions: int, ndim: int) -> None:
        """The same task on every partition, under the keys of an array of such results."""
        for i in range(partitions):
            key = (self.name, i) + (0,) * (ndim - 1)
            self._layer[key] = Task(key, run, *self._given(i, task, partitions))

    def total(
        self, tasks: Sequence[tuple[int, Any]], placement: Placement, partition_bytes: float
    ) -> Any:
        """What tasks on some partitions return, added up in their order.

        Sums are added `_FAN` at a time, the last of them here. What lies together is read by one
        task, which keeps the sums apart: how they are added depends on their number alone.
        """
        uses = Counter(id(task) for _, task in tasks)
        below: list[list[Any]] = []  # keys of what is added together
        for first in range(0, len(tasks), _FAN):
            places = {i: first + at for at, (i, _) in enumerate(tasks[first : first + _FAN])}
            below.append([])
            for group in placement.groups(list(places), partition_bytes, _TOGETHER):
                numbers = [places[i] for i in group]
                pairs = (tasks[number] for number in numbers)
                given = (self._given(i, task, uses[id(task)]) for i, task in pairs)
                key = (self.name, 0, numbers[0])
                self._layer[key] = Task(key, run_some, numbers, *chain.from_iterable(given))
                below[-1].append(key)
        level = 0
        while len(below) > 1:
            level += 1
            sums = [(self.name, level, number) for number in range(len(below))]
            for key, keys in zip(sums, below, strict=True):
                self._layer[key] = Task(key, added, key[2], *map(TaskRef, keys))
            below = [sums[first : first + _FAN] for first in range(0, len(sums), _FAN)]
        found = compute_as_if_collection(Delayed, self.whole(), below[0])
        return added(0, *found)[0]

    def whole(self, futures: Mapping[Any, Any] | None = None) -> HighLevelGraph:
        """The graph with those it needs, and with what must be held as long as it is."""
        needed = list(self._needed.values())
        if futures:
            name = f"{self.name}-futures"
            held = HighLevelGraph.from_collections(name, dict(futures))
            needed.append(Delayed(next(iter(futures)), held, layer=name))
        return HighLevelGraph.from_collections(self.name, self._layer, needed)

    def _given(self, i: int, task: Any, uses: int) -> tuple[Any, ...]:
        """What `run` takes for a task on a partition, one of so many that it is run on."""
        if id(task) not in self._tasks:
            self._tasks[id(task)] = self._carried(task, uses)
        return (self._tasks[id(task)], *map(self._reached, self._inputs(i)))

    def _reached(self, thing: Any) -> Any:
        if not isinstance(thing, Delayed):
            return thing
        self._needed.setdefault(id(thing.dask), thing)
        return TaskRef(thing.key)

    def _carried(self, task: Any, uses: int) -> Any:
        """A task as an argument; where its copies are large, it is sent once and not with each."""
        if _pickled(task) * uses <= _CARRIED:
            return task
        key = (f"{self.name}-task", len(self._tasks))
        self._layer[key] = Task(key, itself, task)
        return TaskRef(key)


def placed(blocks: Sequence[Delayed], futures: Mapping[Any, Any]) -> Placement:
    """Where blocks are, if they are persisted on a cluster."""
    if not futures:
        return Placement([None] * len(blocks))
    client = next(iter(futures.values())).client
    holders = client.who_has(list(futures.values()))
    homes = [min(holders.get(block.key, ()), default=None) for block in blocks]
    return Placement(homes, client.nthreads())


def futures_in(X: Any) -> dict[Any, Any]:
    """What of X is persisted on a cluster: it is there as long as somebody holds its futures."""
    # There are none where the module is not loaded, which takes long.
    distributed = sys.modules.get("distributed")
    found = distributed.futures_of(X) if distributed is not None else ()
    return {future.key: future for future in found}


def itself(thing: Any) -> Any:
    """What travels to the workers as a task's argument: lost there, it is sent again."""
    return thing


def _pickled(thing: Any) -> float:
    """How many bytes travel with a thing; many, where only Dask's own means can tell."""
    parts: list[pickle.PickleBuffer] = []
    try:
        head = pickle.dumps(thing, protocol=5, buffer_callback=parts.append)
    except (pickle.PicklingError, AttributeError, TypeError):
        return np.inf
    return len(head) + sum(part.raw().nbytes for part in parts)
