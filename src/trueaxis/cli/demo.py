"""`trueaxis demo`: RobustPCA against PCA on contaminated data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueaxis.cli.options import Debug

if TYPE_CHECKING:
    from rich.table import Table

    from trueaxis import demo as demonstration


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

    output.mkdir(parents=True, exist_ok=True)
    shown = demonstration.run()
    console = Console(highlight=False)
    console.print(_angle_table(shown.table, demonstration.TILTED))
    console.print(_warning(shown.table))

    plane, descents = shown.plane, shown.descents.values()
    pictures = {
        "projection_axes.png": plots.projection_axes(plane.X, plane.is_outlier, plane.axes),
        "convergence.png": plots.descents(
            {d.title: d.objectives for d in descents}, {d.title: d.best for d in descents}
        ),
    }
    for name, figure in pictures.items():
        figure.savefig(output / name)
        console.print(f"Wrote {output / name}", soft_wrap=True, markup=False)


def _angle_table(rows: tuple[demonstration.Row, ...], tilted: float) -> Table:
    from rich import box
    from rich.table import Table

    methods = list(rows[0].degrees)
    table = Table(
        title="Largest angle to the true subspace, in degrees", box=box.SIMPLE_HEAD, pad_edge=False
    )
    table.add_column("Outliers")
    table.add_column("Share", justify="right")
    for method in methods:
        table.add_column(method, justify="right")
    for row in rows:
        angles = [
            f"[red]{angle:.2f}[/]" if angle > tilted else f"{angle:.2f}"
            for angle in row.degrees.values()
        ]
        table.add_row(row.outliers, f"{row.share:.0%}", *angles)
    return table


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
