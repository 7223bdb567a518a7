"""How far rows lie from fitted axes: within their subspace, and away from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trueaxis._device import to_host
from trueaxis._subspace import Subspace
from trueaxis._sweep import row_terms
from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators import _inputs
from trueaxis.estimators._namespace import answers_like_X
from trueaxis.outliers import score_distances
from trueaxis.sources import Source


def squares_and_scores(
    X: Source, estimator: Any, n_jobs: int | None, names: Any = None
) -> tuple[Float64Array, Float64Array]:
    """‖r_i‖² and z_i of checked rows about an estimator's axes, block by block."""
    point = Subspace(
        to_host(estimator.components_).T.astype(np.float64),
        to_host(estimator.mean_).astype(np.float64),
    )
    with Workers.start(n_jobs) as workers:
        source = X.posed(workers)
        terms = source.collect(row_terms(point, source.dtype)).astype(np.float64, copy=False)
        if not np.isfinite(terms).all():
            _inputs.check_finite(source, names)
    return terms[:, 0], terms[:, 1:]


class OutlierDistances:
    """Distances of rows from ``components_``, ``mean_`` and the variances along the axes."""

    components_: Array
    mean_: Array
    explained_variance_: Array
    n_jobs: int | None

    def _squares_and_scores(self, X: Any) -> tuple[Float64Array, Float64Array]:
        check_is_fitted(self)
        rows = _inputs.open_rows(self, X, reset=False)
        return squares_and_scores(rows, self, self.n_jobs, getattr(self, "feature_names_in_", None))

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
        _, Z = self._squares_and_scores(X)
        variances = to_host(self.explained_variance_).astype(np.float64)
        return score_distances(Z, np.zeros(Z.shape[1]), np.diag(variances))

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
        squares, _ = self._squares_and_scores(X)
        return np.sqrt(squares)
