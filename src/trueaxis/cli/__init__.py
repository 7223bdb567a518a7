"""The command line: parse, call, print. A file a command; `app` registers them."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

INTERRUPTED = 130
_VIDEO = {"PIL", "av", "imageio"}  # of the extra "video"; the others are of "cli"
_EXTRAS = {
    "PIL": "the pictures of a video need",
    "av": "video files need",
    "imageio": "video files need",
    "matplotlib": "the pictures need",
    "openpyxl": "Excel files need",
    "pyarrow": "this file needs",
    "rich": "the command line needs",
    "skops": "models on disk need",
    "typer": "the command line needs",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and leave with its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the program's name; by default what the process was called with.
    """
    try:
        from trueaxis.cli.app import run
    except ImportError as error:
        refuse_missing(error)
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted: nothing was written.\n")
        sys.exit(INTERRUPTED)
    status = run(arguments)
    gc.freeze()  # all goes with the process: looking for garbage first takes 0.1 s
    sys.exit(status)


def refuse_missing(error: ImportError) -> None:
    """Leave with status 1 and what to install, where an optional dependency is missing."""
    missing = (error.name or "").partition(".")[0]
    if missing not in _EXTRAS:
        raise error
    extra = "video" if missing in _VIDEO else "cli"
    sys.exit(
        f'Error: {_EXTRAS[missing]} {missing}. Install it with: pip install "trueaxis[{extra}]"'
    )
