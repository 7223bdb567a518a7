"""What ``missing="nan"`` asks for, checked: which rows and columns have enough to be seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from numbers import Integral
from typing import Any

import numpy as np

from trueaxis._gaps import GappyBlock
from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.sources import ArrayApiSource, GappySource, Source, SparseSource
from trueaxis.sources.missing import refuse_sparse

_MOST_AXES = 10  # of a fit whose number of axes is not known beforehand
Open = Callable[..., Source]


def wants_gaps(estimator: Any) -> bool:
    """Whether NaN stands for an entry that was not observed."""
    missing = getattr(estimator, "missing", None)
    if missing is None or missing is False:
        return False
    if isinstance(missing, str) and missing == "nan":
        return True
    raise ValueError(
        f"missing={missing!r} is unknown; pass 'nan' for data in which NaN stands for an entry "
        "that was not observed, or None where NaN is an error."
    )


def with_gaps(open_rows: Open) -> Open:
    """The rows that `open_rows` opens, NaN among them allowed where the estimator says so."""

    @wraps(open_rows)
    def opened(estimator: Any, X: Any, *, reset: bool) -> Source:
        wanted = wants_gaps(estimator)
        source = open_rows(estimator, X, reset=reset)
        if not wanted:
            return source
        if isinstance(source, GappySource):  # opened by another estimator
            return source
        if isinstance(source, SparseSource):
            refuse_sparse(source.array)
        if isinstance(source, ArrayApiSource):
            raise ValueError(
                "missing='nan' takes rows in NumPy arrays, and X lives in another library's. Pass "
                "numpy.asarray(X), or missing=None."
            )
        return GappySource(source)

    return opened


def settle(
    source: Source, weights: Float64Array | None, n_components: Any, names: Any
) -> tuple[Source, Float64Array | None]:
    """The source without gaps where it has none, and else what rows count in the fit.

    A row with no more observed entries than axes lies in every subspace: its residual is 0
    whatever the axes are, and it counts as if its weight were 0.
    """
    if not isinstance(source, GappySource):
        return source, weights
    n, m = source.shape
    inner = source.inner
    known = isinstance(n_components, Integral) and 0 < int(n_components) < m
    axes = int(n_components) if known else min(_MOST_AXES, m // 2)
    seen = source.posed(Workers(1), weights=weights).reduce(_Look(axes))
    if seen.entries == n * m:
        inner.passes += 1
        return inner, weights
    if seen.bare.size:
        weights = np.ones(n) if weights is None else weights.copy()
        weights[seen.bare] = 0.0
        if not weights.any():
            raise ValueError(
                f"No row of X has more than {axes} observed entries, which a fit of {axes} "
                "component(s) needs to see any residual. Pass a smaller n_components, or data "
                "with fewer gaps."
            )
    empty = np.flatnonzero(seen.columns == 0)
    if empty.size:
        name = f" ({names[empty[0]]!r})" if names is not None else ""
        raise ValueError(
            f"Column {empty[0]}{name} of X, counted from 0, has no observed entry in the rows that "
            f"count ({empty.size} such column(s) in all). Drop it: nothing tells where it lies."
        )
    rows = n if weights is None else np.count_nonzero(weights)
    settled = GappySource(inner, float(seen.columns.sum()) / (rows * m))
    settled.passes = 1
    return settled, weights


def column_means(source: Source) -> Float64Array:
    """The mean of what is observed in each column."""
    total = source.reduce(_Columns.of)
    return np.asarray(total.sums / np.maximum(total.counts, 1))


@dataclass(frozen=True, slots=True)
class _Seen:
    """What of some rows was observed.

    =======  ==================================================
    rows     how many there are
    bare     numbers of those that no axes leave a residual
    entries  observed entries of all rows
    columns  observed entries of each column, in those that count
    =======  ==================================================
    """

    rows: int
    bare: Array
    entries: int
    columns: Array

    def __add__(self, other: _Seen) -> _Seen:
        return _Seen(
            self.rows + other.rows,
            np.concatenate([self.bare, self.rows + other.bare]),
            self.entries + other.entries,
            self.columns + other.columns,
        )


@dataclass(frozen=True, slots=True)
class _Look:
    """A block in, what was `_Seen` of it out, for a fit of so many axes."""

    axes: int

    def __call__(self, block: GappyBlock, omega: Float64Array | None) -> _Seen:
        observed = block.observed
        counts = observed.sum(axis=1)
        telling = counts > self.axes
        counted = telling if omega is None else telling & (omega > 0)
        bare = np.flatnonzero(~telling)
        return _Seen(len(counts), bare, int(counts.sum()), observed[counted].sum(axis=0))


@dataclass(frozen=True, slots=True)
class _Columns:
    """How many observed entries each column has, and their sums."""

    counts: Array
    sums: Float64Array

    @classmethod
    def of(cls, block: GappyBlock, omega: Float64Array | None) -> _Columns:
        rows = block.rows if omega is None else block.rows[omega > 0]
        return cls((~np.isnan(rows)).sum(axis=0), np.nansum(rows, axis=0, dtype=np.float64))

    def __add__(self, other: _Columns) -> _Columns:
        return _Columns(self.counts + other.counts, self.sums + other.sums)
