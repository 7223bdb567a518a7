"""`trueaxis demo`: RobustPCA against PCA on contaminated data."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trueaxis.cli.console import table
from trueaxis.cli.options import Debug
from trueaxis.cli.steps import write_text, writing

if TYPE_CHECKING:
    from rich.table import Table

    from trueaxis import demo as demonstration

_TABLE, _REPORT = "digits.csv", "report.html"


def demo(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", file_okay=False, help="Folder for the pictures."),
    ] = Path("demo-output"),
    debug: Debug = False,
) -> None:
    """Show in seconds what outliers do to PCA, and not to RobustPCA.

    Handwritten zeros with some threes among them, as a table, a report and pictures; then data
    whose true axes are known, and the two figures of the paper.
    """
    from rich.console import Console

    from trueaxis import demo as demonstration
    from trueaxis import plots
    from trueaxis.report import render
    from trueaxis.tables import write as write_table

    output.mkdir(parents=True, exist_ok=True)
    shown = demonstration.run()
    console = Console(highlight=False)
    digits = shown.digits
    console.print(_digits_table(digits))
    console.print(_digits_told(digits), markup=False)
    console.print(_angle_table(shown.table, demonstration.TILTED))
    console.print(_warning(shown.table))

    plane, descents = shown.plane, shown.descents.values()
    outlier_map = plots.outlier_map(digits.detector, digits.X, ids=digits.ids).figure
    pictures: dict[str, Any] = {
        "outlier_map.png": outlier_map,
        "projection_axes.png": plots.projection_axes(plane.X, plane.is_outlier, plane.axes),
        "convergence.png": plots.descents(
            {d.title: d.objectives for d in descents}, {d.title: d.best for d in descents}
        ),
    }
    page = render(
        digits.detector,
        digits.X,
        ids=digits.ids,
        columns=digits.columns,
        title="Zeros with some threes among them",
        source="the handwritten digits that scikit-learn ships",
        command=f"trueaxis fit {output / _TABLE} --id image {demonstration.DIGIT_OPTIONS}",
    )
    images = {"image": list(digits.ids)} | dict(zip(digits.columns, digits.X.T, strict=True))
    with writing(force=True) as write:
        write(str(output / _TABLE), lambda beside: write_table(images, beside, like=_TABLE))
        for name, figure in pictures.items():
            write(str(output / name), partial(figure.savefig, format="png"))
        write(str(output / _REPORT), lambda beside: write_text(beside, page))
    for name in (_TABLE, *pictures):
        console.print(f"Wrote {output / name}", soft_wrap=True, markup=False)
    console.print(
        f"Wrote {output / _REPORT}\n\nOpen the report in a browser: "
        f"{(output / _REPORT).resolve().as_uri()}",
        soft_wrap=True,
        markup=False,
    )


def _digits_table(digits: demonstration.Digits) -> Any:
    threes = int(digits.is_outlier.sum())
    return table(
        f"{len(digits.X) - threes} handwritten zeros, and {threes} threes among them",
        ["Method", "Degrees to the axes of the zeros alone"],
        [[method, f"{angle:.2f}"] for method, angle in digits.degrees.items()],
    )


def _digits_told(digits: demonstration.Digits) -> str:
    found = int((digits.flagged & digits.is_outlier).sum())
    others = int((digits.flagged & ~digits.is_outlier).sum())
    return (
        f"{found} of the {int(digits.is_outlier.sum())} threes are flagged, and {others} of the "
        f"{int((~digits.is_outlier).sum())} zeros.\n"
    )


def _angle_table(rows: tuple[demonstration.Row, ...], tilted: float) -> Table:
    from rich import box
    from rich.table import Table

    methods = list(rows[0].degrees)
    angles = Table(
        title="Largest angle to the true subspace, in degrees", box=box.SIMPLE_HEAD, pad_edge=False
    )
    angles.add_column("Outliers")
    angles.add_column("Share", justify="right")
    for method in methods:
        angles.add_column(method, justify="right")
    for row in rows:
        cells = [
            f"[red]{angle:.2f}[/]" if angle > tilted else f"{angle:.2f}"
            for angle in row.degrees.values()
        ]
        angles.add_row(row.outliers, f"{row.share:.0%}", *cells)
    return angles


def _warning(rows: tuple[demonstration.Row, ...]) -> str:
    """One sentence on the rows where the objective itself prefers a wrong subspace."""
    misled = [row for row in rows if row.misled]
    if not misled:
        return ""
    values = ", ".join(
        f"{row.objective:.0f} against {row.objective_at_truth:.0f} ({row.outliers})"
        for row in misled
    )
    kinds = " or ".join(row.outliers for row in misled)
    return (
        f"With {misled[0].share:.0%} {kinds} outliers a wrong subspace has the lower objective "
        f"at p=1, {values}: minimizing it leads away from the truth. "
        + ("RobustPCA said so in a BreakdownWarning" if all(row.warned for row in misled) else "")
        + "; loss='bisquare' withstands them.\n"
    )
