"""Singular value thresholding that remembers where the singular vectors were.

The proximal map of τ‖·‖_* at A = UΣVᵀ is U(Σ − τ)₊Vᵀ, and needs the singular vectors above τ only.
While these are few, one step of block power iteration from the vectors of the call before finds
them: two products with A, where a full decomposition costs hundreds. When they are many, or the
matrix thin, the eigenvectors of the Gram matrix of the short side are cheaper; and where squares
would lose the digits of τ, the decomposition itself.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from trueaxis._linalg import orthonormalize
from trueaxis._typing import Float64Array
from trueaxis.pursuit._low_rank import LowRank
from trueaxis.pursuit._problem import Problem

# Singular vectors carried beyond those above the threshold: they are the next to rise above it,
# and the block power iteration converges by the ratio to the first one left out.
_SPARE = 10
# Below this short side, and above this share of it, the Gram matrix is cheaper (measured).
_SHORT, _SHARE = 150, 0.2
# The Gram matrix of A resolves singular values down to √eps·σ₁; ask for some digits of τ.
_DIGITS = 1e-6
_COLD_STEPS = 3


class Thresholding:
    """The proximal map of the nuclear norm, warm from call to call."""

    def __init__(
        self, problem: Problem, rng: np.random.RandomState, *, accurate: bool = False
    ) -> None:
        self._problem = problem
        self._accurate = accurate  # power iteration errs by what it has not found yet
        self._rng = rng
        self._basis: Float64Array | None = None  # right singular vectors, more than are needed
        self._peak = 0.0
        n, m = problem.shape
        self._short = min(n, m)
        self._rank = 0
        self.next_value = 0.0  # the largest singular value that was found below the threshold

    def shrink(self, A: Float64Array, tau: float, mean: Float64Array | None = None) -> LowRank:
        """The minimizer over L of τ‖L‖_* + ½‖A − L‖²."""
        many = self._rank + _SPARE > _SHARE * self._short
        if self._accurate or many or self._short <= _SHORT:
            U, s, V = self._by_gram(A, tau)
        else:
            U, s, V = self._by_power(A, tau)
        self._rank = r = int(np.count_nonzero(s > tau))
        self._peak = float(s[0]) if s.size else 0.0
        self.next_value = float(s[r]) if r < len(s) else 0.0
        return LowRank(U[:, :r], s[:r] - tau, V[:, :r], mean)

    def leading(self, A: Float64Array, r: int) -> LowRank:
        """Nearly the matrix of rank r nearest to A."""
        V: Float64Array = self._rng.standard_normal((A.shape[1], min(r + _SPARE, self._short)))
        for _ in range(_COLD_STEPS):
            Q = orthonormalize(self.times(A, V))
            V, R = np.linalg.qr(self.transposed_times(A, Q))
        E, s, Ft = scipy.linalg.svd(R.T, check_finite=False)
        return LowRank((Q @ E)[:, :r], s[:r], (V @ Ft.T)[:, :r])

    def _by_power(
        self, A: Float64Array, tau: float
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        m = A.shape[1]
        steps = 1
        if self._basis is None:
            V: Float64Array = self._rng.standard_normal((m, 2 * _SPARE))
            steps = _COLD_STEPS
        else:
            V = self._basis
        while True:
            for _ in range(steps):
                Q = orthonormalize(self.times(A, V))
                V, R = np.linalg.qr(self.transposed_times(A, Q))
            # A ≈ Q Rᵀ Vᵀ
            E, s, Ft = scipy.linalg.svd(R.T, check_finite=False)
            V = V @ Ft.T
            r = int(np.count_nonzero(s > tau))
            if r + _SPARE // 2 <= len(s):
                self._basis = V[:, : r + 2 * _SPARE]
                return Q @ E, s, V
            if 2 * len(s) > _SHARE * self._short:
                return self._by_gram(A, tau)
            # Too few to see all that are above the threshold.
            V = np.hstack([V, self._rng.standard_normal((m, len(s)))])
            steps = 2

    def _by_gram(
        self, A: Float64Array, tau: float
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        n, m = A.shape
        if tau < _DIGITS * self._peak:
            U, s, Vt = scipy.linalg.svd(A, full_matrices=False, check_finite=False)
            return U, s, Vt.T
        tall = n >= m
        G = gram(self._problem, A)
        if self._short <= _SHORT:
            values, E = scipy.linalg.eigh(G, check_finite=False, driver="evd")
        else:
            values, E = scipy.linalg.eigh(
                G, check_finite=False, driver="evr", subset_by_value=(tau * tau, np.inf)
            )
        s = np.sqrt(np.maximum(values[::-1], 0.0))
        E = E[:, ::-1]
        r = int(np.count_nonzero(s > tau))
        E = np.ascontiguousarray(E[:, :r])
        self._basis = None
        if s.size and tau < _DIGITS * s[0]:
            self._peak = s[0]
            return self._by_gram(A, tau)
        if tall:
            U, V = self.times(A, E) / s[:r], E
            self._basis = V
        else:
            U, V = E, self.transposed_times(A, E) / s[:r]
        if self._basis is None or self._basis.shape[1] < r + _SPARE:
            self._basis = np.hstack([V, self._rng.standard_normal((m, 2 * _SPARE))])
        return U, s, V

    def times(self, A: Float64Array, V: Float64Array) -> Float64Array:
        """AV."""
        return np.vstack(list(self._problem.map(lambda b: A[b] @ V)))

    def transposed_times(self, A: Float64Array, Q: Float64Array) -> Float64Array:
        """AᵀQ."""
        return sum(self._problem.map(lambda b: A[b].T @ Q[b]), start=np.zeros(()))


def gram(problem: Problem, A: Float64Array) -> Float64Array:
    """AᵀA of a tall A, AAᵀ of a wide one; the long side in pieces, one a thread."""
    n, m = A.shape
    long = max(n, m)
    step = max(256, -(-long // 8))
    pieces = [slice(i, min(i + step, long)) for i in range(0, long, step)]

    def product(piece: slice) -> Float64Array:
        B = A[piece] if n >= m else A[:, piece]
        return np.asarray(B.T @ B if n >= m else B @ B.T)

    found = problem.workers.map(product, pieces, small=A.size <= 1 << 16)
    return sum(found, start=np.zeros(()))
