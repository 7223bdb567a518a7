"""The outlier map."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from trueaxis._drawing import floor_of, is_long
from trueaxis._typing import Float64Array
from trueaxis.outlier_map import OutlierMap
from trueaxis.plots._marks import legend, name_the_worst, row_ids, scatter
from trueaxis.plots._style import INK, STYLE, axes_or_new, dress, plain_log


class OutlierMapDisplay:
    """Score distance of every row against its orthogonal distance, with both cut-offs.

    Parameters
    ----------
    outliers : OutlierMap
        Distances and cut-offs.
    ids : sequence, optional
        What to call each row; the default is its number, counted from 0.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from trueaxis import PCAOutlierDetector
    >>> from trueaxis.datasets import make_contaminated
    >>> X = make_contaminated("scattered", random_state=0).X
    >>> display = OutlierMapDisplay.from_estimator(PCAOutlierDetector(3).fit(X), X)
    >>> display.ax_.get_xlabel()
    'score distance'
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, outliers: OutlierMap, ids: Any = None) -> None:
        self.outliers = outliers
        self.ids = ids

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, *, ids: Any = None, ax: Axes | None = None, n_labels: int = 5
    ) -> OutlierMapDisplay:
        """Draw the map of rows about a fitted model.

        Parameters
        ----------
        model : RobustPCA or PCAOutlierDetector
            A fitted model.
        X : array-like of shape (n_samples, n_features)
            The rows.
        ids : sequence, optional
            What to call each row; the default is the index of a DataFrame, or the row's number.
        ax : matplotlib.axes.Axes, optional
            Where to draw.
        n_labels : int, default=5
            How many of the most outlying rows to name, where there is room.

        Returns
        -------
        OutlierMapDisplay
        """
        found = OutlierMap.of(model, X)
        return cls(found, row_ids(ids, X, len(found.score))).plot(ax, n_labels=n_labels)

    def plot(self, ax: Axes | None = None, *, n_labels: int = 5) -> OutlierMapDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw.
        n_labels : int, default=5
            How many of the most outlying rows to name, where there is room.

        Returns
        -------
        OutlierMapDisplay
        """
        found = self.outliers
        with rc_context(STYLE):
            self.ax_ = ax = axes_or_new(ax)
            self.figure_ = ax.figure
            x, long_x = _distances(found.score, found.score_cutoff)
            y, long_y = _distances(found.orthogonal, found.orthogonal_cutoff)
            scatter(ax, x, y, found)
            line: Any = {"color": INK, "linestyle": (0, (5, 3)), "linewidth": 1.0, "zorder": 1}
            ax.axvline(found.score_cutoff, **line)
            ax.axhline(found.orthogonal_cutoff, **line)
            if long_x:
                ax.set_xscale("log")
                plain_log(ax.xaxis)
            else:
                ax.set_xlim(left=0, right=1.05 * max(float(x.max()), found.score_cutoff) or 1.0)
            if long_y:
                ax.set_yscale("log")
                plain_log(ax.yaxis)
            else:
                ax.set_ylim(bottom=0, top=1.08 * max(float(y.max()), found.orthogonal_cutoff) or 1)
            ax.set(xlabel="score distance", ylabel="orthogonal distance")
            dress(ax, "Outlier map")
            legend(ax)
            name_the_worst(ax, x, y, found, self.ids, n_labels)
        return self


def outlier_map(model: Any, X: Any, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw the outlier map: how far each row is within the axes' subspace, and from it.

    Parameters
    ----------
    model : RobustPCA or PCAOutlierDetector
        A fitted model.
    X : array-like of shape (n_samples, n_features)
        The rows.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made without it.
    **options
        ``ids`` and ``n_labels`` of `OutlierMapDisplay.from_estimator`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.datasets import make_contaminated
    >>> X = make_contaminated("scattered", random_state=0).X
    >>> outlier_map(RobustPCA(3).fit(X), X).get_ylabel()
    'orthogonal distance'
    """
    return OutlierMapDisplay.from_estimator(model, X, ax=ax, **options).ax_


def _distances(d: Float64Array, cutoff: float) -> tuple[Float64Array, bool]:
    """Distances as drawn, and whether on a logarithmic scale."""
    long = is_long(d, cutoff)
    return (np.maximum(d, floor_of(d, cutoff)) if long else d), long
