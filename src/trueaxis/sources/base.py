"""What every source of rows can do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from trueaxis._typing import Array, Float64Array


class Addable(Protocol):
    """A sum in the making."""

    def __add__(self, other: Any, /) -> Any: ...


T = TypeVar("T", bound=Addable)


class Source(Protocol):
    """Rows of a matrix, handed out in blocks of a fixed partition.

    The partition depends on the shape of the data alone and sums are merged in its order, so that
    results are the same bits whatever the number of threads.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        ...

    @property
    def dtype(self) -> np.dtype:
        """The precision in which products with the rows are made."""
        ...

    def reduce(self, kernel: Callable[[Array, Float64Array | None], T]) -> T:
        """The sum of ``kernel(block, weights_of_its_rows)`` over all blocks."""
        ...

    def collect(self, kernel: Callable[[Array], Array]) -> Array:
        """``kernel(block)`` of all blocks, one under the other."""
        ...

    def take(self, rows: Array) -> tuple[Array, Float64Array | None]:
        """A float64 copy of some rows, and their weights."""
        ...
