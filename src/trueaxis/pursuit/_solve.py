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
from trueaxis.pursuit._exact import Candidate, find, prove, rough_start
from trueaxis.pursuit._low_rank import LowRank
from trueaxis.pursuit._problem import Problem
from trueaxis.pursuit._svt import Thresholding
from trueaxis.pursuit._tangent import Budget

_RECORD = [
    ("iteration", np.int64),
    ("objective", np.float64),
    ("feasibility", np.float64),
    ("gap", np.float64),
    ("rank", np.int64),
    ("seconds", np.float64),
]
_CHECK, _BALANCE, _RARER = 10, 20, 1.3
# The first attempt to end with an exact L, further ones at twice the iterations; its products.
_FIRST_TRY, _FIRST_BUDGET = 8, 80
_FEASIBLE = 10.0  # times tol
# Singular values of an iterate below this share of the threshold come and go.
_NOISE = 0.01


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
    exact: bool,
    rank: int | None,
    tol: float,
    max_iter: int,
    rng: np.random.RandomState,
    report: Callable[[Any, LowRank], None] | None = None,
) -> Solution:
    """Minimize until the relative gap to the best lower bound is at most `tol`."""
    n, m = problem.shape
    log = _Log(report)
    if not any(problem.map(lambda b: bool(problem.M[b].any()))):
        low = LowRank.zero(n, m, centered=problem.centered)
        log.add(0.0, 0.0, 0.0, low)
        return Solution(low, np.zeros((n, m)), log.history(), True, "admm")
    shrink = Thresholding(problem, rng)
    tries = _Tries(problem, tol, rng) if exact and problem.delta == 0 else None
    best, gap = 0.0, np.inf
    if tries is not None and rank is not None:
        start = rough_start(problem, rank, shrink)
        best = tries.attempt(start, 0.0, np.zeros((n, m)), _FIRST_BUDGET)
        if tries.proved:
            return tries.solution(log)
    walk = _admm.steps(problem, shrink)
    state = next(walk)
    due, balance = _FIRST_TRY, _BALANCE
    for iteration in range(1, max_iter + 1):
        low, last = state.low, iteration == max_iter
        if tries is not None and iteration == due:
            due *= 2
            tau = 1.0 / state.rho
            near = (state.A - low.rows(slice(None))) * state.rho  # ‖·‖₂ ≤ 1
            best = max(best, tries.attempt(low, _NOISE * tau, near, _FIRST_BUDGET + iteration))
            if tries.proved:
                return tries.solution(log)
        if iteration % _CHECK == 0 or last:
            bound = lower_bound(problem, state.Y)
            best = max(best, bound)
            objective = problem.objective(low)
            if iteration >= balance:
                # Ever more rarely: the iteration converges where ρ settles.
                balance = max(iteration + _BALANCE, int(_RARER * iteration))
                inner = problem.dual_objective(state.Y, 1.0)
                state.balance(objective - inner, inner - bound)
            gap = _share(objective, best)
            # S is M − L but for entries within its rounding: these must not matter either.
            if (gap <= tol and state.feasibility <= _FEASIBLE * tol) or last:
                log.add(objective, state.feasibility, gap, low)
                break
        state = next(walk)
        gap = _share(state.objective, best)
        log.add(state.objective, state.feasibility, gap, low)
    sparse = _sparse(problem, low, state)
    return Solution(low, sparse, log.history(), bool(gap <= tol), "admm")


def _share(objective: float, bound: float) -> float:
    if objective <= 0:  # nothing is cheaper than nothing
        return 0.0
    return (objective - bound) / bound if bound > 0 else np.inf


class _Log:
    """The records of a solve."""

    def __init__(self, report: Callable[[Any, LowRank], None] | None) -> None:
        self._report = report
        self._records: list[tuple[Any, ...]] = []
        self._began = time.perf_counter()

    def add(self, objective: float, feasibility: float, gap: float, low: LowRank) -> None:
        seconds = time.perf_counter() - self._began
        number = len(self._records)
        self._records.append((number, objective, feasibility, gap, low.rank, seconds))
        if self._report is not None:
            self._report(_records(self._records[-1:])[0], low)

    def history(self) -> Array:
        return _records(self._records)


def _records(rows: list[tuple[Any, ...]]) -> Array:
    return np.array(rows, dtype=_RECORD).view(np.recarray)


class _Tries:
    """Attempts to end a solve with an exact L; the best candidate is kept from one to the next."""

    def __init__(self, problem: Problem, tol: float, rng: np.random.RandomState) -> None:
        self._problem, self._tol, self._rng = problem, tol, rng
        self._candidate: Candidate | None = None
        self._bound = 0.0

    @property
    def proved(self) -> bool:
        """Whether the candidate is within `tol` of the optimum."""
        found = self._candidate
        return found is not None and _share(found.objective, self._bound) <= self._tol

    def attempt(self, low: LowRank, noise: float, Y: Float64Array, products: int) -> float:
        """Look for a candidate near L, and for its proof near Y; the best lower bound so far."""
        if 3 * low.rank > min(self._problem.shape):
            return self._bound
        found, budget = self._candidate, Budget(products)
        other = find(self._problem, low, noise, budget)
        if other is not None and (found is None or other.objective < found.objective):
            self._candidate = found = other
        if found is not None:
            budget = Budget(products)
            bound = prove(self._problem, found, Y, self._tol, self._rng, budget)
            self._bound = max(self._bound, bound)
        return self._bound

    def solution(self, log: _Log) -> Solution:
        """The candidate, as what the solve ends with."""
        found = self._candidate
        assert found is not None
        problem, S = self._problem, np.empty(self._problem.shape)

        def fill(block: slice) -> None:
            R = problem.residual(block, found.low)
            S[block] = np.where(found.free[block], 0.0, R)

        list(problem.map(fill))
        log.add(found.objective, 0.0, _share(found.objective, self._bound), found.low)
        return Solution(found.low, S, log.history(), True, "altproj")


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
        B -= problem.project(block, B, problem.lam / state.rho)
        B = problem.hide(block, B)
        S[block] = np.where(problem.penalty.magnitude(B) > 0, R, 0.0)

    list(problem.map(fill))
    return S
