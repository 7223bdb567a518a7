"""What a person sees: lines, tables and bars. Only here is rich imported, and only when needed."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_PATIENCE = 0.4  # seconds before a bar is worth its flicker
_UNKNOWN_GAP = 1.0
Callback = Any


class Speaker:
    """Says what a command found: to people, in JSON, or not at all.

    Parameters
    ----------
    as_json : bool
        One JSON object on stdout, and nothing else there.
    quiet : bool
        Nothing but warnings and errors.
    data_on_stdout : bool
        Stdout is taken by a table; what people read goes to stderr.
    """

    def __init__(
        self, *, as_json: bool = False, quiet: bool = False, data_on_stdout: bool = False
    ) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self._to_stderr = data_on_stdout

    @property
    def shows(self) -> bool:
        """Whether anybody reads what is shown."""
        return not (self.as_json or self.quiet)

    @property
    def modules(self) -> tuple[str, ...]:
        """What showing takes, for those who import it ahead."""
        return ("rich.console", "rich.table") if self.shows else ()

    def show(self, *things: Any) -> None:
        """Print lines or tables for people."""
        if self.shows:
            console = _console(stderr=self._to_stderr)
            for thing in things:
                console.print(
                    thing, markup=False, highlight=False, soft_wrap=isinstance(thing, str)
                )

    def note(self, lines: Sequence[str]) -> None:
        """Say which choices were made."""
        self.show(*(f"- {line}" for line in lines))

    def warn(self, lines: Sequence[str]) -> None:
        """Warn on stderr, even where nothing else is said; in JSON they are part of the object."""
        if self.as_json:
            return
        console = _console(stderr=True)
        for line in lines:
            console.print(_styled("Warning: ", "bold yellow"), end="")
            console.print(line, markup=False, highlight=False, soft_wrap=True)

    def tell(self, result: dict[str, Any]) -> None:
        """The JSON object, if it is asked for."""
        if self.as_json:
            sys.stdout.write(json.dumps(_plain(result), indent=2, allow_nan=False) + "\n")

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Show that something of unknown length is going on."""
        with self.fitting(what, 0.0):
            yield

    @contextmanager
    def fitting(self, what: str, tol: float) -> Iterator[Callback]:
        """A bar for a fit that stops at a gap of `tol`; yields the callback that moves it.

        Nothing is shown where stderr is no terminal, or where the work is over at once.
        """
        if not (self.shows and sys.stderr.isatty()):
            yield None
            return
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        began = time.monotonic()
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24))
        progress = Progress(
            *columns,
            TimeElapsedColumn(),
            TextColumn("{task.fields[told]}"),
            console=_console(stderr=True),
            transient=True,
        )
        task = progress.add_task(what, total=None, told="", start=True)

        def moved(subspace: Any, record: Any) -> None:
            done = share_done(float(record.gap), tol)
            left = seconds_left(time.monotonic() - began, done)
            told = f"sweep {int(record.sweeps)}, objective {float(record.objective):.6g}"
            if left is not None:
                told += f", about {left:.0f} s left"
            progress.update(task, total=1.0, completed=done, told=told)

        progress.start()
        try:
            yield moved
        finally:
            progress.stop()


def counted(number: int, thing: str, things: str = "") -> str:
    """A number and its thing, or things.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "axis", "axes")
    ('1 row', '2 axes')
    """
    return f"{number} {thing if number == 1 else things or thing + 's'}"


def share_done(gap: float, tol: float) -> float:
    """How much of the way to a gap of `tol` is done, on a scale of digits.

    Examples
    --------
    >>> share_done(1e-3, 1e-6)
    0.5
    """
    if not (0 < gap < _UNKNOWN_GAP and 0 < tol < _UNKNOWN_GAP):
        return 1.0 if gap == 0 else 0.0
    return min(math.log(gap) / math.log(tol), 1.0)


def seconds_left(spent: float, done: float) -> float | None:
    """What the rest takes if it goes on like this; None before anything can be said.

    Examples
    --------
    >>> seconds_left(10.0, 0.5)
    10.0
    """
    return spent * (1 - done) / done if done > 0 and spent > _PATIENCE else None


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], text: int = 1) -> Any:
    """A table whose first `text` columns are words, and the others numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(
        title=Text(title),
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title_justify="left",
        min_width=len(title),
    )
    for j, name in enumerate(header):
        made.add_column(Text(name), justify="left" if j < text else "right")
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def _styled(text: str, style: str) -> Any:
    from rich.text import Text

    return Text(text, style=style)


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    return Console(stderr=stderr)


def _plain(value: Any) -> Any:
    """Numbers, lists and words only, as JSON has them: what is not finite is null."""
    if isinstance(value, dict):
        return {str(name): _plain(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(held) for held in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
