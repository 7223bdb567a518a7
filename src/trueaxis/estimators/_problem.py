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
from trueaxis.losses import L1, L2p, Loss
from trueaxis.solvers import (
    Accelerated,
    Callback,
    Orthogonal,
    Proximal,
    Result,
    Reweighted,
    Solver,
    location,
    run,
)
from trueaxis.sources import DenseSource

# The largest weight that smoothing leaves a row, beside one at the typical distance: beyond it the
# scatter matrix is dominated by the rounding of the few rows that the subspace passes through.
_LARGEST_WEIGHT = 1e7
_SMOOTHING = 1e-7
_SCATTER_COLUMNS = 2000  # beyond this, A (32 MB) is not formed even where n >= m
_AUTO_COLUMNS = 400  # up to here the eigenproblem of A is cheap beside the sweep


@dataclass(frozen=True)
class Settings:
    """The checked parameters of an estimator."""

    loss: Loss
    smoothing: float | None
    solver: str
    center: str | Float64Array | None
    start: str | Float64Array
    max_iter: int
    tol: float
    callback: Callback | None
    verbose: int

    @property
    def moves_center(self) -> bool:
        """Whether the center is optimized along with the axes."""
        return isinstance(self.center, str) and self.center == "optimal"


@dataclass(frozen=True)
class Problem:
    """Rows in the coordinates of the fit, the smoothed loss, and where the fit begins."""

    settings: Settings
    source: DenseSource
    coordinates: Coordinates
    loss: Loss
    center: Float64Array
    scale: float
    basis: Float64Array | None
    sample: Float64Array
    sample_weights: Float64Array | None
    rng: np.random.RandomState
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
        rows = starts.sample_rows(n, expected, rng)
        sample, sample_weights = source.take(rows)
        center = _first_center(source, sample, sample_weights, settings.center, unit)
        scale = starts.typical_distance(sample, center, sample_weights)
        loss = settings.loss
        if isinstance(loss, L2p | L1):
            loss = loss.smoothed(_smoothing(loss, settings.smoothing) * scale)
        basis = None if isinstance(settings.start, str) else settings.start
        coordinates = Coordinates(np.zeros(m))
        further = np.zeros((0, m)) if basis is None else basis.T
        if not isinstance(n_components, int) or n_components > n:
            # Weights can stand for more rows than there are; their axes need room to be named.
            further = _any_directions(max(0, most - n), m)
        if not loss.entrywise and n + len(further) < m:
            everything, _ = source.take(np.arange(n))
            reduced, lowered, coordinates = row_space(everything, center, further)
            basis = None if basis is None else np.ascontiguousarray(lowered.T)
            source = DenseSource(reduced, weights=weights, workers=workers)
            sample, center = reduced[rows], coordinates.lower(center)
        return cls(
            settings, source, coordinates, loss, center, scale, basis, sample, sample_weights,
            rng, unit,
        )  # fmt: skip

    def evaluate(self, point: Subspace, probe: Float64Array | None) -> Moments:
        """The moments of one sweep over the rows."""
        return self.source.reduce(Sweep.at(point, probe, self.loss, self.source.dtype))

    def start(self, k: int) -> Subspace:
        """The subspace of dimension k where the fit begins."""
        name = self.settings.start
        if self.basis is not None:
            return Subspace(self.basis, self.center)
        if name == "random":
            basis = starts.random_basis(len(self.center), k, self.rng)
        else:
            find = starts.STARTS["spherical" if name == "auto" else str(name)]
            basis = find(self.sample, k, self.center, self.sample_weights)
        return Subspace(basis, self.center)

    def descend(self, k: int) -> tuple[Result, str]:
        """Run the solver from the start; the result, and the solver's name."""
        settings = self.settings
        if k == 0:
            result = location(
                self.evaluate, self.center, max_iter=settings.max_iter, tol=settings.tol
            )
            return result, "location"
        solver = self._solver()
        result = run(
            solver,
            self.evaluate,
            self.start(k),
            move_center=settings.moves_center,
            max_iter=settings.max_iter,
            tol=settings.tol,
            callback=self._in_data_coordinates(settings.callback),
            verbose=settings.verbose,
        )
        return result, solver.name

    def _solver(self) -> Solver[Any, Any]:
        """The solver asked for; "auto" chooses by the shape of the data."""
        n, m = self.source.shape
        name = self.settings.solver
        if name == "proximal":
            return Proximal()
        if name == "accelerated":
            return Accelerated()
        if name == "orthogonal" or (name == "auto" and m > _AUTO_COLUMNS):
            return Orthogonal()
        if m > _SCATTER_COLUMNS:
            return Reweighted(form_scatter=False)
        if n < m and self.coordinates.Q is None:
            # ℓ1 rows cannot be rotated into their own span, but the eigenvectors of A lie in it.
            everything, _ = self.source.take(np.arange(n))
            rows = everything - self.center if self.settings.center is not None else everything
            return Reweighted(span=orthonormalize(rows.T))
        return Reweighted()

    def close(self, point: Subspace) -> Closing:
        """One last sweep at the point: moments within it, t_i and d_i of every row."""
        sweep = Sweep.at(point, point.basis, self.loss, self.source.dtype)
        return self.source.reduce(ClosingSweep(sweep, exact=self.settings.loss))

    def in_data(self, subspace: Subspace) -> Subspace:
        """A subspace in the coordinates and units of the data."""
        lifted = self.coordinates.lift(subspace)
        return Subspace(lifted.basis, lifted.center * self.unit)

    def _in_data_coordinates(self, callback: Callback | None) -> Callback | None:
        if callback is None:
            return None
        return lambda subspace, record: callback(self.in_data(subspace), record)


def _smoothing(loss: L2p | L1, asked: float | None) -> float:
    """ε as a share of the typical distance; where none is asked for, the one of that weight."""
    if asked is not None:
        return asked
    power = loss.p if isinstance(loss, L2p) else 1.0
    return max(_SMOOTHING, _LARGEST_WEIGHT ** (-1.0 / (2.0 - power))) if power < 2.0 else 0.0


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
    loss = L2p(power, epsilon=_SMOOTHING * starts.typical_distance(sample, guess, weights))

    def evaluate(point: Subspace, probe: Float64Array | None) -> Moments:
        return source.reduce(Sweep.at(point, probe, loss, source.dtype))

    return np.asarray(location(evaluate, guess, max_iter=steps, tol=1e-12).point.center)
