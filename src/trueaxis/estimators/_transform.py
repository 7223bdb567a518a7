"""What fitted axes do with rows: scores, reconstructions, likelihoods."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from trueaxis import _products
from trueaxis._subspace import Subspace
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators import _gaussian, _inputs
from trueaxis.estimators._distances import OutlierDistances, each_row
from trueaxis.sources import open_source


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Give the estimator back every attribute it had if anything, even Ctrl-C, ends the block."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class AxesTransformer(
    OutlierDistances,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # untyped
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Methods of an estimator with ``components_``, ``mean_`` and the variances along the axes."""

    components_: Array
    mean_: Array
    explained_variance_: Array
    noise_variance_: Any
    whiten: bool
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @property
    def subspace_(self) -> Subspace:
        """The fitted center and axes as a `Subspace`."""
        check_is_fitted(self)
        return Subspace(self.components_.T, self.mean_)

    def transform(self, X: Any) -> Array:
        """Scores of rows: their coordinates along the axes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            ``(X - mean_) @ components_.T``, scaled to unit variance where `whiten` is set. A lazy
            Dask array where X is one of Dask's; so are the results of the other methods then.
        """
        check_is_fitted(self)
        rows = _inputs.open_rows(self, X, reset=False)
        # Scaled axes rather than scaled scores: the same numbers, without another pass.
        P = self.components_.T / self._whitening() if self.whiten else self.components_.T
        k = P.shape[1]
        P = _products.padded_columns(P, rows.dtype)
        center = _products.split_center(self.mean_.astype(np.float64), rows.dtype)
        answers = rows.answers

        def scores(block: Any) -> Array:
            return _products.project(block, center, P, 0).Z[:, :k].astype(answers)

        return self._each_row(rows, scores)

    def inverse_transform(self, X: Any) -> Array:
        """Rows of the data's space from scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Scores, as `transform` returns them.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        source = open_source(X)
        Z = (
            source.header
            if source is not None
            else check_array(X, dtype=[np.float64, np.float32], input_name="X")
        )
        k = len(self.components_)
        if Z.shape[1] != k:
            raise ValueError(
                f"X has {Z.shape[1]} columns, but the model has {k} components; pass scores as "
                "transform returns them."
            )
        axes = self.components_ * self._whitening()[:, None] if self.whiten else self.components_
        if source is None:
            return np.asarray(Z @ axes + self.mean_)
        mean = self.mean_
        return each_row(source, lambda block: np.asarray(block @ axes + mean), self.n_jobs)

    def score_samples(self, X: Any) -> Float64Array:
        """Log-likelihood of each row under the Gaussian that the axes describe.

        As in scikit-learn's PCA this is the probabilistic model with covariance
        `get_covariance`, here with the robust center, axes and variances. It is comparable over
        `p` and over `n_components`, which the objective is not.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        variances, noise = self.explained_variance_.astype(np.float64), float(self.noise_variance_)
        m = self.components_.shape[1]
        return self._each_distance(
            X, lambda squares, Z: _gaussian.log_likelihood(Z, squares, variances, noise, m)
        )

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of `score_samples`: what a grid search maximizes.

        A mean of log-likelihoods is itself pulled down by outliers in `X`; to compare settings on
        contaminated data pass a scorer that takes the median of `score_samples`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : ignored

        Returns
        -------
        float
        """
        return float(np.mean(self.score_samples(X)))

    def get_covariance(self) -> Float64Array:
        """Covariance of the Gaussian model: WΛWᵀ + σ²(I − WWᵀ).

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        return _gaussian.covariance(
            self.components_, self.explained_variance_, float(self.noise_variance_)
        )

    def get_precision(self) -> Float64Array:
        """Inverse of `get_covariance`.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        return _gaussian.precision(
            self.components_, self.explained_variance_, float(self.noise_variance_)
        )

    def _whitening(self) -> Array:
        """Standard deviations along the axes, kept off zero as in scikit-learn."""
        deviations = np.sqrt(self.explained_variance_)
        floor = np.finfo(deviations.dtype).eps * deviations.max(initial=0.0)
        return np.maximum(deviations, floor if floor > 0 else 1.0)
