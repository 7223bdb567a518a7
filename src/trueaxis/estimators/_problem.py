"""A fit posed: loss, rows and beginning brought together, in the coordinates that suit them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trueaxis import starts
from trueaxis._linalg import orthonormalize
from trueaxis._products import complete_rows
from trueaxis._subspace import Subspace
from trueaxis._sweep import Closing
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators._center import first_center
from trueaxis.estimators._completion import take_sample
from trueaxis.estimators._coordinates import Coordinates, in_row_space, telling
from trueaxis.estimators._description import Reach
from trueaxis.estimators._draws import Draws
from trueaxis.estimators._l1 import PAPERS, L1Fit
from trueaxis.estimators._newton import newton_fit
from trueaxis.estimators._objectives import Objective, close, make_objective
from trueaxis.estimators._settings import Settings
from trueaxis.estimators._solver import choose_solver
from trueaxis.estimators._start import choose_start
from trueaxis.losses import L1, L2p, Loss, ScaledLoss, ScaleMinimizer
from trueaxis.solvers import Callback, Result, Reweighted, Solver, TrueL1, location, run
from trueaxis.solvers.driver import Journal
from trueaxis.solvers.newton import Newton
from trueaxis.sources import Source

# Relative changes of an objective that is summed in float64 from products in this precision.
_ROUNDING = {np.dtype(np.float64): 2e-15, np.dtype(np.float32): 1e-7}
_ROUNDED = 8.0  # times eps, a share of the farthest row's distance that rounding may make
_TINY = 1 << 13  # entries up to which the exact eigenproblem of A costs least
_PATIENCE = 4  # gaps below tol that a rate of few steps needs to be believed


@dataclass(frozen=True)
class Descent:
    """Where a solver arrived, for which objective."""

    result: Result
    solver: str
    objective: Objective
    closing: tuple[Reach, Closing] | None = None

    @property
    def point(self) -> Subspace:
        """The subspace found."""
        return self.result.point


@dataclass(frozen=True)
class Problem:
    """Rows in the coordinates of the fit, a sample of them, and where the fit begins."""

    settings: Settings
    source: Source
    coordinates: Coordinates
    center: Float64Array
    scale: float
    basis: Float64Array | None
    sample: Float64Array
    sample_weights: Float64Array | None
    distinct: Array
    seed: int
    unit: float
    gaps: Array | None

    @classmethod
    def pose(
        cls,
        source: Source,
        most: int,
        n_components: int | float | None,
        settings: Settings,
        draws: Draws,
    ) -> Problem:
        """The problem for the rows of a source, of which at most `most` axes are wanted."""
        rows = np.arange(source.shape[0]) if draws.start is None else draws.start
        basis = None if isinstance(settings.start, str) else settings.start
        unit = source.unit
        source, basis, coordinates, wide = in_row_space(source, basis, n_components, most, settings)
        sample, sample_weights, gaps = take_sample(
            source,
            rows,
            n_components,
            settings,
            np.random.RandomState(draws.seed),
            by_weight=draws.start is not None,
        )
        # In other coordinates rows that repeat one another differ by rounding.
        distinct = starts.distinct_rows(*((sample,) if wide is None else (telling(wide), rows)))
        if coordinates.is_own or isinstance(settings.center, str):
            center = first_center(source, sample, sample_weights, settings.center, unit)
        else:
            center = np.zeros(source.shape[1])  # the origin
        scale = starts.typical_distance(sample, center, sample_weights)
        return cls(
            settings, source, coordinates, center, scale, basis, sample, sample_weights,
            distinct, draws.seed, unit, gaps,
        )  # fmt: skip

    @property
    def rng(self) -> np.random.RandomState:
        """Random numbers, the same ones for every use: no draw depends on those made before."""
        return np.random.RandomState(self.seed)

    def sample_at(self, point: Subspace) -> Float64Array:
        """The sample, with gaps filled as they are in a sweep at `point`."""
        if self.gaps is None:
            return self.sample
        return complete_rows(np.where(self.gaps, np.nan, self.sample), point.center, point.basis)

    def start(self, k: int, *, hard: bool = True) -> Subspace:
        """The subspace of dimension k where the fit begins.

        `hard` asks for the many starts that an objective with many minima needs.
        """
        name, settings = self.settings.start, self.settings
        if k == 0:
            return Subspace(np.zeros((len(self.center), 0)), self.center)
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
                settings.loss,
                settings.n_starts,
                self.rng,
                self.source.workers,
                moves=settings.moves_center,
                hard=hard and settings.has_many_minima,
                many_minima=settings.has_many_minima,
            )
        else:
            basis = starts.STARTS[str(name)](self.sample, k, self.center, self.sample_weights)
        return Subspace(basis, self.center)

    def descend(self, k: int) -> Descent:
        """Run the solver from the start."""
        settings = self.settings
        start = self.start(k, hard=settings.n_starts is not None or not self._is_easy)
        if k and self._is_easy and self._bends(k):
            found = self._newton(start)
            if found is not None:
                return found
            start = self.start(k)
        objective = self._objective(start)
        if k == 0:
            result = location(objective, self.center, max_iter=settings.max_iter, tol=settings.tol)
            return Descent(result, "location", objective)
        if isinstance(settings.loss, L1) and settings.solver in ("auto", TrueL1.name):
            result = self._true_l1(start).descend(
                self._begin(start), self._told(settings.callback), settings.verbose
            )
            return Descent(result, TrueL1.name, objective)
        solver = self._solver(settings.solver)
        # The leading eigenvectors of A minimize the sum of squares: there is no second step.
        direct = settings.is_plain and isinstance(solver, Reweighted) and settings.tol > 0
        direct = direct and self.gaps is None  # what fills them moves with the axes
        result = run(
            solver,
            objective,
            self._begin(start),
            move_center=settings.moves_center,
            max_iter=1 if direct else settings.max_iter,
            tol=settings.tol,
            rounding=_ROUNDING[self.source.dtype],
            negligible=self._negligible(start),
            patience=_PATIENCE if self._is_easy else 1,
            ready=objective.is_settled,
            callback=self._told(settings.callback),
            verbose=settings.verbose,
        )
        result = replace(result, converged=result.converged or direct)
        return Descent(result, solver.name, objective)

    @property
    def _is_easy(self) -> bool:
        """Whether the solver is ours to choose, and the loss one that Newton's may minimize."""
        complete = self.gaps is None  # as Newton's curvature presumes
        return complete and self.settings.solver == "auto" and self.settings.is_smooth_sum

    def _bends(self, k: int) -> bool:
        """Whether J has second derivatives to speak of, and a sweep costs more than their use.

        They hold the mean of ‖r‖^{p−2}, which is finite where r has more than 2 − p dimensions.
        """
        n, m = self.source.shape
        loss = self.settings.loss
        return n * m > _TINY and (not isinstance(loss, L2p) or m - k > 2.0 - loss.p)

    def _negligible(self, start: Subspace) -> float:
        """What residuals that are rounding of the rows would add up to."""
        n, reach = self.source.shape[0], np.linalg.norm(self.sample - self.center, axis=1).max()
        t = (_ROUNDED * float(np.finfo(self.source.dtype).eps) * reach) ** 2
        loss, omega = self._loss_at(start), self.source.weights
        if loss.entrywise:
            return 0.0
        if isinstance(loss, ScaleMinimizer):
            return loss.objective(np.full(n, t), omega)
        value, _ = loss.value_and_weight(np.array([t]))
        return float(value[0]) * (n if omega is None else float(omega.sum()))

    def _begin(self, start: Subspace) -> Subspace:
        return start if self.settings.moves_center else Subspace(start.basis, self.center)

    def _newton(self, start: Subspace) -> Descent | None:
        settings = self.settings
        found = newton_fit(
            self.source,
            self._begin(start),
            self._loss_at(start),
            settings.smoothing,
            self.scale,
            Newton(
                settings.moves_center,
                settings.max_iter,
                settings.tol,
                _ROUNDING[self.source.dtype],
            ),
            Journal(self._told(settings.callback), settings.verbose),
            self.rng,
            self.source.workers,
            self.reach,
        )
        if found is None:
            return None
        return Descent(found.result, Newton.name, found.objective, found.closing)

    def _loss_at(self, start: Subspace) -> Loss:
        """The loss, with thresholds in units of the residuals that the start leaves."""
        loss = self.settings.loss
        if self.settings.scaled_by_fit and isinstance(loss, ScaledLoss):
            residuals = np.linalg.norm(start.residuals(self.sample_at(start)), axis=1)
            typical = float(starts.weighted_median(residuals, self.sample_weights))
            return loss.scaled(max(typical, 1e-9 * self.scale))
        return loss

    def _objective(self, start: Subspace) -> Objective:
        return make_objective(
            self.source,
            self._loss_at(start),
            self.source.weights,
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
        plain = self.settings.is_plain
        return choose_solver(name, self.source.shape[1], self.span, plain=plain)

    def span(self) -> Float64Array | None:
        """A basis of a space that holds the rows, where they are few and in their own columns."""
        n, m = self.source.shape
        if n >= m or not self.coordinates.is_own or self.gaps is not None:
            return None
        # ℓ1 rows cannot be rotated into their own span, but the eigenvectors of A lie in it.
        everything, _ = self.source.take(np.arange(n))
        return orthonormalize((everything - self.center).T)

    def reach(self, point: Subspace) -> Reach:
        """Which rows the variances are of: all, in plain PCA."""
        if self.settings.is_plain:
            return Reach(np.inf)
        return Reach.of(self.sample_at(point), self.sample_weights, point)

    def close(self, descent: Descent) -> tuple[Reach, Closing]:
        """What a last sweep where a descent ended tells of the rows, and which of them agree."""
        if descent.closing is not None:
            return descent.closing
        keep = self.reach(descent.point)
        objective = descent.objective
        loss = objective.loss_at(descent.point)
        return keep, close(self.source, descent.point, loss, objective.bare, keep)

    def in_data(self, subspace: Subspace) -> Subspace:
        """A subspace in the coordinates and units of the data."""
        lifted = self.coordinates.lift(subspace)
        return Subspace(lifted.basis, lifted.center * self.unit)

    def _told(self, callback: Callback | None) -> Callback | None:
        if callback is None:
            return None
        factor = self.unit ** (self.settings.degree or 0.0)

        def told(subspace: Subspace, record: np.record) -> None:
            record = record.copy()
            record["objective"] *= factor
            callback(self.in_data(subspace), record)

        return told
