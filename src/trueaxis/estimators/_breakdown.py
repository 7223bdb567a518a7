"""Whether a fit with a high breakdown point contradicts the subspace found."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueaxis import outliers, starts
from trueaxis._linalg import orthonormalize
from trueaxis._subspace import Subspace
from trueaxis._threads import Workers
from trueaxis._typing import Float64Array
from trueaxis.estimators._start import resistant_starts
from trueaxis.multistart import Starts, random_subsets, refine
from trueaxis.weighers import BisquareWeigher

_ROWS = 300  # rows that the high-breakdown start sees
_STARTS = 40
_ALL_STEPS = 8  # that a start would take if all were refined alike, to know what they cost
# So many steps of every start, then of the best so many, and so on (as in FAST-LTS; Rousseeuw and
# Van Driessen 2006); the last few go on until the M-scale falls no more by a share.
_STAGES = ((6, 4), (3, 4))
_FIRST_STEPS, _LAST_STEPS, _ROUNDS, _SETTLED = 4, 4, 4, 1e-3
_MIN_ROWS_PER_AXIS = 10  # with fewer rows the start follows the noise, and contradicts anything
_SHARE = 0.02  # of the rows, that one has to be drawn by
# Rows beyond so many cut-offs, and how much larger the M-scale then is about the axes they draw.
# Where the last axes explain little, losing one to a few gross errors costs the others little.
_GROSS = ((2.0, 1.5), (5.0, 1.02))
_COST = 1e8  # multiplications beyond which fewer starts are made
_DIMENSIONS = 40  # in so many at least rows are compared; many more cost more than the fit


class BreakdownWarning(UserWarning):
    """The subspace found may be that of the outliers.

    `RobustPCA` warns so where a fit with a high breakdown point to a few of the rows contradicts
    it, or where there are too few rows for the breakdown point asked for.

    Parameters
    ----------
    *args : object
        The message, as for any warning.

    Examples
    --------
    >>> import warnings
    >>> from trueaxis import BreakdownWarning, RobustPCA
    >>> from trueaxis.datasets import make_contaminated
    >>> X = make_contaminated("leverage", outlier_share=0.3, random_state=0).X
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     pca = RobustPCA(3).fit(X)
    >>> [w.category.__name__ for w in caught]
    ['BreakdownWarning']
    """


@dataclass(frozen=True)
class Contradiction:
    """A subspace that most rows prefer to the one found."""

    angle: float
    share: float


def warn(estimator: Any, against: Contradiction | None) -> None:
    """Tell the user of a fit that may have broken down, at the line that called `fit`."""
    if against is not None:
        warnings.warn(
            f"RobustPCA may have found the subspace of the outliers: a fit with a high breakdown "
            f"point lies {against.angle:.0f} degrees from it, and leaves out {against.share:.0%} "
            "of the rows, which draw this one. Try loss='bisquare', or look at these rows; "
            "check_breakdown=False turns the comparison off.",
            BreakdownWarning,
            stacklevel=3,
        )
    n, k = estimator.n_samples_, estimator.n_components_
    agreeing = n * (1.0 - estimator.breakdown)
    if isinstance(estimator.loss, str) and estimator.loss == "bisquare" and agreeing < 2 * (k + 1):
        warnings.warn(
            f"{n} rows are few for n_components={k} and breakdown={estimator.breakdown}: the "
            f"{agreeing:.0f} rows that must agree can hardly do otherwise. Lower n_components or "
            "breakdown.",
            BreakdownWarning,
            stacklevel=3,
        )


@dataclass(frozen=True)
class Resistant:
    """A few rows, and a subspace of high breakdown point to compare others with.

    Where the rows have many columns they are yᵢ = Gᵀ(xᵢ − c), in fewer dimensions. G is Gaussian,
    with E GGᵀ = I: lengths and angles come out a little wrong, and what is looked for is a factor
    of 2 in them.
    """

    rows: Float64Array
    weights: Float64Array | None
    subspace: Subspace
    center: Float64Array
    G: Float64Array | None

    @classmethod
    def fit(
        cls,
        sample: Float64Array,
        weights: Float64Array | None,
        k: int,
        center: Float64Array,
        rng: np.random.RandomState,
        *,
        moves: bool,
    ) -> Resistant | None:
        """The least M-scale of the residual norms from many starts; None where rows are too few."""
        m = sample.shape[1]
        enough = _MIN_ROWS_PER_AXIS * (k + 1)
        if k == 0 or k >= m or len(sample) < enough:
            return None
        S, omega = starts.subsample(sample, weights, max(_ROWS, enough), rng)
        if len(starts.distinct_rows(S)) < enough:
            return None  # rows that repeat one another agree with anything
        few, G, about = max(_DIMENSIONS, 4 * (k + 1)), None, center
        if m > 2 * few:
            G = rng.standard_normal((m, few)) / np.sqrt(few)
            S, about = (S - center) @ G, np.zeros(few)
        count = int(np.clip(_COST / (4.0 * S.size * k * _ALL_STEPS), 4, _STARTS))
        named = resistant_starts(S, omega, k, about, rng, Workers(1), moves=moves)
        sizes = [k + moves] * count
        candidates = named.join(random_subsets(S, omega, named[0], sizes, rng, moves=moves))
        best, values = _concentrated(S, omega, candidates, moves=moves)
        return cls(S, omega, best[int(np.argmin(values))], center, G)

    def lower(self, found: Subspace) -> Subspace:
        """A subspace where the rows are: GᵀW."""
        if self.G is None:
            return found
        center = (found.center - self.center) @ self.G
        return Subspace(orthonormalize(self.G.T @ found.basis), center)

    def contradicts(self, found: Subspace) -> Contradiction | None:
        """What it says against the subspace found.

        It speaks against it where both hold: a share of the rows lies far beyond the cut-off of
        the high-breakdown subspace while the one found passes near them, and the M-scale of the
        residual norms is larger about the one found, by the less the farther those rows lie.
        Neither happens to clean rows, even where axes of equal variance leave the subspace
        undetermined.
        """
        return _compare(self.rows, self.weights, self.lower(found), self.subspace)


def _concentrated(
    S: Float64Array, omega: Float64Array | None, found: Starts, *, moves: bool
) -> tuple[Starts, Float64Array]:
    """The best few starts, refined, and their M-scales."""

    def refined(some: Starts, steps: int) -> tuple[Starts, Float64Array]:
        judge, here = BisquareWeigher(0.5, omega), Workers(1)
        some = refine(S, omega, some, judge, steps, here, moves=moves)
        return some, BisquareWeigher(0.5, omega).values(some.squared_residuals(S))

    found, values = refined(found, _FIRST_STEPS)
    for kept, steps in _STAGES:
        found, values = refined(found.pick(np.argsort(values, kind="stable")[:kept]), steps)
    for _ in range(_ROUNDS):
        before = values.min()
        found, values = refined(found, _LAST_STEPS)
        if values.min() > (1 - _SETTLED) * before:
            break
    return found, values


def _compare(
    S: Float64Array, omega: Float64Array | None, found: Subspace, robust: Subspace
) -> Contradiction | None:
    far_from_robust = np.linalg.norm(robust.residuals(S), axis=1)
    far_from_found = np.linalg.norm(found.residuals(S), axis=1)
    cutoff = outliers.orthogonal_cutoff(far_from_robust, 0.9999, omega)
    rounding = 1e-5 * starts.typical_distance(S, robust.center, omega)
    scales = rounding + BisquareWeigher(0.5, omega).values(
        np.column_stack([far_from_found, far_from_robust]) ** 2
    )
    angle = float(np.degrees(found.angles(robust).max()))
    mass = np.ones(len(S)) if omega is None else omega
    for cutoffs, worse in _GROSS:
        gross = far_from_robust > cutoffs * cutoff + rounding
        drawn = gross & (far_from_found < 0.5 * far_from_robust)
        share = float(mass[drawn].sum() / mass.sum())
        # A few rows beyond the cut-off are chance.
        if share >= max(_SHARE, 2.5 / len(S)) and scales[0] >= worse * scales[1] and angle >= 5.0:
            return Contradiction(angle, share)
    return None
