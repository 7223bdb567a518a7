r"""Which pixels of a frame are foreground, given the residual of the background.

A pixel j is foreground (x_j = 1) or background (−1). Foreground has any gray level with the same
probability, background is Gaussian, and neighbors agree:

.. math:: \log P(x) = \tfrac12 \sum_j u_j x_j + \tfrac{\beta}{2} \sum_{j \sim k} x_j x_k + \dots,
   \qquad u_j = \frac{r_j^2}{2\sigma_j^2} + \log\frac{\sqrt{2\pi}\,\sigma_j}{256} + o .

o is the logarithm of the odds beforehand. The marginals are found by mean field,
q = tanh((u + 2β·mean of q near j)/2), and a pixel is foreground where q > 0. Specks and holes of a
few pixels are dropped and filled. So is what has no outline: where an object ends, the residual
drops to 0 within pixels, and where light ends, it fades.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from trueaxis._typing import Array

_ODDS = -4.0  # logarithm of the odds of foreground beforehand
_SUREST = 5.0  # |u| above which a pixel counts no more: no model of noise is that good
_BLUR = 0.5  # pixels over which evidence is pooled
_UNMODELED = 4.0  # gray levels: soft shadows, reflections, what a codec makes of motion
_AGREEMENT = 1.5  # β
_WIDTH = 5  # pixels of the neighborhood
_STEPS = 5
_FADING = 0.1  # of its size a pixel: a residual that falls off no faster is light
_SPECK, _FEWEST, _MOST = 1e-3, 4.0, 150.0  # a speck: less of the picture, within so many pixels


def evidence(residual: Array, noise: Array) -> Array:
    """u: the logarithm of the odds that each pixel is foreground."""
    variance = noise**2 + _UNMODELED**2
    u = residual**2 / (2.0 * variance) + 0.5 * np.log(2.0 * np.pi / 256.0**2 * variance) + _ODDS
    return np.clip(u, -_SUREST, _SUREST)


def foreground(u: Array, size: Array) -> Array:
    """The mask of one picture from the evidence u and |r|, both of shape (height, width)."""
    u = ndimage.gaussian_filter(u, _BLUR)
    q = np.tanh(0.5 * u)
    for _ in range(_STEPS):
        q = np.tanh(0.5 * u + _AGREEMENT * ndimage.uniform_filter(q, _WIDTH))
    smallest = float(np.clip(_SPECK * u.size, _FEWEST, _MOST))
    return _without_specks(_with_outlines(q > 0.0, size), smallest)


def _with_outlines(mask: Array, size: Array) -> Array:
    """Without the components at whose border |r| fades."""
    labels, n = ndimage.label(mask)
    if n == 0:
        return mask
    outside = ndimage.maximum_filter(labels, 3)
    border = outside != ndimage.minimum_filter(labels, 3)
    smooth = ndimage.gaussian_filter(size, 1.0)
    slope = np.hypot(ndimage.sobel(smooth, 0), ndimage.sobel(smooth, 1))[border] / 8.0
    length = np.bincount(outside[border], minlength=n + 1)
    steepness = np.bincount(outside[border], slope, n + 1) / np.maximum(length, 1)
    inside = np.bincount(labels.ravel(), size.ravel(), n + 1) / np.bincount(labels.ravel())
    # What fills the whole picture has no border to judge by.
    sharp = (steepness > _FADING * inside) | (length == 0)
    sharp[0] = False
    kept: Array = sharp[labels]
    return kept


def _without_specks(mask: Array, smallest: float) -> Array:
    """Without components, and then without holes, of fewer pixels than `smallest`."""
    for value in (True, False):
        labels, _ = ndimage.label(mask == value)
        small = np.bincount(labels.ravel()) < smallest
        small[0] = False
        mask = np.where(small[labels], not value, mask)
    return mask
