"""The outlier map of a fitted model: where each row lies, and the cut-offs it is held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trueaxis._device import is_dispatched, to_host
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators import _inputs
from trueaxis.estimators._distances import squares_and_scores
from trueaxis.estimators._namespace import on_host
from trueaxis.outliers import KINDS, ROUNDING, kind_numbers, kinds, orthogonal_cutoff, score_cutoff

_QUANTILE = 0.975  # of regular rows within both cut-offs, as in PCAOutlierDetector


@dataclass(frozen=True)
class OutlierMap:
    """Both distances of rows, and the cut-offs.

    Parameters
    ----------
    score, orthogonal : ndarray of shape (n,)
        Distances within the subspace of the axes and from it.
    score_cutoff, orthogonal_cutoff : float
        Beyond which a row is an outlier.

    Examples
    --------
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.datasets import make_contaminated
    >>> data = make_contaminated("scattered", random_state=0)
    >>> found = OutlierMap.of(RobustPCA(3).fit(data.X), data.X)
    >>> bool(found.flagged[data.is_outlier].all())
    True
    """

    score: Float64Array
    orthogonal: Float64Array
    score_cutoff: float
    orthogonal_cutoff: float

    @classmethod
    def of(cls, model: Any, X: Any, cutoffs: tuple[float, float] | None = None) -> OutlierMap:
        """The map of rows about a fitted `RobustPCA` or `PCAOutlierDetector`.

        Parameters
        ----------
        model : RobustPCA or PCAOutlierDetector
            A detector has cut-offs of its own. For `RobustPCA` they are the detector's formulas
            with its default quantile, and the orthogonal one is taken from the rows given.
        X : array-like of shape (n, m)
            The rows.
        cutoffs : (float, float), optional
            Score and orthogonal cut-off to use in place of these.

        Returns
        -------
        OutlierMap
        """
        check_is_fitted(model)
        model, X = in_memory(model, X)
        # Of rows in Dask they are lazy.
        score, orthogonal = np.ascontiguousarray(to_host(model._both_distances(X)).T)
        if cutoffs is None:
            cutoffs = _cutoffs(model, orthogonal)
        return cls(score, orthogonal, *cutoffs)

    def part(self, which: Array) -> OutlierMap:
        """The map of some of the rows, against the same cut-offs."""
        return OutlierMap(self.score[which], self.orthogonal[which], *self.cutoffs)

    @property
    def cutoffs(self) -> tuple[float, float]:
        """The score and the orthogonal cut-off."""
        return self.score_cutoff, self.orthogonal_cutoff

    @property
    def excess(self) -> Float64Array:
        """The larger of the two distances of each row, as a multiple of its cut-off."""
        return np.maximum(
            multiple(self.score, self.score_cutoff),
            multiple(self.orthogonal, self.orthogonal_cutoff),
        )

    @property
    def kinds(self) -> Array:
        """The kind of each row, one of `trueaxis.outliers.KINDS`."""
        return kinds(self.score, self.orthogonal, self.score_cutoff, self.orthogonal_cutoff)

    @property
    def flagged(self) -> Array:
        """Which rows are beyond a cut-off."""
        beyond = self.score > self.score_cutoff
        return np.asarray(beyond | (self.orthogonal > self.orthogonal_cutoff))

    @property
    def counts(self) -> dict[str, int]:
        """Number of rows of each kind."""
        numbers = kind_numbers(self.score, self.orthogonal, *self.cutoffs)
        found = np.bincount(numbers, minlength=len(KINDS))
        return dict(zip(KINDS, map(int, found), strict=True))


def axes_of(model: Any) -> Any:
    """The fitted `RobustPCA`: the model itself, or a detector's."""
    return getattr(model, "pca_", model)


def in_memory(model: Any, X: Any) -> tuple[Any, Any]:
    """A fitted model and rows, both in NumPy where they are arrays of another library.

    Pictures and words are made on the host, whatever device the fit was made on.
    """
    if not hasattr(model, "orthogonal_distance"):
        raise TypeError(
            f"{type(model).__name__} has no axes to measure distances from; pass a fitted "
            "RobustPCA or PCAOutlierDetector."
        )
    return on_host(model), to_host(X) if is_dispatched(X) else X


def index_of(X: Any) -> Any:
    """The index of a data frame, of pandas or of Dask; None of anything else."""
    index: Any = getattr(X, "index", None) if hasattr(X, "columns") else None
    return index.compute() if hasattr(index, "compute") else index


def rows_of(model: Any, X: Any, which: Array | None = None) -> Float64Array:
    """A dense copy of some rows, in the order asked for, from whatever holds them."""
    source = _inputs.open_rows(model, X, reset=False)
    which = np.arange(source.shape[0]) if which is None else which
    order = np.argsort(which, kind="stable")
    rows = np.empty((len(which), source.shape[1]))
    rows[order], _ = source.take(which[order])
    return rows


def scores_of(model: Any, X: Any) -> Float64Array:
    """Scores of all rows along the axes, never whitened."""
    source = _inputs.open_rows(model, X, reset=False)
    return squares_and_scores(source, axes_of(model), model.n_jobs)[1]


def multiple(distance: Float64Array, cutoff: float) -> Float64Array:
    """Distances as multiples of a cut-off; above 0 / 0 = 0 lies infinity."""
    if cutoff > 0:
        return np.asarray(distance / cutoff)
    return np.where(distance > 0, np.inf, 0.0)


def _cutoffs(model: Any, orthogonal: Float64Array) -> tuple[float, float]:
    if hasattr(model, "orthogonal_cutoff_"):
        return float(model.score_cutoff_), float(model.orthogonal_cutoff_)
    each = float(np.sqrt(_QUANTILE))
    # A row at a typical distance from the center has a residual of this size from rounding alone.
    variances = model.explained_variance_
    size = np.hypot(np.sqrt(float(variances.sum())), np.median(orthogonal))
    floor = max(ROUNDING, 8 * float(np.finfo(variances.dtype).eps)) * float(size)
    return score_cutoff(len(variances), each), orthogonal_cutoff(orthogonal, each, floor=floor)
