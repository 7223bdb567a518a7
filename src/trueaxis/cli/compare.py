"""`trueaxis compare`: what outliers do to plain PCA, and which rows they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trueaxis.cli import options as o
from trueaxis.cli import steps

if TYPE_CHECKING:
    from trueaxis.comparison import Comparison
    from trueaxis.table_model import Fitted

_SHOWN = 10
_TELLING = 0.005  # share of all gains below which a row did not move the axes


def compare(
    data: o.Data,
    k: o.Components = None,
    output: o.Output = None,
    force: o.Force = False,
    loss: o.LossOption = o.Loss.l2p,
    p: o.Power = None,
    solver: o.SolverOption = o.Solver.auto,
    seed: o.Seed = None,
    columns: o.Columns = None,
    drop: o.Drop = None,
    id_column: o.Id = None,
    scale: o.ScaleOption = o.Scale.auto,
    missing: o.MissingOption = o.Missing.error,
    delimiter: o.Delimiter = None,
    header: o.Header = None,
    part: o.Part = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Compare PCA with RobustPCA: angles, variances, and the rows that moved the axes.

    For example: trueaxis compare data.csv -k 3
    """
    say = steps.speaker(as_json=as_json, quiet=quiet, output=output)
    power = steps.check_power(p, loss)
    steps.check_outputs([output], [], data, force)
    table = steps.read_table(data, steps.Reading(delimiter, header, part), say)

    from trueaxis import comparison
    from trueaxis.table_model import Settings

    settings = Settings(
        k=k,
        columns=columns or (),
        drop=drop or (),
        id_column=id_column,
        scale=scale.value,
        missing=missing.value,
        loss=loss.value,
        p=power,
        solver=solver.value,
        seed=seed,
    )
    fitted = steps.fit_table(table, settings, say)
    found = comparison.compare(fitted.model.pca, fitted.rows.X)
    told = _rows(fitted, found)
    if output is not None:
        steps.write_table(told, output, force)
    if say.shows:
        say.show(*_tables(fitted, found))
    if output not in (None, steps.PIPE):
        say.show(f"Wrote {output}: {len(found.gain)} rows.")
    say.tell(_plain(fitted, found, told, (*table.notes, *fitted.notes)))


def _rows(fitted: Fitted, found: Comparison) -> dict[str, Any]:
    """What each row gained, and what it is."""
    rows, model = fitted.rows, fitted.model
    named: dict[str, Any] = {"row": rows.at + 1}
    if rows.ids is not None:
        named[str(model.preparation.id_column)] = rows.ids
    kinds = model.map(rows).kinds.tolist()
    return named | {"kind": kinds, "gain": found.gain, "share_of_gains": found.gain_share}


def _tables(fitted: Fitted, found: Comparison) -> list[Any]:
    import numpy as np

    from trueaxis.cli.console import table

    robust, plain = fitted.model.pca, found.plain
    lines = [
        [
            f"pc{j + 1}",
            f"{plain.explained_variance_[j]:.4g}",
            f"{plain.explained_variance_ratio_[j]:.1%}",
            f"{robust.explained_variance_[j]:.4g}",
            f"{robust.explained_variance_ratio_[j]:.1%}",
            f"{found.axis_angles[j]:.2f}",
        ]
        for j in range(robust.n_components_)
    ]
    head = ["Axis", "PCA variance", "share", "RobustPCA variance", "share", "Degrees"]
    shown: list[Any] = [
        f"The subspaces are {found.angles[0]:.2f} degrees apart (largest principal angle).",
        table("PCA against RobustPCA", head, lines),
    ]
    top = np.argsort(-found.gain, kind="stable")[:_SHOWN]
    top = top[found.gain_share[top] >= _TELLING]
    if found.angles[0] < 1.0 or not len(top):
        shown.append("No row moved the axes by much: plain PCA says the same here.")
        return shown
    kinds = fitted.model.map(fitted.rows).kinds
    labels = fitted.rows.labels(top)
    moved = [
        [label, str(kinds[i]), f"{found.gain_share[i]:.1%}"]
        for label, i in zip(labels, top, strict=True)
    ]
    shown.append(table("Rows that moved the axes of PCA", ["Row", "Kind", "Share"], moved, text=2))
    return shown


def _plain(
    fitted: Fitted, found: Comparison, told: dict[str, Any], notes: tuple[str, ...]
) -> dict[str, Any]:
    import numpy as np

    from trueaxis.cli import summary

    top = np.argsort(-found.gain, kind="stable")[:_SHOWN]
    plain = found.plain
    return {
        "robust": summary.as_plain(fitted.model),
        "plain": {
            "variance": plain.explained_variance_,
            "variance_share": plain.explained_variance_ratio_,
        },
        "angles": found.angles,
        "axis_angles": found.axis_angles,
        "rows": [{name: np.asarray(held)[i].item() for name, held in told.items()} for i in top],
        "notes": notes,
    }
