"""The descent of the objective."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from trueaxis._drawing import excess
from trueaxis._typing import Float64Array
from trueaxis.outlier_map import axes_of
from trueaxis.plots._models import named
from trueaxis.plots._style import CURVES, STYLE, axes_or_new, dress


class ConvergenceDisplay:
    """How far the objective was above its minimum, before and after every update.

    Parameters
    ----------
    excesses : mapping of str to ndarray
        (J − J*)/J* for each fit, by name.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.datasets import make_contaminated
    >>> X = make_contaminated("scattered", random_state=0).X
    >>> fits = {s: RobustPCA(3, solver=s).fit(X) for s in ("orthogonal", "reweighted")}
    >>> display = ConvergenceDisplay.from_estimator(fits)
    >>> list(display.excesses)
    ['orthogonal', 'reweighted']
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, excesses: Mapping[str, Float64Array]) -> None:
        self.excesses = excesses

    @classmethod
    def from_estimator(cls, models: Any, *, ax: Axes | None = None) -> ConvergenceDisplay:
        """Draw the history of one fit or several.

        J* is the lowest objective of each fit, less the gap that it estimates to be left.

        Parameters
        ----------
        models : model, sequence of models, or mapping of str to models
            Fitted models with ``history_``.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        ConvergenceDisplay
        """
        histories = {name: excess(axes_of(model)) for name, model in named(models).items()}
        return cls(histories).plot(ax)

    def plot(self, ax: Axes | None = None) -> ConvergenceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        ConvergenceDisplay
        """
        with rc_context(STYLE):
            self.ax_ = ax = axes_or_new(ax)
            self.figure_ = ax.figure
            for i, (name, values) in enumerate(self.excesses.items()):
                every = max(1, len(values) // 15)
                look = CURVES[i % len(CURVES)] | {"markevery": every, "linewidth": 1.8}
                ax.plot(np.arange(len(values)), values, label=name, **look)
            ax.set_yscale("log")
            ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
            ax.set(xlabel="updates", ylabel="excess over the minimum, $(J-J^*)/J^*$")
            dress(ax, "Convergence", grid=True)
            if len(self.excesses) > 1:
                ax.legend()
        return self


def convergence(model_or_models: Any, ax: Axes | None = None) -> Axes:
    """Draw how far the objective was above its minimum, before and after every update.

    Parameters
    ----------
    model_or_models : model, sequence of models, or mapping of str to models
        Fitted models with ``history_``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made without it.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.datasets import make_contaminated
    >>> convergence(RobustPCA(3).fit(make_contaminated(random_state=0).X)).get_xlabel()
    'updates'
    """
    return ConvergenceDisplay.from_estimator(model_or_models, ax=ax).ax_
