"""How many axes a robust scree asks for, before anything is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueaxis import starts
from trueaxis._subspace import Subspace
from trueaxis._threads import Workers
from trueaxis._typing import Float64Array
from trueaxis.estimators import _inputs, _missing
from trueaxis.estimators._completion import take_sample
from trueaxis.estimators._settings import Settings
from trueaxis.sources import Source

_MOST = 100  # axes whose variances are taken for the whole


def axes_in_scree(
    X: Source, weights: Float64Array | None, pca: Any, rng: np.random.RandomState, names: Any
) -> int:
    """The number of axes in the scree of a sample of the rows, for the parameters of `pca`."""
    X, weights = _missing.settle(X, weights, None, names)
    n, m = X.shape
    drawn = starts.sample_rows(n, weights, starts.sample_size(10, m), rng)
    by_weight = drawn is not None
    if drawn is None:
        drawn = np.arange(n) if weights is None else np.flatnonzero(weights)
    settings = Settings.of(pca, None, m)
    with Workers.start(pca.n_jobs) as workers:
        source = X.posed(workers, weights=weights)
        _inputs.check_finite(source, names)
        sample, counts, _ = take_sample(source, drawn, None, settings, rng, by_weight=by_weight)
    center = settings.center
    if center is None:
        center = np.zeros(m)
    elif isinstance(center, str):
        center = starts.spatial_median(sample, counts)
    rank = max(1, starts.sample_rank(sample, center))
    axes = starts.spherical(sample, min(rank, _MOST), center, counts)
    variances = starts.robust_scree(sample, Subspace(axes, center), counts)
    # Half of the rows must agree, and five an axis tell agreement from chance.
    rows = len(sample) if counts is None or np.any(counts % 1.0) else counts.sum()
    most = max(1, min(rank // 2, int(rows) // 10, 10))
    return starts.components_in_scree(variances, most=most)
