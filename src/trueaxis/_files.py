"""Files that are whole or not there: written beside, then renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class WouldOverwriteError(ValueError):
    """A file is in the way, and nobody said that it may go."""


def check_target(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """The path, if a file can be written there: asked before the work, not after it.

    Parameters
    ----------
    path : path-like
        Where a file is to be.
    force : bool, default=False
        Whether a file that is there may be replaced.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> check_target("no such folder/scores.csv")
    Traceback (most recent call last):
        ...
    ValueError: no such folder/scores.csv cannot be written: there is no folder 'no such folder'...
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file in it.")
    if _is_special(path):
        return path
    if not path.parent.is_dir():
        raise ValueError(
            f"{path} cannot be written: there is no folder {str(path.parent)!r}; make it first."
        )
    if path.exists() and not force:
        raise WouldOverwriteError(f"{path} exists already; --force replaces it.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(13, "No permission to write in this folder", str(path.parent))
    return path


@contextmanager
def replacing(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """A temporary file beside `path`, which takes its place when the block ends well.

    If anything ends the block otherwise, even Ctrl-C, the temporary file goes and what was at
    `path` stays as it was.

    Parameters
    ----------
    path : path-like
        Where the file is to be. A device or a pipe is written as it is.
    force : bool, default=False
        Whether a file that is there may be replaced.

    Yields
    ------
    pathlib.Path
        Where to write.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> with replacing(target) as beside:
    ...     _ = beside.write_text("whole", encoding="utf-8")
    >>> target.read_text(encoding="utf-8")
    'whole'
    """
    target = check_target(path, force=force)
    if _is_special(target):
        yield target
        return
    target = Path(os.path.realpath(target))  # through a link, to what it points at
    hidden = f".{target.name[:100]}."
    number, name = tempfile.mkstemp(prefix=hidden, suffix=".part", dir=target.parent)
    os.close(number)
    beside = Path(name)
    try:
        yield beside
        with open(beside, "rb+") as written:
            os.fsync(written.fileno())  # a name must never outlive its contents in a power cut
        beside.chmod(_mode(target))
        if force:
            beside.replace(target)
        else:
            _rename_to_new(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def _rename_to_new(beside: Path, target: Path) -> None:
    """Rename, but never over a file that came in the meantime."""
    try:
        os.link(beside, target)
    except FileExistsError:
        raise WouldOverwriteError(f"{target} exists already; --force replaces it.") from None
    except OSError:
        # A file system without links, such as FAT.
        if target.exists():
            raise WouldOverwriteError(f"{target} exists already; --force replaces it.") from None
        beside.replace(target)


def _is_special(path: Path) -> bool:
    """Whether it is there and neither file nor folder: /dev/null must not be replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _mode(target: Path) -> int:
    """The permissions of the file replaced, or those of any new file."""
    with suppress(FileNotFoundError):
        return target.stat().st_mode & 0o7777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
