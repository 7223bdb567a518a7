"""An orthonormal basis of the span of few, long rows, from their Gram matrix and never formed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol, TypeVar

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from trueaxis._products import add_outer, transposed_times
from trueaxis._threads import SMALL, Workers
from trueaxis._typing import Array, Float64Array

T = TypeVar("T")

# Least eigenvalue of the Gram matrix of unit rows that has digits: QᵀQ − I is about ε over it. A
# row of which others leave less counts as dependent, and must be shown to be: a pivot, a square,
# cannot tell a part of 1e-8 from none.
_LEAST = 1e-7
_ROUNDING = 1e-12  # of a row's own length, and of that of the origin subtracted from it
_MOST_ROUNDING = 1e-9  # of a row's own length, wherever the origin lies
_MOST_PROBES = 4
_UNDERFLOW = 1e-200  # squared lengths below this have lost their digits
_CACHE_BYTES = 1 << 23
_WIDE = 512  # columns that make good what NumPy does besides multiplying, for each Gram matrix
_NARROW = 128  # columns that stay in cache until they are multiplied by few vectors
_BROAD = 512  # columns of rows that are read in place


@dataclass(frozen=True)
class Rows:
    """A = [X / unit − origin; further], of which only some columns are formed at a time.

    The columns are dealt into groups by the shape of X alone, and sums over groups are taken in
    order: hence the same bits whatever the number of threads.

    Parameters
    ----------
    X : ndarray of shape (n, m), float32 or float64
        Neither written to nor copied as a whole.
    origin : ndarray of shape (m,)
    further : ndarray of shape (k, m)
        Rows that are not shifted or scaled.
    workers : Workers
    unit : float
        A power of two.
    """

    X: Array
    origin: Float64Array
    further: Float64Array
    workers: Workers
    unit: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns of A."""
        return len(self.X) + len(self.further), self.X.shape[1]

    def gram(self) -> Float64Array:
        """AAᵀ; not finite where squares overflow."""
        n = self.shape[0]

        def one(group: list[slice]) -> Float64Array:
            total = np.zeros((n, n))
            for _, block in self._blocks(group):
                with np.errstate(over="ignore", invalid="ignore"):  # told by the result
                    add_outer(block, total)
            return total

        # The blocks are a twentieth of the size of X, or no larger than Gram matrices.
        share = self._words // (20 * self._n_groups * n)
        width = max(min(share, _CACHE_BYTES // (8 * n)), min(n, _WIDE))
        lower = np.tril(self._sum(one, width))
        return np.asarray(lower + np.tril(lower, -1).T)

    def combine(self, G: Float64Array) -> Float64Array:
        """AᵀG: combinations of the rows, in columns."""
        n, unit = len(self.X), self.unit
        out = self.further.T @ G[n:]

        def one(group: list[slice]) -> None:
            for columns in group:
                top = self.X[:, columns].astype(np.float64, copy=False)
                out[columns] += transposed_times(top, G[:n], self.origin[columns] * unit) / unit

        for _ in self._map(one, _BROAD):
            pass
        return out

    def multiply(self, v: Float64Array) -> Float64Array:
        """Av."""

        def one(group: list[slice]) -> Float64Array:
            total = np.zeros(self.shape[0])
            for columns, block in self._blocks(group):
                total += block @ v[columns]
            return total

        return self._sum(one, _NARROW)

    @property
    def _words(self) -> int:
        return self.X.size * self.X.itemsize // 8

    @property
    def _n_groups(self) -> int:
        # Their Gram matrices are 3 % of the size of X, unless there are but two.
        return min(max(self._words // (64 * self.shape[0] ** 2), 2), 16)

    def _sum(self, function: Callable[[list[slice]], Float64Array], width: int) -> Float64Array:
        parts = self._map(function, width)
        total = next(parts)
        for part in parts:
            total += part
        return total

    def _map(self, function: Callable[[list[slice]], T], width: int) -> Iterator[T]:
        m = self.X.shape[1]
        blocks = [slice(j, min(j + width, m)) for j in range(0, m, width)]
        ends = [len(blocks) * i // self._n_groups for i in range(self._n_groups + 1)]
        groups = [blocks[i:j] for i, j in pairwise(ends) if i < j]
        return self.workers.map(function, groups, small=self.X.size < SMALL)

    def _blocks(self, group: list[slice]) -> Iterator[tuple[slice, Float64Array]]:
        """Columns of A, in the memory layout of X; an array lasts until the next is asked for."""
        height, n = self.shape[0], len(self.X)
        # Fresh memory for every block would cost more than the subtraction.
        memory = np.empty(height * max(columns.stop - columns.start for columns in group))
        order: Literal["C", "F"] = "C" if self.X.strides[0] >= self.X.strides[1] else "F"
        for columns in group:
            width = columns.stop - columns.start
            block = memory[: height * width].reshape((height, width), order=order)
            top = block[:n]
            if self.unit == 1.0:
                np.subtract(self.X[:, columns], self.origin[columns], out=top, dtype=np.float64)
            else:
                np.multiply(self.X[:, columns], 1.0 / self.unit, out=top, dtype=np.float64)
                top -= self.origin[columns]
            block[n:] = self.further[:, columns]
            yield columns, block


class LongRows(Protocol):
    """A, few rows of many columns about `origin`, by its products."""

    @property
    def origin(self) -> Float64Array:
        """What was subtracted from the rows."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        ...

    def gram(self) -> Float64Array:
        """AAᵀ; not finite where it has not the digits."""
        ...

    def combine(self, G: Float64Array) -> Float64Array:
        """AᵀG."""
        ...

    def multiply(self, v: Float64Array) -> Float64Array:
        """Av."""
        ...


@dataclass(frozen=True)
class RowBasis:
    """Q = AᵀD⁻¹P L⁻ᵀ of shape (m, r), not formed, and y_i = Qᵀa_i of every row.

    D holds the lengths of the rows, so that a far row does not take the digits of all others, and
    P picks r independent ones: PᵀD⁻¹(AAᵀ)D⁻¹P = LLᵀ, by Cholesky factorization with pivots. Then
    Qy_i is a_i to rounding, and QᵀQ = I + O(ε/λ) with λ the least eigenvalue of LLᵀ, so that
    lengths and distances in the coordinates have relative errors of that order.
    """

    rows: LongRows
    lengths: Float64Array
    factor: Float64Array
    pivots: Array

    @classmethod
    def of(cls, rows: LongRows) -> RowBasis | None:
        """The basis; None where the Gram matrix has not the digits for it."""
        K = rows.gram()
        squares = np.diagonal(K).copy()
        if not np.isfinite(squares).all() or squares.max() < _UNDERFLOW:
            return None
        lengths = np.sqrt(squares)
        lengths[lengths == 0.0] = 1.0
        K /= lengths
        K /= lengths[:, None]
        L, pivots, rank, _ = lapack.dpstrf(K.T, tol=_LEAST, lower=1, overwrite_a=1)
        L = np.tril(L[:, :rank])
        # 1/‖L⁻¹‖₁², which is between 1/r and r times the least eigenvalue, and mostly below it.
        top = L[:rank]
        rcond, _ = lapack.dtrcon(top, uplo="L")
        if (rcond * np.linalg.norm(top, 1)) ** 2 < _LEAST:
            return None
        basis = cls(rows, lengths, L, pivots - 1)
        return basis if basis._holds_the_dependent() else None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of columns of the data, and of coordinates."""
        return self.rows.shape[1], int(self.factor.shape[1])

    def coordinates(self) -> Float64Array:
        """y_i of every row."""
        Y = np.empty(self.factor.shape)
        Y[self.pivots] = self.factor
        Y *= self.lengths[:, None]
        return Y

    def __matmul__(self, V: Float64Array) -> Float64Array:
        """QV."""
        return self.rows.combine(self._coefficients(V))

    def lower(self, v: Float64Array) -> Float64Array:
        """Qᵀv."""
        chosen = self._chosen
        products = self.rows.multiply(v)[chosen] / self.lengths[chosen]
        return np.asarray(
            scipy.linalg.solve_triangular(self._triangle, products, lower=True, check_finite=False)
        )

    @property
    def _chosen(self) -> Array:
        return self.pivots[: self.shape[1]]

    @property
    def _triangle(self) -> Float64Array:
        return self.factor[: self.shape[1]]

    def _coefficients(self, V: Float64Array) -> Float64Array:
        """G with QV = AᵀG."""
        chosen = self._chosen
        G = np.zeros((len(self.factor), V.shape[1]))
        solved = scipy.linalg.solve_triangular(self._triangle.T, V, check_finite=False)
        G[chosen] = solved / self.lengths[chosen, None]
        return G

    def _holds_the_dependent(self) -> bool:
        """Whether a_i = Qy_i to rounding for the rows that P leaves out.

        The pivots cannot tell: they are squares. The differences are formed instead; where they
        are many, random combinations of them, which are large if one of them is.
        """
        rank = self.shape[1]
        out = self.pivots[rank:]
        if not len(out):
            return True
        lengths = self.lengths[out]
        offset = float(np.linalg.norm(self.rows.origin))
        allowed = np.minimum(_MOST_ROUNDING * lengths, _ROUNDING * (lengths + offset))
        if len(out) <= _MOST_PROBES:
            mix = np.eye(len(out))
        else:
            mix = np.random.default_rng(0).standard_normal((len(out), _MOST_PROBES))
            mix /= np.sqrt(len(out))
        mix /= allowed[:, None]
        G = self._coefficients(-self.factor[rank:].T @ (lengths[:, None] * mix))
        G[out] = mix
        return bool(np.linalg.norm(self.rows.combine(G), axis=0).max() <= 1.0)
