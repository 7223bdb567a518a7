"""Location and scatter of the half of the rows that agree best.

The minimum covariance determinant (Rousseeuw 1984): of all subsets that hold half of the mass, the
one whose covariance has the smallest determinant. It is scaled to be consistent at the Gaussian,
and reweighted twice for efficiency. Nothing here is random, and a weight of 2 equals the row twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from trueaxis._typing import Float64Array
from trueaxis._univariate import (
    center_and_scale,
    counted_rows,
    degrees,
    deviating,
    mcd_of_lines,
    nearest,
    quantile,
    shortfall,
    total,
    within_reach,
)

_ROWS_PER_COLUMN = 5  # below this, half of the rows do not tell a covariance from noise
_MOST_STARTED = 1000  # rows that the starts are made from
_MOST_SEARCHED = 3000  # rows that the half is searched among; with more, two steps on all follow
_FIRST_STEPS, _MOST_STEPS, _LAST_STEPS = 2, 50, 2  # from every start, from the best, on all rows
# Directions with a standard deviation below this share of a column's scale have collapsed.
_COLLAPSED = 1e-6


class _Rows(NamedTuple):
    """Rows side by side, since sums along a few long lines are fast, and how often they count."""

    Y: Float64Array
    ω: Float64Array | None
    counted: bool


def robust_scatter(Z: Any, weights: Any = None) -> tuple[Float64Array, Float64Array]:
    r"""Robust location and covariance of scores: few columns, any number of rows.

    Three starts (directions of the rows, bounded rows, the half nearest the middle) are
    concentrated, each step taking the half of the mass with the smallest Mahalanobis distances
    and its mean and covariance, which never raises the determinant (Rousseeuw and Van Driessen
    1999). Two steps tell the best start, on a thousand of the rows at most, and only that one goes
    on. It is scaled so that the reach of its half is the Gaussian's,
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
    n = total(Z, ω)
    if k <= 1 or (n if counted else len(Z)) < _ROWS_PER_COLUMN * k:
        center, scale = center_and_scale(Z.T, ω, counted)
        return center, np.diag(scale**2)
    rows = _Rows(np.ascontiguousarray(Z.T), ω, counted)
    some = _some(rows, _MOST_SEARCHED)
    few = _some(some, _MOST_STARTED)
    center, scale = center_and_scale(*few, times=1)
    scale = np.where(scale > 0, scale, 1.0)
    parts = [few, some] if some is rows else [few, some, rows]
    parts = [part._replace(Y=(part.Y - center[:, None]) / scale[:, None]) for part in parts]
    share = (n + k + 1) / (2 * n) if counted else 0.5
    location, S = _search(parts, share)
    Y = parts[-1].Y
    values, V = np.linalg.eigh(S)
    T = V.T @ (Y - location[:, None])
    collapsed = values < _COLLAPSED**2
    solid = ~collapsed
    if solid.any():
        d = np.einsum("ij,i->j", T[solid] ** 2, 1 / values[solid])
        _, reach = nearest(d, ω, share * n)
        values[solid] *= reach / quantile(int(solid.sum()), 1 - share)
    values[collapsed] = [deviating(t, ω) ** 2 for t in T[collapsed]]
    S = (V * values) @ V.T
    for adaptive in (False, True):
        d, _ = _mahalanobis(Y - location[:, None], S)
        kept, mass, factor = within_reach(d[None, :], ω, k, counted, adaptive)
        location = Y @ kept[0] / mass
        D = Y - location[:, None]
        S = (D * kept) @ D.T * (factor / degrees(mass, counted))
    S /= shortfall(n, k, counted)
    return center + scale * location, scale[:, None] * S * scale


def _some(rows: _Rows, most: int) -> _Rows:
    """The rows, or where they are more than so many, one from each of equal parts of the mass."""
    Y, ω, _ = rows
    n = Y.shape[1]
    if max(n, total(Y[0], ω)) <= most:
        return rows
    mass = np.arange(1.0, n + 1) if ω is None else np.cumsum(ω)
    at = (np.arange(most) + np.random.default_rng(0).random(most)) / most * mass[-1]
    taken = np.minimum(np.searchsorted(mass, at, side="right"), n - 1)
    return _Rows(Y[:, taken], None, True)


def _search(parts: list[_Rows], share: float) -> tuple[Float64Array, Float64Array]:
    """Mean and covariance of the half of the last part, from the best start on the first."""
    few, *more = parts
    halves = [_concentrate(few, share, d, _FIRST_STEPS) for d in _starts(few)]
    location, S, _ = min(halves, key=lambda half: half[2])
    for rows, steps in zip(more, (_MOST_STEPS, _LAST_STEPS), strict=False):
        d, _ = _mahalanobis(rows.Y - location[:, None], S)
        location, S, _ = _concentrate(rows, share, d, steps)
    return location, S


def _starts(rows: _Rows) -> list[Float64Array]:
    """Distances that far rows have little say in (as in Hubert et al. 2012)."""
    Y, ω, counted = rows
    k, n = Y.shape
    norms = np.sqrt(np.einsum("ij,ij->j", Y, Y))
    near, _ = nearest(norms, ω, total(norms, ω) / 2)
    directions, bounded = Y / np.where(norms > 0, norms, 1.0), np.tanh(Y)
    if ω is None:
        second = [directions @ directions.T, bounded @ bounded.T, (Y * near) @ Y.T]
    else:
        second = [(directions * ω) @ directions.T, (bounded * ω) @ bounded.T, (Y * near) @ Y.T]
    axes = np.linalg.eigh(np.stack(second))[1].transpose(0, 2, 1)
    # The axes are the start's; center and variances along them are measured robustly.
    location, scale = mcd_of_lines((axes @ Y).reshape(3 * k, n), ω, counted, times=1)
    location, scale = location.reshape(3, k, 1), np.maximum(scale, _COLLAPSED).reshape(3, k, 1)
    T = (axes / scale) @ Y
    T -= location / scale
    return list(np.einsum("sij,sij->sj", T, T))


def _concentrate(
    rows: _Rows, share: float, d: Float64Array, steps: int
) -> tuple[Float64Array, Float64Array, float]:
    """Steps to the nearest half until it stays: mean, covariance and log-determinant."""
    Y, ω, _ = rows
    before = np.inf
    h = share * total(d, ω)
    for _ in range(steps):
        taken, _ = nearest(d, ω, h)
        location = Y @ taken / h
        D = Y - location[:, None]
        S = (D * taken) @ D.T / h
        d, size = _mahalanobis(D, S)
        if not size < before - 1e-10:
            break
        before = size
    return location, S, size


def _mahalanobis(D: Float64Array, S: Float64Array) -> tuple[Float64Array, float]:
    """Squared distances, and the log-determinant of S.

    A direction without scatter counts with `_COLLAPSED`.
    """
    L, failed = lapack.dpotrf(S, lower=1)
    if not failed:
        root, _ = lapack.dtrtri(L, lower=1)
        # The trace of the inverse bounds the inverse of every eigenvalue: none has collapsed.
        if np.vdot(root, root) < _COLLAPSED**-2:
            W = root @ D
            return np.einsum("ij,ij->j", W, W), 2 * float(np.log(L.diagonal()).sum())
    values, V = np.linalg.eigh(S)
    values = np.maximum(values, _COLLAPSED**2)
    W = (V / np.sqrt(values)).T @ D
    return np.einsum("ij,ij->j", W, W), float(np.log(values).sum())
