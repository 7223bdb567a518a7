"""Threads over blocks of rows, with BLAS held to one thread meanwhile."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeVar, cast

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

T = TypeVar("T")
S = TypeVar("S")

SMALL = 1 << 17  # entries below which handing work to a thread costs more than it saves
_WAITING = 1  # result a thread that may wait to be taken
_AHEAD = 2  # items that a reader makes before they are asked for
_END = object()


@cache
def _controller() -> ThreadpoolController:
    # Finding the BLAS libraries of the process takes milliseconds, limiting them microseconds.
    return ThreadpoolController()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread: skinny products and small eigenproblems run faster so.

    It also makes their bits independent of the number of cores. The limit is the process's: the
    first of several threads to enter sets it, and the last to leave takes it back.
    """
    _hold.enter()
    try:
        yield
    finally:
        _hold.leave()


class _Hold:
    """The limit on BLAS, and how many hold it."""

    def __init__(self) -> None:
        self._lock, self._holders, self._limit = Lock(), 0, ExitStack()

    def enter(self) -> None:
        with self._lock:
            if not self._holders:
                self._limit.enter_context(_controller().limit(limits=1, user_api="blas"))
            self._holders += 1

    def leave(self) -> None:
        with self._lock:
            self._holders -= 1
            if not self._holders:
                self._limit.close()


_hold = _Hold()


def resolve_n_jobs(n_jobs: Any) -> int:
    """The number of threads that `n_jobs` stands for; None is every core allowed to the process.

    CPU affinity and cgroup limits are respected. Negative values count down from all cores, as in
    scikit-learn: −1 is all of them, −2 all but one.
    """
    cores = int(joblib.cpu_count())
    if n_jobs is None:
        return cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r} has no meaning; use None for all cores, or a whole number >= 1."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


class Workers:
    """Maps a function over items, results in the order of the items whatever the threads do."""

    def __init__(self, n_threads: int, pool: ThreadPoolExecutor | None = None) -> None:
        self.n_threads = n_threads
        self._pool = pool

    @classmethod
    @contextmanager
    def start(cls, n_jobs: int | None) -> Iterator[Workers]:
        """Workers on `n_jobs` threads, with BLAS held to one thread until they are released."""
        n_threads = resolve_n_jobs(n_jobs)
        with ExitStack() as stack:
            stack.enter_context(single_threaded_blas())
            pool = None
            if n_threads > 1:
                pool = stack.enter_context(ThreadPoolExecutor(n_threads, "trueaxis"))
            yield cls(n_threads, pool)

    def map(self, function: Callable[[S], T], items: Iterable[S], *, small: bool) -> Iterator[T]:
        """Results in order. `small` work is done here: handing it to a thread would cost more."""
        if self._pool is None or small:
            return map(function, items)
        return self._hand_out(self._pool, function, items, _WAITING * self.n_threads)

    def meanwhile(self, function: Callable[[], T]) -> Callable[[], T]:
        """What gives the result of `function`, which runs while this thread goes on.

        With no other thread it runs when it is asked for. It may not hand out work itself.
        """
        return function if self._pool is None else self._pool.submit(function).result

    def flow(
        self, function: Callable[[S], T], items: Iterator[S], *, small: bool
    ) -> Generator[T, None, None]:
        """Results in order, of items that are made while others are worked on.

        One thread of its own makes the items, one after another, and is a few ahead at most: what
        is held at any time is a few items, however many there are. Close the iterator to be rid
        of the thread before the end.
        """
        if small:
            yield from map(function, items)
            return
        with closing(_ahead(items)) as made:
            if self._pool is None:
                yield from map(function, made)
                return
            yield from self._hand_out(self._pool, function, made, self.n_threads)

    def _hand_out(
        self, pool: ThreadPoolExecutor, function: Callable[[S], T], items: Iterable[S], most: int
    ) -> Generator[T, None, None]:
        """Results in order, at most so many of which wait to be taken: they may be large."""
        waiting: deque[Future[T]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                del item
                if len(waiting) > most:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for left in waiting:
                left.cancel()
            wait(waiting)


def _ahead(items: Iterator[S]) -> Generator[S, None, None]:
    """The items, made on another thread before they are asked for."""
    with ThreadPoolExecutor(1, "trueaxis-reader") as reader:
        waiting = deque(reader.submit(next, items, _END) for _ in range(_AHEAD))
        try:
            while (item := waiting.popleft().result()) is not _END:
                waiting.append(reader.submit(next, items, _END))
                yield cast(S, item)
                del item
        finally:
            reader.shutdown(cancel_futures=True)
