"""All that a report says, as numbers, before a word of it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueaxis._drawing import floor_of, is_long, thin
from trueaxis._typing import Array, Float64Array
from trueaxis.contributions import shares as shares_of
from trueaxis.outlier_map import OutlierMap, axes_of, in_memory, index_of, rows_of, scores_of

MOST_REGULAR, MOST_FLAGGED = 2000, 4000
FARTHEST = 1000  # flagged rows that are shown however many there are
MOST_IN_TABLE, LEAST_IN_TABLE = 50, 10
_MOST_COLUMNS_BLAMED = 3
_LEAST_SHARE = 0.25  # of the largest, for a column to be named beside it
_MOST_SCORES = 5  # axes whose scores are drawn


@dataclass(frozen=True)
class Blame:
    """One column of an outlying row: its share of the distance, its value, and what was due."""

    column: str
    share: float
    value: float
    expected: float


@dataclass(frozen=True)
class OutlyingRow:
    """A line of the table of the most outlying rows."""

    index: int
    label: str
    kind: str
    score: float
    orthogonal: float
    excess: float
    blames: tuple[Blame, ...]


@dataclass(frozen=True)
class Facts:
    """The fit, the map of all rows, and what is shown of them."""

    model: Any
    axes: Any
    n: int
    columns: Sequence[str]
    has_ids: bool
    map: OutlierMap
    shown: Array
    """Indices of the rows in the pictures, the most outlying first."""
    labels: tuple[str, ...]
    scores: Float64Array
    """Scores of the rows in the pictures along the first axes."""
    top: tuple[OutlyingRow, ...]

    @property
    def m(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def k(self) -> int:
        """Number of axes."""
        return len(self.axes.components_)

    @property
    def n_flagged(self) -> int:
        """Number of rows beyond a cut-off."""
        return int(np.count_nonzero(self.map.flagged))

    @property
    def n_shown_flagged(self) -> int:
        """Number of these in the pictures."""
        return min(self.n_flagged, MOST_FLAGGED)


def gather(model: Any, X: Any, ids: Any, columns: Any) -> Facts:
    """Compute what the report of a model and its rows shows."""
    model, X = in_memory(model, np.asarray(X) if isinstance(X, list | tuple) else X)
    axes = axes_of(model)
    found = OutlierMap.of(model, X)
    n, m = len(found.score), axes.components_.shape[1]
    given = index_of(X) if ids is None else ids
    labels = None if given is None else _one_dimensional("ids", given, n, "row")
    names = _column_names(model, X, columns, m)
    shown = _shown(found)
    return Facts(
        model=model,
        axes=axes,
        n=n,
        columns=names,
        has_ids=labels is not None,
        map=found,
        shown=shown,
        labels=tuple(str(i if labels is None else labels[i]) for i in shown),
        scores=scores_of(model, X)[shown, :_MOST_SCORES],
        top=_most_outlying(model, axes, X, found, shown, names, labels),
    )


def _one_dimensional(name: str, values: Any, expected: int, unit: str) -> Array:
    values = list(values) if not hasattr(values, "__len__") else values
    if len(values) != expected:
        raise ValueError(
            f"{name} has {len(values)} entries, but X has {expected} {unit}s; pass one for every "
            f"{unit}, or leave {name} out."
        )
    if isinstance(values, np.ndarray):
        return values
    return np.fromiter(values, dtype=object, count=expected)


def _column_names(model: Any, X: Any, columns: Any, m: int) -> tuple[str, ...]:
    if columns is None:
        columns = getattr(model, "feature_names_in_", None)
    if columns is None:
        columns = getattr(X, "columns", None)
    if columns is None:
        return tuple(f"x{j}" for j in range(m))
    return tuple(str(name) for name in _one_dimensional("columns", columns, m, "column"))


def _shown(found: OutlierMap) -> Array:
    """Rows for the pictures, the most outlying first: of too many, fewer where they are dense."""
    excess, flagged = found.excess, found.flagged
    x, y = (
        np.log(np.maximum(d, floor_of(d, cut))) if is_long(d, cut) else d
        for d, cut in zip((found.score, found.orthogonal), found.cutoffs, strict=True)
    )

    def some(rows: Array, most: int) -> Array:
        return rows[thin(x[rows], y[rows], most)] if rows.size else rows

    beyond = np.flatnonzero(flagged)
    beyond = beyond[np.argsort(-excess[beyond], kind="stable")]
    kept = [beyond[:FARTHEST], some(beyond[FARTHEST:], MOST_FLAGGED - FARTHEST)]
    kept.append(some(np.flatnonzero(~flagged), MOST_REGULAR))
    return np.concatenate([rows[np.argsort(-excess[rows], kind="stable")] for rows in kept])


def _most_outlying(
    model: Any,
    axes: Any,
    X: Any,
    found: OutlierMap,
    shown: Array,
    names: Sequence[str],
    labels: Array | None,
) -> tuple[OutlyingRow, ...]:
    n_flagged = int(np.count_nonzero(found.flagged))
    top = shown[: min(max(n_flagged, LEAST_IN_TABLE), MOST_IN_TABLE)]
    rows = rows_of(model, X, top)
    of_top = found.part(top)
    shares = shares_of(model, rows, of_top)
    W, center = axes.components_.T.astype(np.float64), axes.mean_.astype(np.float64)
    Z = (rows - center) @ W
    within = found.score[top] * found.orthogonal_cutoff > (
        found.orthogonal[top] * found.score_cutoff
    )
    # Away from the subspace the foot of the row in it was due; far within it, the middle.
    middle = getattr(model, "score_location_", np.zeros(W.shape[1]))
    expected = center + np.where(within[:, None], middle, Z) @ W.T
    excess, kinds = of_top.excess, of_top.kinds
    lines = []
    for row, i in enumerate(top):
        leading = np.argsort(-shares[row], kind="stable")[:_MOST_COLUMNS_BLAMED]
        blames = tuple(
            Blame(names[j], float(shares[row, j]), float(rows[row, j]), float(expected[row, j]))
            for j in leading
            if shares[row, j] > 0.0 and shares[row, j] >= _LEAST_SHARE * shares[row, leading[0]]
        )
        lines.append(
            OutlyingRow(
                int(i),
                str(i if labels is None else labels[i]),
                str(kinds[row]),
                float(found.score[i]),
                float(found.orthogonal[i]),
                float(excess[row]),
                blames,
            )
        )
    return tuple(lines)
