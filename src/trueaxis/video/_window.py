"""One window of a video: the background model fitted to it, and its frames separated by it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import ndimage

from trueaxis._typing import Array
from trueaxis.video._contours import clearest
from trueaxis.video._low_rank import LowRank
from trueaxis.video._mask import evidence, foreground

_FITTED, _FEWEST = 100, 16  # frames of a window that the model is fitted to
_ENTRIES = 1 << 26  # of those frames together, which bounds the memory
_COMPARED = 40  # frames whose outlines are compared, pair by pair
_COMPARED_PIXELS = 25_000  # above which outlines are compared in smaller pictures
_REMEMBERED = 0.5  # what the last window's background counts, in windows
_ROUNDS = 3
_MARGIN = 2  # pixels around the foreground that the background is not learned from
_TOGETHER = 1 << 20  # entries of frames separated at a time


def fit(frames: Array, previous: LowRank | None = None) -> LowRank:
    """The background of some frames.

    The outlines in the frames choose a first picture; then, in turn, the light on each frame, the
    foreground, and the picture with its noise where the foreground leaves it in sight.

    Parameters
    ----------
    frames : ndarray of shape (n, height, width, channels)
        In gray levels 0..255, any dtype.
    previous : LowRank, optional
        The model of the frames before these.
    """
    shape = frames.shape[1:]
    most = max(_FEWEST, min(_FITTED, _ENTRIES // math.prod(shape)))
    P = pixels(frames[evenly(len(frames), most)])
    model = _first(P, shape, previous)
    for _ in range(_ROUNDS):
        seen = _seen(P, model, shape)
        Z = model.coordinates(P, seen)
        model = model.refit(P, Z, seen).refit(P, Z, seen).with_noise_of(P, Z, seen)
    return model


def separate(frames: Array, model: LowRank) -> Iterator[tuple[Array, Array]]:
    """L (n, height, width, channels) and the masks (n, height, width), a few frames at a time."""
    shape = frames.shape[1:]
    for few in _few(len(frames), shape):
        P = pixels(frames[few])
        L = model.expand(model.coordinates(P))
        yield L.T.reshape(-1, *shape), mask(P - L, model.noise, shape)


def mask(residual: Array, noise: Array, shape: tuple[int, ...]) -> Array:
    """Masks (n, height, width) of frames with the residuals (m, n).

    The channels of a color are noisy together, so k of them tell √k times what one does.
    """
    *size, channels = shape
    u = evidence(residual, noise[:, None]).T.reshape(-1, *shape).sum(axis=-1) / math.sqrt(channels)
    r = np.sqrt(np.mean(np.square(residual.T.reshape(-1, *shape)), axis=-1))
    return np.array(list(map(foreground, u, r)), dtype=bool).reshape(-1, *size)


def pixels(frames: Array) -> Array:
    """Frames as a matrix of pixels by frames, float32."""
    return np.ascontiguousarray(frames.reshape(len(frames), -1).T, dtype=np.float32)


def evenly(n: int, most: int) -> Array:
    """Up to `most` of the numbers 0..n−1, evenly spread, the ends among them."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))


def _first(P: Array, shape: tuple[int, ...], previous: LowRank | None) -> LowRank:
    """The model with the picture that the outlines choose."""
    P = P[:, evenly(P.shape[1], _COMPARED)]
    noise = _noise_at_rest(P)
    if previous is None:
        light = LowRank.lit_evenly(np.median(P, axis=1), noise)
    else:
        light = LowRank(previous.center, previous.axes, np.maximum(previous.noise, noise))
    # All frames, and the picture remembered, under the same light.
    X = P - light.axes @ light.coordinates(P).T
    shares = np.ones(X.shape[1])
    if previous is not None:
        X = np.column_stack([X, previous.center])
        shares = np.append(shares, _REMEMBERED * shares.sum())
    gray = X.T.reshape(-1, *shape).mean(axis=-1)
    coarseness = math.ceil(math.sqrt(gray[0].size / _COMPARED_PIXELS))
    small = _coarse(gray, coarseness)
    small_noise = _coarse(noise.reshape(1, *shape).mean(axis=-1), coarseness)[0]
    winner = _fine(clearest(small, small_noise, shares), coarseness, gray.shape[1:])
    winner = np.repeat(winner.ravel(), shape[-1])
    center = np.take_along_axis(X, winner[:, None], axis=1)[:, 0]
    return LowRank.lit_evenly(center, noise)


def _noise_at_rest(P: Array) -> Array:
    """σ of every pixel from its steps in time, most of which no object makes."""
    steps = np.median(np.abs(np.diff(P - np.median(P, axis=0), axis=1)), axis=1)
    noise = 1.4826 / math.sqrt(2.0) * steps
    moving = noise[noise > 0.0]
    common = float(np.median(moving)) if len(moving) else 0.0
    floored: Array = np.maximum(noise, max(common, 0.5)).astype(np.float32)
    return floored


def _seen(P: Array, model: LowRank, shape: tuple[int, ...]) -> Array:
    """Where the background is in sight, pixels by frames."""
    seen = np.empty(P.shape, dtype=bool)
    for few in _few(P.shape[1], shape):
        some = P[:, few]
        masks = mask(model.residual(some, model.coordinates(some)), model.noise, shape)
        near = ndimage.binary_dilation(masks, np.ones((1, 3, 3), dtype=bool), iterations=_MARGIN)
        seen[:, few] = np.repeat(~near.reshape(len(masks), -1).T, shape[-1], axis=0)
    return seen


def _few(n: int, shape: tuple[int, ...]) -> list[slice]:
    """Slices of n frames, of as many frames as are worked on together."""
    together = max(1, _TOGETHER // math.prod(shape))
    return [slice(first, first + together) for first in range(0, n, together)]


def _coarse(images: Array, factor: int) -> Array:
    """Means over squares of `factor` pixels; what is left over at the edges is repeated."""
    if factor == 1:
        return images
    _, height, width = images.shape
    padded = np.pad(images, ((0, 0), (0, -height % factor), (0, -width % factor)), mode="edge")
    n, height, width = padded.shape
    squares = padded.reshape(n, height // factor, factor, width // factor, factor)
    means: Array = squares.mean(axis=(2, 4))
    return means


def _fine(image: Array, factor: int, size: tuple[int, ...]) -> Array:
    """The image with every pixel repeated over a square, cut to `size`."""
    return image.repeat(factor, axis=0).repeat(factor, axis=1)[: size[0], : size[1]]
