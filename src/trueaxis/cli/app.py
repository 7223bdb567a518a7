"""The commands under one name, and what becomes of their errors. Nothing heavy is imported."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import Annotated, Any

import typer

from trueaxis.cli import (
    INTERRUPTED,
    compare,
    demo,
    fit,
    info,
    outliers,
    refuse_missing,
    separate,
    transform,
)
from trueaxis.cli.options import debugging

FAULT, USAGE, TERMINATED = 1, 2, 143

app = typer.Typer(
    name="trueaxis",
    help="Principal axes that outliers cannot tilt.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    fit.fit,
    transform.transform,
    outliers.outliers,
    compare.compare,
    info.info,
    separate.separate,
    demo.demo,
):
    app.command()(command)


def run(arguments: Sequence[str] | None = None) -> int:
    """The exit status of a command line: 0 done, 1 the data or the fit is at fault, 2 usage.

    An error is one line on stderr; with ``--debug`` its traceback is shown instead.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot show is no reason to stop.
            stream.reconfigure(errors="backslashreplace")
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, _terminate)
    try:
        app(args=None if arguments is None else list(arguments))
    except SystemExit as left:
        if left.code == INTERRUPTED:
            return _say("Interrupted: nothing was written.", INTERRUPTED)
        return left.code if isinstance(left.code, int) else FAULT * (left.code is not None)
    except BrokenPipeError:
        # The reader of a pipe, such as `head`, has enough: no fault of anybody's.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debugging():
            raise
        if isinstance(error, ImportError):
            refuse_missing(error)
        # Nothing was tried where a file is in the way: that is a matter of how it was called.
        return _say(f"Error: {_told(error)}", USAGE if _is_in_the_way(error) else FAULT)
    return 0


def _terminate(number: int, frame: FrameType | None) -> Any:
    # As an exception, so that half-written files are removed on the way out.
    raise SystemExit(TERMINATED)


def _is_in_the_way(error: Exception) -> bool:
    from trueaxis._files import WouldOverwriteError

    return isinstance(error, WouldOverwriteError)


def _say(line: str, status: int) -> int:
    typer.echo(line, err=True)
    return status


def _told(error: Exception) -> str:
    """One line on what went wrong."""
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}"
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}".rstrip()
    text = " ".join(str(error).split())
    if isinstance(error, ValueError):
        return text
    return f"{type(error).__name__}: {text}. This should not happen; --debug shows where it did."


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
