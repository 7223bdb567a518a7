"""One solve: the loop over steps, its records, and when it ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueaxis._typing import Array, Float64Array
from trueaxis.pursuit import _admm
from trueaxis.pursuit._certificate import lower_bound
from trueaxis.pursuit._low_rank import LowRank
from trueaxis.pursuit._problem import Problem
from trueaxis.pursuit._svt import Thresholding

_RECORD = [
    ("iteration", np.int64),
    ("objective", np.float64),
    ("feasibility", np.float64),
    ("gap", np.float64),
    ("rank", np.int64),
    ("seconds", np.float64),
]
_CHECK = 10


@dataclass(frozen=True)
class Solution:
    """What a solve ends with."""

    low: LowRank
    sparse: Float64Array
    history: Any
    converged: bool
    solver: str


def solve(
    problem: Problem,
    *,
    tol: float,
    max_iter: int,
    rng: np.random.RandomState,
    report: Callable[[Any, LowRank], None] | None = None,
) -> Solution:
    """Minimize until the relative gap to the best lower bound is at most `tol`."""
    n, m = problem.shape
    records: list[tuple[Any, ...]] = []
    began = time.perf_counter()
    best, gap = 0.0, np.inf

    def record(objective: float, feasibility: float, rank: int, low: LowRank) -> None:
        seconds = time.perf_counter() - began
        records.append((len(records), objective, feasibility, gap, rank, seconds))
        if report is not None:
            report(np.array(records[-1:], dtype=_RECORD).view(np.recarray)[0], low)

    if not any(problem.map(lambda b: bool(problem.M[b].any()))):
        low, gap = LowRank.zero(n, m, centered=problem.centered), 0.0
        record(0.0, 0.0, 0, low)
        return Solution(low, np.zeros((n, m)), _history(records), True, "admm")
    walk = _admm.steps(problem, Thresholding(problem, rng))
    state = next(walk)
    for iteration in range(1, max_iter + 1):
        low = state.low
        if iteration % _CHECK == 0 or iteration == max_iter:
            best = max(best, lower_bound(problem, state.Y))
            objective = problem.objective(low)
            gap = (objective - best) / best if best > 0 else np.inf
            if gap <= tol:
                record(objective, state.feasibility, low.rank, low)
                break
        if iteration == max_iter:
            record(objective, state.feasibility, low.rank, low)
            break
        rank = low.rank
        state = next(walk)
        gap = (state.objective - best) / best if best > 0 else np.inf
        record(state.objective, state.feasibility, rank, low)
    sparse = _sparse(problem, low, state)
    return Solution(low, sparse, _history(records), bool(gap <= tol), "admm")


def _sparse(problem: Problem, low: LowRank, state: _admm.State) -> Float64Array:
    """S: what M − L leaves, exactly 0 where the multiplier is within its bounds."""
    S = np.empty(problem.shape)
    level = problem.noise_level(low) if problem.delta else 0.0

    def fill(block: slice) -> None:
        R = problem.residual(block, low)
        if problem.delta:
            S[block] = 0.0 if np.isinf(level) else R - problem.penalty.project(R, level)
            return
        B = R + state.Y[block] / state.rho
        B -= problem.penalty.project(B, problem.lam / state.rho)
        S[block] = np.where(problem.penalty.support(B), R, 0.0)

    list(problem.map(fill))
    return S


def _history(records: list[tuple[Any, ...]]) -> Array:
    return np.array(records, dtype=_RECORD).view(np.recarray)
