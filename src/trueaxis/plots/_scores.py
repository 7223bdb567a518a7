"""Scores along two axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from trueaxis._drawing import core_limits
from trueaxis._typing import Float64Array
from trueaxis.outlier_map import OutlierMap, axes_of, in_memory, scores_of
from trueaxis.plots._marks import legend, name_the_worst, row_ids, scatter
from trueaxis.plots._style import STYLE, axes_or_new, dress


class ScoresDisplay:
    """Scores of every row along two axes, the outliers marked.

    Parameters
    ----------
    scores : ndarray of shape (n, 2)
        Coordinates along the two axes.
    outliers : OutlierMap
        Distances and cut-offs, which say how a row is marked.
    labels : (str, str)
        Of the two axes.
    ids : sequence, optional
        What to call each row; the default is its number, counted from 0.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.datasets import make_contaminated
    >>> X = make_contaminated("scattered", random_state=0).X
    >>> display = ScoresDisplay.from_estimator(RobustPCA(3).fit(X), X, axes=(0, 2))
    >>> display.scores.shape
    (500, 2)
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(
        self,
        scores: Float64Array,
        outliers: OutlierMap,
        labels: tuple[str, str] = ("axis 1", "axis 2"),
        ids: Any = None,
    ) -> None:
        self.scores = scores
        self.outliers = outliers
        self.labels = labels
        self.ids = ids

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        axes: tuple[int, int] = (0, 1),
        ids: Any = None,
        ax: Axes | None = None,
        n_labels: int = 5,
    ) -> ScoresDisplay:
        """Draw the scores of rows. With a single axis the orthogonal distance is the second.

        Parameters
        ----------
        model : RobustPCA or PCAOutlierDetector
            A fitted model.
        X : array-like of shape (n_samples, n_features)
            The rows.
        axes : (int, int), default=(0, 1)
            Which axes, counted from 0.
        ids : sequence, optional
            What to call each row; the default is the index of a DataFrame, or the row's number.
        ax : matplotlib.axes.Axes, optional
            Where to draw.
        n_labels : int, default=5
            How many of the most outlying rows to name, where there is room.

        Returns
        -------
        ScoresDisplay
        """
        model, X = in_memory(model, X)
        pca, found = axes_of(model), OutlierMap.of(model, X)
        k = len(pca.components_)
        a, b = axes
        if not (0 <= a < k and (0 <= b < k or k == 1)):
            raise ValueError(f"axes={axes!r} are not among the {k} of the model, counted from 0.")
        shares = pca.explained_variance_ratio_
        labels = [f"axis {j + 1} ({100 * shares[j]:.3g} % of variance)" for j in (a, b) if j < k]
        Z = scores_of(model, X)[:, [j for j in (a, b) if j < k]]
        if k == 1:
            Z, labels = np.column_stack([Z, found.orthogonal]), [*labels, "orthogonal distance"]
        ids = row_ids(ids, X, len(Z))
        return cls(Z, found, (labels[0], labels[1]), ids).plot(ax, n_labels=n_labels)

    def plot(self, ax: Axes | None = None, *, n_labels: int = 5) -> ScoresDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw.
        n_labels : int, default=5
            How many of the most outlying rows to name, where there is room.

        Returns
        -------
        ScoresDisplay
        """
        with rc_context(STYLE):
            self.ax_ = ax = axes_or_new(ax)
            self.figure_ = ax.figure
            regular = ~self.outliers.flagged
            limits = [core_limits(z, regular) for z in self.scores.T]
            x, y = (np.clip(z, *pair) for z, pair in zip(self.scores.T, limits, strict=True))
            scatter(ax, x, y, self.outliers)
            ax.set(xlim=limits[0], ylim=limits[1], xlabel=self.labels[0], ylabel=self.labels[1])
            outside = int(np.any((self.scores.T[0] != x, self.scores.T[1] != y), axis=0).sum())
            beyond = f", {outside} beyond the frame at its edge" if outside else ""
            dress(ax, f"Scores{beyond}")
            legend(ax)
            name_the_worst(ax, x, y, self.outliers, self.ids, n_labels)
        return self


def scores(model: Any, X: Any, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw the scores of rows along two axes, the outliers marked.

    Parameters
    ----------
    model : RobustPCA or PCAOutlierDetector
        A fitted model.
    X : array-like of shape (n_samples, n_features)
        The rows.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made without it.
    **options
        ``axes``, ``ids`` and ``n_labels`` of `ScoresDisplay.from_estimator`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.datasets import make_contaminated
    >>> X = make_contaminated("scattered", random_state=0).X
    >>> scores(RobustPCA(3).fit(X), X).get_xlabel()
    'axis 1 (50.1 % of variance)'
    """
    return ScoresDisplay.from_estimator(model, X, ax=ax, **options).ax_
