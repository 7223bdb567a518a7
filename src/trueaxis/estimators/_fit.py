"""One fit: how many axes, found from which rows, and what is reported of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from trueaxis import starts
from trueaxis._linalg import complete, numerical_rank
from trueaxis._subspace import Subspace
from trueaxis._sweep import Closing
from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators._problem import Problem, Settings
from trueaxis.estimators._spectrum import Spectrum, full_spectrum, is_graded, spectrum_within
from trueaxis.solvers import Result

_VANISHED = 1e-7  # residuals below this share of the typical distance are rounding


@dataclass(frozen=True)
class Fit:
    """What a fit found, in the coordinates and units of the data."""

    subspace: Subspace
    scatter: Float64Array
    leftover: float
    mass: float
    objective: float
    weights: Float64Array
    result: Result
    solver: str


def fit(
    X: Array,
    weights: Float64Array | None,
    unit: float,
    n_components: int | float | None,
    most: int,
    settings: Settings,
    workers: Workers,
    rng: np.random.RandomState,
) -> Fit:
    """The robust subspace of the rows of X / unit; `most` is the number of axes None stands for."""
    n, m = X.shape
    problem = Problem.pose(X, weights, unit, most, n_components, settings, workers, rng)
    # As many axes as centered rows can have leave no residual to weigh the rows by.
    exhausted = min(n - (settings.center is not None), m)
    if isinstance(n_components, int) and n_components < exhausted:
        found = _fit_dimension(problem, n_components)
        if found is not None:
            return found
    return _fit_by_scree(problem, n_components, exhausted, most)


def _fit_dimension(problem: Problem, k: int) -> Fit | None:
    """A fit of k axes; None where they leave no residual."""
    result, solver = problem.descend(k)
    closing = problem.close(result.point)
    if _vanished(problem, closing):
        return None
    spectrum = spectrum_within(problem.evaluate, result.point, closing.moments.gram)
    if solver == "reweighted" and problem.settings.solver == "auto" and is_graded(spectrum.values):
        # Eigenvectors of A itself lose the digits of its small eigenvalues.
        spectrum = full_spectrum(problem.evaluate, result.point).first(k)
        closing = problem.close(Subspace(spectrum.axes, result.point.center))
    return _report(problem, result, solver, spectrum, closing)


def _fit_by_scree(problem: Problem, wanted: int | float | None, exhausted: int, most: int) -> Fit:
    """All axes, or as many as hold a share of the variance, or as the rank allows.

    The weights come from a fit at the dimension of the robust scree. At its fixed point W spans
    eigenvectors of A, and the other eigenvectors of A complete the basis.
    """
    given = problem
    problem = replace(problem, basis=None, settings=_without_start(problem.settings))
    k = _scree_dimension(problem)
    while True:
        result, solver = problem.descend(k)
        closing = problem.close(result.point)
        if k == 0 or not _vanished(problem, closing):
            break
        k -= 1
    spectrum = full_spectrum(problem.evaluate, result.point)
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
    found = _report(problem, result, solver, spectrum.first(number), closing, left)
    return replace(found, subspace=_with_named_axes(found, problem))


def _report(
    problem: Problem,
    result: Result,
    solver: str,
    spectrum: Spectrum,
    closing: Closing,
    leftover: float | None = None,
) -> Fit:
    rows = np.concatenate(closing.rows)
    moments = closing.moments
    return Fit(
        subspace=problem.in_data(Subspace(spectrum.axes, result.point.center)),
        scatter=spectrum.values,
        leftover=moments.leftover if leftover is None else leftover,
        mass=moments.mass,
        objective=closing.objective,
        weights=rows[:, 1],
        result=result,
        solver=solver,
    )


def _with_named_axes(found: Fit, problem: Problem) -> Subspace:
    """The subspace with its axes of no variance chosen by the others alone.

    Any basis of what the rows do not span would do; this one does not depend on rounding.
    """
    V, center = found.subspace.basis, found.subspace.center
    offset = center / problem.unit
    size = float(np.sqrt(found.scatter[0] + found.mass * offset @ offset))
    rank = numerical_rank(np.sqrt(found.scatter), size, (problem.source.shape[0], len(V)))
    return Subspace(complete(V[:, :rank], V.shape[1]), center)


def _scree_dimension(problem: Problem) -> int:
    """The dimension of the robust scree, at most half the rank: more axes leave too little."""
    most = min(starts.sample_rank(problem.sample, problem.center) // 2, 10)
    if most < 1:
        return 0
    axes = problem.start(most)
    variances = starts.robust_scree(problem.sample, axes, problem.sample_weights)
    return min(starts.components_in_scree(variances), most)


def _without_start(settings: Settings) -> Settings:
    return settings if isinstance(settings.start, str) else replace(settings, start="auto")


def _vanished(problem: Problem, closing: Closing) -> bool:
    largest = max(float(rows[:, 0].max()) for rows in closing.rows)
    return largest <= (_VANISHED * problem.scale) ** 2
