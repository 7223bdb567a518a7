"""Video files. The only file that imports imageio, which reads and writes them with PyAV."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from trueaxis._typing import Array

try:
    import av  # noqa: F401  (imageio's plugin needs it, and would say so less clearly)
    import imageio.v3 as imageio
except ImportError as error:
    raise ImportError(
        'video files need imageio and PyAV: pip install "trueaxis[video]"', name=error.name
    ) from error

_CODEC, _QUALITY = "libx264", "18"  # a constant rate factor at which losses are hard to see


def rate_and_length(path: Path) -> tuple[float | None, int | None]:
    """Frames a second, and how many there are, as far as the file says so."""
    with imageio.imopen(path, "r", plugin="pyav") as movie:
        about: dict[str, Any] = movie.metadata()
        rate = float(about.get("fps") or 0.0)
        seconds = float(about.get("duration") or 0.0)
    return (rate or None), (round(rate * seconds) or None)


def read(path: Path) -> Iterator[Array]:
    """The frames, height × width × 3 in bytes; gray ones height × width."""
    gray: bool | None = None
    for frame in imageio.imiter(path, plugin="pyav"):
        picture = np.asarray(frame)
        if gray is None:
            gray = bool((picture == picture[..., :1]).all())
        yield picture[..., 0] if gray else picture


class Writer:
    """A video file that grows by frames of bytes."""

    def __init__(self, path: Path, rate: float) -> None:
        self._file: Any = imageio.imopen(path, "w", plugin="pyav")
        self._rate = rate
        self._begun = False

    def write(self, frames: Array) -> None:
        """Append frames (n, height, width[, 3])."""
        if not self._begun:
            self._file.init_video_stream(_CODEC, fps=self._rate, pixel_format="yuv420p")
            with suppress(AttributeError):  # imageio has no public way to say how good
                self._file._video_stream.options = {"crf": _QUALITY, "preset": "veryfast"}
            self._begun = True
        for frame in frames:
            color = np.repeat(frame[..., None], 3, axis=-1) if frame.ndim == 2 else frame
            # The codec halves the resolution of colors: the sides must be even.
            odd = [(0, side % 2) for side in color.shape[:2]]
            self._file.write_frame(np.ascontiguousarray(np.pad(color, [*odd, (0, 0)], mode="edge")))

    def close(self) -> None:
        """Write what the file still lacks."""
        self._file.close()
