"""Where a fit begins, when the user does not say."""

from __future__ import annotations

import numpy as np

from trueaxis import starts
from trueaxis._subspace import Subspace
from trueaxis._typing import Float64Array
from trueaxis.losses import Bisquare, L2p, Loss, Trimmed
from trueaxis.multistart import Starts, Weigher, random_subsets, refine
from trueaxis.weighers import BisquareWeigher, PowerWeigher, TrimmedWeigher

_ROWS = 500  # rows of the sample that the many starts are refined on
# What the refinement may cost, in multiplications: a mild loss has one basin as a rule, and a fit
# of it shall cost little more than a sweep; the others are worth a tenth of a second.
_MILD, _HARD = 5e7, 4e9
_FINALISTS = 5
_MUCH_NEARER = 1.5
_EXACT_COLUMNS = 128  # up to which the finalists take exact steps


def choose_start(
    sample: Float64Array,
    weights: Float64Array | None,
    k: int,
    center: Float64Array,
    loss: Loss,
    n_starts: int | None,
    rng: np.random.RandomState,
    *,
    moves: bool,
    hard: bool,
) -> Subspace:
    """The best of spherical PCA, plain PCA and random subsets, refined on the sample.

    All are refined by some steps on at most 500 rows. Where the choice is `hard` the best five
    and the two PCA are refined by twice as many on the whole sample, where the best is kept.
    """
    few, few_weights = starts.subsample(sample, weights, max(_ROWS, 10 * k), rng)
    if hard:
        named = resistant_starts(sample, weights, k, center, rng, moves=moves)
    else:
        named = named_starts(few, few_weights, k, center)
    if isinstance(loss, L2p) and loss.p == 2.0:
        return named[0]
    steps = 15 if hard else 4
    cost = 4.0 * len(few) * sample.shape[1] * k * steps
    most = n_starts if n_starts is not None else (100 if hard else 10)
    count = most if n_starts is not None else int(min(most, (_HARD if hard else _MILD) / cost))
    candidates = named
    if count > 2:
        sizes = [k + moves if i % 2 == 0 else 2 * k for i in range(count - 2)]
        subsets = random_subsets(few, few_weights, named[0], sizes, rng, moves=moves)
        candidates = named.join(subsets)
    refined = refine(few, few_weights, candidates, weigher(loss, few_weights), steps, moves=moves)
    values = weigher(loss, few_weights).values(refined.squared_residuals(few))
    if not hard:
        return refined[_most_agreed(values, refined, few, few_weights)]
    best = refined.pick(np.argsort(values, kind="stable")[:_FINALISTS])
    best = refine(
        sample,
        weights,
        best.join(named),
        weigher(loss, weights),
        2 * steps,
        moves=moves,
        columns=_EXACT_COLUMNS,
    )
    values = weigher(loss, weights).values(best.squared_residuals(sample))
    return best[int(np.argmin(values))]


def _most_agreed(
    values: Float64Array, refined: Starts, few: Float64Array, weights: Float64Array | None
) -> int:
    """The start of the least value, or the one that half of the rows are much nearer to.

    Outliers that agree with one another can have the lower objective in a subspace of their own;
    from a start near the other rows' a fit often stays there.
    """
    scales = BisquareWeigher(0.5, weights).values(refined.squared_residuals(few))
    least, nearest = int(np.argmin(values)), int(np.argmin(scales))
    return nearest if scales[least] > _MUCH_NEARER * scales[nearest] else least


def named_starts(
    sample: Float64Array, weights: Float64Array | None, k: int, center: Float64Array
) -> Starts:
    """Spherical PCA and plain PCA about the center."""
    bases = [find(sample, k, center, weights) for find in (starts.spherical, starts.plain)]
    return Starts(np.stack(bases), np.stack([center, center]))


def resistant_starts(
    sample: Float64Array,
    weights: Float64Array | None,
    k: int,
    center: Float64Array,
    rng: np.random.RandomState,
    *,
    moves: bool,
) -> Starts:
    """Those two, and PCA of the rows that no direction shows to be far out."""
    third = starts.least_outlying(sample, k, center, weights, rng, moves=moves)
    named = named_starts(sample, weights, k, center)
    return named.join(Starts(third.basis[None], third.center[None]))


def weigher(loss: Loss, weights: Float64Array | None) -> Weigher:
    """The loss for many starts at once; a stand-in where it is neither a power nor bounded."""
    if isinstance(loss, Bisquare):
        return BisquareWeigher(loss.breakdown, weights)
    if isinstance(loss, Trimmed):
        return TrimmedWeigher(loss.support_fraction, weights)
    return PowerWeigher(loss.p if isinstance(loss, L2p) else 1.0, weights)
