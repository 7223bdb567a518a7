"""PCAOutlierDetector: rows that robust principal axes do not explain."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from trueaxis import starts
from trueaxis._device import is_dispatched, to_host
from trueaxis._threads import single_threaded_blas
from trueaxis._typing import Array, Float64Array
from trueaxis._univariate import nearest
from trueaxis.estimators import _inputs, _missing
from trueaxis.estimators._distances import OfRows, drawn_of, each_distance, telling_rows
from trueaxis.estimators._namespace import answers_like_X, settle
from trueaxis.estimators._scree import axes_in_scree
from trueaxis.estimators._transform import unchanged_on_error
from trueaxis.estimators.robust_pca import RobustPCA
from trueaxis.outliers import (
    ROUNDING,
    kinds,
    orthogonal_cutoff,
    robust_scatter,
    score_cutoff,
    score_distances,
)
from trueaxis.sources import Source

_OF_THE_AXES = ("loss", "p", "solver", "center", "missing", "n_jobs", "callback")
_BOUNDARY = 1 + 1e-9  # the row on it is within, whichever way its distances are rounded


class PCAOutlierDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    r"""Outliers by their distances from robust principal axes.

    A row has a score distance, within the subspace of the axes and in standard deviations there,
    and an orthogonal distance, from the subspace. It is an outlier where either exceeds its
    cut-off: :math:`\sqrt{\chi^2_k}` and the Wilson-Hilferty quantile of ROBPCA (Hubert,
    Rousseeuw and Vanden Branden 2005). Axes, location and scatter of the scores, and cut-offs are
    all estimated robustly, from a majority of regular rows, and fixed by `fit`: new rows never
    change what is said of old ones.

    Columns count in their own units. Where these differ, scale the columns first, by a robust
    measure such as :class:`sklearn.preprocessing.RobustScaler`. Of more than 100,000 rows so many,
    drawn at random, tell the cut-offs.

    Parameters
    ----------
    n_components : int, float or "scree", default="scree"
        Number of axes; "scree" takes the first that hold 80 % of a robust variance, each at least
        a thousandth of the first's, at most 10, half the rank and a tenth of the rows. A float is
        a share of variance, as in `RobustPCA`.
    loss, p, solver, center : default="bisquare", 1.0, "auto", "optimal"
        How the axes are fitted: parameters of `RobustPCA`.
    missing : {"nan", None}, default=None
        "nan" treats NaN as an entry that was not observed, as in `RobustPCA`: a row's distances
        are those of its observed entries, so that one with few of them rarely stands out.
    quantile : float in (0, 1), default=0.975
        Share of regular Gaussian rows that is within both cut-offs: each is the distance's
        quantile of order √quantile.
    contamination : float in (0, 0.5] or None, default=None
        Where given, both cut-offs are scaled by one factor so that this share of the training
        rows is beyond.
    random_state : int, RandomState instance or None, default=None
        As in `RobustPCA`; None is a seed of its own: the same data give the same answer.
    n_jobs : int or None, default=None
        Threads; None is every core allowed to the process. Results do not depend on it.
    callback : callable, optional
        Called while the axes are fitted, as that of `RobustPCA`.

    Attributes
    ----------
    pca_ : RobustPCA
        The fitted axes.
    score_location_ : ndarray of shape (k,)
    score_scatter_ : ndarray of shape (k, k)
        Location and covariance of the scores, from the rows within the orthogonal cut-off.
    score_cutoff_, orthogonal_cutoff_ : float
        Distances beyond which a row is an outlier.
    offset_ : float
        ``decision_function(X) = score_samples(X) - offset_``; -1 always.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> from trueaxis import PCAOutlierDetector
    >>> from trueaxis.datasets import make_contaminated
    >>> data = make_contaminated("scattered", random_state=0)
    >>> detector = PCAOutlierDetector(n_components=3).fit(data.X)
    >>> bool((detector.predict(data.X[data.is_outlier]) == -1).all())
    True
    >>> detector.classify(data.X[[0, -1]]).tolist()
    ['bad leverage', 'regular']
    """

    def __init__(
        self,
        n_components: int | float | str = "scree",
        *,
        loss: Any = "bisquare",
        p: float = 1.0,
        solver: str = "auto",
        center: Any = "optimal",
        missing: str | None = None,
        quantile: float = 0.975,
        contamination: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.p = p
        self.solver = solver
        self.center = center
        self.missing = missing
        self.quantile = quantile
        self.contamination = contamination
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.input_tags.allow_nan = bool(self.missing == "nan")
        tags.input_tags.sparse = not tags.input_tags.allow_nan
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PCAOutlierDetector:
        """Find the axes and the cut-offs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, outliers among them.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 counts as the row twice, of 0 as the row left out.

        Returns
        -------
        PCAOutlierDetector
            The fitted estimator.
        """
        with unchanged_on_error(self), single_threaded_blas():
            self._fit(_inputs.open_rows(self, X, reset=True), X, sample_weight)
            settle(self, X)
        return self

    def _fit(self, rows: Source, X: Any, sample_weight: Any) -> None:
        # Score and residual of a Gaussian row are independent.
        each = np.sqrt(_inputs.real_in("quantile", self.quantile, 0.0, 1.0, "(0, 1)"))
        if (share := self.contamination) is not None:
            share = _inputs.real_in("contamination", share, 0.0, 0.5, "(0, 0.5]")
        weights = _inputs.check_sample_weight(sample_weight, rows.shape[0])
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        number: Any = self.n_components
        given = {name: getattr(self, name) for name in _OF_THE_AXES}
        pca = RobustPCA(number, random_state=rng, **given)
        names = getattr(self, "feature_names_in_", None)
        if isinstance(number, str):
            _inputs.choice("n_components", number, ("scree",), ", a number, or a share")
            pca.n_components = axes_in_scree(rows, weights, pca, rng, names)
        self.pca_ = pca.fit(X if rows.has_rows else rows, sample_weight=weights)
        rows, weights = _missing.settle(rows, weights, pca.n_components_, names)
        # A share of the rows is of them all; location, scatter and quantiles some tell as well.
        rows, weights = telling_rows(rows, weights, rng, of_all=share is not None)
        each_row = np.asarray(self._each(rows, lambda *t: np.column_stack(t)))
        if share is None:
            each_row, weights = drawn_of(each_row, weights, rng)
        od, Z = each_row[:, 0], each_row[:, 1:]
        counts = np.ones(len(od)) if weights is None else weights
        size = starts.typical_distance(each_row, np.zeros(each_row.shape[1]), weights)
        self.orthogonal_cutoff_ = orthogonal_cutoff(od, each, weights, floor=ROUNDING * size)
        within = counts * (od <= self.orthogonal_cutoff_)
        self.score_location_, self.score_scatter_ = robust_scatter(Z, within)
        self.score_cutoff_ = score_cutoff(Z.shape[1], each)
        self.offset_ = -1.0
        if share is not None:
            score = score_distances(Z, self.score_location_, self.score_scatter_)
            shares = -self._normality()(score, od)
            _, factor = nearest(shares, counts, (1.0 - share) * float(counts.sum()))
            factor = max(factor, ROUNDING) * _BOUNDARY
            self.score_cutoff_ *= factor
            self.orthogonal_cutoff_ *= factor

    def _each(self, X: Source, of: OfRows) -> Array:
        """What `of` makes of orthogonal distances, 0 where they are rounding, and scores."""
        rounding = max(ROUNDING, 8 * float(np.finfo(X.answers).eps))

        def found(squares: Float64Array, Z: Float64Array) -> Array:
            lengths = squares + np.einsum("ij,ij->i", Z, Z)
            return of(np.sqrt(np.where(squares <= rounding**2 * lengths, 0.0, squares)), Z)

        names = getattr(self, "feature_names_in_", None)
        return each_distance(X, found, self.pca_, self.n_jobs, names)

    def _each_distance(self, X: Any, of: OfRows) -> Array:
        """What `of` makes of score and orthogonal distances; lazily where X is lazy."""
        rows = _inputs.open_rows(self, X, reset=False)
        location, scatter = to_host(self.score_location_), to_host(self.score_scatter_)
        return self._each(rows, lambda od, Z: of(score_distances(Z, location, scatter), od))

    def _both_distances(self, X: Any) -> Array:
        """Score and orthogonal ones side by side, in one pass over the rows."""
        return self._each_distance(X, lambda *distances: np.column_stack(distances))

    @answers_like_X
    def score_distance(self, X: Any) -> Float64Array:
        """Distance of rows from the robust location of the scores, in standard deviations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._each_distance(X, lambda score, _: score)

    @answers_like_X
    def orthogonal_distance(self, X: Any) -> Float64Array:
        """Distance of rows from the subspace; exactly 0 where it is no more than rounding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._each_distance(X, lambda _, orthogonal: orthogonal)

    @answers_like_X
    def score_samples(self, X: Any) -> Float64Array:
        """Minus the larger of the two distances, each as a share of its cut-off.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The lower, the more abnormal; below -1 for an outlier.
        """
        check_is_fitted(self)
        return self._each_distance(X, self._normality())

    @answers_like_X
    def decision_function(self, X: Any) -> Float64Array:
        """How far rows are from being outliers: ``score_samples(X) - offset_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Negative for an outlier.
        """
        return self.score_samples(X) - self.offset_

    @answers_like_X
    def predict(self, X: Any) -> Array:
        """-1 for an outlier, +1 for any other row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of int, shape (n_samples,)
        """
        below = self.decision_function(X)
        return np.where((to_host(below) if is_dispatched(below) else below) < 0, -1, 1)

    @answers_like_X
    def classify(self, X: Any) -> Array:
        """The place of rows in the outlier map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of str, shape (n_samples,)
            "regular"; "good leverage", far out but in the subspace; "orthogonal outlier", away
            from the subspace; "bad leverage", both.
        """
        check_is_fitted(self)
        cutoffs = float(self.score_cutoff_), float(self.orthogonal_cutoff_)
        return self._each_distance(X, lambda score, orthogonal: kinds(score, orthogonal, *cutoffs))

    def _normality(self) -> OfRows:
        """(score, orthogonal) → minus the larger share of its cut-off."""
        cut, away = float(self.score_cutoff_), float(self.orthogonal_cutoff_)
        return lambda score, orthogonal: -np.maximum(score / cut, orthogonal / away)
