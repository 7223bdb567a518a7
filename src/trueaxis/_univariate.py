"""Location and scale of numbers of which up to half may be anything.

The minimum covariance determinant in one dimension, and the parts of it that the one in several
dimensions needs too. Nothing here is random, and a weight of 2 equals the number twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import chdtr, chdtrc, chdtri, ndtri

from trueaxis._typing import Float64Array

KEPT = 0.975  # share of Gaussian rows that the first reweighting keeps, and the second at least
_FALSE = 0.1  # share of the rows left out by the second that may be regular


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
    order = np.argsort(x, kind="stable")
    x, ω = x[order], ω[order]
    n = float(ω.sum())
    h = (n + 1.0) / 2 if counted and n >= 2 else n / 2
    location, variance = _least_variance(x, ω, h)
    variance *= consistency(h / n, 1)
    if counted and n >= 4:
        # Pison, Van Aelst and Willems (2002)
        variance /= 1 - np.exp(0.262024) / n**0.604757
    for adaptive in (False, True):
        if variance <= 0:
            return location, 0.0
        d = (x - location) ** 2 / variance
        kept, factor = within_reach(d, ω, 1, counted, adaptive)
        mass = float(kept.sum())
        location = float(kept @ x / mass)
        variance = factor * float(kept @ (x - location) ** 2) / degrees(mass, counted)
    return location, float(np.sqrt(variance / shortfall(n, 1, counted)))


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
    X, ω, _ = counted_rows(X, weights)
    found = [univariate_mcd(column, ω) for column in X.T]
    center = np.array([location for location, _ in found])
    scale = [
        σ if σ > 0 else deviating(u, ω) for (_, σ), u in zip(found, (X - center).T, strict=True)
    ]
    return center, np.array(scale)


def within_reach(
    d: Float64Array, ω: Float64Array, k: int, counted: bool, adaptive: bool
) -> tuple[Float64Array, float]:
    """The weights of the rows that count, by squared distances, and what makes up for the rest.

    Adaptively, the rule of Benjamini and Hochberg at `_FALSE`: the reach is the smallest that at
    most this share of the mass beyond it would be expected to pass in a Gaussian.
    """
    n = float(ω.sum())
    out = 1 - KEPT
    if adaptive:
        far = np.flatnonzero(d >= chdtri(k, _FALSE))  # no other can satisfy the rule
        order = far[np.argsort(d[far])[::-1]]
        beyond = np.cumsum(ω[order])
        odd = np.flatnonzero(chdtrc(k, d[order]) * n <= _FALSE * beyond)
        mass = beyond[odd[-1]] if odd.size else (1.0 if counted else n / len(ω))
        out = min(out, _FALSE * float(mass) / n)
    kept = ω * (d <= chdtri(k, out))
    # Nothing is within reach of a scatter that a few far rows on a line have made.
    return (kept if kept.any() else ω), consistency(1 - out, k)


def nearest(d: Float64Array, ω: Float64Array, h: float) -> tuple[Float64Array, float]:
    """What each row gives to the mass h with the smallest d, and the largest d among it."""
    order = np.argsort(d, kind="stable")
    mass = np.cumsum(ω[order])
    taken = np.empty_like(ω)
    taken[order] = np.clip(h - (mass - ω[order]), 0.0, ω[order])
    last = min(int(np.searchsorted(mass, h * (1 - 1e-12))), len(d) - 1)
    return taken, float(d[order[last]])


def deviating(u: Float64Array, ω: Float64Array) -> float:
    """A standard deviation from the rows that are not exactly in the middle; 0 if all are."""
    u = np.abs(u)
    away = u > 1e-12 * u.max(initial=0.0)
    if not away.any():
        return 0.0
    mass = float(ω[away].sum())
    _, median = nearest(u[away], ω[away], mass / 2)
    return float(median / ndtri(1 - mass / float(ω.sum()) / 4))


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


def counted_rows(x: Any, weights: Any) -> tuple[Float64Array, Float64Array, bool]:
    """Rows of positive weight, their weights, and whether these count whole rows."""
    x = np.asarray(x, dtype=np.float64)
    if weights is None:
        return x, np.ones(len(x)), True
    ω = np.asarray(weights, dtype=np.float64)
    present = ω > 0
    return x[present], ω[present], not np.any(ω % 1.0)


def degrees(mass: float, counted: bool) -> float:
    """What a sum of squares about their own mean is divided by."""
    return max(mass - 1.0, 1.0) if counted else mass


def shortfall(n: float, k: int, counted: bool) -> float:
    """What the variances fall short by on average in n rows, as measured in simulations."""
    return 1 - 3 * k**0.4 / (n + 10 + n * n / 300) if counted else 1.0


def consistency(share: float, k: int) -> float:
    """What the covariance of the innermost share of a Gaussian in k dimensions falls short by."""
    reach = chdtri(k, 1 - share)
    return float(share / chdtr(k + 2, reach))
