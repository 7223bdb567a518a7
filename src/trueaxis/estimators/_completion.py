"""A sample with gaps, filled so that a fit can begin from complete rows."""

from __future__ import annotations

import numpy as np

from trueaxis import starts
from trueaxis._products import complete_rows
from trueaxis._subspace import Subspace
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators._missing import column_means
from trueaxis.estimators._objectives import NotFiniteError
from trueaxis.estimators._settings import Settings
from trueaxis.estimators._start import choose_start, weigher
from trueaxis.multistart import Starts, refine
from trueaxis.sources import Source

_ROUNDS = 2  # of many starts, each judged on what the round before has filled
_STEPS = 15  # reweighted steps in between, each filling the gaps anew
_EXACT_COLUMNS = 128


def take_sample(
    source: Source,
    rows: Array,
    n_components: int | float | None,
    settings: Settings,
    rng: np.random.RandomState,
    *,
    by_weight: bool,
) -> tuple[Float64Array, Float64Array | None, Array | None]:
    """Some rows of a source, complete, with their weights and where their gaps were, if any.

    Rows that were drawn `by_weight` count alike.
    """
    sample, weights = source.take(rows)
    weights = None if by_weight else weights
    gaps = None
    if source.observed < 1.0:
        gaps = np.isnan(sample)
        sample = complete_sample(source, sample, weights, n_components, settings, rng)
    if not np.isfinite(sample).all():
        raise NotFiniteError
    return sample, weights, gaps


def complete_sample(
    source: Source,
    sample: Float64Array,
    weights: Float64Array | None,
    n_components: int | float | None,
    settings: Settings,
    rng: np.random.RandomState,
) -> Float64Array:
    """Rows of a source with their gaps filled by a robust subspace.

    First by column medians, which no few rows can move. Then, in turn, the best of many starts on
    the rows as they are filled, and steps from there that fill them anew each.

    Parameters
    ----------
    source : Source
        Tells the means of columns that the sample does not hold.
    sample : ndarray of shape (n, m)
        NaN in its gaps.
    weights : ndarray of shape (n,) or None
    n_components : int, float or None
        Where it is no number of axes below m, that of the robust scree of the rows filled by
        medians.
    settings : Settings
    rng : RandomState
    """
    center: Float64Array | None = None
    if settings.center is None:
        center = np.zeros(sample.shape[1])
    elif not isinstance(settings.center, str):
        center = settings.center / source.unit
    k = None
    if isinstance(n_components, int) and n_components < sample.shape[1]:
        k = n_components
    moves = center is None
    filled = np.where(np.isnan(sample), _medians(source, sample, weights), sample)
    if not np.isfinite(filled).all():
        return filled  # infinite entries, which are told of elsewhere
    for _ in range(_ROUNDS):
        c = starts.spatial_median(filled, weights) if center is None else center
        k = scree_dimension(filled, weights, c) if k is None else k
        if k == 0:
            return filled
        point = choose_start(
            filled,
            weights,
            k,
            c,
            settings.loss,
            settings.n_starts,
            rng,
            source.workers,
            moves=moves,
            hard=settings.has_many_minima,
            many_minima=settings.has_many_minima,
        )
        judge = weigher(settings.loss, weights)
        for _ in range(_STEPS):
            filled = complete_rows(sample, point.center, point.basis)
            found = Starts(point.basis[None], point.center[None])
            point = refine(
                filled,
                weights,
                found,
                judge,
                1,
                source.workers,
                moves=moves,
                columns=_EXACT_COLUMNS,
            )[0]
        filled = complete_rows(sample, point.center, point.basis)
    return filled


def _medians(source: Source, sample: Float64Array, weights: Float64Array | None) -> Float64Array:
    """The weighted median of what the sample shows of each column; the mean where it does not."""
    medians = np.full(sample.shape[1], np.nan)
    for j, column in enumerate(sample.T):
        seen = ~np.isnan(column)
        if seen.any():
            some = None if weights is None else weights[seen]
            medians[j] = starts.weighted_median(column[seen], some)
    unseen = np.isnan(medians)
    return np.where(unseen, column_means(source), medians) if unseen.any() else medians


def scree_dimension(
    sample: Float64Array, weights: Float64Array | None, center: Float64Array
) -> int:
    """The dimension of the robust scree, at most half the rank: more axes leave too little."""
    most = min(starts.sample_rank(sample, center) // 2, 10)
    if most < 1:
        return 0
    axes = Subspace(starts.spherical(sample, most, center, weights), center)
    return min(starts.components_in_scree(starts.robust_scree(sample, axes, weights)), most)
