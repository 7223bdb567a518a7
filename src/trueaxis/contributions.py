"""Which columns make a row an outlier."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueaxis._typing import Array, Float64Array
from trueaxis.outlier_map import OutlierMap, axes_of, in_memory, multiple, rows_of
from trueaxis.outliers import whitening


def contributions(
    model: Any, X: Any, *, cutoffs: tuple[float, float] | None = None
) -> Float64Array:
    r"""Share of each column in the distance that makes a row an outlier.

    Both distances are the length of a vector with one entry a column,

    .. math::
        \text{orthogonal: } r_i = (I - WW^T)(x_i - c), \qquad
        \text{score: } h_i = W S^{-1/2} (W^T(x_i - c) - \mu),

    with :math:`S^{-1/2}` the symmetric root: :math:`\|h_i\|^2 = (z_i-\mu)^T S^{-1} (z_i-\mu)`. The
    share of column j is :math:`r_{ij}^2/\|r_i\|^2` where the orthogonal distance is the larger
    multiple of its cut-off, and :math:`h_{ij}^2/\|h_i\|^2` where the score distance is: the
    complete decomposition of Alcala and Qin (2009). Shares say where a row departs, in the units
    of the columns; correlated columns share what one of them began.

    Parameters
    ----------
    model : RobustPCA or PCAOutlierDetector
        A fitted model.
    X : array-like of shape (n, m)
        The rows.
    cutoffs : (float, float), optional
        Score and orthogonal cut-off that tell which distance counts. The default is the model's
        own; `RobustPCA` has none, and takes them from the rows given: pass those of all rows
        where `X` is a part of these.

    Returns
    -------
    ndarray of shape (n, m)
        Every row sums to 1, but for a row on the center, whose shares are 0.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis import PCAOutlierDetector
    >>> X = np.random.default_rng(0).standard_normal((200, 4)) * [9.0, 1.0, 1.0, 1.0]
    >>> X[0, 2] = 30.0
    >>> shares = contributions(PCAOutlierDetector(1).fit(X), X)
    >>> int(shares[0].argmax()), bool(shares[0, 2] > 0.9)
    (2, True)
    """
    model, X = in_memory(model, X)
    return shares(model, rows_of(model, X), OutlierMap.of(model, X, cutoffs))


def shares(model: Any, rows: Float64Array, found: OutlierMap) -> Float64Array:
    """The same of rows whose map is known.

    Parameters
    ----------
    model : RobustPCA or PCAOutlierDetector
        A fitted model.
    rows : ndarray of shape (n, m)
        The rows.
    found : OutlierMap
        The map of these rows.

    Returns
    -------
    ndarray of shape (n, m)
    """
    score = multiple(found.score, found.score_cutoff)
    orthogonal = multiple(found.orthogonal, found.orthogonal_cutoff)
    axes = axes_of(model)
    W = np.asarray(axes.components_, dtype=np.float64).T
    location, root = _score_root(model)
    D = rows - axes.mean_
    Z = D @ W
    by_score = (score > orthogonal)[:, None]
    parts = np.where(by_score, ((Z - location) @ root) @ W.T, D - Z @ W.T)
    # A residual that the model calls rounding has no columns to blame.
    parts[np.maximum(score, orthogonal) == 0.0] = 0.0
    largest = np.abs(parts).max(axis=1, keepdims=True)
    parts /= np.where(largest > 0.0, largest, 1.0)
    squares = parts**2
    total = squares.sum(axis=1, keepdims=True)
    return np.asarray(squares / np.where(total > 0.0, total, 1.0))


def _score_root(model: Any) -> tuple[Array, Float64Array]:
    """Location μ of the scores, and the symmetric S^{-1/2} of their scatter."""
    if hasattr(model, "score_scatter_"):
        location, scatter = model.score_location_, model.score_scatter_
    else:
        variances = model.explained_variance_.astype(np.float64)
        location, scatter = np.zeros(len(variances)), np.diag(variances)
    T = whitening(scatter)  # VΛ^{-1/2}, whose columns have the lengths Λ^{-1/2}
    return location, np.asarray((T / np.linalg.norm(T, axis=0)) @ T.T)
