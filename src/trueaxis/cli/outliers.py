"""`trueaxis outliers`: the rows beyond a cut-off, and the columns responsible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from trueaxis.cli import options as o
from trueaxis.cli import steps
from trueaxis.cli.console import Speaker, counted

if TYPE_CHECKING:
    from trueaxis.table_model import Settings, TableModel
    from trueaxis.tables import Table
    from trueaxis.tables.selection import Rows

_SHOWN = 20


def outliers(
    first: Annotated[
        str, typer.Argument(metavar="MODEL|DATA", help="A model, or a table that is fitted first.")
    ],
    second: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="The table, where a model is given.")
    ] = None,
    output: o.Output = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="All rows, not only those flagged.", rich_help_panel="Output"),
    ] = False,
    force: o.Force = False,
    k: o.Components = None,
    loss: Annotated[
        o.Loss | None,
        typer.Option(
            "--loss",
            show_default="l2p",
            help="What a residual costs; bisquare withstands most, and takes longer.",
            rich_help_panel="The fit",
        ),
    ] = None,
    p: o.Power = None,
    solver: Annotated[
        o.Solver | None,
        typer.Option(
            "--solver",
            show_default="auto",
            help="How the axes are found.",
            rich_help_panel="The fit",
        ),
    ] = None,
    seed: o.Seed = None,
    quantile: o.Quantile = None,
    contamination: o.Contamination = None,
    columns: o.Columns = None,
    drop: o.Drop = None,
    id_column: o.Id = None,
    scale: Annotated[
        o.Scale | None,
        typer.Option(
            "--scale",
            show_default="auto",
            help="Divide columns by their scale; auto does (robust) where one would dominate.",
            rich_help_panel="The table",
        ),
    ] = None,
    missing: o.MissingOption = o.Missing.error,
    delimiter: o.Delimiter = None,
    header: o.Header = None,
    part: o.Part = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Say which rows are abnormal, by how much, and because of which columns.

    For example: trueaxis outliers data.csv -k 3 -o flags.csv

    Or, with a model: trueaxis outliers model.skops new.csv -o flags.csv
    """
    data = first if second is None else second
    say = steps.speaker(as_json=as_json, quiet=quiet, output=output)
    power = steps.check_power(p, loss or o.Loss.l2p)
    steps.check_shares(quantile, contamination)
    given = {
        "-k": k,
        "--loss": loss,
        "--p": p,
        "--solver": solver,
        "--seed": seed,
        "--quantile": quantile,
        "--contamination": contamination,
        "--columns": columns,
        "--drop": drop,
        "--id": id_column,
        "--scale": scale,
    }
    if second is not None:
        fixed = [name for name, value in given.items() if value not in (None, [])]
        if fixed:
            raise typer.BadParameter(
                f"{', '.join(fixed)} cannot be given with a model, which has its own."
            )
    steps.check_outputs([output], [], data, force)
    reading = steps.Reading(delimiter, header, part)
    if second is None:
        table = _table_to_fit(first, reading, say)

        from trueaxis.table_model import Settings

        settings = Settings(
            k=k,
            columns=columns or (),
            drop=drop or (),
            id_column=id_column,
            scale=(scale or o.Scale.auto).value,
            missing=missing.value,
            loss=(loss or o.Loss.l2p).value,
            p=power,
            solver=(solver or o.Solver.auto).value,
            quantile=0.975 if quantile is None else quantile,
            contamination=contamination,
            seed=seed,
        )
        model, rows, notes = _fitted(table, settings, say)
    else:
        from trueaxis.persistence import load_table_model

        model = load_table_model(first)
        table = steps.read_table(second, reading, say)
        rows, notes = model.preparation.rows(table, missing=missing.value), table.notes
        say.note(notes)
    _tell(model, rows, notes, every, output, force, say)


def _table_to_fit(path: str, reading: steps.Reading, say: Speaker) -> Table:
    if path != steps.PIPE:
        from trueaxis._archive import looks_like_a_model

        if looks_like_a_model(path):
            raise typer.BadParameter(
                f"{path} is a model: give the table as well, trueaxis outliers {path} DATA."
            )
    return steps.read_table(path, reading, say)


def _fitted(
    table: Table, settings: Settings, say: Speaker
) -> tuple[TableModel, Rows, tuple[str, ...]]:
    fitted = steps.fit_table(table, settings, say)
    return fitted.model, fitted.rows, (*table.notes, *fitted.notes)


def _tell(
    model: TableModel,
    rows: Rows,
    notes: tuple[str, ...],
    every: bool,
    output: str | None,
    force: bool,
    say: Speaker,
) -> None:
    import numpy as np

    from trueaxis.cli import summary

    found = model.map(rows)
    beyond = np.flatnonzero(found.flagged)
    chosen = np.arange(len(rows.X)) if every else beyond
    told: dict[str, Any] | None = None
    if output is not None or say.as_json:
        told = model.flags(rows, found, chosen)
    if output is not None and told is not None:
        steps.write_table(told, output, force)
    say.show(summary.counts(found.counts))
    say.show(
        f"Cut-offs: score distance {found.score_cutoff:.4g}, orthogonal distance "
        f"{found.orthogonal_cutoff:.4g}."
    )
    if say.shows and len(beyond):
        top = beyond[np.argsort(-found.excess[beyond], kind="stable")[:_SHOWN]]
        title = "" if len(top) == len(beyond) else f"The {len(top)} most outlying rows"
        say.show(summary.flagged(model.flags(rows, found, top), rows.labels(top), title))
    if output not in (None, steps.PIPE):
        say.show(f"Wrote {output}: {counted(len(chosen), 'row')}.")
    if say.as_json and told is not None:
        n = len(chosen)
        lines = [{name: _entry(column[i]) for name, column in told.items()} for i in range(n)]
        say.tell(
            summary.as_plain(model)
            | {"rows_by_kind": found.counts, "notes": notes, "rows": lines}
            | {"written": [] if output is None else [output]}
        )


def _entry(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
