"""What is said of the subspace found: axes and variances of the rows that agree with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from trueaxis import outliers
from trueaxis._subspace import Subspace
from trueaxis._sweep import row_terms
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators._objectives import FixedObjective
from trueaxis.losses import L2p
from trueaxis.sources import DenseSource

# Rows beyond these quantiles of a Gaussian's distances do not count for variances. Far out, so
# that few good rows are lost; what the score quantile cuts off a Gaussian is made up for.
_ORTHOGONAL, _SCORE = 0.9999, 0.99


@dataclass(frozen=True)
class Regular:
    """The rows that agree with a subspace, and what leaving the others out takes from variances."""

    keep: Array
    inflation: float


def regular_rows(
    source: DenseSource,
    omega: Float64Array | None,
    point: Subspace,
    sample: Float64Array,
    sample_omega: Float64Array | None,
) -> Regular:
    """Rows near the subspace, and within it near the middle of the others.

    The scores' location and scatter come from the rows of the sample that are near; with S their
    robust scatter a row is within reach where (z − μ)ᵀS⁻¹(z − μ) ≤ χ²_{k,0.99}. The variance of
    what is left of a Gaussian then falls short by F_{k+2}(χ²)/F_k(χ²), which is made up for.
    """
    k = point.n_components
    terms = source.collect(row_terms(point, source.dtype)).astype(np.float64, copy=False)
    orthogonal = np.sqrt(terms[:, 0])
    cutoff = outliers.orthogonal_cutoff(orthogonal, _ORTHOGONAL, omega)
    keep = orthogonal <= cutoff
    near = np.linalg.norm(point.residuals(sample), axis=1) <= cutoff
    mass = np.ones(len(sample)) if sample_omega is None else sample_omega
    if k == 0 or mass[near].sum() < 5 * k + 5:
        return Regular(keep, 1.0)
    location, scatter = outliers.robust_scatter(point.project(sample)[near], mass[near])
    reach = float(chi2.ppf(_SCORE, k))
    distances = outliers.score_distances(terms[:, 1:], location, scatter)
    keep &= distances <= np.sqrt(reach)
    return Regular(keep, _SCORE / float(chi2.cdf(reach, k + 2)))


def near_rows(source: DenseSource, omega: Float64Array | None, point: Subspace) -> Array:
    """Rows whose orthogonal distance is within the cut-off."""
    terms = source.collect(row_terms(point, source.dtype))
    orthogonal = np.sqrt(terms[:, 0].astype(np.float64))
    return np.asarray(orthogonal <= outliers.orthogonal_cutoff(orthogonal, _ORTHOGONAL, omega))


def everything(n: int) -> Regular:
    """All rows count: at p = 2, as in plain PCA."""
    return Regular(np.ones(n, dtype=bool), 1.0)


def of_rows(source: DenseSource, keep: Array, omega: Float64Array | None) -> FixedObjective:
    """Plain least squares on some of the rows, the weights of the others being 0."""
    kept = keep.astype(np.float64) if omega is None else np.where(keep, omega, 0.0)
    chosen = source.weighted(None if omega is None and keep.all() else kept)
    return FixedObjective(chosen, L2p(2.0), L2p(2.0), kept)
