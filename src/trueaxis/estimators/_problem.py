"""A fit posed: loss, rows and beginning brought together, in the coordinates that suit them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trueaxis import starts
from trueaxis._linalg import orthonormalize
from trueaxis._moments import Moments
from trueaxis._subspace import Subspace
from trueaxis._sweep import Closing, ClosingSweep, Sweep
from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators._coordinates import Coordinates, row_space
from trueaxis.estimators._l1 import PAPERS, L1Fit
from trueaxis.estimators._objectives import Objective, make_objective
from trueaxis.estimators._start import choose_start
from trueaxis.losses import L1, L2p, Loss, ScaledLoss
from trueaxis.solvers import (
    Accelerated,
    Callback,
    Orthogonal,
    Proximal,
    Result,
    Reweighted,
    Solver,
    TrueL1,
    location,
    run,
)
from trueaxis.sources import DenseSource

_SCATTER_COLUMNS = 2000  # beyond this, A (32 MB) is not formed even where n >= m
# Relative changes of an objective that is summed in float64 from products in this precision.
_ROUNDING = {np.dtype(np.float64): 2e-15, np.dtype(np.float32): 1e-7}
_AUTO_COLUMNS = 400  # up to here the eigenproblem of A is cheap beside the sweep


@dataclass(frozen=True)
class Settings:
    """The checked parameters of an estimator."""

    loss: Loss
    smoothing: float | None
    scaled_by_fit: bool
    solver: str
    center: str | Float64Array | None
    start: str | Float64Array
    n_starts: int | None
    check_breakdown: bool
    max_iter: int
    tol: float
    callback: Callback | None
    verbose: int

    def __post_init__(self) -> None:
        if self.solver == TrueL1.name and not isinstance(self.loss, L1):
            raise ValueError(
                f"solver={self.solver!r} minimizes the l1 objective and cannot minimize "
                f"loss={self.loss!r}; pass loss='l1', or solver='auto'."
            )

    @property
    def is_plain(self) -> bool:
        """Whether the loss is the square of the residual, and the fit plain PCA."""
        return isinstance(self.loss, L2p) and self.loss.p == 2.0

    @property
    def degree(self) -> float | None:
        """The power of the unit in the objective; None where a threshold is in units of its own."""
        degree = self.loss.degree
        return 2.0 if degree is None and self.scaled_by_fit else degree

    @property
    def moves_center(self) -> bool:
        """Whether the center is optimized along with the axes."""
        return isinstance(self.center, str) and self.center == "optimal"


@dataclass(frozen=True)
class Descent:
    """Where a solver arrived, for which objective."""

    result: Result
    solver: str
    objective: Objective

    @property
    def point(self) -> Subspace:
        """The subspace found."""
        return self.result.point


@dataclass(frozen=True)
class Problem:
    """Rows in the coordinates of the fit, a sample of them, and where the fit begins."""

    settings: Settings
    source: DenseSource
    weights: Float64Array | None
    coordinates: Coordinates
    center: Float64Array
    scale: float
    basis: Float64Array | None
    sample: Float64Array
    sample_weights: Float64Array | None
    distinct: Array
    seed: int
    unit: float

    @classmethod
    def pose(
        cls,
        X: Array,
        weights: Float64Array | None,
        unit: float,
        most: int,
        n_components: int | float | None,
        settings: Settings,
        workers: Workers,
        rng: np.random.RandomState,
    ) -> Problem:
        """The problem for the rows X / unit, of which at most `most` axes are wanted."""
        n, m = X.shape
        expected = n_components if isinstance(n_components, int) else min(most, 10)
        source = DenseSource(X, weights=weights, workers=workers, unit=unit)
        drawn = starts.sample_rows(n, weights, starts.sample_size(expected), rng)
        rows = np.arange(n) if drawn is None else drawn
        sample, sample_weights = source.take(rows)
        if drawn is not None:
            sample_weights = None  # drawn by weight
        distinct = np.unique(sample, axis=0, return_index=True)[1]
        center = _first_center(source, sample, sample_weights, settings.center, unit)
        scale = starts.typical_distance(sample, center, sample_weights)
        basis = None if isinstance(settings.start, str) else settings.start
        coordinates = Coordinates(np.zeros(m))
        further = np.zeros((0, m)) if basis is None else basis.T
        if not isinstance(n_components, int) or n_components > n:
            # Weights can stand for more rows than there are; their axes need room to be named.
            further = _any_directions(max(0, most - n), m)
        if not settings.loss.entrywise and n + len(further) < m:
            everything, _ = source.take(np.arange(n))
            reduced, lowered, coordinates = row_space(everything, center, further)
            basis = None if basis is None else np.ascontiguousarray(lowered.T)
            source = DenseSource(reduced, weights=weights, workers=workers)
            sample, center = reduced[rows], coordinates.lower(center)
        return cls(
            settings, source, weights, coordinates, center, scale, basis, sample, sample_weights,
            distinct, int(rng.randint(2**31 - 1)), unit,
        )  # fmt: skip

    @property
    def rng(self) -> np.random.RandomState:
        """Random numbers, the same ones for every use: no draw depends on those made before."""
        return np.random.RandomState(self.seed)

    def start(self, k: int) -> Subspace:
        """The subspace of dimension k where the fit begins."""
        name = self.settings.start
        if self.basis is not None:
            return Subspace(self.basis, self.center)
        if name == "random":
            basis = starts.random_basis(len(self.center), k, self.rng)
        elif name == "auto":
            return choose_start(
                self.sample,
                self.sample_weights,
                k,
                self.center,
                self.settings.loss,
                self.settings.n_starts,
                self.rng,
                moves=self.settings.moves_center,
            )
        else:
            basis = starts.STARTS[str(name)](self.sample, k, self.center, self.sample_weights)
        return Subspace(basis, self.center)

    def descend(self, k: int) -> Descent:
        """Run the solver from the start."""
        settings = self.settings
        start = self.start(k) if k else Subspace(np.zeros((len(self.center), 0)), self.center)
        objective = self._objective(start)
        if k == 0:
            result = location(objective, self.center, max_iter=settings.max_iter, tol=settings.tol)
            return Descent(result, "location", objective)
        begin = start if settings.moves_center else Subspace(start.basis, self.center)
        if isinstance(settings.loss, L1) and settings.solver in ("auto", TrueL1.name):
            result = self._true_l1(start).descend(
                begin, self._in_data_coordinates(settings.callback), settings.verbose
            )
            return Descent(result, TrueL1.name, objective)
        solver = self._solver(settings.solver)
        result = run(
            solver,
            objective,
            begin,
            move_center=settings.moves_center,
            max_iter=settings.max_iter,
            tol=settings.tol,
            rounding=_ROUNDING[self.source.dtype],
            callback=self._in_data_coordinates(settings.callback),
            verbose=settings.verbose,
        )
        return Descent(result, solver.name, objective)

    def _objective(self, start: Subspace) -> Objective:
        loss = self.settings.loss
        if self.settings.scaled_by_fit and isinstance(loss, ScaledLoss):
            residuals = np.linalg.norm(start.residuals(self.sample), axis=1)
            typical = float(starts.weighted_median(residuals, self.sample_weights))
            loss = loss.scaled(max(typical, 1e-9 * self.scale))
        return make_objective(
            self.source,
            loss,
            self.weights,
            self.settings.smoothing,
            self.sample[self.distinct],
            self.scale,
        )

    def _true_l1(self, start: Subspace) -> L1Fit:
        settings = self.settings
        return L1Fit(
            self.source,
            lambda: self._objective(start),
            self.sample,
            self.sample_weights,
            [self._solver(name) for name in PAPERS],
            TrueL1(self.scale, settings.moves_center, settings.max_iter, settings.tol),
            _ROUNDING[self.source.dtype],
        )

    def _solver(self, name: str) -> Solver[Any, Any]:
        """The solver asked for; "auto" chooses by the shape of the data."""
        m = self.source.shape[1]
        if name == "proximal":
            return Proximal()
        if name == "accelerated":
            return Accelerated()
        if name == "orthogonal":
            return Orthogonal()
        # One eigenproblem is all of plain PCA; other losses have as many as they have steps.
        if name == "auto" and m > _AUTO_COLUMNS and not self.settings.is_plain:
            return Orthogonal()
        if m > _SCATTER_COLUMNS:
            return Reweighted(form_scatter=False)
        return Reweighted(span=self.span())

    def span(self) -> Float64Array | None:
        """A basis of a space that holds the rows, where they are few and in their own columns."""
        n, m = self.source.shape
        if n >= m or self.coordinates.Q is not None:
            return None
        # ℓ1 rows cannot be rotated into their own span, but the eigenvectors of A lie in it.
        everything, _ = self.source.take(np.arange(n))
        return orthonormalize((everything - self.center).T)

    def close(self, objective: Objective, point: Subspace) -> Closing:
        """One last sweep at the point: t_i and d_i of every row."""
        sweep = Sweep.at(point, point.basis, objective.loss_at(point), self.source.dtype)
        return self.source.reduce(ClosingSweep(sweep))

    def in_data(self, subspace: Subspace) -> Subspace:
        """A subspace in the coordinates and units of the data."""
        lifted = self.coordinates.lift(subspace)
        return Subspace(lifted.basis, lifted.center * self.unit)

    def _in_data_coordinates(self, callback: Callback | None) -> Callback | None:
        if callback is None:
            return None
        factor = self.unit ** (self.settings.degree or 0.0)

        def told(subspace: Subspace, record: np.record) -> None:
            record = record.copy()
            record["objective"] *= factor
            callback(self.in_data(subspace), record)

        return told


def _any_directions(k: int, m: int) -> Float64Array:
    return np.random.default_rng(0).standard_normal((k, m))


def _first_center(
    source: DenseSource,
    sample: Float64Array,
    weights: Float64Array | None,
    center: str | Float64Array | None,
    unit: float,
) -> Float64Array:
    """Where the center begins, or stays if it is not optimized."""
    if center is None:
        return np.zeros(source.shape[1])
    if not isinstance(center, str):
        return center / unit
    guess = starts.spatial_median(sample, weights)
    if center == "optimal":
        return guess
    # Means are taken about the guess, which keeps the digits of data far from the origin.
    power, steps = (2.0, 1) if center == "mean" else (1.0, 1000)
    loss = L2p(power, epsilon=1e-7 * starts.typical_distance(sample, guess, weights))

    def evaluate(point: Subspace, probe: Float64Array | None) -> Moments:
        return source.reduce(Sweep.at(point, probe, loss, source.dtype))

    return np.asarray(location(evaluate, guess, max_iter=steps, tol=1e-12).point.center)
