r"""The last digits: L on its manifold and Y on its face, by least squares.

Once the rank of L = UΣVᵀ and the support Ω of S are known, the optimality conditions are equations:

    P_Ωᶜ(L) = P_Ωᶜ(M),      P_T(Y) = UVᵀ,   P_Ω(Y) = λ∂g(S),

with T the matrices UAᵀ + BVᵀ (and + 1μᵀ), tangent to those of the rank of L. Gauss-Newton steps for
the first and the correction of Y for the others are both solutions in T of

    P_T P_Ωᶜ t = e,

a well-conditioned positive system (where T and Ω have no matrix in common), which conjugate
gradients solve in a few products with U and V. A missing entry counts as one of Ω where Y is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from trueaxis._linalg import orthonormalize
from trueaxis._typing import Array, Float64Array
from trueaxis.pursuit._low_rank import LowRank
from trueaxis.pursuit._problem import Problem

_MOST_CG = 40
# A residual beyond this many medians is not the rounding of an L that is still moving.
_BEYOND = 5.0
_GENEROUS = 10.0  # at first, when the residuals may be far from Gaussian
# Of entries near 1 in size (see `scaled`): residuals that are rounding, one by one and in all.
_ROUNDING, _EXACT = 1e-11, 1e-12
_LOOSE, _TIGHT, _SHRINK = 0.01, 1e-5, 0.1
# Steps that must halve the residual at least.
_PATIENCE = 4
_DUAL, _DUAL_EXACT = 1e-6, 1e-11  # accuracy of one correction of Y, and of all
_SAMPLED = 16


@dataclass
class Budget:
    """How many products with the tangent space are left; each costs about a step of ADMM."""

    left: int


@dataclass(frozen=True)
class Tangent:
    """UAᵀ + BVᵀ with B ⊥ U, as (Aᵀ, B): the inner product of two is that of their factors."""

    along: Float64Array  # Aᵀ, k×m
    across: Float64Array  # B, n×r

    def plus(self, other: Tangent, factor: float) -> Tangent:
        """The sum with a multiple of another."""
        return Tangent(self.along + factor * other.along, self.across + factor * other.across)

    def inner(self, other: Tangent) -> float:
        """⟨·, ·⟩."""
        return float(np.vdot(self.along, other.along) + np.vdot(self.across, other.across))


class TangentSpace:
    """T at a matrix of low rank, with the entries `free` of Ωᶜ."""

    def __init__(self, problem: Problem, low: LowRank, free: Array) -> None:
        self.problem, self.free = problem, free
        self.U = low.U
        if low.mean is not None:
            n = len(low.U)
            self.U = np.hstack([low.U, np.full((n, 1), 1.0 / np.sqrt(n))])
        self.V = low.V

    def project(self, block_of: Callable[[slice], Float64Array]) -> Tangent:
        """P_T of the matrix whose rows `block_of(slice)` returns."""

        def products(block: slice) -> tuple[Float64Array, Float64Array]:
            R = block_of(block)
            return self.U[block].T @ R, R @ self.V

        parts = list(self.problem.map(products))
        along = sum((p[0] for p in parts), start=np.zeros(()))
        across = np.vstack([p[1] for p in parts])
        return Tangent(along, across - self.U @ (along @ self.V))

    def rows(self, t: Tangent, block: slice) -> Float64Array:
        """P_Ωᶜ of a tangent matrix: a block of rows."""
        B = self.U[block] @ t.along + t.across[block] @ self.V.T
        B *= self.free[block]
        return np.asarray(B)

    def solve(self, e: Tangent, accuracy: float, budget: Budget) -> Tangent | None:
        """t with P_T P_Ωᶜ t = e, by conjugate gradients; None where there may be none."""
        t = Tangent(np.zeros_like(e.along), np.zeros_like(e.across))
        r = p = e
        size = rr = e.inner(e)
        for _ in range(_MOST_CG):
            if rr <= accuracy**2 * size:
                return t
            Gp = self.project(partial(self.rows, p))
            curvature = p.inner(Gp)
            if curvature <= 1e-10 * p.inner(p):
                return None
            alpha = rr / curvature
            t, r = t.plus(p, alpha), r.plus(Gp, -alpha)
            before, rr = rr, r.inner(r)
            p = r.plus(p, rr / before)
            budget.left -= 1
        return None

    def move(self, low: LowRank, t: Tangent) -> LowRank:
        """The matrix of the rank of L nearest to L + t."""
        r = low.rank
        mean = low.mean
        along = t.along[:r]
        if mean is not None:
            # The parts of t along 1: constant rows, which the mean takes.
            mean = mean + t.along[r] / np.sqrt(len(low.U))
        # L + UAᵀ + BVᵀ = [U Q] K [V P]ᵀ with the QR factorizations of B and of A − VVᵀA
        Q, RB = np.linalg.qr(t.across)
        inside = along @ low.V
        P, RA = np.linalg.qr(along.T - low.V @ inside.T)
        K = np.block([[np.diag(low.s) + inside, RA.T], [RB, np.zeros((r, r))]])
        E, s, Ft = np.linalg.svd(K)
        U = np.hstack([low.U, Q]) @ E[:, :r]
        V = np.hstack([low.V, P]) @ Ft[:r].T
        return LowRank(orthonormalize_near(U), s[:r], orthonormalize_near(V), mean)


def orthonormalize_near(U: Float64Array) -> Float64Array:
    """The QR factor of nearly orthonormal columns, signs kept: rounding does not add up."""
    Q = orthonormalize(U)
    return np.asarray(Q * np.sign(np.sum(Q * U, axis=0)))


def fit_free_entries(
    problem: Problem, low: LowRank, budget: Budget
) -> tuple[LowRank, Array] | None:
    """L of the same rank and the entries where it equals M; None where these steps find none.

    An entry is free while its residual is no larger than _BEYOND medians; as L settles on the
    others, the median falls to rounding and what stands out is S. The level falls no faster than
    the residual does in the rows and columns where that is slowest, which would be lost else.
    """
    size = np.sqrt(sum(problem.map(lambda b: float(np.vdot(problem.M[b], problem.M[b])))))
    peak = max(problem.map(lambda b: float(np.abs(problem.M[b]).max())))
    free = np.zeros(problem.shape, dtype=bool)
    lefts: list[float] = []
    level = _GENEROUS * _BEYOND * typical_residual(problem, low)
    while budget.left > 0:
        level = max(level, _ROUNDING * peak)
        marks = problem.map(partial(_mark, problem, low, level, free))
        squares, changes = zip(*marks, strict=True)
        lefts.append(float(np.sqrt(sum(squares))) / size)
        if lefts[-1] <= _EXACT:
            return _without_rounding(low), free
        if len(lefts) > _PATIENCE and lefts[-1] > 0.5 * lefts[-1 - _PATIENCE]:
            return None
        if low.rank == 0 or np.count_nonzero(free) < low.rank * (sum(problem.shape) - low.rank):
            return None
        settled = sum(changes) == 0
        space = TangentSpace(problem, low, free)
        e = space.project(partial(_free_residual, problem, low, free))
        t = space.solve(e, _TIGHT if settled else _LOOSE, budget)
        if t is None:
            return None
        low = space.move(low, t)
        shrink = _TIGHT / _LOOSE * _SHRINK if settled else _SHRINK
        level = max(_BEYOND * typical_residual(problem, low), shrink * level)
    return None


def _free_residual(problem: Problem, low: LowRank, free: Array, block: slice) -> Float64Array:
    """M − L at the free entries."""
    R = problem.residual(block, low)
    R *= free[block]
    return R


def _without_rounding(low: LowRank) -> LowRank:
    """L without the singular values that are rounding."""
    r = int(np.count_nonzero(low.s > _ROUNDING * low.s.max(initial=0.0)))
    return LowRank(low.U[:, :r], low.s[:r], low.V[:, :r], low.mean)


def typical_residual(problem: Problem, low: LowRank) -> float:
    """The median size of the residuals, of a sample where there are many."""
    blocks = problem.blocks()
    some = blocks[:: max(1, len(blocks) // _SAMPLED)]

    def sizes(block: slice) -> Float64Array:
        R = problem.penalty.magnitude(problem.residual(block, low))
        return np.asarray(R[:, :] if problem.observed is None else R[problem.observed[block]])

    found = problem.workers.map(sizes, some, small=problem.M.size <= 1 << 16)
    return float(np.median(np.concatenate([f.ravel() for f in found])))


def _mark(
    problem: Problem, low: LowRank, level: float, free: Array, block: slice
) -> tuple[float, int]:
    """Set the free entries of a block; their squared residuals, and how many entries changed."""
    R = problem.residual(block, low)
    now = problem.penalty.magnitude(R) <= level
    if problem.observed is not None:
        now &= problem.observed[block]
    changes = int(np.count_nonzero(now != free[block]))
    free[block] = now
    R *= now
    return float(np.vdot(R, R)), changes


def fit_multiplier(
    problem: Problem, low: LowRank, free: Array, Y: Float64Array, budget: Budget, *, exact: bool
) -> Float64Array | None:
    """The Y nearest to the given one that meets P_T(Y) = UVᵀ and P_Ω(Y) = λ∂g(S).

    Where it need not be `exact`, the first is met up to a hundredth of what the given one lacks.
    """
    face = np.empty_like(Y)

    def fix(block: slice) -> None:
        R = problem.residual(block, low) * ~free[block]
        target = problem.lam * problem.penalty.subgradient(R)
        face[block] = np.where(free[block], Y[block], target)

    list(problem.map(fix))
    if low.rank == 0 and low.mean is None:
        return face
    space = TangentSpace(problem, low, free)
    target = Tangent(np.zeros((space.U.shape[1], problem.shape[1])), np.zeros((len(Y), low.rank)))
    target.along[: low.rank] = low.V.T
    size = np.sqrt(target.inner(target))
    for _ in range(3 if exact else 1):  # each removes the rounding of the one before
        e = target.plus(space.project(lambda b: np.asarray(face[b])), -1.0)
        left = np.sqrt(e.inner(e))
        if left <= _DUAL_EXACT * size:
            break
        accuracy = max(_DUAL if exact else _LOOSE, 0.1 * _DUAL_EXACT * size / left)
        t = space.solve(e, accuracy, budget)
        if t is None:
            return None

        def correct(block: slice, t: Tangent = t) -> None:
            face[block] += space.rows(t, block)

        list(problem.map(correct))
    return face
