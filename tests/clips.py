"""Videos whose background and foreground are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from trueaxis._typing import Array


@dataclass(frozen=True)
class Clip:
    frames: Array
    background: Array
    mask: Array


def room(seed: int, height: int = 60, width: int = 90) -> Array:
    """A wall with furniture, all textured."""
    rng = np.random.default_rng(seed)

    def texture(h: int, w: int, grain: float, low: float, high: float) -> Array:
        noise = ndimage.gaussian_filter(rng.normal(size=(h, w)), grain)
        return low + (high - low) * (noise - noise.min()) / (np.ptp(noise) + 1e-9)

    picture = texture(height, width, 8.0, 90.0, 170.0)
    for _ in range(6):
        top, left = rng.integers(0, height - 15), rng.integers(0, width - 15)
        h, w = rng.integers(8, 25, 2)
        piece = picture[top : top + h, left : left + w]
        low = rng.uniform(20, 200)
        piece[:] = texture(*piece.shape, 3.0, low, low + 25)
    return picture


def clip(
    seed: int = 0,
    n: int = 80,
    still: float = 0.7,
    light: Array | None = None,
    waves: float = 0.0,
    noise: float = 2.0,
    shape: tuple[int, int] = (60, 90),
) -> Clip:
    """A person walks into a room, stands still for a share of the time, and walks out.

    `light` is a gain for each frame, or each of its pixels; `waves` is the size of ripples on the
    lower third.
    """
    rng = np.random.default_rng(seed)
    height, width = shape
    empty = room(seed, height, width)
    walking = (1.0 - still) / 2.0
    times = np.array([0.2 * walking, walking, walking + still, 0.98])
    places = np.array([-0.15, 0.5, 0.52, 1.15]) * width
    gain = np.ones((n, 1, 1)) if light is None else light
    coat = ndimage.gaussian_filter(rng.normal(size=shape), 2.0) * 60.0
    frames, backgrounds, masks = [], [], []
    for t in range(n):
        behind = empty.copy()
        if waves:
            ripples = ndimage.gaussian_filter(rng.normal(size=(height // 3, width)), (0.7, 2.0))
            behind[-(height // 3) :] += waves * ripples / ripples.std()
        x = np.interp(t / n, times, places)
        rows, columns = np.mgrid[:height, :width]
        u, v = (columns - x) / height, 1.0 - rows / height
        body = (np.abs(u) < 0.11) & (v < 0.62)
        head = (u / 0.08) ** 2 + ((v - 0.7) / 0.09) ** 2 < 1.0
        mask = body | head
        value = np.where(head, 215.0, np.where(v > 0.3, 30.0, 225.0)) + coat
        picture = gain[t] * np.where(mask, value, behind)
        frames.append(np.clip(picture + rng.normal(0.0, noise, shape), 0, 255).round())
        backgrounds.append(gain[t] * empty)
        masks.append(mask)
    return Clip(np.array(frames).astype(np.uint8), np.array(backgrounds), np.array(masks))


def f_measure(mask: Array, truth: Array, scored: Array | None = None) -> float:
    """2PR/(P + R) of a mask, on the pixels scored."""
    scored = np.ones_like(truth) if scored is None else scored
    hits = float((mask & truth & scored).sum())
    return 2.0 * hits / max(float((mask & scored).sum() + (truth & scored).sum()), 1.0)
