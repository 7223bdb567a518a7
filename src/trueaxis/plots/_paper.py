"""The two figures of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from trueaxis._subspace import Subspace
from trueaxis._typing import Array, Float64Array
from trueaxis.plots._style import CURVES, INK, STYLE

# A dash pattern and a width tell the lines apart in black and white too.
_LINES: tuple[dict[str, Any], ...] = (
    {"color": INK, "linestyle": (0, (5, 3)), "linewidth": 1.8, "zorder": 6},
    {"color": "#d55e00", "linestyle": "solid", "linewidth": 2.2, "zorder": 4},
    {"color": "#0072b2", "linestyle": "solid", "linewidth": 3.4, "zorder": 5},
    {"color": "#009e73", "linestyle": (0, (1, 1)), "linewidth": 2.2, "zorder": 4},
)
_ROUNDING = 1e-12  # relative excess that carries no information


def projection_axes(X: Array, is_outlier: Array, axes: Mapping[str, Subspace]) -> Figure:
    """Points of the plane, and the first axis that each method finds in them (the paper's Fig. 1).

    Parameters
    ----------
    X : ndarray of shape (n_samples, 2)
        The points.
    is_outlier : ndarray of shape (n_samples,), bool
        Which of them to mark as outliers.
    axes : mapping of str to Subspace
        A one-dimensional subspace for each line, by its label in the legend; at most four.

    Returns
    -------
    matplotlib.figure.Figure
        ``figure.savefig("name.png")`` writes it.

    Examples
    --------
    >>> import numpy as np
    >>> line = Subspace(np.array([[1.0], [0.0]]), np.zeros(2))
    >>> X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> figure = projection_axes(X, X[:, 1] > 2, {"PCA": line})
    >>> figure.axes[0].get_legend() is not None
    True
    """
    X, is_outlier = np.asarray(X), np.asarray(is_outlier, dtype=bool)
    low, high = _frame(X)
    with rc_context(STYLE):
        figure = Figure(figsize=(6.4, 6.4), layout="constrained")
        ax = figure.add_subplot(aspect="equal", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        inliers, outliers = X[~is_outlier], X[is_outlier]
        ax.scatter(
            inliers[:, 0], inliers[:, 1], s=20, color="#aab4bd", linewidths=0, label="inliers"
        )
        ax.scatter(
            outliers[:, 0],
            outliers[:, 1],
            s=34,
            marker="X",
            color="#7a5195",
            linewidths=0,
            label="outliers",
        )
        for (label, subspace), style in zip(axes.items(), _LINES, strict=False):
            ends = _crossings(subspace, low, high)
            ax.plot(ends[:, 0], ends[:, 1], label=label, solid_capstyle="butt", **style)
        ax.set(xlabel="first feature", ylabel="second feature")
        ax.set_title("Principal axes with and without outliers")
        handles, labels = ax.get_legend_handles_labels()
        lines, points = slice(2, None), slice(0, 2)
        ax.legend(
            handles[lines] + handles[points],
            labels[lines] + labels[points],
            loc="upper left",
            bbox_to_anchor=(-0.02, -0.12),
            ncols=2,
        )
    return figure


def descents(
    histories: Mapping[str, Mapping[str, Array]], best: Mapping[str, float] | None = None
) -> Figure:
    """Objectives against updates: a panel for each loss, a curve for each solver (Fig. 2).

    Drawn is the relative excess (J − J*)/J* over the lowest known objective J*, on a logarithmic
    axis. A curve leaves the panel through its floor where it reaches J*.

    Parameters
    ----------
    histories : mapping of str to mapping of str to ndarray
        Objectives before the first and after every update, by the title of the panel and the
        name of the curve; at most four curves a panel.
    best : mapping of str to float, optional
        J* by the title of the panel; left out, it is the lowest objective in the panel.

    Returns
    -------
    matplotlib.figure.Figure
        ``figure.savefig("name.png")`` writes it.

    Examples
    --------
    >>> figure = descents({"l2p": {"proximal": [4.0, 3.0, 2.0]}}, best={"l2p": 1.5})
    >>> len(figure.axes)
    1
    """
    with rc_context(STYLE):
        figure = Figure(figsize=(4.9 * len(histories), 4.6), layout="constrained")
        panels = figure.subplots(1, len(histories), squeeze=False)[0]
        for ax, (title, curves) in zip(panels, histories.items(), strict=True):
            values = {name: np.asarray(J, dtype=np.float64) for name, J in curves.items()}
            lowest = min(float(J.min()) for J in values.values())
            _excess_curves(ax, values, lowest if best is None else min(best[title], lowest))
            ax.set(title=title, xlabel="updates")
        panels[0].set_ylabel(r"excess over the best objective, $(J-J^*)/J^*$")
        _legend_below(figure, panels)
    return figure


def _excess_curves(ax: Axes, curves: Mapping[str, Float64Array], best: float) -> None:
    excesses = {name: (J - best) / best for name, J in curves.items()}
    # The floor stands at the least excess that is not rounding; zero is drawn below it.
    least = min(float(e[e > _ROUNDING].min(initial=1.0)) for e in excesses.values())
    ax.set_yscale("log")
    for (name, excess), style in zip(excesses.items(), CURVES, strict=False):
        drawn = np.maximum(excess, least / 10)
        ax.plot(drawn, label=name, linewidth=1.6, markevery=(0, 2), **style)
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=least / 2)
    ax.grid(axis="y")


def _legend_below(figure: Figure, panels: Iterable[Axes]) -> None:
    """One legend for all panels, outside them."""
    entries: dict[str, Artist] = {}
    for ax in panels:
        handles, labels = ax.get_legend_handles_labels()
        entries.update(zip(labels, handles, strict=True))
    figure.legend(
        list(entries.values()), list(entries), loc="outside lower center", ncols=len(entries)
    )


def _frame(X: Array) -> tuple[Array, Array]:
    """Corners of the box around the points, with a margin."""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.06 * float((high - low).max()) or 1.0
    return low - margin, high + margin


def _crossings(line: Subspace, low: Array, high: Array) -> Array:
    """Where a line leaves the box: the two ends of the part of it inside."""
    direction = line.basis[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.array([low - line.center, high - line.center]) / direction
    steps.sort(axis=0)
    return np.array([line.center + step * direction for step in (steps[0].max(), steps[1].min())])
