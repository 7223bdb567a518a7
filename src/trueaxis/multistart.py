"""Many cheap starts at once, on a sample of the rows: all of them refined a little, the best kept.

Every step is a few matrix products for all starts together, never a loop over them.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np

from trueaxis._products import times, transposed_times
from trueaxis._subspace import Subspace
from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.starts import distinct_rows, rows_at

_ROUNDING = 1e-12  # of the rows' size: where those of one draw differ by less, they are the same
_PARTS = 2  # that starts are refined in, each by a thread
_SMALL = 1 << 20  # entries, times starts, below which a thread costs more than it saves
_FULL_COLUMNS = 24  # up to here the scatter matrices of all starts are formed and diagonalized


class Weigher(Protocol):
    """What a fit minimizes, for many starts at once."""

    def weights(self, T: Float64Array, step: int) -> Float64Array:
        """d_is for the squared residuals t_is of row i at start s, in the step-th refinement."""
        ...

    def values(self, T: Float64Array) -> Float64Array:
        """What each start has reached; less is better."""
        ...


@dataclass(frozen=True)
class Starts:
    """Subspaces side by side: bases of shape (s, m, k) and centers of shape (s, m)."""

    bases: Float64Array
    centers: Float64Array

    def __len__(self) -> int:
        return len(self.bases)

    def __getitem__(self, s: int) -> Subspace:
        return Subspace(self.bases[s], self.centers[s])

    def pick(self, which: Array) -> Starts:
        """Some of them."""
        return Starts(self.bases[which], self.centers[which])

    def join(self, other: Starts) -> Starts:
        """These and others."""
        return Starts(
            np.concatenate([self.bases, other.bases]), np.concatenate([self.centers, other.centers])
        )

    def products(self, S: Float64Array) -> Float64Array:
        """W_sᵀx_i, shape (rows, starts, k)."""
        s, m, k = self.bases.shape
        wide = self.bases.transpose(1, 0, 2).reshape(m, s * k)
        return times(S, wide).reshape(len(S), s, k)

    def squared_residuals(
        self, S: Float64Array, products: Float64Array | None = None
    ) -> Float64Array:
        """t_is = ‖(I − W_sW_sᵀ)(x_i − c_s)‖², shape (rows, starts)."""
        norms = np.einsum("ij,ij->i", S, S)
        offsets = np.einsum("sj,sj->s", self.centers, self.centers)
        T = norms[:, None] - 2.0 * (S @ self.centers.T) + offsets
        Z = self.scores(self.products(S) if products is None else products)
        T -= np.einsum("isk,isk->is", Z, Z)
        return np.asarray(np.maximum(T, 0.0))

    def scores(self, products: Float64Array) -> Float64Array:
        """W_sᵀ(x_i − c_s), shape (rows, starts, k)."""
        return np.asarray(products - np.einsum("sj,sjk->sk", self.centers, self.bases))


def random_subsets(
    S: Float64Array,
    weights: Float64Array | None,
    first: Subspace,
    sizes: list[int],
    rng: np.random.RandomState,
    *,
    moves: bool,
) -> Starts:
    """The leading axes of random subsets of the rows, about their means or the first's center.

    A subset of k + 1 good rows (k where the center is fixed) spans the subspace that is looked
    for, noise apart; the smaller the subset, the likelier all of it is good. A subset that spans
    less, as of rows that repeat one another, is completed by the axes of `first`.
    """
    k = first.n_components
    # Draws are made among the rows by their distance from the center, so that neither their order
    # nor the axes of the coordinates matter.
    order = np.argsort(np.linalg.norm(S - first.center, axis=1), kind="stable")
    S, weights = S[order], None if weights is None else weights[order]
    draws = [rows_at(rng.random_sample(size), len(S), weights) for size in sizes]
    rounding = _ROUNDING * float(np.abs(S - first.center).max())
    found = np.empty((len(draws), first.basis.shape[0], k))
    centers = np.empty((len(draws), S.shape[1]))
    for size in set(sizes):
        alike = [i for i, rows in enumerate(draws) if len(rows) == size]
        Y = S[np.stack([draws[i] for i in alike])]
        found[alike], centers[alike] = _of_subsets(Y, first, rounding, moves=moves)
    return Starts(found, centers)


def _of_subsets(
    Y: Float64Array, first: Subspace, rounding: float, *, moves: bool
) -> tuple[Float64Array, Float64Array]:
    """Bases and centers of subsets of as many rows each, Y of shape (subsets, rows, m)."""
    centers = Y.mean(axis=1) if moves else np.broadcast_to(first.center, Y[:, 0].shape)
    D = Y - centers[:, None]
    # Rows that repeat one another differ by rounding, which shall not choose an axis.
    size = np.maximum(1e-6 * np.abs(D).max(axis=(1, 2)), rounding)
    hint = np.where(size > 0, size, 1.0)[:, None, None] * first.basis.T
    _, _, Vt = np.linalg.svd(np.concatenate([D, hint], axis=1), full_matrices=False)
    return Vt[:, : first.n_components].transpose(0, 2, 1), centers


def refine(
    S: Float64Array,
    weights: Float64Array | None,
    starts: Starts,
    weigher: Weigher,
    steps: int,
    workers: Workers,
    *,
    moves: bool,
    columns: int = _FULL_COLUMNS,
) -> Starts:
    """`steps` reweighted steps of every start: c ← Σd_i x_i / Σd_i, W ← orth(AW).

    In up to `columns` dimensions W is the leading eigenvectors of A instead, the exact step.
    """
    # Rows that stand for several by their weight count once, as they do where they are repeated.
    dimensions = min(S.shape[1], len(distinct_rows(S)))
    exact = dimensions <= columns and S.shape[1] <= 8 * columns
    small = S.size * len(starts) < _SMALL

    def refined(part: Starts) -> Starts:
        # What a weigher remembers is of the starts that it has seen.
        return _steps(S, weights, part, copy(weigher), steps, moves=moves, exact=exact)

    parts = np.array_split(np.arange(len(starts)), 1 if small else min(_PARTS, len(starts)))
    found = workers.map(refined, (starts.pick(part) for part in parts), small=small)
    return reduce(Starts.join, found)


def _steps(
    S: Float64Array,
    weights: Float64Array | None,
    starts: Starts,
    weigher: Weigher,
    steps: int,
    *,
    moves: bool,
    exact: bool,
) -> Starts:
    for step in range(steps):
        products = starts.products(S)
        D = weigher.weights(starts.squared_residuals(S, products), step)
        if weights is not None:
            D = D * weights[:, None]
        mass = D.sum(axis=0)
        D = D / np.where(mass > 0, mass, 1.0)
        centers = (D.T @ S) if moves else starts.centers
        if exact:
            A = np.matmul((S[:, :, None] * D[:, None, :]).transpose(2, 1, 0), S)
            mean = D.T @ S
            if moves:
                A -= mean[:, :, None] * mean[:, None, :]
            else:
                cross = mean[:, :, None] * centers[:, None, :]
                A += centers[:, :, None] * centers[:, None, :] - cross - cross.transpose(0, 2, 1)
            bases = np.linalg.eigh(A)[1][:, :, -starts.bases.shape[2] :]
        else:
            bases = _orthogonal_step(S, D, Starts(starts.bases, centers), products)
        starts = Starts(np.ascontiguousarray(bases), centers)
    return starts


def _orthogonal_step(
    S: Float64Array, D: Float64Array, starts: Starts, products: Float64Array
) -> Float64Array:
    """orth(AW) of every start, A = Σ d_i (x_i − c)(x_i − c)ᵀ, with Σ d_i = 1."""
    s, m, k = starts.bases.shape
    Q = starts.scores(products) * D[:, :, None]
    AW = transposed_times(S, Q.reshape(len(S), s * k)).reshape(m, s, k).transpose(1, 0, 2)
    AW = AW - starts.centers[:, :, None] * Q.sum(axis=0)[:, None, :]
    return np.asarray(np.linalg.qr(AW)[0])
