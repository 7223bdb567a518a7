"""Stacks of frames in NumPy's files, read and written a frame at a time."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from trueaxis._typing import Array


class FrameError(ValueError):
    """Frames are not as they must be; says which, and what to do."""


_HEADER = 128  # bytes that the head of a file takes, whatever the number of frames


def stored(path: Path, array: str | None = None) -> tuple[str, tuple[int, ...]]:
    """Name and shape of the stack of frames in a file.

    In an .npz it is the array asked for, or that called `frames`, or else the only one with three
    or four axes.
    """
    if path.suffix == ".npy":
        return "", _memory_map(path).shape
    shapes = {}
    with _archive(path) as archive:
        for entry in archive.namelist():
            with archive.open(entry) as file:
                shapes[entry.removesuffix(".npy")] = _head(file, f"{path}, array {entry}")[0]
    stacks = [name for name, shape in shapes.items() if len(shape) in (3, 4)]
    wanted = array if array is not None else "frames"
    if wanted in shapes and (array is not None or wanted in stacks):
        return wanted, shapes[wanted]
    if array is None and len(stacks) == 1:
        return stacks[0], shapes[stacks[0]]
    held = ", ".join(f"{name!r} {'×'.join(map(str, s)) or 'scalar'}" for name, s in shapes.items())
    asked = f"no array {array!r}" if array is not None else "no one stack of frames"
    raise FrameError(
        f"{path} has {asked}; it holds {held or 'nothing'}. Frames are an array of "
        "frames × height × width, or × 3 for color"
        + ("; say which array it is." if array is None and stacks else ".")
    )


def read(path: Path, name: str) -> Iterator[Array]:
    """The frames of a stack, one after the other."""
    if path.suffix == ".npy":
        yield from _memory_map(path)
        return
    with _archive(path) as archive, archive.open(f"{name}.npy") as file:
        shape, columnwise, dtype = _head(file, f"{path}, array {name!r}")
        if columnwise:
            data = file.read()
            yield from np.frombuffer(data, dtype).reshape(shape, order="F")
            return
        size = math.prod(shape[1:]) * dtype.itemsize
        for index in range(shape[0]):
            try:
                data = file.read(size)
            except zipfile.BadZipFile as error:
                # The checksum is that of all frames, and is known to be wrong only at their end.
                raise FrameError(f"{path} is damaged: {error}.") from error
            except (zlib.error, EOFError, OSError, ValueError) as error:
                raise FrameError(f"{path}: frame {index} is damaged: {error}.") from error
            if len(data) < size:
                raise FrameError(f"{path}: frame {index} is cut off.")
            yield np.frombuffer(data, dtype).reshape(shape[1:])


class Writer:
    """An .npy file that grows by frames; its head is written last, when their number is known."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._file.write(b" " * _HEADER)
        self._n = 0
        self._like: tuple[tuple[int, ...], np.dtype[Any]] | None = None

    def write(self, frames: Array) -> None:
        """Append frames (n, ...)."""
        self._like = (frames.shape[1:], frames.dtype)
        self._n += len(frames)
        self._file.write(np.ascontiguousarray(frames).tobytes())

    def close(self) -> None:
        """Write the head."""
        if self._file.closed:
            return
        shape, dtype = self._like or ((0, 0), np.dtype(np.uint8))
        head = {
            "descr": npy.dtype_to_descr(dtype),
            "fortran_order": False,
            "shape": (self._n, *shape),
        }
        text = repr(head).encode()
        magic = npy.magic(1, 0)
        room = _HEADER - len(magic) - 2
        self._file.seek(0)
        self._file.write(magic + room.to_bytes(2, "little") + text.ljust(room - 1) + b"\n")
        self._file.close()


def pack(path: Path, parts: Sequence[Path]) -> None:
    """An .npz of .npy files, which go."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for part in parts:
            archive.write(part, part.name)
            part.unlink()


def _memory_map(path: Path) -> Array:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    except (ValueError, EOFError) as error:
        raise FrameError(f"{path} is no .npy file of numbers, or is damaged: {error}") from error


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise FrameError(f"{path} is no .npz file, or is damaged: {error}.") from error


def _head(file: Any, where: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, columnwise, dtype = read(file)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise FrameError(f"{where} is damaged: {error}") from error
    if dtype.hasobject:
        raise FrameError(f"{where} holds Python objects, not numbers.")
    return shape, columnwise, dtype
