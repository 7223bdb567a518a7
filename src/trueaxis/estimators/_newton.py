"""The default fit of a row loss: solved on a sample first, and from there on all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from trueaxis import starts
from trueaxis._curvature import RowCurvature
from trueaxis._moments import Moments
from trueaxis._subspace import Subspace
from trueaxis._sweep import Closing
from trueaxis._threads import SMALL, Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators._description import Reach
from trueaxis.estimators._objectives import (
    AnnealedObjective,
    FixedObjective,
    Objective,
    close,
    finite,
    make_objective,
)
from trueaxis.losses import Loss
from trueaxis.solvers import Result
from trueaxis.solvers.driver import Journal
from trueaxis.solvers.newton import Newton, beside
from trueaxis.sources import DenseSource, Source

_ROWS, _ENTRIES = 8000, 800_000  # a sample has so many of either, whichever are more rows,
_SHARE = 10  # in a tenth of the rows of large data: half of their bytes, as float32
_LARGE = 1 << 22  # entries beyond which data are large
_PIECE = 1 << 17  # entries that are copied at once
_FURTHER = 2  # times k columns beside those of W,
_COMPILED = 64  # as long as all of them are multiplied by compiled products
_FIRST = 2000  # rows that the first of the rough steps are made on
# Gaps at which few rows and the whole sample have told what they can. A sample that is left earlier
# leaves axes to be exchanged, which a sweep over few rows does for less than one over all.
_ROUGH, _FINE = 1e-2, 3e-4
_PARTS = 2
_FEW, _FEW_ENTRIES = 300, 100_000  # that tell the scale of the residuals, at most of either
_LOW, _HIGH = 1e-6, 1e12  # sizes of residuals and entries whose powers float32 holds
_DIGITS = 1e-5  # of a row, what a residual must be for float32 to show it
_ALL_AXES = 40  # columns up to which a majorizing step sees all of A
_THIN = 4  # of so many rows at least one is swept where a sample tells too little
_ENOUGH = 40  # rows a column, with which a sample tells what the scatter along N is


def draw(source: Source, k: int, rng: np.random.RandomState) -> Array | None:
    """Numbers of the rows that `Sample.of` takes for the same random numbers; None for all."""
    n, m = source.shape
    size = max(_ROWS, _ENTRIES // m, 200 * k)
    if n * m > _LARGE:
        size = min(size, max(n // _SHARE, 20 * k))
    return starts.sample_rows(n, source.weights, size, rng)


@dataclass(frozen=True)
class Sample:
    """Some rows of a source about `origin`, in float32 where that shows enough, and weights."""

    rows: Array
    omega: Float64Array | None
    origin: Float64Array
    share: float
    whole: bool

    @classmethod
    def of(
        cls,
        source: Source,
        start: Subspace,
        rng: np.random.RandomState,
    ) -> Sample:
        """A share of the rows where they are many, drawn by weight; all where they are few."""
        n, origin = source.shape[0], start.center
        weights = source.weights
        drawn = draw(source, start.n_components, rng)
        if drawn is None:
            rows, omega = source.take(np.arange(n))
            return cls(rows - origin, omega, origin, 1.0, whole=True)
        source.foresee([drawn])
        rows = _taken(source, drawn, origin, np.float32)
        if not _shows(rows, start.basis):
            rows = _taken(source, drawn, origin, np.float64)
        mass = float(n if weights is None else weights.sum())
        return cls(rows, None, origin, mass / len(drawn), whole=False)

    def lower(self, point: Subspace) -> Subspace:
        """A point of the data, for rows about the origin."""
        return Subspace(point.basis, point.center - self.origin)

    def growing(self) -> Iterator[tuple[Array, Float64Array | None, float]]:
        """Rows, weights and the gap to come to: where there are many a few first, and roughly."""
        thin = len(self.rows) // _FIRST
        if thin > 1 and not self.whole:
            yield self.rows[::thin], None, _ROUGH
        yield self.rows, self.omega, _FINE

    def distinct(self, k: int, rng: np.random.RandomState) -> Float64Array:
        """A few rows of which none repeats another, to tell the size of residuals by."""
        size = min(_FEW, max(_FEW_ENTRIES // self.rows.shape[1], 6 * (k + 1)))
        if len(self.rows) <= size:
            few = np.arange(len(self.rows))
        else:
            few = np.unique(starts.rows_at(rng.random_sample(size), len(self.rows), self.omega))
        return self.rows[few[starts.distinct_rows(self.rows, few)]].astype(np.float64)

    def curvature(
        self, at: Subspace, loss: Loss, workers: Workers, *, moves_center: bool
    ) -> SummedCurvature:
        """That of the sample at a point, for the rows that it stands for."""
        point, step = self.lower(at), -(-len(self.rows) // _PARTS)

        def part(first: int) -> RowCurvature:
            rows = slice(first, first + step)
            omega = None if self.omega is None else self.omega[rows]
            return RowCurvature.at(
                point, self.rows[rows], omega, self.share, loss, moves_center=moves_center
            )

        small = self.rows.size < SMALL
        parts = workers.map(part, range(0, len(self.rows), step), small=small)
        return SummedCurvature(tuple(parts), at.basis, workers, small)


def _taken(source: Source, drawn: Array, origin: Float64Array, dtype: type[np.floating]) -> Array:
    """Some rows about `origin`, copied a piece at a time."""
    m = source.shape[1]
    rows = np.empty((len(drawn), m), dtype)
    step = max(1, _PIECE // m)
    with np.errstate(over="ignore"):  # told by `_shows`
        for i in range(0, len(drawn), step):
            rows[i : i + step] = source.take(drawn[i : i + step])[0] - origin
    return rows


def _shows(rows: Array, W: Float64Array) -> bool:
    """Whether float32 holds the squares of the rows, and the digits of their residuals."""
    if max(float(rows.max()), -float(rows.min())) > _HIGH:
        return False
    few = rows[:: max(1, len(rows) // _FEW)].astype(np.float64)
    lengths = np.linalg.norm(few, axis=1)
    residuals = np.linalg.norm(few - few @ W @ W.T, axis=1)
    return float(np.median(residuals)) > max(_LOW, _DIGITS * float(np.median(lengths)))


@dataclass(frozen=True)
class SummedCurvature:
    """(I − WWᵀ) times the curvature of some rows, in parts for several threads."""

    parts: tuple[RowCurvature, ...]
    basis: Float64Array
    workers: Workers
    small: bool

    def __call__(self, D: Float64Array, trust: float) -> Float64Array:
        """The part of HD from the rows."""
        return self._sum(lambda part: part(D, trust))

    def scatter(self, N: Float64Array) -> Float64Array:
        """(Σ d r rᵀ)N."""
        return self._sum(lambda part: part.scatter(N))

    def _sum(self, of: Callable[[RowCurvature], Float64Array]) -> Float64Array:
        W, parts = self.basis, self.workers.map(of, self.parts, small=self.small)
        V = reduce(add, parts)
        return np.asarray(V - W @ (W.T @ V))


class Found(NamedTuple):
    """Where the descent arrived, its objective, and what the last sweep there told if it did."""

    result: Result
    objective: FixedObjective
    closing: tuple[Reach, Closing] | None


def newton_fit(
    source: Source,
    start: Subspace,
    loss: Loss,
    smoothing: float | None,
    scale: float,
    solver: Newton,
    journal: Journal,
    rng: np.random.RandomState,
    workers: Workers,
    reach: Callable[[Subspace], Reach],
) -> Found | None:
    """The descent from `start`.

    None where rows lie in the subspace exactly, more than any k + 1 of them must: they shall
    outweigh all others in the end, and J is not smooth there.
    """
    k, m = start.n_components, len(start.center)
    sample = Sample.of(source, start, rng)
    further = min(m - k, max(10, min(_FURTHER * k, _COMPILED - k)))
    if m <= _ALL_AXES:
        further = m - k
    N = beside(start.basis, np.random.default_rng(0).standard_normal((m, further)))
    point = sample.lower(start)
    few = sample.distinct(k, rng)
    rough: Objective | None = None
    for rows, omega, enough in sample.growing():
        some = DenseSource(rows, weights=omega, workers=workers)
        rough = _after(rough, make_objective(some, loss, omega, smoothing, few, scale))
        point, N = solver.roughly(rough, point, N, enough, journal if sample.whole else None)
    # The point where `rough` has its rows, and where the data have theirs.
    near, point = point, Subspace(point.basis, point.center + sample.origin)
    # With few rows a column the curvature is noise where it matters, along N.
    wide = len(sample.rows) < _ENOUGH * m
    every = source.every(max(_THIN, source.shape[0] // (_ENOUGH * m))) if wide else None
    if every is not None and not sample.whole:
        few += sample.origin
        rough = _after(rough, make_objective(every, loss, every.weights, smoothing, few, scale))
        point, N = solver.roughly(rough, point, N, _FINE)
        near = point
    bare = loss
    if isinstance(rough, AnnealedObjective):
        settled = rough.settled(near)
        if settled is None:
            return None
        loss = settled
    elif isinstance(rough, FixedObjective):
        loss = rough.loss
    objective = FixedObjective(source, loss, bare, source.weights)

    def curvature(at: Subspace) -> SummedCurvature:
        return sample.curvature(at, loss, workers, moves_center=solver.moves_center)

    of_sample = FixedObjective(
        DenseSource(sample.rows, weights=sample.omega, workers=workers), loss, bare, sample.omega
    )

    def value(at: Subspace) -> float:
        return sample.share * of_sample(sample.lower(at), at.basis[:, :0]).objective

    closed: tuple[Subspace, Reach, Closing] | None = None

    def last(at: Subspace) -> Moments:
        nonlocal closed
        keep = reach(at)
        closed = (at, keep, close(source, at, loss, bare, keep))
        return finite(closed[2].moments)

    result = solver.run(
        objective, curvature, value, point, N, journal, wide=wide, exact=sample.whole, last=last
    )
    if closed is None or closed[0] is not result.point:
        return Found(result, objective, None)
    return Found(result, objective, closed[1:])


def _after(before: Objective | None, objective: Objective) -> Objective:
    """The objective on more rows, rounded off no more than the one before has come to be."""
    if before is not None and isinstance(objective, AnnealedObjective):
        objective.resume(before)
    return objective
