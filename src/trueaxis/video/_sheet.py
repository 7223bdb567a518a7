"""A contact sheet: some frames of a video and their parts at a glance."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from trueaxis._typing import Array
from trueaxis.video import _images

_COLUMNS = 6
_KEPT = 48  # thumbnails are kept of up to so many frames
_WIDTH = 240


class Sheet:
    """Collects thumbnails of a video whose length is not known, evenly over what has come."""

    def __init__(self) -> None:
        self._stride = 1
        self._columns: list[tuple[int, dict[str, Array]]] = []

    def add(self, start: int, parts: Mapping[str, Array]) -> None:
        """Take note of the frames from `start` on; `parts` are stacks of pictures in bytes."""
        n = len(next(iter(parts.values())))
        for index in range(start, start + n):
            if index % self._stride:
                continue
            column = {
                name: _images.thumbnail(stack[index - start], _WIDTH)
                for name, stack in parts.items()
            }
            self._columns.append((index, column))
            if len(self._columns) >= _KEPT:
                self._columns = self._columns[::2]
                self._stride *= 2

    def drawn(self) -> Array:
        """The picture of the sheet."""
        which = np.unique(
            np.linspace(0, len(self._columns) - 1, min(_COLUMNS, len(self._columns))).round()
        ).astype(int)
        chosen = [self._columns[i] for i in which]
        rows = list(chosen[0][1])
        return _images.sheet(
            [[parts[row] for row in rows] for _, parts in chosen],
            [f"frame {index}" for index, _ in chosen],
            rows,
        )
