"""Where frames come from: arrays, folders of images, NumPy's files, video files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from trueaxis._typing import Array
from trueaxis.video import _arrays
from trueaxis.video._arrays import FrameError

Kind = Literal["array", "images", "video"]
_STILL = "a folder of images, an .npz or .npy file (frames × height × width), or a video file"


@dataclass(frozen=True)
class Frames:
    """Frames that can be gone through, checked as they come.

    Attributes
    ----------
    source : str
        What they are called in errors.
    kind : {"array", "images", "video"}
        What they were stored as.
    length : int or None
        How many there are, where that is known beforehand.
    rate : float or None
        Frames a second, where that is known.
    names : tuple of str
        A name for each, where they have names.
    """

    source: str
    kind: Kind
    read: Callable[[], Iterator[Array]]
    length: int | None = None
    rate: float | None = None
    names: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Array]:
        """The frames, all of one size, finite, height × width or height × width × 3."""
        shape: tuple[int, ...] | None = None
        for index, frame in enumerate(self._decoded()):
            picture = _picture(frame, self._where(index))
            if shape is None:
                shape = picture.shape
            elif picture.shape != shape:
                raise FrameError(
                    f"{self._where(index)} is {_size(picture.shape)}, but the frames before it "
                    f"are {_size(shape)}; all frames must have the same size."
                )
            yield picture
        if shape is None:
            raise FrameError(f"{self.source} has no frames.")

    def _decoded(self) -> Iterator[Any]:
        iterator, index = self.read(), 0
        while True:
            try:
                frame = next(iterator)
            except StopIteration:
                return
            except (FrameError, ImportError, MemoryError):
                raise
            except Exception as error:  # every decoder has its own
                raise FrameError(
                    f"{self._where(index)} cannot be read: {error or type(error).__name__}. "
                    "It may be damaged; repair it or leave it out."
                ) from error
            yield frame
            index += 1

    def _where(self, index: int) -> str:
        name = f" ({self.names[index]})" if index < len(self.names) else ""
        return f"{self.source}: frame {index}{name}"


def open_frames(source: Any, *, array: str | None = None) -> Frames:
    """The frames of a path, an array or an iterable.

    Parameters
    ----------
    source : path-like, ndarray, iterable of ndarray, or Frames
        A folder of images, which are taken in the order of their names, numbers in them counted;
        an ``.npz`` or ``.npy`` file or an array of frames × height × width, or × 3 for color; a
        ``.tif`` or ``.gif`` of several pages; a video file, for which ``trueaxis[video]`` must be
        installed; or anything that yields the frames.
    array : str, optional
        Which array of an ``.npz`` the frames are, if it has several of three axes and none called
        "frames".

    Returns
    -------
    Frames

    Examples
    --------
    >>> import numpy as np
    >>> frames = open_frames(np.zeros((5, 12, 16)))
    >>> frames.length, next(iter(frames)).shape
    (5, (12, 16))
    """
    if isinstance(source, Frames):
        return source
    if isinstance(source, str | os.PathLike):
        return _at(Path(source), array)
    if hasattr(source, "shape"):
        _check_stack(tuple(source.shape), "The array")
        return Frames("the array", "array", lambda: iter(np.asarray(source)), len(source))
    if isinstance(source, Iterable):
        return Frames("the video", "array", lambda: iter(source))
    raise TypeError(f"Frames cannot be read from {type(source).__name__}; give {_STILL}.")


def _at(path: Path, array: str | None) -> Frames:
    if not path.exists():
        raise FileNotFoundError(2, "No such file or folder", str(path))
    if path.is_dir():
        return _folder(path)
    suffix = path.suffix.lower()
    if suffix in (".npz", ".npy"):
        name, shape = _arrays.stored(path, array)
        _check_stack(shape, f"{path}, array {name!r}" if name else str(path))
        return Frames(str(path), "array", lambda: _arrays.read(path, name), shape[0])
    if suffix in (".tif", ".tiff", ".gif"):
        from trueaxis.video import _images

        return Frames(str(path), "images", lambda: _images.pages(path))
    return _movie(path)


def _folder(path: Path) -> Frames:
    from trueaxis.video import _images

    files = sorted(
        (file for file in path.iterdir() if _is_image(file, _images.SUFFIXES)), key=_counted
    )
    if not files:
        raise FrameError(f"{path} has no images; looked for {', '.join(sorted(_images.SUFFIXES))}.")
    names = tuple(file.name for file in files)
    return Frames(str(path), "images", lambda: map(_images.read, files), len(files), names=names)


def _is_image(file: Path, suffixes: Iterable[str]) -> bool:
    return file.suffix.lower() in suffixes and not file.name.startswith(".") and file.is_file()


def _counted(file: Path) -> list[tuple[int, str]]:
    """A key that puts frame10 behind frame9."""
    parts = re.split(r"(\d+)", file.name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts] + [(0, file.name)]


def _movie(path: Path) -> Frames:
    from trueaxis.video import _movies

    try:
        rate, length = _movies.rate_and_length(path)
    except Exception as error:  # PyAV has many
        why = str(error).rstrip(".")
        raise FrameError(f"{path} cannot be read as a video: {why}. Give {_STILL}.") from error
    return Frames(str(path), "video", lambda: _movies.read(path), length, rate)


def _check_stack(shape: tuple[int, ...], what: str) -> None:
    if len(shape) not in (3, 4) or (len(shape) == 4 and shape[3] not in (1, 3)):
        raise FrameError(
            f"{what} has the shape {shape}; frames are frames × height × width, or "
            "frames × height × width × 3 for color."
        )


def _picture(frame: Any, where: str) -> Array:
    picture = np.asarray(frame)
    if picture.ndim == 3 and picture.shape[2] == 1:
        picture = picture[..., 0]
    if picture.ndim not in (2, 3) or (picture.ndim == 3 and picture.shape[2] != 3):
        raise FrameError(
            f"{where} has the shape {picture.shape}; a frame is height × width, or "
            "height × width × 3 for color."
        )
    if picture.size == 0:
        raise FrameError(f"{where} is empty: its shape is {picture.shape}.")
    if picture.dtype.kind not in "buif":
        raise FrameError(f"{where} holds {picture.dtype}, not real numbers.")
    if picture.dtype.kind == "f" and not np.isfinite(picture).all():
        row, column = np.argwhere(~np.isfinite(picture))[0][:2]
        value = "NaN" if np.isnan(picture[row, column]).any() else "infinity"
        raise FrameError(
            f"{where} has {value} at row {row}, column {column}; leave the frame out or fill it."
        )
    return picture


def _size(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape[:2])) + (" in color" if len(shape) == 3 else " in gray")
