"""Rows in blocks that somebody else makes, anew for every pass."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from trueaxis.sources.stream import StreamSource, checked_block


class RowBlocks:
    """Blocks of rows from a function, for data that are made or fetched a part at a time.

    A fit reads its rows several times; a generator can be read once. This calls the function that
    makes the generator for every pass.

    Parameters
    ----------
    make : callable
        Called without arguments; returns an iterator over blocks of rows: arrays, data frames or
        sparse matrices, all of the same columns. Every call must yield the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.sources import RowBlocks
    >>> def blocks():
    ...     for seed in range(3):
    ...         yield np.random.default_rng(seed).standard_normal((100, 4))
    >>> RobustPCA(2).fit(RowBlocks(blocks)).n_samples_
    300
    """

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        if not callable(make):
            raise TypeError(
                f"RowBlocks needs a function that makes an iterator, and got a "
                f"{type(make).__name__}; pass the function itself, not what it returns."
            )
        self._make = make

    def __iter__(self) -> Iterator[Any]:
        return iter(self._make())


class BlocksSource(StreamSource):
    """The blocks of something that can be iterated over again and again.

    They are counted first, in a pass.

    Parameters
    ----------
    blocks : iterable
        Of arrays, data frames or sparse matrices.
    """

    def __init__(self, blocks: Iterable[Any]) -> None:
        self._iterable = blocks
        self.place = f"the {type(blocks).__name__}"
        first = iter(blocks)
        if first is blocks:
            raise TypeError(
                f"X is a {type(blocks).__name__}, which can be read only once, and a fit reads its "
                "rows several times. Pass something that can be iterated over again: for a "
                "generator function f, trueaxis.sources.RowBlocks(f)."
            )
        sizes: list[int] = []
        columns: int | None = None
        kinds: set[np.dtype] = set()
        for number, given in enumerate(first):
            block = checked_block(given, columns, self._whereabouts(number))
            columns = block.shape[1]
            sizes.append(block.shape[0])
            # Products with sparse rows are made in float64.
            kinds.add(np.dtype(np.float64) if sparse.issparse(block) else block.dtype)
        if columns is None:
            raise ValueError(f"{self.place} has no blocks: 0 sample(s).")
        single = all(kind.kind == "f" and kind.itemsize == 4 for kind in kinds)
        super().__init__(sizes, columns, np.dtype(np.float32 if single else np.float64))
        self.passes = 1

    def _read(self) -> Generator[Any, None, None]:
        yield from self._iterable
