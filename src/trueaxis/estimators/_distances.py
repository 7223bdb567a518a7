"""How far rows lie from fitted axes: within their subspace, and away from it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trueaxis import starts
from trueaxis._device import to_host
from trueaxis._subspace import Subspace
from trueaxis._sweep import row_terms
from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators import _inputs
from trueaxis.estimators._namespace import answers_like_X
from trueaxis.outliers import score_distances
from trueaxis.sources import DenseSource, GappySource, Source

_TELLING = 100_000  # rows that cut-offs are taken from: their error is then below a percent
_TELLING_FAR = 20_000  # the same, where there is no room for a number for each row


OfRows: TypeAlias = Callable[[Float64Array, Float64Array], Array]
"""(‖r_i‖², z_i) of some rows → a number, or several, for each."""


def each_row(X: Source, of: Callable[[Any], Array], n_jobs: int | None, names: Any = None) -> Array:
    """What `of` makes of every block of rows, one under the other; lazily where X is lazy.

    NaN and infinity are refused, when they are met.
    """

    def quietly(block: Any) -> Array:
        with np.errstate(invalid="ignore", over="ignore"):
            return of(block)

    check = partial(_inputs.check_finite, columns=names)
    with Workers.start(n_jobs) as workers:
        found: Array = X.posed(workers).collect_checked(quietly, check)
        return found


def each_distance(
    X: Source, of: OfRows, estimator: Any, n_jobs: int | None, names: Any = None
) -> Array:
    """What `of` makes of ‖r_i‖² and z_i of checked rows about an estimator's axes."""
    point = Subspace(
        to_host(estimator.components_).T.astype(np.float64),
        to_host(estimator.mean_).astype(np.float64),
    )
    terms_of = row_terms(point, X.dtype)

    def found(block: Any) -> Array:
        terms = terms_of(block).astype(np.float64, copy=False)
        return of(terms[:, 0], terms[:, 1:])

    return each_row(X, found, n_jobs, names)


def squares_and_scores(
    X: Source, estimator: Any, n_jobs: int | None, names: Any = None
) -> tuple[Float64Array, Float64Array]:
    """‖r_i‖² and z_i of checked rows about an estimator's axes, all of them in memory."""
    terms = np.asarray(
        each_distance(X, lambda t, Z: np.column_stack([t, Z]), estimator, n_jobs, names)
    )
    return terms[:, 0], terms[:, 1:]


def telling_rows(
    X: Source, weights: Float64Array | None, rng: np.random.RandomState, *, of_all: bool
) -> tuple[Source, Float64Array | None]:
    """The rows that tell cut-offs: of many some, drawn by weight, where distances cost more.

    It is all of them, if there is room for it, where the cut-offs say something `of_all` rows.
    """
    # Sparse rows are dense when taken, and those of a file far apart.
    if X.has_rows and (of_all or not isinstance(X, DenseSource)):
        return X, weights
    most = _TELLING if X.has_rows else _TELLING_FAR
    drawn = starts.sample_rows(X.shape[0], weights, most, rng)
    if drawn is None:
        return X, weights
    taken = DenseSource(X.take(drawn)[0].astype(X.dtype, copy=False))
    return (taken if X.observed == 1.0 else GappySource(taken, X.observed)), None


def drawn_of(
    each: Array, weights: Float64Array | None, rng: np.random.RandomState
) -> tuple[Array, Float64Array | None]:
    """The same of what is known of each row."""
    drawn = starts.sample_rows(len(each), weights, _TELLING, rng)
    return (each, weights) if drawn is None else (each[drawn], None)


class OutlierDistances:
    """Distances of rows from ``components_``, ``mean_`` and the variances along the axes."""

    components_: Array
    mean_: Array
    explained_variance_: Array
    n_jobs: int | None

    def _each_row(self, rows: Source, of: Callable[[Any], Array]) -> Array:
        return each_row(rows, of, self.n_jobs, getattr(self, "feature_names_in_", None))

    def _each_distance(self, X: Any, of: OfRows) -> Float64Array:
        rows = _inputs.open_rows(self, X, reset=False)
        names = getattr(self, "feature_names_in_", None)
        return each_distance(rows, of, self, self.n_jobs, names)

    def _both_distances(self, X: Any) -> Array:
        """Score and orthogonal distances side by side, in one pass over the rows."""
        scatter = np.diag(to_host(self.explained_variance_).astype(np.float64))
        location = np.zeros(len(scatter))

        def both(squares: Float64Array, Z: Float64Array) -> Array:
            return np.column_stack([score_distances(Z, location, scatter), np.sqrt(squares)])

        return self._each_distance(X, both)

    @answers_like_X
    def score_distance(self, X: Any) -> Float64Array:
        r"""Distance of rows from the center within the subspace, in standard deviations.

        :math:`\sqrt{\sum_j z_{ij}^2/\lambda_j}`, λ being ``explained_variance_``. Regular rows
        stay below `trueaxis.outliers.score_cutoff`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        scatter = np.diag(to_host(self.explained_variance_).astype(np.float64))
        location = np.zeros(len(scatter))
        return self._each_distance(X, lambda _, Z: score_distances(Z, location, scatter))

    @answers_like_X
    def orthogonal_distance(self, X: Any) -> Float64Array:
        r"""Distance of rows from the subspace, :math:`\|(I - WW^T)(x_i - c)\|`.

        Regular rows stay below `trueaxis.outliers.orthogonal_cutoff` of the training rows'
        distances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._each_distance(X, lambda squares, _: np.sqrt(squares))
