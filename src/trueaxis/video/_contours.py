r"""Which of two frames holds the object: the contour of a difference lies on edges of that frame.

Where somebody stands still for most of a clip, the background is the rarer value of a pixel, and
no statistic of single pixels finds it. The picture does: an object brings its outline with it, and
what is behind it runs on smoothly. So any two frames A and B vote on each region R in which they
differ,

.. math:: v_R(A) = -v_R(B) =
    \frac{\sum_{\partial R} (|\nabla B| - |\nabla A|)}{\sum_{\partial R} (|\nabla B| + |\nabla A|)}

with the weight |R|: v = 1 where the outline is in B alone, and A shows what is behind. Regions
where A is brighter and where it is darker are separate: two objects that overlap then part.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy import ndimage

from trueaxis._typing import Array, Float64Array

_PERSUASION = 5.0  # what a unanimous vote adds to the logarithm of a value's share of the time
_SMALLEST = 12  # pixels that a region must have to vote
_WITHOUT_VOTES = 1000.0  # votes, in pixels, at which the verdict counts half
_REACH = 6.0  # pixels over which neighbors decide together
_DIFFERENT, _ALIKE = 5.0, 3.0  # standard deviations of the noise
_LEAST_CONTRAST = 10.0  # gray levels of 256 below which a difference is no object's


def clearest(images: Array, noise: Array, shares: Array | None = None) -> Array:
    r"""For every pixel, the index of the image that shows the background there.

    The images t that are alike at pixel j share their votes, and t's score is

    .. math:: \log(\text{share of the images alike}) + 5 \cdot (\text{their mean vote}),

    blurred over neighboring pixels of image t. The highest score wins.

    Parameters
    ----------
    images : ndarray of shape (n, height, width)
        Frames under the same light, in gray levels 0..255.
    noise : ndarray of shape (height, width)
        Standard deviation of a pixel at rest.
    shares : ndarray of shape (n,), optional
        How often each image counts where values are counted; 1 by default.
    """
    shares = np.ones(len(images)) if shares is None else shares
    votes, evidence = _votes(images, np.maximum(_DIFFERENT * noise, _LEAST_CONTRAST))
    alike = np.maximum(_ALIKE * noise, 0.6 * _LEAST_CONTRAST)
    best = np.full(images.shape[1:], -np.inf)
    winner = np.zeros(images.shape[1:], dtype=np.intp)
    for t, image in enumerate(images):
        same = np.abs(images - image) < alike
        share = np.tensordot(shares, same, axes=1) / shares.sum()
        verdict = (same * votes).sum(axis=0) / ((same * evidence).sum(axis=0) + _WITHOUT_VOTES)
        score = ndimage.gaussian_filter(np.log(share) + _PERSUASION * verdict, _REACH)
        winner = np.where(score > best, t, winner)
        best = np.maximum(best, score)
    return winner


def _votes(images: Array, threshold: Array) -> tuple[Array, Array]:
    """Sums over all pairs of each pixel's weighted votes, and of their weights."""
    votes = np.zeros(images.shape, dtype=np.float32)
    evidence = np.zeros(images.shape, dtype=np.float32)
    edges = np.hypot(ndimage.sobel(images, 1), ndimage.sobel(images, 2))
    for a, b in combinations(range(len(images)), 2):
        regions, n = _regions(images[a] - images[b], threshold)
        if n == 0:
            continue
        # The band of two pixels across the outline, given to the region it belongs to.
        inner = ndimage.maximum_filter(regions, 3)
        band = inner != ndimage.minimum_filter(regions, 3)
        owner = inner[band]
        in_a = np.bincount(owner, edges[a][band], n + 1)
        in_b = np.bincount(owner, edges[b][band], n + 1)
        area = np.bincount(regions.ravel(), minlength=n + 1).astype(np.float64)
        area[(area < _SMALLEST) | (np.arange(n + 1) == 0)] = 0.0
        vote: Float64Array = area * (in_b - in_a) / np.maximum(in_b + in_a, 1e-9)
        weighted, weight = vote.astype(np.float32)[regions], area.astype(np.float32)[regions]
        votes[a] += weighted
        votes[b] -= weighted
        evidence[a] += weight
        evidence[b] += weight
    return votes, evidence


def _regions(difference: Array, threshold: Array) -> tuple[Array, int]:
    """Labels of the connected regions where a frame is brighter, and where it is darker."""
    brighter, n_brighter = ndimage.label(_opened(difference > threshold))
    darker, n_darker = ndimage.label(_opened(-difference > threshold))
    return brighter + np.where(darker > 0, darker + n_brighter, 0), n_brighter + n_darker


def _opened(mask: Array) -> Array:
    """The union of the crosses of five pixels that fit in the mask."""
    # By slices, as there are thousands of masks: SciPy's opening takes ten times as long.
    opened = np.zeros_like(mask)
    middle = mask[1:-1, 1:-1]
    fits = middle & mask[:-2, 1:-1] & mask[2:, 1:-1] & mask[1:-1, :-2] & mask[1:-1, 2:]
    for rows, columns in ((1, 1), (0, 1), (2, 1), (1, 0), (1, 2)):
        height, width = fits.shape
        opened[rows : rows + height, columns : columns + width] |= fits
    return opened
