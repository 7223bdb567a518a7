"""How the pictures look, and the axes they are drawn on."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis

INK, GRAY = "#222222", "#8a8a8a"
# Okabe and Ito's colors, which stay apart under every common color blindness; markers tell curves
# and kinds of rows apart in black and white too.
CURVES: tuple[dict[str, Any], ...] = (
    {"color": "#d55e00", "marker": "o", "markersize": 5},
    {"color": "#0072b2", "marker": "s", "markersize": 4.5},
    {"color": "#009e73", "marker": "^", "markersize": 5.5},
    {"color": "#cc79a7", "marker": "D", "markersize": 4.5},
)
# Of the rows of an outlier map, by `trueaxis.outliers.KINDS`.
MARKS: tuple[dict[str, Any], ...] = (
    {"marker": "o", "s": 14, "color": "#9aa3ab", "linewidths": 0, "zorder": 2},
    {"marker": "s", "s": 26, "facecolors": "none", "edgecolors": "#0072b2", "zorder": 3},
    {"marker": "^", "s": 34, "color": "#e69f00", "edgecolors": INK, "linewidths": 0.5, "zorder": 4},
    {"marker": "D", "s": 28, "color": "#d55e00", "edgecolors": INK, "linewidths": 0.5, "zorder": 5},
)
STYLE: Any = {
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": GRAY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": "#e6e6e6",
    "legend.frameon": False,
    "figure.dpi": 150,
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.1,
}


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (6.4, 4.6)) -> Axes:
    """The axes given; without any, those of a new figure of pyplot's, which notebooks show."""
    if ax is not None:
        return ax
    # pyplot chooses a backend when it is imported: only where a window may be wanted.
    from matplotlib import pyplot as plt

    _, made = plt.subplots(figsize=size, layout="constrained")
    return made


def dress(ax: Axes, heading: str, grid: bool = False) -> None:
    """What the style cannot do to axes that were made without it; and a title if there is none."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    if grid:
        ax.grid(axis="y", color=STYLE["grid.color"])
    if not any(ax.get_title(loc) for loc in ("left", "center", "right")):
        ax.set_title(heading)


def plain_log(axis: Axis) -> None:
    """Write 0.1, 1, 10 on a logarithmic axis, and powers only where these are long."""
    axis.set_major_formatter("{x:g}")
