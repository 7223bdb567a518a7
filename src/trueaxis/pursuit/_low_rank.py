"""A matrix of low rank by its factors; no n×m array until one is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueaxis._typing import Float64Array


@dataclass(frozen=True)
class LowRank:
    """L = U diag(s) Vᵀ + 1μᵀ with orthonormal columns in U and V, and U ⊥ 1 where μ is not None."""

    U: Float64Array
    s: Float64Array
    V: Float64Array
    mean: Float64Array | None = None

    @classmethod
    def zero(cls, n: int, m: int, *, centered: bool) -> LowRank:
        """The n×m zero matrix."""
        return cls(
            np.zeros((n, 0)), np.zeros(0), np.zeros((m, 0)), np.zeros(m) if centered else None
        )

    @property
    def rank(self) -> int:
        """Rank of U diag(s) Vᵀ."""
        return len(self.s)

    @property
    def nuclear_norm(self) -> float:
        """Sum of the singular values of U diag(s) Vᵀ; the mean is free."""
        return float(self.s.sum())

    def rows(self, block: slice) -> Float64Array:
        """Some rows of L."""
        L = (self.U[block] * self.s) @ self.V.T
        if self.mean is not None:
            L += self.mean
        return np.asarray(L)
