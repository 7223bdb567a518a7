"""Where the center of a fit begins, and what wide rows are reduced about."""

from __future__ import annotations

import numpy as np

from trueaxis import starts
from trueaxis._moments import Moments
from trueaxis._subspace import Subspace
from trueaxis._sweep import Sweep
from trueaxis._typing import Float64Array
from trueaxis.losses import L2p
from trueaxis.solvers import location
from trueaxis.sources import Source


def origin_of(source: Source, center: str | Float64Array | None) -> Float64Array:
    """A fixed center, or a point among the rows that a few far ones do not move."""
    n, m = source.shape
    if center is None:
        return np.zeros(m)
    if not isinstance(center, str):
        return center / source.unit
    few, _ = source.take(np.unique(np.linspace(0, n - 1, 15).astype(np.intp)))
    ordered = np.sort(few, axis=0)
    return np.asarray((ordered[(len(few) - 1) // 2] + ordered[len(few) // 2]) / 2)


def first_center(
    source: Source,
    sample: Float64Array,
    weights: Float64Array | None,
    center: str | Float64Array | None,
    unit: float,
) -> Float64Array:
    """Where the center begins, or stays if it is not optimized."""
    if center is None:
        return np.zeros(source.shape[1])
    if not isinstance(center, str):
        return center / unit
    guess = starts.spatial_median(sample, weights)
    if center == "optimal":
        return guess
    # Means are taken about the guess, which keeps the digits of data far from the origin.
    # Where entries were not observed the mean is a limit too, of those filled by the last guess.
    power = 2.0 if center == "mean" else 1.0
    steps = 1 if center == "mean" and source.observed == 1.0 else 1000
    loss = L2p(power, epsilon=1e-7 * starts.typical_distance(sample, guess, weights))

    def evaluate(point: Subspace, probe: Float64Array | None) -> Moments:
        return source.reduce(Sweep.at(point, probe, loss, source.dtype))

    return np.asarray(location(evaluate, guess, max_iter=steps, tol=1e-12).point.center)
