"""The command line: parse, call, print. The only file that imports typer and rich."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    from rich.table import Table

    from trueaxis import demo as demonstration

_EXTRAS = {"typer", "rich", "matplotlib"}
_INSTALL = 'The command line needs {}. Install it with: pip install "trueaxis[cli]"'

try:
    import typer
except ImportError as error:
    # The script's only line is `main()`, and without typer there is no main to speak of.
    sys.exit(_INSTALL.format(error.name or "typer"))

app = typer.Typer(
    name="trueaxis",
    help="Principal axes that outliers cannot tilt.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; what goes wrong is one line on stderr and exit status 1."""
    try:
        app()
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRAS:
            raise
        sys.exit(_INSTALL.format(missing))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        sys.exit(f"Error: {where}{error.strerror or error}")
    except ValueError as error:
        sys.exit(f"Error: {error}")


def _print_version(wanted: bool) -> None:
    if wanted:
        from trueaxis import __version__

        typer.echo(f"trueaxis {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Principal axes that outliers cannot tilt."""


@app.command()
def demo(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", file_okay=False, help="Folder for the pictures."),
    ] = Path("demo-output"),
) -> None:
    """Compare RobustPCA with PCA on contaminated data whose true axes are known.

    Prints the angles to the truth. Draws the axes found, and the descent of six algorithms.
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
