"""What a picture needs to know about the data, whatever draws it."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueaxis._typing import Array, Float64Array

_CELLS = 40  # along each side of the grid in which rows are thinned
_LONG = 12.0  # multiples of the cut-off beyond which a linear scale hides the regular rows
_WIDEST, _BESIDE = 30.0, 5.0  # multiples of the range of regular scores
_LEAST_EXCESS = 1e-16  # relative, of an objective: below is rounding


def thin(x: Float64Array, y: Float64Array, most: int) -> Array:
    """Indices of `most` points, sorted: all where they are sparse, some where they are dense.

    A grid is laid over the points and every cell keeps c of its points, drawn at random with a
    fixed seed, with the largest c for which no more than `most` are kept. Some cells keep one
    more, to make up the number.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
        Places in the picture.
    most : int
        How many points to keep.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> import numpy as np
    >>> x = np.r_[np.zeros(1000), 1.0]
    >>> kept = thin(x, x, 10)
    >>> len(kept), int(kept[-1])
    (10, 1000)
    """
    n = len(x)
    if n <= most:
        return np.arange(n)
    cell = _bins(x) * _CELLS + _bins(y)
    rng = np.random.default_rng(0)
    order = rng.permutation(n)
    order = order[np.argsort(cell[order], kind="stable")]
    counts = np.bincount(cell, minlength=_CELLS**2)
    starts = np.cumsum(counts) - counts
    rank = np.arange(n) - np.repeat(starts, counts)  # of each point among those of its cell
    kept_up_to = np.cumsum(np.bincount(rank))
    c = int(np.searchsorted(kept_up_to, most, side="right"))
    kept = order[rank < c]
    further = rng.permutation(order[rank == c])[: most - len(kept)]
    return np.sort(np.concatenate([kept, further]))


def is_long(distances: Float64Array, cutoff: float) -> bool:
    """Whether distances reach so far beyond the cut-off that a logarithmic scale shows more."""
    return cutoff > 0 and float(distances.max(initial=0.0)) > _LONG * cutoff


def floor_of(distances: Float64Array, cutoff: float) -> float:
    """Where a logarithmic scale of distances begins: smaller ones are drawn there."""
    away = distances[distances > 0]
    low = float(np.quantile(away, 0.01)) if away.size else cutoff
    return float(np.clip(low, 1e-4 * cutoff, 0.5 * cutoff))


def core_limits(values: Float64Array, regular: Array) -> tuple[float, float]:
    """A range that shows the regular rows well and as many others as that allows.

    All values, unless these span more than 30 times the range of the regular ones; then no more
    than 5 times this range to either side of it.
    """
    inner = values[regular] if regular.any() else values
    low, high = float(inner.min()), float(inner.max())
    least, most = float(values.min()), float(values.max())
    width = high - low
    if most - least > _WIDEST * width > 0:
        least, most = max(least, low - _BESIDE * width), min(most, high + _BESIDE * width)
    margin = 0.05 * (most - least) or 1.0
    return least - margin, most + margin


def excess(model: Any) -> Float64Array:
    """(J − J*)/J* before and after every update of a fit.

    J* is the lowest objective of the fit, less the gap that it estimates to be left.
    """
    objective = np.asarray(model.history_["objective"], dtype=np.float64)
    gap = float(model.history_["gap"][-1])
    least = float(objective.min())
    above = (objective - least) / least if least > 0 else np.zeros(len(objective))
    return np.maximum(above + (gap if np.isfinite(gap) else 0.0), _LEAST_EXCESS)


def _bins(x: Float64Array) -> Array:
    low, high = float(x.min()), float(x.max())
    width = (high - low) or 1.0
    return np.minimum(((x - low) / width * _CELLS).astype(np.int64), _CELLS - 1)
