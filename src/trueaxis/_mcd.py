"""Location and scatter of the half of the rows that agree best.

The minimum covariance determinant (Rousseeuw 1984): of all subsets that hold half of the mass, the
one whose covariance has the smallest determinant. It is scaled to be consistent at the Gaussian,
and reweighted twice for efficiency. Nothing here is random, and a weight of 2 equals the row twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.special import chdtri

from trueaxis._typing import Float64Array
from trueaxis._univariate import (
    columnwise,
    counted_rows,
    degrees,
    deviating,
    nearest,
    shortfall,
    univariate_mcd,
    within_reach,
)

_ROWS_PER_COLUMN = 5  # below this, half of the rows do not tell a covariance from noise
_MOST_SEARCHED = 3000  # rows that the search is made on; with more, two steps on all follow
_MOST_STEPS = 50
# Directions with a standard deviation below this share of a column's scale have collapsed.
_COLLAPSED = 1e-6


def robust_scatter(Z: Any, weights: Any = None) -> tuple[Float64Array, Float64Array]:
    r"""Robust location and covariance of scores: few columns, any number of rows.

    Three starts (directions of the rows, bounded rows, the half nearest the middle) are
    concentrated, each step taking the half of the mass with the smallest Mahalanobis distances
    and its mean and covariance, which never raises the determinant (Rousseeuw and Van Driessen
    1999). The best is scaled so that the reach of its half is the Gaussian's,
    :math:`d_{(h)}^2 = \chi^2_{k,h/n}`, and reweighted twice as in `univariate_mcd`.

    Along a direction in which more than half of the mass agrees exactly, the covariance would be
    0. It is taken from the rows that deviate there, as in `columnwise`. Where n < 5k the
    covariance is diagonal, from `columnwise` too.

    Parameters
    ----------
    Z : array-like of shape (n, k)
        The scores, one row each.
    weights : array-like of shape (n,), optional
        How often each row counts. Where they are not whole numbers they are taken for shares.

    Returns
    -------
    location : ndarray of shape (k,)
    scatter : ndarray of shape (k, k)
        Consistent for the covariance at the Gaussian.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.random.default_rng(0).standard_normal((1000, 2)) * [3.0, 1.0]
    >>> Z[:400] = [50.0, -50.0]
    >>> location, scatter = robust_scatter(Z)
    >>> np.sqrt(np.diag(scatter)).round()
    array([3., 1.])
    """
    Z, ω, counted = counted_rows(Z, weights)
    k = Z.shape[1]
    n = float(ω.sum())
    some, counts = _some(Z, ω)
    center, scale = columnwise(some, counts)
    if k <= 1 or (n if counted else len(Z)) < _ROWS_PER_COLUMN * k:
        return center, np.diag(scale**2)
    scale = np.where(scale > 0, scale, 1.0)
    Y = (Z - center) / scale
    share = (n + k + 1) / (2 * n) if counted else 0.5
    some = (some - center) / scale
    found = [_concentrate(some, counts, share, *start) for start in _starts(some, counts)]
    location, S, _ = min(found, key=lambda result: result[2])
    if counts is not ω:
        location, S, _ = _concentrate(Y, ω, share, location, S, steps=2)
    values, V = scipy.linalg.eigh(S, check_finite=False)
    T = (Y - location) @ V
    collapsed = values < _COLLAPSED**2
    solid = ~collapsed
    if solid.any():
        d = np.sum(T[:, solid] ** 2 / values[solid], axis=1)
        _, reach = nearest(d, ω, share * n)
        values[solid] *= reach / chdtri(solid.sum(), 1 - share)
    values[collapsed] = [deviating(t, ω) ** 2 for t in T[:, collapsed].T]
    S = (V * values) @ V.T
    for adaptive in (False, True):
        kept, factor = within_reach(_mahalanobis(Y, location, S), ω, k, counted, adaptive)
        mass = float(kept.sum())
        location = kept @ Y / mass
        D = Y - location
        S = (D.T * kept) @ D * (factor / degrees(mass, counted))
    S /= shortfall(n, k, counted)
    return center + scale * location, scale[:, None] * S * scale


def _some(Z: Float64Array, ω: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Rows to search on, and their weights: all, or one from each of equal parts of the mass."""
    mass = np.cumsum(ω)
    if max(len(Z), mass[-1]) <= _MOST_SEARCHED or Z.shape[1] <= 1:
        return Z, ω
    at = np.arange(_MOST_SEARCHED) + np.random.default_rng(0).random(_MOST_SEARCHED)
    rows = np.searchsorted(mass, at / _MOST_SEARCHED * mass[-1], side="right")
    return Z[np.minimum(rows, len(Z) - 1)], np.ones(_MOST_SEARCHED)


def _starts(Y: Float64Array, ω: Float64Array) -> list[tuple[Float64Array, Float64Array]]:
    """Locations and scatters that far rows have little say in (as in Hubert et al. 2012)."""
    norms = np.linalg.norm(Y, axis=1)
    directions = Y / np.where(norms > 0, norms, 1.0)[:, None]
    near, _ = nearest(norms, ω, float(ω.sum()) / 2)
    found = []
    for rows, counts in ((directions, ω), (np.tanh(Y), ω), (Y, near)):
        _, V = scipy.linalg.eigh((rows.T * counts) @ rows, check_finite=False)
        # The axes are the start's; center and variances along them are measured robustly.
        along = [univariate_mcd(t, ω) for t in (Y @ V).T]
        σ = np.maximum([s for _, s in along], _COLLAPSED)
        found.append((V @ np.array([μ for μ, _ in along]), (V * σ**2) @ V.T))
    return found


def _concentrate(
    Y: Float64Array,
    ω: Float64Array,
    share: float,
    location: Float64Array,
    S: Float64Array,
    steps: int = _MOST_STEPS,
) -> tuple[Float64Array, Float64Array, float]:
    """Steps to the nearest half until it stays: mean, covariance and log-determinant."""
    before = np.inf
    h = share * float(ω.sum())
    for _ in range(steps):
        half, _ = nearest(_mahalanobis(Y, location, S), ω, h)
        location = half @ Y / h
        D = Y - location
        S = (D.T * half) @ D / h
        values = scipy.linalg.eigvalsh(S, check_finite=False)
        size = float(np.sum(np.log(np.maximum(values, _COLLAPSED**2))))
        if not size < before - 1e-10:
            break
        before = size
    return location, S, size


def _mahalanobis(Y: Float64Array, location: Float64Array, S: Float64Array) -> Float64Array:
    """Squared distances; a direction without scatter counts with `_COLLAPSED`."""
    values, V = scipy.linalg.eigh(S, check_finite=False)
    whitened = (Y - location) @ (V / np.sqrt(np.maximum(values, _COLLAPSED**2)))
    return np.asarray(np.einsum("ij,ij->i", whitened, whitened), dtype=np.float64)
