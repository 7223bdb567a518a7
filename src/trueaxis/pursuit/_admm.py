"""The alternating direction method of multipliers, one for all the decompositions.

With the multiplier Y and the penalty parameter ρ, one step is

    S ← prox of λg/ρ at B,  B = M − L + Y/ρ;    Y ← ρ(B − S)
    L ← prox of ‖·‖_*/ρ at A,  A = M − S + Y/ρ

where the first line is Y/ρ = projection of B on the dual ball of λg/ρ. S is never stored: A and Y
hold it. The first line is made block by block, while the block is in cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from trueaxis._typing import Float64Array
from trueaxis.pursuit._anderson import Anderson
from trueaxis.pursuit._low_rank import LowRank
from trueaxis.pursuit._problem import Problem
from trueaxis.pursuit._svt import Thresholding

# ρ starts at _FIRST/‖M‖₂, which keeps the first L of low rank, and grows to where M and S weigh
# alike (nm/4‖M‖₁, Candès et al. 2011).
_FIRST, _GROWTH = 1.25, 1.6
_RELAXATION = 1.6
# Entries that the acceleration may remember, twice: it does without where these are few data.
_REMEMBERED = 1 << 24
# How far one part of the gap may lag behind the other, and what ρ is then changed by.
_LAG, _CHANGE = 5.0, 1.5
_LEAST_SHARE = 1e-9  # of B in C, where all of B may be noise


@dataclass
class State:
    """A point of the iteration, its arrays overwritten by every step."""

    low: LowRank
    Y: Float64Array
    A: Float64Array
    rho: float
    most: float  # what ρ grows to
    objective: float = np.inf
    feasibility: float = np.inf

    def balance(self, primal: float, dual: float) -> None:
        """Raise ρ where the primal part of the gap lags behind, lower it where the dual one does.

        L is feasible at the price of ‖M − L − S‖, which a large ρ makes small soon; Y at the price
        of its spectral norm, which a small ρ does.
        """
        if primal > _LAG * dual:
            self.most *= _CHANGE
        elif dual > _LAG * primal:
            self.most /= _CHANGE


def steps(problem: Problem, shrink: Thresholding) -> Iterator[State]:
    """Points of the iteration without end; `objective` is that of `low` before the step's last."""
    n, m = problem.shape
    size = np.sqrt(sum(problem.map(lambda b: float(np.vdot(problem.M[b], problem.M[b])))))
    total = sum(problem.map(lambda b: float(np.abs(problem.M[b]).sum())))
    most = n * m / (4.0 * total)
    spectral = spectral_norm(problem.M)
    rho = min(_FIRST / spectral, most)
    bound = max(
        spectral, max(problem.map(lambda b: problem.penalty.dual_norm(problem.M[b]))) / problem.lam
    )
    Y = problem.M / bound
    A = np.empty_like(problem.M)
    state = State(LowRank.zero(n, m, centered=problem.centered), Y, A, rho, most)
    relaxation, remembered = 1.0, _REMEMBERED // problem.M.size
    memory = Anderson(remembered)
    while True:
        after = min(rho * _GROWTH, state.most)
        if after != rho:
            memory.forget()
        mixing = memory if after == rho and remembered >= 3 else None
        state.objective, missing = split(problem, state, relaxation, after, mixing)
        state.feasibility = np.sqrt(missing) / size
        relaxation = _RELAXATION
        state.rho = rho = after
        state.low = low_rank_step(problem, shrink, state)
        yield state


def split(
    problem: Problem, state: State, relaxation: float, rho: float, mixing: Anderson | None
) -> tuple[float, float]:
    """Update Y, and put the next A for `rho` in place; P(L) and ‖P(M − L − S)‖² before it."""
    penalty, M = problem.penalty, problem.M
    low, Y, A, old = state.low, state.Y, state.A, state.rho
    level = problem.lam / old

    def reach(block: slice, L: Float64Array) -> Float64Array:
        """B, from Y and, where relaxed, αL + (1 − α)(M − S) in the place of L."""
        Y_b = Y[block]
        Y_b /= old
        if relaxation == 1.0:
            B = M[block] - L
        else:
            B = A[block] - Y_b  # M − S
            B *= relaxation - 1.0
            B -= relaxation * L
            B += M[block]
        B += Y_b
        return B

    def settle(
        block: slice, B: Float64Array, L: Float64Array, shrunk: float
    ) -> tuple[float, float]:
        """Y and A from B; λg of the residual, and the square of what is not yet feasible."""
        A_b, Y_b = A[block], Y[block]
        R = problem.hide(block, M[block] - L)
        value = penalty.value(R)
        Y_b[...] = C = problem.project(block, shrunk * B if shrunk < 1 else B, level)
        B -= C  # S, and the noise
        np.subtract(M[block], B, out=A_b)
        R -= problem.hide(block, B)
        A_b += C * (old / rho)
        Y_b *= old
        return value, float(np.vdot(R, R))

    def step(block: slice) -> tuple[float, float]:
        L = low.rows(block)
        return settle(block, reach(block, L), L, 1.0)

    if problem.delta == 0 and mixing is None:
        values, squares = zip(*problem.map(step), strict=True)
        return low.nuclear_norm + problem.lam * sum(values), sum(squares)

    def only_reach(block: slice) -> None:
        A[block] = reach(block, low.rows(block))

    list(problem.map(only_reach))
    if mixing is not None:
        mixing.mix(A)
    shrunk = noise_share(problem, A, level) if problem.delta else 1.0
    found = problem.map(lambda b: settle(b, A[b].copy(), low.rows(b), shrunk))
    values, squares = zip(*found, strict=True)
    if problem.delta:
        return problem.objective(low), sum(squares)
    return low.nuclear_norm + problem.lam * sum(values), sum(squares)


def noise_share(problem: Problem, B: Float64Array, level: float) -> float:
    """c of the minimizer C = projection of cB of ½‖C − P(B)‖² + δ‖C‖_F within the dual ball.

    It solves (1 − c) ‖projection of cB‖ / c = δ, whose left side falls in c.
    """

    def beyond(c: float) -> float:
        def squares(block: slice) -> float:
            C = problem.project(block, c * B[block], level)
            return float(np.vdot(C, C))

        return float((1.0 - c) / c * np.sqrt(sum(problem.map(squares))) - problem.delta)

    if beyond(_LEAST_SHARE) <= 0:
        return _LEAST_SHARE
    return float(brentq(beyond, _LEAST_SHARE, 1.0, xtol=1e-14, rtol=1e-12))


def low_rank_step(problem: Problem, shrink: Thresholding, state: State) -> LowRank:
    """The proximal map of the nuclear norm at A; the mean, which is free, takes its own."""
    if not problem.centered:
        return shrink.shrink(state.A, 1.0 / state.rho)
    mean = state.A.mean(axis=0)
    state.A -= mean
    low = shrink.shrink(state.A, 1.0 / state.rho, mean)
    state.A += mean
    return low


def spectral_norm(B: Float64Array) -> float:
    """‖B‖₂ to a percent, from below: good enough to choose ρ."""
    v = B[int(np.argmax(np.abs(B).max(axis=1)))]  # the row with the largest entry: not 0, nor ⊥
    size = 0.0
    for _ in range(12):
        w = B.T @ (B @ (v / np.linalg.norm(v)))
        before, size = size, float(np.sqrt(np.linalg.norm(w)))
        if size <= 1.01 * before or size == 0:
            break
        v = w
    return size
