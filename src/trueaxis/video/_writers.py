"""The parts of a video into files: images, stacks or video files, one window after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np

from trueaxis._typing import Array
from trueaxis.video import _arrays, _images
from trueaxis.video.frames import Frames
from trueaxis.video.separation import Window, white_of

PARTS = ("background", "foreground", "mask")
ARCHIVE = "separation.npz"
_RATE = 25.0  # frames a second where nothing says how many
_DIGITS = 6  # of a frame's number in a file's name


class Writer(ABC):
    """Writes windows to a folder."""

    def __init__(self, folder: Path, frames: Frames) -> None:
        self.folder = folder
        self.frames = frames
        self._white: float | None = None

    def write(self, window: Window) -> dict[str, Array]:
        """Append a window; its frames and parts in bytes, to be shown."""
        if self._white is None:
            self._white = white_of(window.frames)
        parts = {
            "background": window.background,
            "foreground": window.foreground,
            "mask": window.mask,
        }
        shown = {name: _bytes(part, self._white) for name, part in parts.items()}
        for name in PARTS:
            self._append(name, window.start, parts[name], shown[name])
        return {"frame": _bytes(window.frames, self._white), **shown}

    @abstractmethod
    def _append(self, name: str, start: int, values: Array, shown: Array) -> None: ...

    def finish(self) -> None:
        """Make the files whole."""
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Let go of the files."""


class Images(Writer):
    """A folder of PNG images for each part, named as the frames are, or numbered."""

    def _append(self, name: str, start: int, values: Array, shown: Array) -> None:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        for index, picture in enumerate(shown, start):
            _images.write(folder / self._name(index), picture)

    def _name(self, index: int) -> str:
        names = self.frames.names
        stems = {Path(name).stem for name in names}
        # photo.png and photo.jpg are two frames, but would be one file.
        named = index < len(names) and len(stems) == len(names)
        return f"{Path(names[index]).stem if named else str(index).zfill(_DIGITS)}.png"

    def close(self) -> None:
        """Nothing is held open."""


class Stacks(Writer):
    """One .npz with an array for each part."""

    def __init__(self, folder: Path, frames: Frames) -> None:
        super().__init__(folder, frames)
        self._paths = {name: folder / f"{name}.npy" for name in PARTS}
        self._stacks = {name: _arrays.Writer(path) for name, path in self._paths.items()}

    def _append(self, name: str, start: int, values: Array, shown: Array) -> None:
        self._stacks[name].write(values)

    def finish(self) -> None:
        """Pack the arrays into one file."""
        self.close()
        _arrays.pack(self.folder / ARCHIVE, list(self._paths.values()))

    def close(self) -> None:
        """Close the arrays' files."""
        for stack in self._stacks.values():
            stack.close()


class Movies(Writer):
    """An .mp4 file for each part."""

    def __init__(self, folder: Path, frames: Frames) -> None:
        super().__init__(folder, frames)
        from trueaxis.video import _movies

        self._files = ExitStack()
        rate = frames.rate or _RATE
        self._movies = {
            name: self._files.enter_context(closing(_movies.Writer(folder / f"{name}.mp4", rate)))
            for name in PARTS
        }

    def _append(self, name: str, start: int, values: Array, shown: Array) -> None:
        self._movies[name].write(shown)

    def close(self) -> None:
        """Close the video files."""
        self._files.close()


WRITERS: dict[str, Callable[[Path, Frames], Writer]] = {
    "images": Images,
    "npz": Stacks,
    "video": Movies,
}


def _bytes(values: Array, white: float) -> Array:
    if values.dtype == bool:
        return values.astype(np.uint8) * np.uint8(255)
    if values.dtype == np.uint8 and white == 255.0:
        return values
    return np.clip(np.rint(values * (255.0 / white)), 0, 255).astype(np.uint8)
