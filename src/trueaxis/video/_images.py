"""Pictures in files. The only file that imports Pillow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from trueaxis._typing import Array

try:
    from PIL import Image, ImageDraw, ImageSequence
except ImportError as error:
    raise ImportError(
        'pictures need Pillow: pip install "trueaxis[video]"', name=error.name
    ) from error

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm"})
PAGED = frozenset({".tif", ".tiff", ".gif"})
_LABEL = 14  # height of a line of text


def read(path: Path) -> Array:
    """The picture, height × width (gray) or height × width × 3, in the file's own depth."""
    with Image.open(path) as image:
        return _values(image)


def pages(path: Path) -> Iterator[Array]:
    """The pages of a file of several pictures."""
    with Image.open(path) as image:
        for page in ImageSequence.Iterator(image):
            yield _values(page)


def write(path: Path, picture: Array) -> None:
    """A picture of bytes, gray or in color, in the format that the file's name says."""
    Image.fromarray(picture).save(path)


def thumbnail(picture: Array, width: int) -> Array:
    """The picture, no wider than `width`."""
    height, full = picture.shape[:2]
    if full <= width:
        return picture
    size = (width, max(1, round(height * width / full)))
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BILINEAR))


def sheet(columns: Sequence[Sequence[Array]], heads: Sequence[str], rows: Sequence[str]) -> Array:
    """Columns of pictures of one size, with a line of text above each column and each row."""
    height, width = columns[0][0].shape[:2]
    gap = 4
    step = height + _LABEL + gap
    canvas = Image.new(
        "RGB", ((width + gap) * len(columns) + gap, _LABEL + step * len(rows)), "white"
    )
    pen = ImageDraw.Draw(canvas)
    for j, (head, column) in enumerate(zip(heads, columns, strict=True)):
        left = gap + j * (width + gap)
        pen.text((left, 1), head, fill="black")
        for i, picture in enumerate(column):
            canvas.paste(Image.fromarray(picture), (left, (i + 1) * step - height + _LABEL - gap))
    for i, row in enumerate(rows):
        pen.text((gap, _LABEL + i * step + 1), row, fill="dimgray")
    return np.asarray(canvas)


def _values(image: Image.Image) -> Array:
    if image.mode in ("L", "RGB") or image.mode.startswith(("I", "F")):
        return np.asarray(image)
    colored = image.mode not in ("1", "LA") and not (
        image.mode == "P" and _is_gray(image.getpalette())
    )
    return np.asarray(image.convert("RGB" if colored else "L"))


def _is_gray(palette: list[int] | None) -> bool:
    return palette is not None and palette[0::3] == palette[1::3] == palette[2::3]
