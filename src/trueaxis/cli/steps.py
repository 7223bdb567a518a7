"""What several commands do: check what they may write, read a table, fit, write."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trueaxis.cli.console import Speaker, counted
from trueaxis.cli.imports import ahead
from trueaxis.cli.memory import keep_what_is_freed
from trueaxis.cli.options import Loss

if TYPE_CHECKING:
    from trueaxis.table_model import Fitted, Settings
    from trueaxis.tables import Table

PIPE = "-"
_PLUGINS = "importlib.metadata"
Writer = Callable[[Path], None]


@dataclass(frozen=True)
class Reading:
    """How the user wants a table to be read."""

    delimiter: str | None = None
    header: bool | None = None
    part: str | None = None


def speaker(*, as_json: bool, quiet: bool, output: str | None = None) -> Speaker:
    """Who says what the command found."""
    if as_json and output == PIPE:
        raise typer.BadParameter("--json and -o - both need standard output; give -o a file.")
    return Speaker(as_json=as_json, quiet=quiet, data_on_stdout=output == PIPE)


def check_power(p: float | None, loss: Loss) -> float:
    """The power of the loss, where the loss has one."""
    if p is None:
        return 1.0
    if loss is not Loss.l2p:
        raise typer.BadParameter(f"--p has no meaning with --loss {loss}; leave it out.")
    if not 0 < p <= 2:
        raise typer.BadParameter(f"--p {p:g} is out of range; it must be in (0, 2].")
    return p


def check_shares(quantile: float | None, contamination: float | None) -> None:
    """Refuse shares of the rows that are none."""
    if quantile is not None and not 0 < quantile < 1:
        raise typer.BadParameter(f"--quantile {quantile:g} is out of range; it must be in (0, 1).")
    if contamination is not None and not 0 < contamination <= 0.5:
        raise typer.BadParameter(
            f"--contamination {contamination:g} is out of range; it must be in (0, 0.5]."
        )


def check_outputs(
    tables: list[str | None], others: list[str | None], source: str, force: bool
) -> None:
    """Refuse what cannot be written before anything is read."""
    from trueaxis._files import check_target
    from trueaxis.tables.writing import check_suffix

    for path in tables:
        if path is not None:
            try:
                check_suffix(path)
            except ValueError as error:
                raise typer.BadParameter(str(error)) from None
    files = [path for path in (*tables, *others) if path is not None and path != PIPE]
    for path in files:
        check_target(path, force=force)
        with suppress(OSError):
            if os.path.samefile(path, source):
                raise ValueError(f"{path} is what is read; write to another file.")
    if len({os.path.realpath(path) for path in files}) < len(files):
        raise typer.BadParameter("Two outputs have the same name; give each a file of its own.")


@contextmanager
def writing(force: bool) -> Iterator[Callable[[str, Writer], None]]:
    """Files that all appear when the block ends well, and none of them otherwise."""
    from trueaxis._files import replacing

    with ExitStack() as files:

        def write(path: str, writer: Writer) -> None:
            writer(files.enter_context(replacing(path, force=force)))

        yield write


def write_text(to: Path, text: str) -> None:
    """Write text, the same on every system."""
    to.write_text(text, encoding="utf-8", newline="\n")


def write_table(columns: dict[str, Any], path: str, force: bool) -> None:
    """Write one table."""
    from trueaxis.tables import write

    if path == PIPE:
        write(columns, path)
        return
    with writing(force) as out:
        out(path, lambda beside: write(columns, beside, like=path))


def read_table(path: str, reading: Reading, to: Speaker, *also: str) -> Table:
    """Read a table, while another thread imports what follows: a fit, and `also` these modules."""
    # The reader's own first, which this thread waits for: two that import share one core. The last
    # is what scikit-learn asks whether an array is a data frame of some plugin.
    modules = ("trueaxis.tables.text", "trueaxis.table_model", *also, *to.modules, _PLUGINS)
    keep_what_is_freed()
    size = "" if path == PIPE else f", {_size(path)}"
    with to.working(f"Reading {path}{size}"), ahead(*modules):
        from trueaxis.tables import read

        return read(path, part=reading.part, delimiter=reading.delimiter, header=reading.header)


def _size(path: str) -> str:
    try:
        number = float(os.path.getsize(path))
    except OSError:
        return "size unknown"
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def fit_table(table: Table, settings: Settings, to: Speaker) -> Fitted:
    """Fit a table, with a bar; notes and warnings are said."""
    from trueaxis.table_model import fit

    with to.fitting("Fitting", 1e-6) as callback:
        fitted = fit(table, settings, callback)
    to.show(
        f"{table.source}: {counted(len(fitted.rows.X), 'row')}, "
        f"{counted(len(fitted.model.preparation.columns), 'column')} fitted."
    )
    to.note((*table.notes, *fitted.notes))
    to.warn(fitted.model.warned)
    return fitted


def command_line() -> str:
    """The command as it could be given again."""
    import shlex

    return shlex.join(["trueaxis", *sys.argv[1:]])
