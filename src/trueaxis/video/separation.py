"""Frames into background, foreground and mask, a window at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from trueaxis._threads import single_threaded_blas
from trueaxis._typing import Array
from trueaxis.video import _window
from trueaxis.video._arrays import FrameError
from trueaxis.video._low_rank import LowRank
from trueaxis.video.frames import Frames, open_frames

FEWEST = 3  # frames that a background can be found from
_WORTH_A_FIT = 40  # frames of a last window that get a background of their own
_MOST_FRAMES, _MOST_BYTES = 1000, 1 << 27  # of a window


@dataclass(frozen=True)
class Window:
    """Some frames in a row, and their parts.

    Attributes
    ----------
    start : int
        Index of the first of them in the video.
    frames : ndarray of shape (n, height, width) or (n, height, width, 3)
        As they were read.
    background : ndarray like `frames`
        L, the low-rank part: what is behind. Rounded where the frames are whole numbers.
    mask : ndarray of shape (n, height, width), bool
        Where the foreground is.
    """

    start: int
    frames: Array
    background: Array
    mask: Array

    @property
    def foreground(self) -> Array:
        """The frames where the mask is, 0 elsewhere."""
        mask = self.mask[..., None] if self.frames.ndim == 4 else self.mask
        return np.where(mask, self.frames, self.frames.dtype.type(0))

    @property
    def sparse(self) -> Array:
        """S = D − L where the mask is, 0 elsewhere; float32."""
        mask = self.mask[..., None] if self.frames.ndim == 4 else self.mask
        return np.where(mask, self.frames.astype(np.float32) - self.background, np.float32(0))


def separate(
    source: Any,
    *,
    window: int | None = None,
    array: str | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Iterator[Window]:
    r"""Separate what moves from what stays, in a video of a camera that stands still.

    With frames as rows, D = L + S + noise. L has low rank: a picture, and the changes of the light
    on it. S is sparse and connected: what is in front. Principal component pursuit takes somebody
    who stands still for a part of the background; here three things prevent it. The picture is
    chosen by the outlines in the frames, as an object brings its outline with it. The price of an
    entry of S is bounded (Tukey's bisquare, in the noise of each pixel). And L is fitted only where
    S is not. The mask is that of a Markov random field, in which neighbors agree.

    Memory is bounded by the window, whatever the length of the video. Each window remembers the
    background of the one before.

    Parameters
    ----------
    source : path-like, ndarray, or iterable of ndarray
        The frames; see `trueaxis.video.open_frames`.
    window : int, optional
        Frames a window; an object that stays for a whole window, and was never seen to arrive,
        belongs to its background. By default 1000, and fewer where they would take more than
        128 MiB.
    array : str, optional
        Which array of an ``.npz`` the frames are.
    progress : callable, optional
        Called with the number of frames done and of all frames, or None where it is not known.

    Yields
    ------
    Window

    Notes
    -----
    Frames of numbers up to 255 are taken for gray levels of 0..255, those of numbers up to 1 for
    shares of white; others are scaled so that the brightest of the first window is white.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> frames = rng.normal(100, 2, (30, 40, 60)).astype(np.uint8)
    >>> for t in range(30):
    ...     frames[t, 10:25, 2 * t : 2 * t + 8] = 200
    >>> (window,) = separate(frames)
    >>> np.abs(window.background[9] - 100.0).max() < 10
    np.True_
    >>> window.mask[9, 15].nonzero()[0]  # the row of pixels through the square
    array([18, 19, 20, 21, 22, 23, 24, 25])
    """
    if window is not None and not _is_number_of_frames(window):
        raise ValueError(f"window={window!r} must be a whole number of at least {FEWEST} frames.")
    return _windows(open_frames(source, array=array), window, progress or _silent)


def _is_number_of_frames(window: Any) -> bool:
    whole = isinstance(window, int | np.integer) and not isinstance(window, bool)
    return whole and window >= FEWEST


def _silent(done: int, of: int | None) -> None:
    pass


def _windows(
    frames: Frames, window: int | None, progress: Callable[[int, int | None], None]
) -> Iterator[Window]:
    reader = iter(frames)
    model: LowRank | None = None
    unit: float | None = None
    start = 0
    for first in reader:
        n = window or max(_WORTH_A_FIT, min(_MOST_FRAMES, _MOST_BYTES // max(first.nbytes, 1)))
        stack = np.stack([first, *islice(reader, n - 1)])
        if start == 0 and len(stack) < FEWEST:
            raise FrameError(
                f"{frames.source} has only {len(stack)} frames; a background needs at least "
                f"{FEWEST}, and some tens to be good."
            )
        unit = 255.0 / white_of(stack) if unit is None else unit
        with single_threaded_blas():
            gray = _in_gray_levels(stack, unit)
            if model is None or len(stack) >= min(n, _WORTH_A_FIT):
                model = _window.fit(gray, model)
            background = np.empty_like(stack)
            masks = np.empty(stack.shape[:3], dtype=bool)
            done = 0
            for L, mask in _window.separate(gray, model):
                now = slice(done, done + len(mask))
                background[now] = _as_stored(L.reshape(stack[now].shape) / unit, stack.dtype)
                masks[now] = mask
                done += len(mask)
                progress(start + done, frames.length)
        yield Window(start, stack, background, masks)
        start += len(stack)


def white_of(frames: Array) -> float:
    """The number that stands for white in frames: 255, 1, or the brightest in them."""
    brightest = float(np.abs(frames).max())
    if frames.dtype == np.uint8 or 1.0 < brightest <= 255.0:
        return 255.0
    return max(brightest, 1.0)


def _in_gray_levels(frames: Array, unit: float) -> Array:
    """The frames (n, height, width, channels) in gray levels 0..255."""
    levels = frames if unit == 1.0 else frames.astype(np.float32) * np.float32(unit)
    return levels[..., None] if levels.ndim == 3 else levels


def _as_stored(values: Array, dtype: np.dtype[Any]) -> Array:
    """Values in the frames' own type."""
    if dtype.kind == "b":
        return values > 0.5
    if dtype.kind in "ui":
        limits = np.iinfo(dtype)
        return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)
    return values.astype(dtype)
