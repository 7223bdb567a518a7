"""Variance along the axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from trueaxis._typing import Float64Array
from trueaxis.outlier_map import axes_of
from trueaxis.plots._style import STYLE, axes_or_new, dress

_MOST_BARS_NAMED = 10


class ScreeDisplay:
    """The robust variance along each axis, as a share of the whole.

    Parameters
    ----------
    shares : ndarray of shape (k,)
        Shares of the variance, largest first.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> display = ScreeDisplay(np.array([0.7, 0.2])).plot()
    >>> len(display.ax_.patches)
    2
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, shares: Float64Array) -> None:
        self.shares = shares

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Axes | None = None) -> ScreeDisplay:
        """Draw the variances of a fitted model.

        Parameters
        ----------
        model : RobustPCA or PCAOutlierDetector
            A fitted model, or any other with ``explained_variance_ratio_``.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        ScreeDisplay
        """
        return cls(np.asarray(axes_of(model).explained_variance_ratio_, dtype=np.float64)).plot(ax)

    def plot(self, ax: Axes | None = None) -> ScreeDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        ScreeDisplay
        """
        beside = max(0.1, 1.6 - 0.4 * len(self.shares))  # a few bars are no walls
        places = np.arange(1, len(self.shares) + 1)
        with rc_context(STYLE):
            self.ax_ = ax = axes_or_new(ax)
            self.figure_ = ax.figure
            bars = ax.bar(places, 100 * self.shares, width=0.68, color="#0072b2")
            if len(places) <= _MOST_BARS_NAMED:
                ax.set_xticks(places)
                ax.bar_label(bars, fmt="{:.3g}", padding=2, fontsize="small")
            else:
                ax.xaxis.set_major_locator(MaxNLocator(integer=True))
            ax.set(
                xlabel="axis",
                ylabel="% of the robust variance",
                xlim=(0.5 - beside, len(places) + 0.5 + beside),
            )
            ax.margins(y=0.12)
            dress(
                ax,
                f"Variance along the axes, {100 * min(self.shares.sum(), 1.0):.3g} % in all",
                grid=True,
            )
        return self


def scree(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the robust variance along each axis, as a share of the whole.

    Parameters
    ----------
    model : RobustPCA or PCAOutlierDetector
        A fitted model.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made without it.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.datasets import make_contaminated
    >>> scree(RobustPCA(3).fit(make_contaminated(random_state=0).X)).get_xlabel()
    'axis'
    """
    return ScreeDisplay.from_estimator(model, ax=ax).ax_
