"""Angles between the axes of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from trueaxis._subspace import Subspace
from trueaxis._typing import Float64Array
from trueaxis.outlier_map import axes_of
from trueaxis.plots._models import named
from trueaxis.plots._style import CURVES, STYLE, axes_or_new, dress

_MOST_BARS_NAMED = 10


class CompareAxesDisplay:
    """Principal angles of subspaces to a first one.

    Parameters
    ----------
    first : str
        The name of the subspace that the others are held against.
    degrees : mapping of str to ndarray
        Angles in degrees, largest first, by the name of the other.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.datasets import make_contaminated
    >>> data = make_contaminated("scattered", random_state=0)
    >>> fits = {"PCA": PCA(3).fit(data.X), "robust": RobustPCA(3).fit(data.X)}
    >>> display = CompareAxesDisplay.from_estimator({"truth": data.truth} | fits)
    >>> bool(display.degrees["PCA"].max() > 80 > 2 > display.degrees["robust"].max())
    True
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, first: str, degrees: Mapping[str, Float64Array]) -> None:
        self.first = first
        self.degrees = degrees

    @classmethod
    def from_estimator(cls, *models: Any, ax: Axes | None = None) -> CompareAxesDisplay:
        """Draw the angles of the second model and all after it to the first.

        Parameters
        ----------
        *models : models, or one mapping of str to models
            Fitted models with ``components_``, such as scikit-learn's PCA, or `Subspace`.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        CompareAxesDisplay
        """
        models_named = named(models[0] if len(models) == 1 else models)
        if len(models_named) < 2:
            raise ValueError("compare_axes needs two models or more; pass them one after another.")
        spaces = {name: _subspace(model) for name, model in models_named.items()}
        (first, held), *others = spaces.items()
        for name, space in others:
            if len(space.basis) != len(held.basis):
                raise ValueError(
                    f"The axes of {name} are in {len(space.basis)} columns and those of {first} "
                    f"in {len(held.basis)}; compare models of the same columns."
                )
        return cls(first, {name: np.degrees(held.angles(space)) for name, space in others}).plot(ax)

    def plot(self, ax: Axes | None = None) -> CompareAxesDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        CompareAxesDisplay
        """
        width = 0.8 / len(self.degrees)
        most = max(float(angles.max()) for angles in self.degrees.values())
        with rc_context(STYLE):
            self.ax_ = ax = axes_or_new(ax)
            self.figure_ = ax.figure
            for i, (name, angles) in enumerate(self.degrees.items()):
                places = np.arange(1, len(angles) + 1) + (i - (len(self.degrees) - 1) / 2) * width
                color = CURVES[i % len(CURVES)]["color"]
                bars = ax.bar(places, angles, width=0.92 * width, color=color, label=name)
                if len(angles) * len(self.degrees) <= _MOST_BARS_NAMED:
                    ax.bar_label(bars, fmt="{:.2g}°", padding=2, fontsize="small")
            ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
            ax.set(
                xlabel="principal angle, largest first",
                ylabel="degrees",
                ylim=(0, 1.25 * most or 1.0),
            )
            dress(ax, f"Angles to the axes of {self.first}", grid=True)
            ax.legend(loc="upper right", bbox_to_anchor=(1.0, 1.0))
        return self


def compare_axes(*models: Any, ax: Axes | None = None) -> Axes:
    """Draw the principal angles between the axes of the first model and those of the others.

    Parameters
    ----------
    *models : models, or one mapping of str to models
        Fitted models with ``components_``, such as scikit-learn's PCA, or `Subspace`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made without it.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.datasets import make_contaminated
    >>> X = make_contaminated(random_state=0).X
    >>> compare_axes({"RobustPCA": RobustPCA(3).fit(X), "PCA": PCA(3).fit(X)}).get_ylabel()
    'degrees'
    """
    return CompareAxesDisplay.from_estimator(*models, ax=ax).ax_


def _subspace(model: Any) -> Subspace:
    if isinstance(model, Subspace):
        return model
    pca = axes_of(model)
    return Subspace(np.asarray(pca.components_, dtype=np.float64).T, np.asarray(pca.mean_))
