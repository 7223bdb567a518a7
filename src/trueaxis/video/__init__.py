"""What moves in a video, apart from what stays: a camera that stands still, low-rank + sparse."""

from typing import TYPE_CHECKING, Any

from trueaxis.video._arrays import FrameError
from trueaxis.video.frames import Frames, open_frames
from trueaxis.video.separation import Window, separate

if TYPE_CHECKING:
    from trueaxis.video.output import Summary, write_separated

__all__ = [
    "FrameError",
    "Frames",
    "Summary",
    "Window",
    "open_frames",
    "separate",
    "write_separated",
]


def __getattr__(name: str) -> Any:
    # Files of pictures need Pillow, which separating arrays does not.
    if name in ("Summary", "write_separated"):
        from trueaxis.video import output

        return getattr(output, name)
    raise AttributeError(f"module 'trueaxis.video' has no attribute {name!r}")
