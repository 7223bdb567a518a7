"""What fitted axes do with rows: scores, reconstructions, likelihoods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from trueaxis import _products
from trueaxis._device import common_dtype, like, to_host
from trueaxis._linalg import flip_signs
from trueaxis._subspace import Subspace
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators import _gaussian, _inputs
from trueaxis.estimators._distances import OutlierDistances, each_row
from trueaxis.estimators._namespace import answers_like_X, check_scores
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
    explained_variance_ratio_: Array
    singular_values_: Array
    n_components_: int
    n_samples_: int | float
    whiten: bool
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.input_tags.sparse = not self._has_gaps
        tags.input_tags.allow_nan = self._has_gaps
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        # The first rows of a stream may be too few for axes.
        return hasattr(self, "components_")

    @property
    def _has_gaps(self) -> bool:
        return bool(getattr(self, "missing", None) == "nan")

    def _set_axes(
        self,
        subspace: Subspace,
        scatter: Float64Array,
        leftover: float,
        mass: float,
        total: float,
        unit: float,
        dtype: np.dtype,
        most: int,
    ) -> None:
        """Set what a fit says of its axes, in the dtype and units of the data.

        `scatter` along the axes and `leftover` away from them are sums over rows that weigh `mass`
        in all; `total` is what all rows count, and `most` how many axes there could be.
        """
        k = subspace.n_components
        # Σω − 1 makes a weight of 2 equal the row twice; weights that sum to less than a row
        # can only be shares, for which the plain mean is taken.
        bessel = total / (total - 1.0) if total > 1.0 else 1.0
        per_mass = bessel * unit**2 / mass if mass > 0 else 0.0
        # Both are sums of squares, which rounding can leave below 0.
        scatter, leftover = np.maximum(scatter, 0.0), max(leftover, 0.0)
        variances = scatter * per_mass
        whole = float(variances.sum()) + leftover * per_mass
        self.components_ = flip_signs(subspace.basis).T.astype(dtype)
        self.mean_ = subspace.center.astype(dtype)
        self.explained_variance_ = variances.astype(dtype)
        self.explained_variance_ratio_ = (variances / (whole if whole > 0 else 1.0)).astype(dtype)
        self.singular_values_ = np.sqrt(variances * max(total - 1.0, 0.0)).astype(dtype)
        noise = leftover * per_mass / (most - k) if k < most else 0.0
        self.noise_variance_ = dtype.type(noise) if k < most else 0.0
        self.n_components_ = k
        self.n_samples_ = int(total) if float(total).is_integer() else total

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    @property
    def subspace_(self) -> Subspace:
        """The fitted center and axes as a `Subspace`."""
        check_is_fitted(self)
        return Subspace(to_host(self.components_).T, to_host(self.mean_))

    @answers_like_X
    def transform(self, X: Any) -> Array:
        """Scores of rows: their coordinates along the axes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            ``(X - mean_) @ components_.T``, scaled to unit variance where `whiten` is set. With
            ``missing="nan"`` the scores of a row with NaN are those that fit its observed entries
            best; `inverse_transform` of them fills the others. A lazy Dask array where X is one of
            Dask's; so are the results of the other methods then.
        """
        check_is_fitted(self)
        rows = _inputs.open_rows(self, X, reset=False)
        # Scaled axes rather than scaled scores: the same numbers, without another pass.
        axes = to_host(self.components_).T
        P = axes / self._whitening() if self.whiten else axes
        k = P.shape[1]
        P = _products.padded_columns(P, rows.dtype)
        center = _products.split_center(to_host(self.mean_).astype(np.float64), rows.dtype)
        answers = rows.answers

        def scores(block: Any) -> Array:
            return _products.project(block, center, P, k).Z[:, :k].astype(answers)

        return self._each_row(rows, scores)

    @answers_like_X
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
        Z = check_scores(X) if source is None else source.header
        k = self._n_features_out
        if Z.shape[1] != k:
            raise ValueError(
                f"X has {Z.shape[1]} columns, but the model has {k} components; pass scores as "
                "transform returns them."
            )
        axes = to_host(self.components_)
        axes = axes * self._whitening()[:, None] if self.whiten else axes
        mean = to_host(self.mean_)
        if source is not None:
            return each_row(source, lambda block: np.asarray(block @ axes + mean), self.n_jobs)
        Z, axes, mean = common_dtype(Z, like(Z, axes), like(Z, mean))
        rows: Array = Z @ axes + mean
        return rows

    @answers_like_X
    def score_samples(self, X: Any) -> Float64Array:
        """Log-likelihood of each row under the Gaussian that the axes describe.

        As in scikit-learn's PCA this is the probabilistic model with covariance
        `get_covariance`, here with the robust center, axes and variances. It is comparable over
        `p` and over `n_components`, which the objective is not. A row with NaN
        (``missing="nan"``) has the likelihood of its observed entries.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        if self._has_gaps:
            return self._likelihood_of_observed(X)
        check_is_fitted(self)
        variances = to_host(self.explained_variance_).astype(np.float64)
        noise, m = float(self.noise_variance_), self.components_.shape[1]
        return self._each_distance(
            X, lambda squares, Z: _gaussian.log_likelihood(Z, squares, variances, noise, m)
        )

    def _likelihood_of_observed(self, X: Any) -> Float64Array:
        check_is_fitted(self)
        rows = _inputs.open_rows(self, X, reset=False)
        center = to_host(self.mean_).astype(np.float64)
        C = to_host(self.get_covariance()).astype(np.float64)
        return self._each_row(
            rows, lambda block: _gaussian.log_likelihood_of_observed(block.rows, center, C)
        )

    @answers_like_X
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
        return float(np.mean(to_host(self.score_samples(X))))

    def get_covariance(self) -> Any:
        """Covariance of the Gaussian model: WΛWᵀ + σ²(I − WWᵀ).

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        return self._of_model(_gaussian.covariance)

    def get_precision(self) -> Any:
        """Inverse of `get_covariance`.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        return self._of_model(_gaussian.precision)

    def _of_model(self, matrix: Callable[[Array, Array, float], Float64Array]) -> Any:
        """A matrix of the Gaussian model, where the fitted arrays are."""
        axes, variances = to_host(self.components_), to_host(self.explained_variance_)
        return like(self.components_, matrix(axes, variances, float(self.noise_variance_)))

    def _whitening(self) -> Array:
        """Standard deviations along the axes, kept off zero as in scikit-learn."""
        deviations = np.sqrt(to_host(self.explained_variance_))
        floor = np.finfo(deviations.dtype).eps * deviations.max(initial=0.0)
        return np.maximum(deviations, floor if floor > 0 else 1.0)
