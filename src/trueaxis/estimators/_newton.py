"""The default fit of a row loss: solved on a sample first, and from there on all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueaxis import starts
from trueaxis._curvature import RowCurvature
from trueaxis._moments import Moments
from trueaxis._subspace import Subspace
from trueaxis._sweep import Sweep
from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators._objectives import AnnealedObjective, FixedObjective, make_objective
from trueaxis.losses import Loss
from trueaxis.solvers import Evaluate, Result
from trueaxis.solvers.driver import Journal
from trueaxis.solvers.newton import Descended, Newton
from trueaxis.sources import DenseSource

_ROWS, _ENTRIES = 4000, 800_000  # a sample has so many of either, whichever are more rows,
_SHARE = 10  # in a tenth of the rows of large data: half of their bytes, as float32
_LARGE = 1 << 22  # entries beyond which data are large
_PIECE = 1 << 17  # entries that are copied at once
_FURTHER = 2  # times k columns beside those of W
_FEW = 300  # rows that tell the scale of the residuals
_ALL_AXES = 40  # columns up to which a majorizing step sees all of A
_SAFE = 1e12  # sizes beyond which, or below the inverse of which, squares in float32 are lost


@dataclass(frozen=True)
class Sample:
    """Some rows of a source about `origin`, in float32 where they are many, and their weights."""

    rows: Array
    omega: Float64Array | None
    origin: Float64Array
    share: float
    whole: bool

    @classmethod
    def of(
        cls,
        source: DenseSource,
        weights: Float64Array | None,
        k: int,
        origin: Float64Array,
        rng: np.random.RandomState,
    ) -> Sample:
        """A tenth of the rows where they are many, drawn by weight; all where they are few."""
        n, m = source.shape
        size = max(_ROWS, _ENTRIES // m, 200 * k)
        if n * m > _LARGE:
            size = min(size, max(n // _SHARE, 20 * k))
        drawn = starts.sample_rows(n, weights, size, rng)
        if drawn is None:
            rows, omega = source.take(np.arange(n))
            return cls(rows - origin, omega, origin, 1.0, whole=True)
        rows = np.empty((len(drawn), m), np.float32)
        step = max(1, _PIECE // m)
        for i in range(0, len(drawn), step):
            rows[i : i + step] = source.take(drawn[i : i + step])[0] - origin
        mass = float(n if weights is None else weights.sum())
        return cls(rows, None, origin, mass / len(drawn), whole=False)

    def lower(self, point: Subspace) -> Subspace:
        """A point of the data, for rows about the origin."""
        return Subspace(point.basis, point.center - self.origin)


def newton_fit(
    source: DenseSource,
    weights: Float64Array | None,
    start: Subspace,
    loss: Loss,
    smoothing: float | None,
    scale: float,
    solver: Newton,
    journal: Journal,
    rng: np.random.RandomState,
    workers: Workers,
) -> tuple[Result, FixedObjective] | None:
    """The descent from `start`, and the objective it was made for.

    None where rows lie in the subspace exactly, more than any k + 1 of them must: they shall
    outweigh all others in the end, and J is not smooth there.
    """
    k, m = start.n_components, len(start.center)
    sample = Sample.of(source, weights, k, start.center, rng)
    some = DenseSource(sample.rows, weights=sample.omega, workers=workers)
    few = starts.rows_at(rng.random_sample(_FEW), len(sample.rows), sample.omega)
    if len(sample.rows) <= _FEW:
        few = np.arange(len(sample.rows))
    distinct = np.unique(sample.rows[few].astype(np.float64), axis=0)
    rough = make_objective(some, loss, sample.omega, smoothing, distinct, scale)
    further = m - k if m <= _ALL_AXES else min(m - k, max(10, _FURTHER * k))
    N = np.random.default_rng(0).standard_normal((m, further))
    counted = journal if sample.whole else None
    point, N = solver.roughly(rough, sample.lower(start), N, counted)
    bare = loss
    if isinstance(rough, AnnealedObjective):
        settled = rough.settled(point)
        if settled is None:
            return None
        loss = settled
    elif isinstance(rough, FixedObjective):
        loss = rough.loss
    point = Subspace(point.basis, point.center + sample.origin)
    objective = FixedObjective(source, loss, bare, weights)

    def curvature(at: Subspace) -> RowCurvature:
        return RowCurvature.at(
            sample.lower(at),
            sample.rows,
            sample.omega,
            sample.share,
            loss,
            moves_center=solver.moves_center,
        )

    function = Descended(objective, _coarse(source, loss, scale), curvature)
    return solver.run(function, point, N, journal), objective


def _coarse(source: DenseSource, loss: Loss, scale: float) -> Evaluate | None:
    """The objective with float32 products, where that is cheaper and the rows' size allows it."""
    n, m = source.shape
    if source.dtype != np.float64 or n * m <= _LARGE or not 1 / _SAFE < scale < _SAFE:
        return None
    narrow = np.dtype(np.float32)

    def evaluate(point: Subspace, probe: Float64Array | None) -> Moments:
        return source.reduce(Sweep.at(point, probe, loss, narrow))

    return evaluate
