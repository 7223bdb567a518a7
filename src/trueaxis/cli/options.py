"""Options that several commands share, each described once."""

from __future__ import annotations

from typing import Annotated

import typer

_debug = False


def debugging() -> bool:
    """Whether the user asked for tracebacks."""
    return _debug


def _set_debug(wanted: bool) -> None:
    global _debug
    _debug = wanted


Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        callback=_set_debug,
        is_eager=True,
        help="Show where an error came from, not only what it was.",
    ),
]
