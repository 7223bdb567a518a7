"""`trueaxis separate`: background, foreground and mask of a video."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from trueaxis.cli import options as o
from trueaxis.cli.console import Speaker


class Format(StrEnum):
    """What the parts are written as."""

    auto = "auto"
    images = "images"
    npz = "npz"
    video = "video"


Video = Annotated[
    Path,
    typer.Argument(
        metavar="VIDEO",
        help="A folder of images; an .npz or .npy of frames × height × width, or × 3 for color; "
        "or a video file.",
    ),
]
Folder = Annotated[
    Path, typer.Option("-o", "--output", help="Folder for the result.", file_okay=True)
]
FormatOption = Annotated[
    Format,
    typer.Option(
        "--format",
        help="Folders of PNG images, one .npz, or .mp4 files; auto is what VIDEO is.",
    ),
]
WindowOption = Annotated[
    int | None,
    typer.Option(
        "--window",
        min=3,
        show_default="1000, or what fits in 128 MiB",
        help="Frames that are worked on together. What stays for a whole window, and was never "
        "seen to arrive, becomes background.",
    ),
]
Stack = Annotated[
    str | None,
    typer.Option("--array", help="Which array of an .npz the frames are.", show_default=False),
]


def separate(
    video: Video,
    output: Folder,
    format: FormatOption = Format.auto,
    window: WindowOption = None,
    array: Stack = None,
    force: o.Force = False,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Separate what moves in a video from what stays; the camera must stand still.

    Writes background, foreground and mask, and contact_sheet.png with all of them at a glance.
    Light may change, and somebody may stand still for most of the time.

    For example: trueaxis separate clip.mp4 -o clip-separated
    """
    say = Speaker(as_json=as_json, quiet=quiet)

    from trueaxis.video import open_frames, write_separated
    from trueaxis.video.output import check_folder

    check_folder(output, force=force)
    frames = open_frames(video, array=array)
    began = time.monotonic()
    with _counting(f"Separating {video.name}", frames.length, say.shows) as progress:
        done = write_separated(
            frames, output, format=format.value, force=force, window=window, progress=progress
        )
    seconds = time.monotonic() - began
    say.show(
        f"{done.n_frames} frames in {seconds:.1f} s ({done.n_frames / seconds:.0f} a second); "
        f"{done.share:.1%} of the pixels are foreground."
    )
    say.show(f"Wrote {output}: {', '.join(done.files)}")
    say.tell(
        {
            "n_frames": done.n_frames,
            "foreground_share": done.share,
            "seconds": seconds,
            "written": [str(output / name) for name in done.files],
        }
    )


@contextmanager
def _counting(
    what: str, length: int | None, shown: bool
) -> Iterator[Callable[[int, int | None], None] | None]:
    """A bar that counts frames on stderr, where that is a terminal; yields what moves it."""
    if not (shown and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[told]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None, told="reading")

        def moved(n: int, of: int | None) -> None:
            told = f"{n} frames" if of is None else f"{n} of {of} frames"
            progress.update(task, total=of, completed=n, told=told)

        yield moved
