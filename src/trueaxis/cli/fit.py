"""`trueaxis fit`: axes and cut-offs of a table, a model, a report and scores."""

from __future__ import annotations

from typing import Annotated

import typer

from trueaxis.cli import options as o
from trueaxis.cli import steps


def fit(
    data: o.Data,
    k: o.Components = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="FILE", help="Keep the model here.", rich_help_panel="Output"
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Write a report here, one HTML file.",
            rich_help_panel="Output",
        ),
    ] = None,
    scores: Annotated[
        str | None,
        typer.Option(
            "--scores",
            metavar="FILE",
            help="Write the coordinates of the rows here: .csv, .tsv, .parquet or .npy.",
            rich_help_panel="Output",
        ),
    ] = None,
    force: o.Force = False,
    loss: o.LossOption = o.Loss.l2p,
    p: o.Power = None,
    solver: o.SolverOption = o.Solver.auto,
    seed: o.Seed = None,
    quantile: o.Quantile = None,
    contamination: o.Contamination = None,
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
    """Find the axes of a table that its outliers cannot tilt.

    For example: trueaxis fit data.csv -k 3 --model model.skops --report report.html
    """
    say = steps.speaker(as_json=as_json, quiet=quiet, output=scores)
    power = steps.check_power(p, loss)
    steps.check_shares(quantile, contamination)
    steps.check_outputs([scores], [model, report], data, force)
    later = {"trueaxis.persistence": model, "trueaxis.report": report}
    also = [name for name, wanted in later.items() if wanted is not None]
    table = steps.read_table(data, steps.Reading(delimiter, header, part), say, *also)

    from trueaxis.cli import summary
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
        quantile=0.975 if quantile is None else quantile,
        contamination=contamination,
        seed=seed,
    )
    fitted = steps.fit_table(table, settings, say)
    found, rows = fitted.model, fitted.rows
    with steps.writing(force) as write:
        if scores is not None:
            from trueaxis.tables import write as write_columns

            named = found.scores(rows)
            if scores == steps.PIPE:
                write_columns(named, scores)
            else:
                write(scores, lambda beside: write_columns(named, beside, like=scores))
        if report is not None:
            from trueaxis.report import render

            page = render(
                found.detector,
                rows.X,
                ids=rows.at + 1 if rows.ids is None else rows.ids,
                columns=found.preparation.columns,
                source=table.source,
                command=steps.command_line(),
                warnings=found.warned,
            )
            write(report, lambda beside: steps.write_text(beside, page))
        if model is not None:
            from trueaxis.persistence import write as write_model

            write(model, lambda beside: write_model(found, beside))
    if not (say.shows or say.as_json):
        return
    kinds = found.counts(rows)
    say.show(summary.axes(found), summary.counts(kinds))
    written = [path for path in (model, report, scores) if path not in (None, steps.PIPE)]
    say.show(*(f"Wrote {path}" for path in written))
    say.tell(
        summary.as_plain(found)
        | {"rows_by_kind": kinds, "notes": [*table.notes, *fitted.notes], "written": written}
    )
