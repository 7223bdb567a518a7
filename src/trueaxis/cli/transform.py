"""`trueaxis transform`: coordinates of rows along the axes of a model."""

from __future__ import annotations

from trueaxis.cli import options as o
from trueaxis.cli import steps


def transform(
    model: o.Model,
    data: o.Data,
    output: o.Output = steps.PIPE,
    force: o.Force = False,
    missing: o.MissingOption = o.Missing.error,
    delimiter: o.Delimiter = None,
    header: o.Header = None,
    part: o.Part = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Compute the coordinates of a table's rows along the axes of a model.

    For example: trueaxis transform model.skops new.csv -o scores.csv
    """
    output = steps.PIPE if output is None else output
    say = steps.speaker(as_json=as_json, quiet=quiet, output=output)
    steps.check_outputs([output], [], data, force)

    from trueaxis.persistence import load_table_model

    found = load_table_model(model)
    table = steps.read_table(data, steps.Reading(delimiter, header, part), say)
    rows = found.preparation.rows(table, missing=missing.value)
    scores = found.scores(rows)
    steps.write_table(scores, output, force)
    say.note(table.notes)
    if output != steps.PIPE:
        say.show(f"Wrote {output}: {len(rows.X)} rows, {found.pca.n_components_} scores each.")
    say.tell(
        {"n_rows": len(rows.X), "k": found.pca.n_components_, "notes": table.notes}
        | {"written": [output]}
    )
