"""What was found, as tables for people and as plain values for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trueaxis.cli.console import counted, table
from trueaxis.outliers import NOUNS

if TYPE_CHECKING:
    from trueaxis.table_model import TableModel

_NAMED = 3  # columns that an axis names
_MOST_AXES = 12


def axes(model: TableModel) -> Any:
    """A line for each axis: its variance, and the columns that it is made of."""
    pca, names = model.pca, model.preparation.columns
    whole = np.cumsum(pca.explained_variance_ratio_)
    rows = []
    for j in range(min(pca.n_components_, _MOST_AXES)):
        W = pca.components_[j]
        largest = np.argsort(-np.abs(W), kind="stable")[:_NAMED]
        loads = ", ".join(f"{W[i]:+.2f} {names[i]}" for i in largest)
        share = pca.explained_variance_ratio_[j]
        rows.append(
            [
                f"pc{j + 1}",
                f"{pca.explained_variance_[j]:.4g}",
                f"{share:.1%}",
                f"{whole[j]:.1%}",
                loads,
            ]
        )
    title = f"{counted(pca.n_components_, 'axis', 'axes')} by robust variance"
    if pca.n_components_ > _MOST_AXES:
        title += f", the first {_MOST_AXES}"
    made = table(title, ["Axis", "Variance", "Share", "Together", "Largest loadings"], rows)
    made.columns[-1].justify = "left"
    return made


def counts(of: dict[str, int]) -> str:
    """How many rows are of which kind, in a line.

    Examples
    --------
    >>> counts({"regular": 7, "good leverage": 1, "orthogonal outlier": 2, "bad leverage": 0})
    '3 rows (30.0%) are beyond a cut-off: 1 good leverage row, 2 orthogonal outliers.'
    >>> counts({"regular": 7, "good leverage": 0, "orthogonal outlier": 0, "bad leverage": 0})
    'None of the 7 rows is beyond a cut-off.'
    """
    n, flagged = sum(of.values()), {kind: of[kind] for kind in NOUNS if of[kind]}
    if not flagged:
        return f"None of the {counted(n, 'row')} is beyond a cut-off."
    number = sum(flagged.values())
    each = ", ".join(counted(found, NOUNS[kind]) for kind, found in flagged.items())
    verb = "is" if number == 1 else "are"
    return f"{counted(number, 'row')} ({number / n:.1%}) {verb} beyond a cut-off: {each}."


def flagged(told: dict[str, Any], labels: Sequence[str], title: str) -> Any:
    """Rows, their distances, and the columns that contribute most."""
    rows = []
    for i in range(len(labels)):
        blamed = ", ".join(
            f"{told[f'column_{j}'][i]} {told[f'share_{j}'][i]:.0%}"
            for j in (1, 2, 3)
            if f"column_{j}" in told and told[f"share_{j}"][i] >= 0.005
        )
        distances = (f"{told[n][i]:.4g}" for n in ("score_distance", "orthogonal_distance"))
        rows.append([labels[i], told["kind"][i], *distances, blamed])
    made = table(title, ["Row", "Kind", "Score", "Orthogonal", "Because of"], rows, text=2)
    made.columns[-1].justify = "left"
    return made


def as_plain(model: TableModel) -> dict[str, Any]:
    """A model for machines."""
    pca, detector, held = model.pca, model.detector, model.preparation
    return {
        "source": model.source,
        "n_rows": pca.n_samples_,
        "k": pca.n_components_,
        "columns": list(held.columns),
        "id_column": held.id_column,
        "scale": held.scale_name,
        "loss": pca.loss if isinstance(pca.loss, str) else repr(pca.loss),
        "p": pca.p,
        "solver": pca.solver_,
        "objective": pca.objective_,
        "converged": bool(pca.converged_),
        "updates": pca.n_iter_,
        "sweeps": pca.n_sweeps_,
        "variance": pca.explained_variance_,
        "variance_share": pca.explained_variance_ratio_,
        "score_cutoff": detector.score_cutoff_,
        "orthogonal_cutoff": detector.orthogonal_cutoff_,
        "warnings": list(model.warned),
    }
