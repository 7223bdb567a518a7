"""The ℓ1 objective itself: smoothed ever less, from several starts. Ours, not the paper's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from trueaxis._moments import Slopes
from trueaxis._subspace import Subspace
from trueaxis.solvers.driver import Journal, Result, estimated_gap
from trueaxis.solvers.quasi_newton import Arrival, descend

EvaluateL1: TypeAlias = Callable[[Subspace, float], Slopes]
"""(point, μ) → values and slopes of Σ_ij ω_i √(r_ij² + μ²)."""

# Screening: from the mean |r_ij|, the worse half of the field given up at each μ.
_LEVELS = 3
_COARSE_RATIO = 0.1  # of one μ to the one before
_COARSE_SHARE = 3e-3  # how exactly J_μ is minimized, beside what μ adds to J
# Sharpening: of the last one in the field, from the last μ of the screening again.
_RATIO = 0.2
_SHARE = 2e-4
_FLOOR = 1e-15  # of the unit of length: rounding of the residuals themselves
_AGAIN = 2  # times that a better point seen on the way is followed up,
_ANEW = 1e-2  # from a μ of this share of its mean |r_ij|
_SAME = 1e-9
_TINY = np.finfo(np.float64).tiny


@dataclass
class _Best:
    """The lowest J of all points ever evaluated, however they came about."""

    evaluate: EvaluateL1
    journal: Journal
    objective: float = np.inf
    point: Subspace = field(init=False)

    def __call__(self, point: Subspace, mu: float) -> Slopes:
        slopes = self.evaluate(point, mu)
        self.journal.sweeps += 1
        if slopes.objective < self.objective:
            self.objective, self.point = slopes.objective, point
            self.journal.add(point, slopes.objective, _excess(slopes) if mu > 0 else np.inf)
        return slopes


@dataclass(frozen=True)
class TrueL1:
    r"""Minimize J = Σ ω_i ‖(I − WWᵀ)(x_i − c)‖₁, from several starts.

    J is neither smooth nor convex. For μ > 0, J_μ = Σ_ij ω_i √(r_ij² + μ²) is smooth, lies above
    J by at most μ an entry, and its minimizer is a start for that of a smaller μ: from the mean
    |r_ij| down, each by L-BFGS. A large μ blurs the local minima, and the descents are short
    there, so that they begin from many starts: the worse half is given up at each μ.

    Parameters
    ----------
    unit : float
        A typical distance of the rows from the center.
    move_center : bool
        Whether c is optimized too.
    max_iter : int
        Most updates at one μ.
    tol : float
        It goes on to smaller μ until the estimated gap is below this: the larger of J_μ/J − 1 and
        of what the sequence of J extrapolates to, and, where `max_iter` ended the last descent,
        of what the updates in it do. 0 goes on until μ is lost in rounding.
    """

    unit: float
    move_center: bool
    max_iter: int
    tol: float
    name: str = "true_l1"

    def run(self, evaluate: EvaluateL1, starts: Sequence[Subspace], journal: Journal) -> Result:
        """The best point ever evaluated: never above any of the `starts`.

        Should that not be where the descent ended, it is descended from as well. The history
        begins with the first start and has a record of every point that lowered J, with J_μ/J − 1
        as its gap; the gap of the last one is that of the whole.
        """
        best = _Best(evaluate, journal)
        mu = min(_mean_residual(best(start, 0.0)) for start in starts)
        gap = 0.0
        if mu > _FLOOR * self.unit:
            point = self.screen(best, starts, mu)[0]
            gap, end = self._sharpen(best, point, mu * _COARSE_RATIO ** (_LEVELS - 1))
            for _ in range(_AGAIN):
                if end <= best.objective * (1 + _SAME):
                    break
                mu = _ANEW * _mean_residual(best(best.point, 0.0))
                gap, end = self._sharpen(best, best.point, mu)
        last = journal.records[-1]
        journal.records[-1] = last._replace(gap=gap, sweeps=journal.sweeps)
        return journal.result(best.point, gap < self.tol)

    def screen(
        self, evaluate: EvaluateL1, starts: Sequence[Subspace], mu: float | None = None
    ) -> list[Subspace]:
        """Where the descents lead that are still in the field after the larger μ, best first."""
        if mu is None:
            mu = min(_mean_residual(evaluate(start, 0.0)) for start in starts)
        points = list(starts)
        for _ in range(_LEVELS):
            found = [self._lower(evaluate, point, mu, _COARSE_SHARE) for point in points]
            found.sort(key=lambda arrival: arrival.slopes.smooth)
            points = [arrival.point for arrival in found[: (len(found) + 1) // 2]]
            mu *= _COARSE_RATIO
        return points

    def _sharpen(self, evaluate: EvaluateL1, point: Subspace, mu: float) -> tuple[float, float]:
        """Follow a minimizer as μ falls; the gap estimated in the end, and the lowest J."""
        objectives: list[float] = []
        left = 0.0
        while True:
            point, slopes, more = self._lower(evaluate, point, mu, _SHARE)
            objectives.append(min([slopes.objective, *objectives[-1:]]))
            gained = objectives[-2] - objectives[-1] if len(objectives) > 1 else 0.0
            # What a descent was not given the updates for, those at smaller μ may have found.
            left = max(more, left - gained) if more > 0 else 0.0
            gap = max(_excess(slopes), estimated_gap(objectives[-4:]))
            if gap < self.tol or mu <= _FLOOR * self.unit:
                return max(gap, left / max(slopes.smooth, _TINY)), objectives[-1]
            mu = _RATIO * min(mu, _mean_residual(slopes))

    def _lower(self, evaluate: EvaluateL1, point: Subspace, mu: float, share: float) -> Arrival:
        def smoothed(at: Subspace) -> Slopes:
            return evaluate(at, mu)

        unit = self.unit if self.move_center else 0.0
        return descend(smoothed, point, unit=unit, max_iter=self.max_iter, share=share)


def _excess(slopes: Slopes) -> float:
    """J_μ/J − 1."""
    return slopes.smooth / slopes.objective - 1.0 if slopes.objective > 0 else 0.0


def _mean_residual(slopes: Slopes) -> float:
    return slopes.objective / slopes.entries
