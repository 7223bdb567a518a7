"""Rows of any source, with NaN for entries that were not observed."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from scipy import sparse

from trueaxis._gaps import GappyBlock
from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.sources.base import Addable, Kernel, Source

T = TypeVar("T", bound=Addable)


class GappySource(Source):
    """The rows of another source, whose blocks say of themselves that they have gaps.

    Parameters
    ----------
    source : Source
        Rows in dense blocks.
    observed : float
        The share of the entries that were observed.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.sources import DenseSource
    >>> source = GappySource(DenseSource(np.array([[1.0, np.nan]])))
    >>> source.reduce(lambda block, weights: block.observed.sum(axis=0))
    array([1, 0])
    """

    def __init__(self, source: Source, observed: float = 1.0) -> None:
        self.inner = source
        self.observed = observed
        self.weights, self.unit, self.passes = source.weights, source.unit, source.passes
        self.has_rows, self.names, self._workers = source.has_rows, source.names, source.workers

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.inner.shape

    @property
    def dtype(self) -> np.dtype:
        """That of the inner source."""
        return self.inner.dtype

    @property
    def answers(self) -> np.dtype:
        """That of the inner source."""
        return self.inner.answers

    def reduce(self, kernel: Kernel[T]) -> T:
        """The sum of ``kernel(block, weights_of_its_rows)`` over blocks with gaps."""
        total: T = self.inner.reduce(_Weighted(kernel))
        self.passes = self.inner.passes
        return total

    def collect(self, kernel: Callable[[Any], Array]) -> Any:
        """``kernel(block)`` of all blocks with gaps, one under the other."""
        found = self.inner.collect(_Plain(kernel))
        self.passes = self.inner.passes
        return found

    def take(self, rows: Array) -> tuple[Float64Array, Float64Array | None]:
        """A float64 copy of some rows, NaN in their gaps, and their weights."""
        return self.inner.take(rows)

    def where(self, present: Array) -> GappySource:
        """The rows for which the boolean array is true."""
        return GappySource(self.inner.where(present), self.observed)

    def locate(self, row: int) -> str:
        """How an error names a row."""
        return self.inner.locate(row)

    def foresee(self, rows: list[Array]) -> None:
        """Tell the inner source of rows that will be taken."""
        self.inner.foresee(rows)

    def posed(
        self, workers: Workers, *, weights: Float64Array | None = None, unit: float = 1.0
    ) -> Self:
        """The same rows, counted by `weights` in a unit, for these threads."""
        other = copy(self)
        other.inner = self.inner.posed(workers, weights=weights, unit=unit)
        other._workers = workers
        other.weights, other.unit, other.passes = weights, unit, 0
        return other


def refuse_sparse(rows: Any) -> None:
    """Refuse rows in which what is not stored is a number."""
    if sparse.issparse(rows):
        raise ValueError(
            "missing='nan' cannot be combined with sparse data, where an entry that is not "
            "stored is 0, not unobserved. Pass a dense array with NaN, or missing=None."
        )


def _with_gaps(block: Any) -> GappyBlock:
    refuse_sparse(block)
    return GappyBlock(np.asarray(block))


# Classes rather than closures: a kernel may travel to another process.


@dataclass(frozen=True)
class _Weighted:
    kernel: Callable[[Any, Float64Array | None], Any]

    def __call__(self, block: Any, weights: Float64Array | None) -> Any:
        return self.kernel(_with_gaps(block), weights)


@dataclass(frozen=True)
class _Plain:
    kernel: Callable[[Any], Array]

    def __call__(self, block: Any) -> Array:
        return self.kernel(_with_gaps(block))
