"""Location and scale of numbers of which up to half may be anything.

The minimum covariance determinant in one dimension, and the parts of it that the one in several
dimensions needs too. Nothing here is random, and a weight of 2 equals the number twice.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import chdtr, chdtri, ndtri

from trueaxis._typing import Float64Array

KEPT = 0.975  # share of Gaussian rows that the first reweighting keeps, and the second at least
_FALSE = 0.1  # share of the rows left out by the second that may be regular
_BLOCK = 1 << 13  # numbers that are worked on together: what they need fits a core's cache


def univariate_mcd(x: Any, weights: Any = None) -> tuple[float, float]:
    r"""Robust location and standard deviation of numbers.

    Of all intervals of the sorted numbers that hold the mass h = (n+1)/2, the one of least
    variance gives μ and σ² = c·var. Twice then, those with (x − μ)² within a reach of σ² give
    their mean and c·var: first :math:`\chi^2_{1,0.975}`, then the reach beyond which at most a
    tenth is expected to be regular (Cerioli and Farcomeni 2011), so that Gaussian numbers are all
    kept. The factors c make the Gaussian's variance come out right, with the corrections of
    Pison, Van Aelst and Willems (2002) for small n.

    Parameters
    ----------
    x : array-like of shape (n,)
        The numbers.
    weights : array-like of shape (n,), optional
        How often each counts. Where they are not whole numbers they are taken for shares.

    Returns
    -------
    location, scale : float
        The scale is 0 where more than half of the mass is one number.

    Examples
    --------
    >>> location, scale = univariate_mcd([1.0, 2.0, 3.0, 4.0, 5.0, 1e6, 1e6])
    >>> location
    3.0
    """
    x, ω, counted = counted_rows(x, weights)
    location, scale = mcd_of_lines(x[None, :], ω, counted)
    return float(location[0]), float(scale[0])


def columnwise(X: Any, weights: Any = None) -> tuple[Float64Array, Float64Array]:
    r"""Robust location and standard deviation of every column, to scale columns by.

    Where more than half of the mass of a column is one number, `univariate_mcd` has scale 0. The
    rows that deviate from it then tell the scale: with a share s of them and their median
    deviation u, :math:`\sigma = u/\Phi^{-1}(1 - s/4)`, which at s = 1 is the median absolute
    deviation. It is 0 only where the column is constant.

    Parameters
    ----------
    X : array-like of shape (n, m)
        The rows.
    weights : array-like of shape (n,), optional
        How often each row counts.

    Returns
    -------
    location, scale : ndarray of shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0, 5.0], [0.0, 2.0, 5.0], [0.0, 3.0, 5.0], [9.0, 4.0, 5.0]])
    >>> location, scale = columnwise(X)
    >>> scale.round(1)
    array([5.9, 1.6, 0. ])
    """
    X, ω, counted = counted_rows(X, weights)
    return center_and_scale(X.T, ω, counted)


def center_and_scale(
    lines: Float64Array, ω: Float64Array | None, counted: bool, times: int = 2
) -> tuple[Float64Array, Float64Array]:
    """Location and scale as in `columnwise`, of the lines of a matrix."""
    center, scale = mcd_of_lines(lines, ω, counted, times)
    for j in np.flatnonzero(scale <= 0):
        scale[j] = deviating(lines[j] - center[j], ω)
    return center, scale


def mcd_of_lines(
    lines: Float64Array, ω: Float64Array | None, counted: bool, times: int = 2
) -> tuple[Float64Array, Float64Array]:
    """`univariate_mcd` of every line of a matrix, reweighted so many times."""
    m, n = lines.shape
    location, scale = np.empty(m), np.empty(m)
    together = max(1, _BLOCK // max(n, 1))
    for first in range(0, m, together):
        part = slice(first, first + together)
        location[part], scale[part] = _mcd_of_block(
            np.ascontiguousarray(lines[part]), ω, counted, times
        )
    return location, scale


def _mcd_of_block(
    X: Float64Array, ω: Float64Array | None, counted: bool, times: int
) -> tuple[Float64Array, Float64Array]:
    n = total(X[0], ω)
    h = (n + 1) / 2 if counted and n >= 2 else n / 2
    location, variance = _halves(X, ω, h)
    variance *= consistency(h / n, 1)
    if counted and n >= 4:
        # Pison, Van Aelst and Willems (2002)
        variance /= 1 - math.exp(0.262024) / n**0.604757
    squares = (X - location[:, None]) ** 2
    for adaptive in (False, True)[:times]:
        spread = variance > 0
        d = squares / np.where(spread, variance, 1.0)[:, None]
        kept, mass, factor = within_reach(d, ω, 1, counted, adaptive)
        location = np.where(spread, np.einsum("ij,ij->i", kept, X) / mass, location)
        squares = (X - location[:, None]) ** 2
        around = np.einsum("ij,ij->i", kept, squares) / degrees(mass, counted)
        variance = np.where(spread, factor * around, 0.0)
    return location, np.sqrt(variance / shortfall(n, 1, counted))


def within_reach(
    d: Float64Array, ω: Float64Array | None, k: int, counted: bool, adaptive: bool
) -> tuple[Float64Array, Float64Array, Any]:
    """The weights of the rows that count, by squared distances, and what makes up for the rest.

    Every line of d is a case of its own, and the sum of its weights comes along. Adaptively, the
    rule of Benjamini and Hochberg at `_FALSE`: the reach is the smallest that at most this share
    of the mass beyond it would be expected to pass in a Gaussian.
    """
    reach: Any = quantile(k, 1 - KEPT)
    factor: Any = consistency(KEPT, k)
    if adaptive:
        out = np.minimum(1 - KEPT, _FALSE / total(d[0], ω) * _odd(d, ω, k, counted))
        reach = _quantiles(k, out)[:, None]
        factor = (1 - out) / chdtr(k + 2, reach[:, 0])
    kept = (d <= reach).astype(np.float64)
    if ω is not None:
        kept *= ω
    mass = kept.sum(axis=1)
    if not mass.all():
        # Nothing is within reach of a scatter that a few far rows on a line have made.
        kept[mass == 0] = 1.0 if ω is None else ω
        mass = kept.sum(axis=1)
    return kept, mass, factor


def _odd(d: Float64Array, ω: Float64Array | None, k: int, counted: bool) -> Float64Array:
    """The largest mass in each line that so few Gaussian rows would be as far as to be odd.

    The mass as far as would be odd for all is an upper bound; so is the mass as far as would be
    odd for that one, until it stays.
    """
    n = total(d[0], ω)
    reach: Any = quantile(k, _FALSE)
    before: list[float] = []
    while True:
        far = d >= reach
        mass = far.sum(axis=1) if ω is None else far @ ω
        found = mass.tolist()
        if found == before:
            break
        before = found
        reach = _quantiles(k, _FALSE / n * mass)[:, None]
    return np.where(mass > 0, mass, 1.0 if counted or ω is None else n / len(ω))


def nearest(d: Float64Array, ω: Float64Array | None, h: float) -> tuple[Float64Array, float]:
    """What each row gives to the mass h with the smallest d, and the largest d among it.

    Rows that share this largest d give the same share of themselves.
    """
    enough = h * (1 - 1e-12)
    if ω is None:
        last = min(max(int(np.ceil(enough)), 1), len(d)) - 1
        reach = np.partition(d, last)[last]
    else:
        order = np.argsort(d)
        last = min(int(np.searchsorted(np.cumsum(ω[order]), enough)), len(d) - 1)
        reach = d[order[last]]
    taken = (d <= reach).astype(np.float64)
    if ω is not None:
        taken *= ω
    beyond = float(taken.sum()) - h
    if beyond > 0:
        tied = d == reach
        taken[tied] *= 1 - beyond / float(taken[tied].sum())
    return taken, float(reach)


def deviating(u: Float64Array, ω: Float64Array | None) -> float:
    """A standard deviation from the rows that are not exactly in the middle; 0 if all are."""
    u = np.abs(u)
    away = u > 1e-12 * u.max(initial=0.0)
    if not away.any():
        return 0.0
    counts = None if ω is None else ω[away]
    mass = total(u[away], counts)
    _, median = nearest(u[away], counts, mass / 2)
    return float(median / ndtri(1 - mass / total(u, ω) / 4))


def _halves(X: Float64Array, ω: Float64Array | None, h: float) -> tuple[Float64Array, Float64Array]:
    """Mean and variance of the interval of mass h with the least variance, of every line."""
    if ω is None:
        return _least_variances(np.sort(X, axis=1), h)
    orders = np.argsort(X, axis=1)
    found = [_least_variance(x[order], ω[order], h) for x, order in zip(X, orders, strict=True)]
    return np.array([mean for mean, _ in found]), np.array([variance for _, variance in found])


def _least_variances(X: Float64Array, h: float) -> tuple[Float64Array, Float64Array]:
    """`_least_variance` of every line, each number counting once.

    The mass h is the least that takes every interval over the middle number. What it lacks of
    whole numbers, half a number if anything, one end of the interval lacks.
    """
    m, n = X.shape
    middle = (n - 1) // 2
    whole = n - middle
    values = np.empty((2 * m, n))
    np.subtract(X, X[:, middle, None], out=values[:m])
    np.multiply(values[:m], values[:m], out=values[m:])
    inside = np.cumsum(values[:, middle:], axis=1)[:, whole - 1 - middle :]
    inside[:, :middle] += np.cumsum(values[:, :middle][:, ::-1], axis=1)[:, ::-1]
    if h < whole:
        first, last = values[:, : middle + 1], values[:, whole - 1 :]
        lacking = whole - h
        inside = np.concatenate([inside - lacking * first, inside - lacking * last], axis=1)
    inside /= h
    means = inside[:m]
    variances = np.maximum(inside[m:] - means * means, 0.0)
    least = variances.min(axis=1)
    alike = variances <= least[:, None] * (1 + 1e-9)
    return X[:, middle] + np.einsum("ij,ij->i", means, alike) / alike.sum(axis=1), least


def _least_variance(x: Float64Array, ω: Float64Array, h: float) -> tuple[float, float]:
    """Mean and variance of the interval of mass h with the least variance, x being sorted.

    Slid along, the variance of an interval is concave between the places where an end of it
    passes from one number to the next: those are all that need be looked at. Sums run outward
    from the middle, so that a far number spoils the digits of no interval without it.
    """
    edges = np.concatenate([[0.0], np.cumsum(ω)])
    middle = int(np.searchsorted(edges[1:], edges[-1] / 2))
    y = x - x[middle]
    starts = np.concatenate([edges, edges - h])
    starts = starts[(starts >= 0) & (starts <= edges[-1] - h)]

    def inside(values: Float64Array) -> Float64Array:
        left = -np.cumsum(values[:middle][::-1])[::-1]
        sums = np.concatenate([left, [0.0], np.cumsum(values[middle:])])
        ends = np.interp(np.stack([starts, starts + h]), edges, sums)
        return np.asarray(ends[1] - ends[0], dtype=np.float64)

    means = inside(ω * y) / h
    variances = np.maximum(inside(ω * y * y) / h - means**2, 0.0)
    least = float(variances.min())
    return float(x[middle] + means[variances <= least * (1 + 1e-9)].mean()), least


def counted_rows(x: Any, weights: Any) -> tuple[Float64Array, Float64Array | None, bool]:
    """Rows of positive weight, their weights, and whether these count whole rows.

    The weights are None where each row counts once.
    """
    x = np.asarray(x, dtype=np.float64)
    if weights is None:
        return x, None, True
    ω = np.asarray(weights, dtype=np.float64)
    present = ω > 0
    if not present.all():
        x, ω = x[present], ω[present]
    return (x, None, True) if (ω == 1.0).all() else (x, ω, not np.any(ω % 1.0))


def total(rows: Any, ω: Float64Array | None) -> float:
    """The mass of rows."""
    return float(len(rows) if ω is None else ω.sum())


def degrees(mass: Any, counted: bool) -> Any:
    """What a sum of squares about their own mean is divided by."""
    return np.maximum(mass - 1.0, 1.0) if counted else mass


def shortfall(n: float, k: int, counted: bool) -> float:
    """What the variances fall short by on average in n rows, as measured in simulations."""
    return 1 - 3 * k**0.4 / (n + 10 + n * n / 300) if counted else 1.0


@lru_cache(maxsize=256)
def consistency(share: float, k: int) -> float:
    """What the covariance of the innermost share of a Gaussian in k dimensions falls short by."""
    return float(share / chdtr(k + 2, quantile(k, 1 - share)))


def _quantiles(k: int, beyond: Float64Array) -> Any:
    """`quantile` of each of several shares."""
    return ndtri(beyond / 2) ** 2 if k == 1 else chdtri(k, beyond)


@lru_cache(maxsize=256)
def quantile(k: int, beyond: float) -> float:
    """What a share of the squared lengths of Gaussian rows in k dimensions lies beyond."""
    return float(chdtri(k, beyond))
