r"""The convex problem, its dual, and passes over blocks of rows.

    min ‖L‖_* + λ g(S)    subject to    ‖P(M − L − 1μᵀ − S)‖_F ≤ δ

over L and S (and μ where the data are centered), with P the observed entries and g the sum of
|S_ij| or of row norms. Its dual is

    max ⟨Y, M⟩ − δ‖Y‖_F   subject to    ‖Y‖₂ ≤ 1,  g°(Y) ≤ λ,  Y = P(Y)  (and 1ᵀY = 0).

Any L gives an upper bound of the optimum and any Y within its bounds a lower one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.pursuit._low_rank import LowRank
from trueaxis.pursuit._penalties import Penalty

T = TypeVar("T")

# A block of rows and what is computed from it stay in cache; products want some rows at once.
_BLOCK_ENTRIES, _LEAST_ROWS = 1 << 16, 32


@dataclass(frozen=True)
class Problem:
    """The data of the problem; missing entries of M are 0."""

    M: Float64Array
    penalty: Penalty
    lam: float
    workers: Workers
    delta: float = 0.0
    observed: Array | None = None
    centered: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.M.shape[0], self.M.shape[1]

    def blocks(self) -> list[slice]:
        """Blocks of rows, the same ones whatever the number of threads."""
        n, m = self.shape
        step = max(_LEAST_ROWS, _BLOCK_ENTRIES // max(m, 1))
        return [slice(i, min(i + step, n)) for i in range(0, n, step)]

    def map(self, function: Callable[[slice], T]) -> Iterator[T]:
        """The function of every block, in order."""
        return self.workers.map(function, self.blocks(), small=self.M.size <= _BLOCK_ENTRIES)

    def hide(self, block: slice, B: Float64Array) -> Float64Array:
        """P(B), in place: missing entries are 0."""
        if self.observed is not None:
            B[~self.observed[block]] = 0.0
        return B

    def project(self, block: slice, B: Float64Array, level: float) -> Float64Array:
        """The dual matrix nearest to P(B) within a level, 0 at missing entries."""
        if self.observed is not None:
            B = np.where(self.observed[block], B, 0.0)
        return self.penalty.project(B, level)

    def residual(self, block: slice, low: LowRank) -> Float64Array:
        """P(M − L) of a block of rows."""
        R = low.rows(block)
        np.subtract(self.M[block], R, out=R)
        return self.hide(block, R)

    def inner(self, Y: Float64Array) -> float:
        """⟨Y, M⟩."""
        return sum(self.map(lambda b: float(np.vdot(Y[b], self.M[b]))))

    def objective(self, low: LowRank) -> float:
        """‖L‖_* + λ min g(S) over the S that are feasible together with L: an upper bound."""
        if self.delta == 0:
            rest = sum(self.map(lambda b: self.penalty.value(self.residual(b, low))))
            return low.nuclear_norm + self.lam * rest
        level = self.noise_level(low)

        if np.isinf(level):
            return low.nuclear_norm

        def beyond(block: slice) -> float:
            R = self.residual(block, low)
            return self.penalty.value(R - self.penalty.project(R, level))

        return low.nuclear_norm + self.lam * sum(self.map(beyond))

    def noise_level(self, low: LowRank) -> float:
        """The level t at which the part of P(M − L) within t has Frobenius norm δ.

        S = prox of tg at P(M − L) then is the cheapest that is feasible together with L; t is
        infinite where S = 0 is.
        """

        def within(level: float) -> float:
            return float(
                np.sqrt(
                    sum(
                        self.map(
                            lambda b: _squares(self.penalty.project(self.residual(b, low), level))
                        )
                    )
                )
            )

        peak = max(self.map(lambda b: self.penalty.dual_norm(self.residual(b, low))))
        if within(peak) <= self.delta:
            return np.inf
        # ‖project(R, t)‖_F grows with t and is concave in it: from below, secants through 0 stay
        # below the root and bisection is not needed for more than safety.
        low_level, high_level = 0.0, peak
        for _ in range(60):
            level = 0.5 * (low_level + high_level)
            if within(level) > self.delta:
                high_level = level
            else:
                low_level = level
            if high_level - low_level <= 1e-14 * peak:
                break
        return low_level

    def dual_objective(self, Y: Float64Array, scale: float) -> float:
        """⟨Y, M⟩ − δ‖Y‖_F of Y/scale, a lower bound where that is feasible."""
        value = self.inner(Y)
        if self.delta:
            value -= self.delta * float(np.sqrt(sum(self.map(lambda b: _squares(Y[b])))))
        return value / scale


def _squares(B: Float64Array) -> float:
    return float(np.vdot(B, B))
