"""A separated video in a folder, which is whole or not there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from trueaxis._files import WouldOverwriteError
from trueaxis.video import _images
from trueaxis.video._sheet import Sheet
from trueaxis.video._writers import ARCHIVE, PARTS, WRITERS
from trueaxis.video.frames import open_frames
from trueaxis.video.separation import separate

Format = Literal["auto", "images", "npz", "video"]
FORMATS = ("auto", *sorted(WRITERS))
SHEET = "contact_sheet.png"
_LIKE = {"array": "npz", "images": "images", "video": "video"}


@dataclass(frozen=True)
class Summary:
    """What was written.

    Attributes
    ----------
    folder : Path
        Where.
    files : tuple of str
        The names in it.
    n_frames : int
        How many frames were separated.
    share : float
        Share of their pixels that is foreground.
    """

    folder: Path
    files: tuple[str, ...]
    n_frames: int
    share: float


def write_separated(
    source: Any,
    folder: str | os.PathLike[str],
    *,
    format: Format = "auto",
    force: bool = False,
    window: int | None = None,
    array: str | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Summary:
    """Separate a video, and write background, foreground, mask and a contact sheet to a folder.

    Nothing is there before all of it is there.

    Parameters
    ----------
    source : path-like, ndarray, or iterable of ndarray
        The frames; see `trueaxis.video.open_frames`.
    folder : path-like
        Where to write.
    format : {"auto", "images", "npz", "video"}, default="auto"
        A folder of PNG images for each part, one `separation.npz` with the arrays `background`,
        `foreground` and `mask`, or an .mp4 file for each part. By default what the source is.
        Images and videos have bytes; an .npz has the frames' own type.
    force : bool, default=False
        Whether an earlier result in the folder may be replaced. A folder that holds anything else
        is not touched.
    window : int, optional
        Frames that are worked on together; see `trueaxis.video.separate`.
    array : str, optional
        Which array of an ``.npz`` the frames are.
    progress : callable, optional
        Called with the number of frames done and of all frames, or None where it is not known.

    Returns
    -------
    Summary

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> frames = np.full((10, 20, 30), 99, dtype=np.uint8)
    >>> summary = write_separated(frames, tempfile.mkdtemp() + "/out")
    >>> summary.files, summary.n_frames
    (('contact_sheet.png', 'separation.npz'), 10)
    """
    if format not in FORMATS:
        raise ValueError(f"format={format!r} is none of {', '.join(FORMATS)}.")
    target = check_folder(folder, force=force)
    frames = open_frames(source, array=array)
    n, n_foreground, n_pixels = 0, 0, 0
    sheet = Sheet()
    kind = _LIKE[frames.kind] if format == "auto" else format
    with _appearing(target, force) as beside:
        with closing(WRITERS[kind](beside, frames)) as writer:
            for part in separate(frames, window=window, progress=progress):
                sheet.add(part.start, writer.write(part))
                n += len(part.frames)
                n_foreground += int(part.mask.sum())
                n_pixels += part.mask.size
            writer.finish()
        _images.write(beside / SHEET, sheet.drawn())
        files = tuple(sorted(entry.name for entry in beside.iterdir()))
    return Summary(target, files, n, n_foreground / n_pixels)


def check_folder(folder: str | os.PathLike[str], *, force: bool = False) -> Path:
    """The folder, if a result can be written there: asked before the work, not after it."""
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise ValueError(f"{target} is a file; give the name of a folder.")
    if not target.parent.is_dir():
        raise ValueError(
            f"{target} cannot be written: there is no folder {str(target.parent)!r}; make it first."
        )
    if target.is_dir():
        held = sorted(entry.name for entry in target.iterdir())
        ours = {SHEET, ARCHIVE, *PARTS, *(f"{part}.mp4" for part in PARTS)}
        foreign = [name for name in held if name not in ours]
        if foreign:
            raise ValueError(
                f"{target} holds {foreign[0]!r}, which is no result of a separation, and is left "
                "alone; give another folder."
            )
        if held and not force:
            raise WouldOverwriteError(f"{target} holds a result already; --force replaces it.")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(13, "No permission to write in this folder", str(target.parent))
    return target


@contextmanager
def _appearing(target: Path, force: bool) -> Iterator[Path]:
    """A folder beside `target`, which takes its place when the block ends well, and else goes."""
    target = Path(os.path.realpath(target))
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name[:100]}.", dir=target.parent))
    new, old = beside / "new", beside / "old"
    try:
        new.mkdir()  # with the permissions of any new folder, which a temporary one has not
        yield new
        check_folder(target, force=force)
        if target.exists():
            target.rename(old)
        try:
            new.rename(target)
        except BaseException:
            if old.exists():
                old.rename(target)
            raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)
