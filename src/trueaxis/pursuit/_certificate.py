"""A lower bound of the optimum from a multiplier: what makes `tol` mean what it says."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from trueaxis._typing import Float64Array
from trueaxis.pursuit._problem import Problem
from trueaxis.pursuit._svt import gram

_ROUNDING = 16 * np.finfo(np.float64).eps


def lower_bound(problem: Problem, Y: Float64Array) -> float:
    """The dual objective at Y, brought within its bounds: no L and S cost less.

    Y must be 0 at missing entries. The spectral norm is not estimated but bounded from above.
    """
    if problem.centered:
        Y = without_column_sums(problem, Y)
    size = max(problem.map(lambda b: problem.penalty.dual_norm(Y[b])))
    scale = max(1.0, size / problem.lam, spectral_bound(problem, Y))
    return problem.dual_objective(Y, scale)


def without_column_sums(problem: Problem, Y: Float64Array) -> Float64Array:
    """The nearest matrix with column sums 0 that is 0 at missing entries."""
    if problem.observed is None:
        return np.asarray(Y - Y.mean(axis=0))
    counts = np.maximum(problem.observed.sum(axis=0), 1)
    return np.where(problem.observed, Y - Y.sum(axis=0) / counts, 0.0)


def spectral_bound(problem: Problem, Y: Float64Array) -> float:
    """An upper bound of ‖Y‖₂ that exceeds it by rounding only: √λ_max of the Gram matrix."""
    G = gram(problem, Y)
    k = len(G)
    top = scipy.linalg.eigvalsh(G, subset_by_index=[k - 1, k - 1], check_finite=False)[0]
    return float(np.sqrt(max(top, 0.0) + _ROUNDING * k * np.trace(G) / max(k, 1)))
