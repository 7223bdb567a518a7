"""Where a fit begins, when the user does not say."""

from __future__ import annotations

import numpy as np

from trueaxis import starts
from trueaxis._subspace import Subspace
from trueaxis._threads import SMALL, Workers
from trueaxis._typing import Float64Array
from trueaxis.losses import Bisquare, L2p, Loss, Trimmed
from trueaxis.multistart import Starts, Weigher, random_subsets, refine
from trueaxis.weighers import BisquareWeigher, PowerWeigher, TrimmedWeigher

_ROWS = 500  # rows of the sample that the many starts are refined on
# What the refinement may cost, in multiplications: a mild loss has one basin as a rule, and a fit
# of it shall cost little more than a sweep; the others are worth a tenth of a second.
_MILD, _HARD = 5e7, 4e9
_STEPS = 15
_DISAGREEMENT = 1.03  # times the least value that half of the starts reach: one basin for most
_FINALISTS = 5
MUCH_NEARER = 1.5
_EXACT_COLUMNS = 128  # up to which the finalists take exact steps


def choose_start(
    sample: Float64Array,
    weights: Float64Array | None,
    k: int,
    center: Float64Array,
    loss: Loss,
    n_starts: int | None,
    rng: np.random.RandomState,
    workers: Workers,
    *,
    moves: bool,
    hard: bool,
    many_minima: bool,
) -> Subspace:
    """The best of spherical PCA, plain PCA and random subsets, refined on the sample.

    All are refined by some steps on at most 500 rows. Where the choice is `hard`, or where the
    loss has many minima and the starts end in different ones, more of them are refined further;
    the best five and the named ones then on the whole sample, where the best is kept.
    """
    if isinstance(loss, L2p) and loss.p == 2.0:
        return named_starts(sample, weights, k, center, workers)[0]
    few, few_weights = starts.subsample(sample, weights, max(_ROWS, 10 * k), rng)

    def refined(named: Starts, most: int, budget: float, steps: int) -> tuple[Starts, Float64Array]:
        count = int(min(most, budget / (4.0 * few.size * k * steps)))
        count = count if n_starts is None else n_starts
        candidates = named
        if count > 2:
            sizes = [k + moves if i % 2 == 0 else 2 * k for i in range(count - 2)]
            subsets = random_subsets(few, few_weights, named[0], sizes, rng, moves=moves)
            candidates = named.join(subsets)
        judge = weigher(loss, few_weights)
        found = refine(few, few_weights, candidates, judge, steps, workers, moves=moves)
        return found, weigher(loss, few_weights).values(found.squared_residuals(few))

    if not hard:
        named = named_starts(few, few_weights, k, center, workers)
        found, values = refined(named, 10, _MILD, 4)
        if not many_minima or np.median(values) < _DISAGREEMENT * values.min():
            return found[_most_agreed(values, found, few, few_weights)]
    named = resistant_starts(sample, weights, k, center, rng, workers, moves=moves)
    found, values = refined(named, 100, _HARD, _STEPS)
    best = found.pick(np.argsort(values, kind="stable")[:_FINALISTS])
    best = refine(
        sample,
        weights,
        best.join(named),
        weigher(loss, weights),
        2 * _STEPS,
        workers,
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
    return nearest if scales[least] > MUCH_NEARER * scales[nearest] else least


def named_starts(
    sample: Float64Array,
    weights: Float64Array | None,
    k: int,
    center: Float64Array,
    workers: Workers,
) -> Starts:
    """Spherical PCA and plain PCA about the center."""
    bases = workers.map(
        lambda find: find(sample, k, center, weights),
        (starts.spherical, starts.plain),
        small=sample.size < SMALL,
    )
    return Starts(np.stack(list(bases)), np.stack([center, center]))


def resistant_starts(
    sample: Float64Array,
    weights: Float64Array | None,
    k: int,
    center: Float64Array,
    rng: np.random.RandomState,
    workers: Workers,
    *,
    moves: bool,
) -> Starts:
    """Those two, and PCA of the rows that no direction shows to be far out."""
    third = starts.least_outlying(sample, k, center, weights, rng, moves=moves)
    named = named_starts(sample, weights, k, center, workers)
    return named.join(Starts(third.basis[None], third.center[None]))


def weigher(loss: Loss, weights: Float64Array | None) -> Weigher:
    """The loss for many starts at once; a stand-in where it is neither a power nor bounded."""
    if isinstance(loss, Bisquare):
        return BisquareWeigher(loss.breakdown, weights)
    if isinstance(loss, Trimmed):
        return TrimmedWeigher(loss.support_fraction, weights)
    return PowerWeigher(loss.p if isinstance(loss, L2p) else 1.0, weights)
