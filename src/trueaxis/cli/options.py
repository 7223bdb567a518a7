"""Options that several commands share, each described once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

_debug = False


class Scale(StrEnum):
    """How columns are made comparable."""

    auto = "auto"
    robust = "robust"
    std = "std"
    none = "none"


class Missing(StrEnum):
    """What becomes of rows with an empty entry."""

    error = "error"
    drop = "drop"


class Loss(StrEnum):
    """What a residual costs."""

    l2p = "l2p"
    l1 = "l1"
    huber = "huber"
    cauchy = "cauchy"
    bisquare = "bisquare"
    trimmed = "trimmed"


class Solver(StrEnum):
    """How the axes are found."""

    auto = "auto"
    proximal = "proximal"
    accelerated = "accelerated"
    reweighted = "reweighted"
    orthogonal = "orthogonal"
    true_l1 = "true_l1"


def debugging() -> bool:
    """Whether the user asked for tracebacks."""
    return _debug


def set_debugging(wanted: bool) -> None:
    """Remember whether the user asked for tracebacks."""
    global _debug
    _debug = wanted


_FIT, _TABLE, _OUT = "The fit", "The table", "Output"

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="CSV, TSV, Parquet, .npy, .npz or .xlsx; - is standard input."
    ),
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="What `trueaxis fit --model` wrote.")]
Components = Annotated[
    int | None,
    typer.Option(
        "-k",
        "--components",
        min=1,
        show_default="from a robust scree",
        help="Number of axes.",
        rich_help_panel=_FIT,
    ),
]
LossOption = Annotated[
    Loss,
    typer.Option(
        "--loss",
        help="What a residual costs; bisquare withstands most, and takes longer.",
        rich_help_panel=_FIT,
    ),
]
Power = Annotated[
    float | None,
    typer.Option(
        "--p",
        show_default="1",
        help="Power of --loss l2p, in (0, 2]: 2 is plain PCA, smaller is more robust.",
        rich_help_panel=_FIT,
    ),
]
SolverOption = Annotated[
    Solver, typer.Option("--solver", help="How the axes are found.", rich_help_panel=_FIT)
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        max=2**32 - 1,
        show_default="fixed",
        help="For what is drawn at random; the same seed gives the same answer.",
        rich_help_panel=_FIT,
    ),
]
Quantile = Annotated[
    float | None,
    typer.Option(
        "--quantile",
        show_default="0.975",
        help="Share of regular rows that is within both cut-offs.",
        rich_help_panel=_FIT,
    ),
]
Contamination = Annotated[
    float | None,
    typer.Option(
        "--contamination",
        help="Flag this share of the rows, whatever they are like.",
        rich_help_panel=_FIT,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="NAMES",
        show_default="all of numbers",
        help="Columns to take: names with commas between, or patterns such as 'V*'.",
        rich_help_panel=_TABLE,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="NAMES", help="Columns to leave out.", rich_help_panel=_TABLE),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="The column that names the rows.", rich_help_panel=_TABLE
    ),
]
ScaleOption = Annotated[
    Scale,
    typer.Option(
        "--scale",
        help="Divide columns by their scale; auto does (robust) where one would dominate.",
        rich_help_panel=_TABLE,
    ),
]
MissingOption = Annotated[
    Missing,
    typer.Option(
        "--missing",
        help="Rows with an empty entry: an error, or left out.",
        rich_help_panel=_TABLE,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHARACTER",
        show_default="told from the file",
        help="What stands between the columns of a text file.",
        rich_help_panel=_TABLE,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        show_default="told from the file",
        help="Whether the first row is names.",
        rich_help_panel=_TABLE,
    ),
]
Part = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="NAME",
        help="The sheet of a workbook, or the array of an .npz file.",
        rich_help_panel=_TABLE,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Where to: .csv, .tsv, .parquet or .npy; - is CSV on standard output.",
        rich_help_panel=_OUT,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace files that are there.", rich_help_panel=_OUT)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=_OUT)]
Quiet = Annotated[
    bool,
    typer.Option("-q", "--quiet", help="Print warnings and errors only.", rich_help_panel=_OUT),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        callback=set_debugging,
        is_eager=True,
        help="Show where an error came from, not only what it was.",
        rich_help_panel=_OUT,
    ),
]
