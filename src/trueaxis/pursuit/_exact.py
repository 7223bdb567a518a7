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

# How far beyond the projections go, and how many must halve what is left.
_REFLECTION, _PATIENCE = 1.7, 6
# A multiplier so near to its ball, as a share of `tol`, is corrected to the last digit.
_CLOSE = 0.3


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


def find(problem: Problem, start: LowRank, noise: float, budget: Budget) -> Candidate | None:
    """An exact L near a rough one, whose singular values below `noise` say little."""
    found = fit_free_entries(problem, without_tail(start, noise), budget)
    if found is None:
        return None
    low, free = found
    return Candidate(low, free, problem.objective(low))


def without_tail(low: LowRank, noise: float) -> LowRank:
    """L without the singular values after the widest gap, where there is one.

    An iterate has a few small ones more than its limit, which come and go.
    """
    s = np.append(low.s, 0.0) + noise
    if low.rank == 0 or noise == 0.0:
        return low
    r = int(np.argmax(s[:-1] / s[1:])) + 1
    return LowRank(low.U[:, :r], low.s[:r], low.V[:, :r], low.mean)


def prove(
    problem: Problem,
    candidate: Candidate,
    Y: Float64Array,
    tol: float,
    rng: np.random.RandomState,
    budget: Budget,
) -> float:
    """A lower bound of the optimum from a multiplier on the candidate's face, near Y.

    The face is an affine space; where the nearest of its points leaves the dual ball, projections
    alternate between the two. 0 where they do not meet in time.
    """
    low, free = candidate.low, candidate.free
    excess = Thresholding(problem, rng, accurate=True)
    worst: list[float] = []
    while budget.left > 0:
        face = fit_multiplier(problem, low, free, Y, budget, exact=False)
        if face is None:
            return 0.0
        inside, beyond = _beyond(problem, low, face, excess)
        if max(inside, beyond.s.max(initial=0.0)) <= _CLOSE * tol:
            face = fit_multiplier(problem, low, free, face, budget, exact=True)
            return 0.0 if face is None else lower_bound(problem, face)
        worst.append(max(inside, float(beyond.s.max(initial=0.0))))
        if len(worst) > _PATIENCE and worst[-1] > 0.5 * worst[-1 - _PATIENCE]:
            return 0.0
        list(problem.map(partial(_put_back, problem, face, beyond)))
        Y = face
    return 0.0


def _beyond(
    problem: Problem, low: LowRank, Y: Float64Array, excess: Thresholding
) -> tuple[float, LowRank]:
    """By how much Y exceeds the ball of g, and what of it the spectral ball: both shares of 1."""
    size = max(map(problem.penalty.dual_norm, (Y[b] for b in problem.blocks())))
    # On the face Y = UVᵀ + W, and the singular values of UVᵀ are 1 already.
    W = np.empty_like(Y)

    def rest(block: slice) -> None:
        np.subtract(Y[block], low.U[block] @ low.V.T, out=W[block])

    list(problem.map(rest))
    return size / problem.lam - 1.0, excess.shrink(W, 1.0)


def _put_back(problem: Problem, Y: Float64Array, beyond: LowRank, block: slice) -> None:
    """Move a block into the dual balls and on: the next correction leads partly back."""
    inside = problem.penalty.project(Y[block], problem.lam)
    inside -= Y[block]
    if beyond.rank:
        inside -= beyond.rows(block)
    Y[block] += _REFLECTION * inside
