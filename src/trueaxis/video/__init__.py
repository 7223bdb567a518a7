"""What moves in a video, apart from what stays: a camera that stands still, low-rank + sparse."""

from trueaxis.video.frames import Frames, open_frames
from trueaxis.video.output import Summary, write_separated
from trueaxis.video.separation import Window, separate

__all__ = ["Frames", "Summary", "Window", "open_frames", "separate", "write_separated"]
