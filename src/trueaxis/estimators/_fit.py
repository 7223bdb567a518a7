"""One fit: how many axes, found from which rows, and what is reported of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from trueaxis._linalg import complete, numerical_rank
from trueaxis._moments import Moments, Spread
from trueaxis._subspace import Subspace
from trueaxis._sweep import Closing
from trueaxis._typing import Float64Array
from trueaxis.estimators import _description
from trueaxis.estimators._breakdown import Contradiction, Resistant
from trueaxis.estimators._completion import scree_dimension
from trueaxis.estimators._description import Reach
from trueaxis.estimators._draws import Draws
from trueaxis.estimators._objectives import FixedObjective, KeptObjective
from trueaxis.estimators._problem import Descent, Problem
from trueaxis.estimators._settings import Settings
from trueaxis.estimators._spectrum import Spectrum, full_spectrum, is_graded, spectrum_within
from trueaxis.losses import L2p
from trueaxis.solvers import Evaluate, Result, Reweighted, run
from trueaxis.sources import Source

Doubt: TypeAlias = Callable[[Subspace], Contradiction | None]
"""Subspace found → what a fit of high breakdown point says against it."""

_VANISHED = 1e-7  # residuals below this share of the typical distance are rounding


@dataclass(frozen=True)
class Fit:
    """What a fit found, in the coordinates and units of the data."""

    subspace: Subspace
    scatter: Float64Array
    leftover: float
    mass: float
    objective: float
    weights: Float64Array | None
    result: Result
    solver: str
    against: Contradiction | None


def fit(
    source: Source,
    n_components: int | float | None,
    most: int,
    settings: Settings,
    draws: Draws,
) -> Fit:
    """The robust subspace of the rows of a source; `most` is the number of axes None stands for."""
    n, m = source.shape
    problem = Problem.pose(source, most, n_components, settings, draws)
    # As many axes as centered rows can have leave no residual to weigh the rows by.
    exhausted = min(n - isinstance(settings.center, str), m)
    if isinstance(n_components, int) and n_components < exhausted:
        found = _fit_dimension(problem, n_components)
        if found is not None:
            return found
    return _fit_by_scree(problem, n_components, exhausted, most)


def _fit_dimension(problem: Problem, k: int) -> Fit | None:
    """A fit of k axes; None where they leave no residual."""
    doubt = _doubt(problem, k)
    descent = _efficient(problem, problem.descend(k))
    reach, closing = problem.close(descent)
    if _vanished(problem, closing):
        return None
    about_mean = _Mean.of(problem, closing, reach, descent.point)
    descent = about_mean.within(problem, descent)
    point, spread = descent.point, about_mean.spread
    if problem.settings.is_plain and is_graded(np.asarray(np.linalg.eigvalsh(spread.gram))[::-1]):
        # Eigenvectors of A itself lose the digits of its small eigenvalues.
        spectrum = full_spectrum(about_mean, point)
        left = float(spectrum.values[k:].sum())
        return _report(problem, descent, spectrum.first(k), left, spread.mass, closing, doubt)
    spectrum = spectrum_within(about_mean, point, spread.gram)
    spectrum = Spectrum(spectrum.axes, spectrum.values * reach.inflation)
    # Of a row with gaps only the observed entries leave a residual.
    m = problem.source.shape[1]
    seen = max(m * problem.source.observed - k, 1.0)
    left = spread.leftover * ((m - k) / seen)
    found = _report(problem, descent, spectrum, left, spread.mass, closing, doubt)
    return _with_named_axes(found, problem, within=found.subspace.basis)


def _fit_by_scree(problem: Problem, wanted: int | float | None, exhausted: int, most: int) -> Fit:
    """All axes, or as many as hold a share of the variance, or as the rank allows.

    The rows that count come from a fit at the dimension of the robust scree; all axes are then
    those of their covariance.
    """
    given = problem
    problem = replace(problem, basis=None, settings=_without_start(problem.settings))
    k = scree_dimension(problem.sample, problem.sample_weights, problem.center)
    while True:
        descent = _efficient(problem, problem.descend(k))
        reach, closing = problem.close(descent)
        if k == 0 or not _vanished(problem, closing):
            break
        k -= 1
    about_mean = _Mean.of(problem, closing, reach, descent.point)
    descent = about_mean.within(problem, descent)
    spectrum = full_spectrum(about_mean, descent.point, problem.span())
    within = np.sum((descent.point.basis.T @ spectrum.axes) ** 2, axis=0)
    spectrum = Spectrum(spectrum.axes, spectrum.values * (1 + (reach.inflation - 1) * within))
    if wanted is None:
        number = most
    elif isinstance(wanted, int):
        number = wanted
    else:
        # scikit-learn's rule: the first number of axes whose share exceeds the one asked for.
        shares = np.cumsum(spectrum.values) / max(float(spectrum.values.sum()), 1e-300)
        number = min(int(np.searchsorted(shares, wanted, side="right")) + 1, most)
        if number < exhausted and number != k:
            found = _fit_dimension(replace(given, basis=None), number)
            if found is not None:
                return found
    left = float(spectrum.values[number:].sum())
    mass = about_mean.spread.mass
    doubt = _doubt(problem, descent.point.n_components)
    found = _report(problem, descent, spectrum.first(number), left, mass, closing, doubt)
    return _with_named_axes(found, problem)


def _efficient(problem: Problem, descent: Descent) -> Descent:
    """After a bounded loss, the principal axes of the rows that agree with what it found.

    A high breakdown point costs a bounded loss the precision that the rows it hardly counts could
    have given; least squares of all but the far rows has it back (one-step reweighting).
    """
    if not problem.settings.has_own_scale:
        return descent
    keep = _description.near_rows(problem.source, descent.point)
    objective = KeptObjective(problem.source, descent.point, keep)
    result = run(
        Reweighted(form_scatter=len(problem.center) <= 2000),
        objective,
        descent.point,
        move_center=problem.settings.moves_center,
        max_iter=1,
        tol=0.0,
    )
    return replace(descent, result=replace(descent.result, point=result.point))


@dataclass(frozen=True)
class _Mean:
    """Moments of the rows that count about their mean, unless the user has set the center."""

    rows: Evaluate
    center: Float64Array
    spread: Spread

    @classmethod
    def of(cls, problem: Problem, closing: Closing, keep: Reach, point: Subspace) -> _Mean:
        source, kept = problem.source, closing.kept
        # Where every row counts there is no need to look which do.
        everything = FixedObjective(source, L2p(2.0), L2p(2.0), source.weights)
        rows = everything if keep.is_all else KeptObjective(source, point, keep)
        if not isinstance(problem.settings.center, str):
            return cls(rows, point.center, kept)
        return cls(rows, point.center + kept.shift, kept.about_mean(point.basis))

    def __call__(self, point: Subspace, probe: Float64Array | None) -> Moments:
        twice = self.rows(
            Subspace(point.basis, self.center), probe
        )  # least squares weigh a row by 2
        return replace(twice, product=twice.product / 2, gram=twice.gram / 2)

    def within(self, problem: Problem, descent: Descent) -> Descent:
        """The same subspace, its center moved along it to where the mean is.

        Where a center lies along the axes makes no difference to any residual: it is left to the
        few rows of the largest weights, and would be as uncertain as they are few.
        """
        if not problem.settings.moves_center:
            return descent
        W, center = descent.point.basis, descent.point.center
        point = Subspace(W, center + W @ (W.T @ (self.center - center)))
        return replace(descent, result=replace(descent.result, point=point))


def _report(
    problem: Problem,
    descent: Descent,
    spectrum: Spectrum,
    leftover: float,
    mass: float,
    closing: Closing,
    doubt: Doubt,
) -> Fit:
    point = descent.point
    exact = descent.objective.exact(closing)
    return Fit(
        subspace=problem.in_data(Subspace(spectrum.axes, point.center)),
        scatter=spectrum.values,
        leftover=leftover,
        mass=mass,
        objective=descent.result.history[-1]["objective"] if exact is None else exact,
        weights=np.concatenate(closing.weights) if closing.weights else None,
        result=descent.result,
        solver=descent.solver,
        against=doubt(point),
    )


def _doubt(problem: Problem, k: int) -> Doubt:
    """The check of subspaces of dimension k, which is got ready while they are looked for."""
    settings = problem.settings
    if not settings.check_breakdown or _withstands(problem):
        return lambda found: None

    def resistant(rows: Float64Array) -> Resistant | None:
        weights, center = problem.sample_weights, problem.center
        return Resistant.fit(rows, weights, k, center, problem.rng, moves=settings.moves_center)

    def against(found: Subspace) -> Contradiction | None:
        # What fills the gaps of rows depends on the subspace found.
        ready = at_hand() if problem.gaps is None else resistant(problem.sample_at(found))
        return None if ready is None else ready.contradicts(found)

    if problem.gaps is None:
        at_hand = problem.source.workers.meanwhile(lambda: resistant(problem.sample))
    return against


def _withstands(problem: Problem) -> bool:
    """Plain PCA was asked for as it is, and a bounded loss has the high breakdown point itself."""
    return problem.settings.is_plain or problem.settings.has_own_scale


def _with_named_axes(found: Fit, problem: Problem, within: Float64Array | None = None) -> Fit:
    """The fit with its axes of no variance chosen by the others alone.

    Any basis of what the rows do not span would do; this one does not depend on rounding.
    """
    V, center = found.subspace.basis, found.subspace.center
    offset = center / problem.unit
    size = float(np.sqrt(found.scatter[0] + found.mass * offset @ offset))
    rank = numerical_rank(np.sqrt(found.scatter), size, (problem.source.shape[0], len(V)))
    axes = complete(V[:, :rank], V.shape[1], within)
    return replace(found, subspace=Subspace(axes, center))


def _without_start(settings: Settings) -> Settings:
    return settings if isinstance(settings.start, str) else replace(settings, start="auto")


def _vanished(problem: Problem, closing: Closing) -> bool:
    return closing.farthest <= (_VANISHED * problem.scale) ** 2
