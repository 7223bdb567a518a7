"""Points of rows, as the outlier map and the scores share them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from trueaxis._drawing import thin
from trueaxis._typing import Float64Array
from trueaxis.outlier_map import OutlierMap, index_of
from trueaxis.outliers import KINDS
from trueaxis.plots._style import INK, MARKS

_MOST_REGULAR = 20_000  # points drawn of these; all of the others
_RASTER = 3_000  # points beyond which a vector file holds them as an image
_LETTER, _LINE = 6.0, 11.0  # width and height of a label's letters, in points of the page


def row_ids(ids: Any, X: Any, n: int) -> Sequence[Any] | None:
    """What to call each row: as given, or the index of a DataFrame, or None for its number."""
    given = index_of(X) if ids is None else ids
    if given is None:
        return None
    held = list(given)
    if len(held) != n:
        raise ValueError(f"ids has {len(held)} entries, but X has {n} rows; pass one for each row.")
    return held


def scatter(ax: Axes, x: Float64Array, y: Float64Array, found: OutlierMap) -> None:
    """The rows at their places, each kind with its mark; of many regular ones only some."""
    kinds = found.kinds
    for kind, marks in zip(KINDS, MARKS, strict=True):
        chosen = np.flatnonzero(kinds == kind)
        if not chosen.size:
            continue
        label = f"{kind} ({chosen.size:,})"
        if kind == KINDS[0] and chosen.size > _MOST_REGULAR:
            label = f"{kind} ({_MOST_REGULAR:,} of {chosen.size:,} shown)"
            chosen = chosen[thin(x[chosen], y[chosen], _MOST_REGULAR)]
        ax.scatter(x[chosen], y[chosen], label=label, rasterized=chosen.size > _RASTER, **marks)


def legend(ax: Axes) -> None:
    """Below the axes, where no point can be, if the figure makes room there."""
    if ax.figure.get_figure(root=True).get_layout_engine() is None:
        ax.legend(loc="upper right", frameon=True, framealpha=0.85, handletextpad=0.3)
        return
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.45, -0.16),
        ncols=2,
        handletextpad=0.3,
        columnspacing=1.6,
    )


def name_the_worst(
    ax: Axes, x: Float64Array, y: Float64Array, found: OutlierMap, ids: Any, n_labels: int
) -> None:
    """Write the names of the most outlying rows beside them, where there is room."""
    worst = np.argsort(-found.excess, kind="stable")[:n_labels]
    worst = worst[found.flagged[worst]]
    ax.autoscale_view()
    per_point = ax.figure.dpi / 72.0
    places = ax.transData.transform(np.column_stack([x[worst], y[worst]])) / per_point
    middle = ax.transAxes.transform((0.5, 0.5))[0] / per_point
    taken: list[tuple[float, float, float]] = []
    for row, (across, up) in zip(worst.tolist(), places, strict=True):
        text = str(row if ids is None else ids[row])
        rightward, width = across < middle, _LETTER * len(text)
        left = across + 5 if rightward else across - 5 - width
        if any(left < r and a < left + width and abs(up - b) < _LINE for a, r, b in taken):
            continue
        taken.append((left, left + width, up))
        ax.annotate(
            text,
            (x[row], y[row]),
            xytext=(5 if rightward else -5, 4),
            textcoords="offset points",
            ha="left" if rightward else "right",
            fontsize="small",
            color=INK,
            parse_math=False,
            zorder=7,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
