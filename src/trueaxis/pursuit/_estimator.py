"""What the three decompositions share as scikit-learn estimators."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from trueaxis._linalg import flip_signs
from trueaxis._threads import Workers, single_threaded_blas
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators import _inputs
from trueaxis.estimators._transform import unchanged_on_error
from trueaxis.pursuit import _checks
from trueaxis.pursuit._low_rank import LowRank
from trueaxis.pursuit._problem import Problem
from trueaxis.pursuit._regression import least_absolute
from trueaxis.pursuit._solve import Solution, solve

# Residuals of new rows below this share of their mean entry are rounding: `components_` are not
# known any better.
_ROUNDING = {np.dtype(np.float64): 1e-7, np.dtype(np.float32): 1e-5}


class Pursuit(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # untyped
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Fit, transform and the parameters that the decompositions have in common."""

    n_components: int | None
    lam: Any
    center: bool
    solver: str
    tol: float
    max_iter: int
    missing: Any
    random_state: Any
    callback: Any
    verbose: int

    _SOLVERS: tuple[str, ...] = ("auto", "altproj", "admm")

    def fit(self, X: Any, y: Any = None, *, mask: Any = None) -> Any:
        """Split X into a matrix of low rank and a sparse rest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : ignored
        mask : array-like of bool of shape (n_samples, n_features), optional
            True where an entry is missing, whatever it holds; with ``missing="nan"`` in addition
            to NaN.

        Returns
        -------
        object
            The fitted estimator.
        """
        with unchanged_on_error(self):
            self._fit(X, mask)
        if not self.converged_:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations at a "
                f"relative gap of {self.history_[-1].gap:.1e}, above tol={self.tol:.1e}. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def fit_transform(self, X: Any, y: Any = None, *, mask: Any = None) -> Array:
        """``fit(X).transform(X)``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : ignored
        mask : array-like of bool, optional
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        return self.fit(X, mask=mask).transform(X, mask=mask)  # type: ignore[no-any-return]

    def _fit(self, X: Any, mask: Any) -> None:
        rows = _checks.check_rows(self, X, reset=True)
        observed = _checks.observed_entries(self, rows, mask)
        n, m = rows.shape
        _checks.check_rank(self.n_components, n, m)
        lam = self._lam(n, m, 1.0 if observed is None else float(observed.mean()))
        _inputs.choice("solver", self.solver, self._SOLVERS)
        exact = self.solver != "admm" and "altproj" in self._SOLVERS
        tol = _inputs.real_in("tol", self.tol, 0.0, np.inf, "(0, inf)")
        max_iter = _inputs.integer_at_least("max_iter", self.max_iter, 1)
        center = _checks.boolean("center", self.center)
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        # A shift of the columns changes nothing but the mean, and costs digits where it is large.
        shift = _checks.typical_row(rows, observed) if center else None
        M, unit = _checks.scaled(rows, observed, shift)
        with Workers.start(None) as workers:
            problem = Problem(M, self._penalty(), lam, workers, 0.0, observed, center)
            found = self._solve(
                problem,
                unit,
                exact=exact,
                rank=self.n_components,
                tol=tol,
                max_iter=max_iter,
                rng=rng,
            )
        self._take(found, unit, shift, rows.dtype)

    def _solve(self, problem: Problem, unit: float, **settings: Any) -> Solution:
        return solve(problem, report=self._report(unit), **settings)

    @abstractmethod
    def _penalty(self) -> Any: ...

    @abstractmethod
    def _lam(self, n: int, m: int, share: float) -> float: ...

    def _report(self, unit: float) -> Any:
        if self.callback is None and not self.verbose:
            return None

        def report(record: Any, low: LowRank) -> None:
            record.objective *= unit
            if self.verbose:
                print(
                    f"{type(self).__name__} {record.iteration:4d}  "
                    f"objective {record.objective:.10e}  feasibility {record.feasibility:.1e}  "
                    f"gap {record.gap:.1e}  rank {record.rank}"
                )
            if self.callback is not None:
                self.callback(record)

        return report

    def _take(self, found: Solution, unit: float, shift: Float64Array | None, dtype: Any) -> None:
        low = found.low
        m = len(low.V)
        L = low.rows(slice(None)) * unit
        mean = np.zeros(m) if low.mean is None else low.mean * unit
        if shift is not None:
            L += shift
            mean = mean + shift
        self.low_rank_ = L.astype(dtype, copy=False)
        self.sparse_ = (found.sparse * unit).astype(dtype, copy=False)
        self.rank_ = low.rank
        kept = low.rank if self.n_components is None else min(self.n_components, low.rank)
        self.components_ = flip_signs(low.V[:, :kept]).T.astype(dtype)
        self.singular_values_ = (low.s[:kept] * unit).astype(dtype)
        self.mean_ = mean.astype(dtype)
        self.n_components_ = kept
        self.history_ = found.history
        self.history_.objective *= unit
        self.objective_ = float(self.history_[-1].objective)
        self.gap_ = float(self.history_[-1].gap)
        self.n_iter_ = len(self.history_)
        self.converged_ = found.converged
        self.solver_ = found.solver

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def transform(self, X: Any, *, mask: Any = None) -> Array:
        """Coordinates of rows in the row space of the low-rank part.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        mask : array-like of bool of shape (n_samples, n_features), optional
            True where an entry is missing.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            The z that minimize ‖x − mean_ − components_ᵀz‖₁, one a row.
        """
        check_is_fitted(self)
        rows = _checks.check_rows(self, X, reset=False)
        observed = _checks.observed_entries(self, rows, mask)
        return self._scores(rows, observed).astype(rows.dtype, copy=False)

    def _scores(self, rows: Array, observed: Array | None) -> Float64Array:
        V = self.components_.T.astype(np.float64)
        deviations = rows.astype(np.float64) - self.mean_
        if observed is not None:
            deviations[~observed] = 0.0
        with single_threaded_blas():
            return self._regress(deviations, V, observed)

    def _regress(
        self, deviations: Float64Array, V: Float64Array, observed: Array | None
    ) -> Float64Array:
        return least_absolute(deviations, V, observed)

    def decompose(self, X: Any, *, mask: Any = None) -> tuple[Array, Array]:
        """Split rows, new ones or those of the fit, into the row space and a sparse rest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        mask : array-like of bool of shape (n_samples, n_features), optional
            True where an entry is missing.

        Returns
        -------
        low_rank : ndarray of shape (n_samples, n_features)
            ``inverse_transform(transform(X))``, at missing entries too.
        sparse : ndarray of shape (n_samples, n_features)
            What it leaves of X; 0 at missing entries, and where it is rounding.
        """
        check_is_fitted(self)
        rows = _checks.check_rows(self, X, reset=False)
        observed = _checks.observed_entries(self, rows, mask)
        Z = self._scores(rows, observed)
        low = Z @ self.components_.astype(np.float64) + self.mean_
        rest = rows - low
        size = np.abs(rows, dtype=np.float64)
        if observed is not None:
            rest[~observed] = size[~observed] = 0.0
        rounding = _ROUNDING[rows.dtype] * size.mean(axis=1, keepdims=True)
        rest = self._beyond(rest, np.maximum(rounding, np.finfo(rows.dtype).tiny))
        return low.astype(rows.dtype, copy=False), rest.astype(rows.dtype, copy=False)

    def _beyond(self, rest: Float64Array, rounding: Float64Array) -> Float64Array:
        """What of rows' residuals is no rounding, given its size for each row."""
        return np.where(np.abs(rest) > rounding, rest, 0.0)

    def inverse_transform(self, X: Any) -> Array:
        """Rows of the data's space from coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Coordinates, as `transform` returns them.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            ``X @ components_ + mean_``.
        """
        check_is_fitted(self)
        k = len(self.components_)
        Z = check_array(
            X, dtype=[np.float64, np.float32], input_name="X", ensure_min_features=min(k, 1)
        )
        if Z.shape[1] != k:
            raise ValueError(
                f"X has {Z.shape[1]} columns, but the model has {k} components; pass coordinates "
                "as transform returns them."
            )
        return np.asarray(Z @ self.components_ + self.mean_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "nan"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
