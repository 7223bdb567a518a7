"""The solver that is not convex: guess the rank, fit L exactly, prove that nothing is cheaper.

Where M is of low rank but for a sparse part, an L of the right rank meets M exactly in most
entries, and least squares on its manifold find it in a few steps, from a rough start. Whether it
minimizes the convex problem is then decided by a multiplier; without one it is not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from trueaxis._typing import Array, Float64Array
from trueaxis.pursuit._certificate import lower_bound
from trueaxis.pursuit._low_rank import LowRank
from trueaxis.pursuit._problem import Problem
from trueaxis.pursuit._svt import Thresholding
from trueaxis.pursuit._tangent import Budget, fit_free_entries, fit_multiplier

# Corrections of a multiplier that leaves the dual ball, each after it was put back.
_ROUNDS, _REFLECTION = 15, 1.8
# A singular value this many times the next one ends those that count.
_GAP = 3.0


@dataclass(frozen=True)
class Candidate:
    """An L that equals M on the free entries."""

    low: LowRank
    free: Array
    objective: float


def rough_start(problem: Problem, rank: int, shrink: Thresholding) -> LowRank:
    """A matrix of that rank near M with its large entries cut off."""
    sizes = np.concatenate(
        [
            np.abs(
                problem.M[b] if problem.observed is None else problem.M[b][problem.observed[b]]
            ).ravel()[:: max(1, problem.M.size >> 18)]
            for b in problem.blocks()
        ]
    )
    level = 3.0 * float(np.median(sizes[sizes > 0]))
    A = np.clip(problem.M, -level, level)
    if not problem.centered:
        return shrink.leading(A, rank)
    counts = len(A) if problem.observed is None else np.maximum(problem.observed.sum(axis=0), 1)
    mean = A.sum(axis=0) / counts
    A -= mean
    if problem.observed is not None:
        A[~problem.observed] = 0.0
    low = shrink.leading(A, rank)
    U = low.U - low.U.mean(axis=0)
    U, R = np.linalg.qr(U)
    E, s, Ft = np.linalg.svd(R * low.s)
    return LowRank(U @ E, s, low.V @ Ft.T, mean)


def find(problem: Problem, start: LowRank, budget: Budget) -> Candidate | None:
    """An exact L near a rough one."""
    found = fit_free_entries(problem, _without_tail(start), budget)
    if found is None:
        return None
    low, free = found
    return Candidate(low, free, problem.objective(low))


def _without_tail(low: LowRank) -> LowRank:
    """L without the singular values after the widest gap, where there is one.

    An iterate has a few small ones more than its limit, which come and go.
    """
    if low.rank < 2:
        return low
    half = low.rank // 2
    ratios = low.s[half:-1] / low.s[half + 1 :]
    widest = int(np.argmax(ratios))
    r = half + widest + 1 if ratios[widest] > _GAP else low.rank
    return LowRank(low.U[:, :r], low.s[:r], low.V[:, :r], low.mean)


def prove(
    problem: Problem, candidate: Candidate, Y: Float64Array, tol: float, budget: Budget
) -> float:
    """The best lower bound of the optimum from multipliers on the candidate's face, near Y."""
    best, violation = 0.0, np.inf
    for _ in range(_ROUNDS):
        face = fit_multiplier(problem, candidate.low, candidate.free, Y, budget)
        if face is None:
            return best
        size = max(map(problem.penalty.dual_norm, (face[b] for b in problem.blocks())))
        before, violation = violation, size / problem.lam - 1.0
        if violation <= tol:
            return max(best, lower_bound(problem, face))
        if violation > 0.95 * before or budget.left <= 0:
            return best
        list(problem.map(partial(_put_back, problem, face)))
        Y = face
    return best


def _put_back(problem: Problem, Y: Float64Array, block: slice) -> None:
    """Move a block into the dual ball of g and on: the next correction leads partly back."""
    inside = problem.penalty.project(Y[block], problem.lam)
    Y[block] += _REFLECTION * (inside - Y[block])
