"""How far is too far: cut-offs of score and orthogonal distances, and what lies beyond them.

A row has two distances from fitted axes. Its score distance, within their subspace, is
√((z − μ)ᵀ S⁻¹ (z − μ)); its orthogonal distance, from the subspace, is ‖r‖. The four ways of being
within or beyond the two cut-offs are the outlier map of ROBPCA (Hubert, Rousseeuw and Vanden
Branden 2005).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import chdtri, stdtrit

from trueaxis._mcd import robust_scatter
from trueaxis._typing import Array, Float64Array
from trueaxis._univariate import columnwise, univariate_mcd

__all__ = [
    "KINDS",
    "columnwise",
    "kind_numbers",
    "kinds",
    "orthogonal_cutoff",
    "robust_scatter",
    "score_cutoff",
    "score_distances",
    "univariate_mcd",
    "whitening",
]

KINDS = ("regular", "good leverage", "orthogonal outlier", "bad leverage")
NOUNS = {
    "good leverage": "good leverage row",
    "orthogonal outlier": "orthogonal outlier",
    "bad leverage": "bad leverage row",
}

# Below this share of its own size a distance, or the spread of distances, is rounding: a fit does
# not place its axes more precisely.
ROUNDING = 1e-7


def score_cutoff(k: int, quantile: float = 0.975) -> float:
    r"""The quantile of the score distances of Gaussian rows, :math:`\sqrt{\chi^2_{k,q}}`.

    Parameters
    ----------
    k : int
        Number of axes.
    quantile : float in (0, 1)
        Share of the regular rows that lie within.

    Returns
    -------
    float

    Examples
    --------
    >>> round(score_cutoff(2), 3)
    2.716
    """
    return float(np.sqrt(chdtri(k, 1 - quantile))) if k else 0.0


def orthogonal_cutoff(
    distances: Any, quantile: float = 0.975, weights: Any = None, floor: float | None = None
) -> float:
    r"""The quantile of the orthogonal distances of regular rows.

    :math:`(\mu + z_q\sigma)^{3/2}`, with μ and σ the robust location and scale of the distances to
    the power 2/3, which are nearly Gaussian whatever the variances (Wilson and Hilferty 1931);
    where one dimension only is left the tail is heavier: at q = 0.99, 1.6 % lie beyond.
    Since μ and σ come from n rows, z is the quantile of Student's t with n − 1 degrees of freedom
    times :math:`\sqrt{1 + 1/n}`: at n = 40 it is 2.05 where the Gaussian's is 1.96. Up to half of
    the distances may be anything. Where half of them or more are alike, σ is rounding; it counts
    as at least 1e-7 μ.

    Parameters
    ----------
    distances : array-like of shape (n,)
        Orthogonal distances, >= 0.
    quantile : float in (0, 1)
        Share of the regular rows that lie within.
    weights : array-like of shape (n,), optional
        How often each row counts.
    floor : float, optional
        What the cut-off is at least: the size that rounding gives to a distance. The default is
        1e-7 of the median of the distances that are not 0.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((1000, 8))
    >>> distances = np.linalg.norm(X, axis=1)
    >>> distances[:300] *= 100
    >>> cutoff = orthogonal_cutoff(distances)
    >>> bool(0.01 < np.mean(distances[300:] > cutoff) < 0.04)
    True
    """
    od = np.asarray(distances, dtype=np.float64)
    if floor is None:
        away = od[od > 0]
        floor = ROUNDING * float(np.median(away)) if away.size else 0.0
    location, scale = univariate_mcd(od ** (2 / 3), weights)
    n = float(len(od) if weights is None else max(np.sum(weights), np.count_nonzero(weights)))
    z = float(stdtrit(n - 1, quantile) * np.sqrt(1 + 1 / n)) if n > 1 else 0.0
    within = location + z * max(scale, ROUNDING * location)
    return max(float(max(within, 0.0) ** 1.5), floor)


def score_distances(Z: Array, location: Array, scatter: Array) -> Float64Array:
    r"""Mahalanobis distances :math:`\sqrt{(z-\mu)^T S^{-1} (z-\mu)}` of scores.

    A direction without scatter counts with 1e-7 of the largest standard deviation: a row that
    leaves it is far away, and rounding is not.

    Parameters
    ----------
    Z : ndarray of shape (n, k)
        Scores.
    location : ndarray of shape (k,)
    scatter : ndarray of shape (k, k)

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> score_distances(np.array([[3.0, 4.0]]), np.zeros(2), np.eye(2))
    array([5.])
    """
    if Z.shape[1] == 0:
        return np.zeros(len(Z))
    whitened = (Z - location) @ whitening(scatter)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", whitened, whitened)))


def whitening(scatter: Array) -> Float64Array:
    r"""A matrix T with :math:`TT^T = S^{-1}`, as `score_distances` takes the inverse.

    Parameters
    ----------
    scatter : ndarray of shape (k, k)

    Returns
    -------
    ndarray of shape (k, k)

    Examples
    --------
    >>> import numpy as np
    >>> whitening(np.array([[4.0]]))
    array([[0.5]])
    """
    values, V = np.linalg.eigh(scatter)
    least = ROUNDING * np.sqrt(max(values[-1], 0.0))
    σ = np.maximum(np.sqrt(np.maximum(values, 0.0)), least if least > 0 else 1.0)
    return np.asarray(V / σ)


def kinds(score: Array, orthogonal: Array, score_cutoff: float, orthogonal_cutoff: float) -> Array:
    """The place of each row in the outlier map, one of `KINDS`.

    A "good leverage" row is far within the subspace and agrees with it; an "orthogonal outlier"
    leaves the subspace near its middle; a "bad leverage" row does both, and tilts plain PCA.

    Parameters
    ----------
    score, orthogonal : ndarray of shape (n,)
        The distances.
    score_cutoff, orthogonal_cutoff : float
        What they are compared with.

    Returns
    -------
    ndarray of str, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> kinds(np.array([1.0, 9.0]), np.array([0.1, 0.1]), 2.7, 1.0).tolist()
    ['regular', 'good leverage']
    """
    return np.asarray(
        np.asarray(KINDS)[kind_numbers(score, orthogonal, score_cutoff, orthogonal_cutoff)]
    )


def kind_numbers(
    score: Array, orthogonal: Array, score_cutoff: float, orthogonal_cutoff: float
) -> Array:
    """`kinds`, each as its place in `KINDS`.

    Parameters
    ----------
    score, orthogonal : ndarray of shape (n,)
        The distances.
    score_cutoff, orthogonal_cutoff : float
        What they are compared with.

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> kind_numbers(np.array([1.0, 9.0]), np.array([0.1, 0.1]), 2.7, 1.0).tolist()
    [0, 1]
    """
    far = np.asarray(score > score_cutoff).astype(np.intp)
    return np.asarray(far + 2 * np.asarray(orthogonal > orthogonal_cutoff))
