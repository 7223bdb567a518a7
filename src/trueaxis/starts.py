"""Where a fit begins: subspaces found on a sample of the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from trueaxis._linalg import numerical_rank, orthonormalize, top_eigenvectors
from trueaxis._moments import Moments
from trueaxis._products import padded_columns, project, split_center
from trueaxis._subspace import Subspace
from trueaxis._sweep import Sweep
from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.losses import L2p
from trueaxis.solvers import location
from trueaxis.sources import DenseSource

_MIN_ROWS, _MAX_ROWS, _ENTRIES = 500, 2000, 400_000
_TELLING = (1, 8)  # numbers of columns in which rows differ, if they do
_SMALL = 80  # rows or columns up to which all axes are computed
_FURTHER, _ROUNDS = 10, 5
_DIRECTIONS = 100
_MAD_TO_STD = 1.4826022185056018  # 1 / Φ⁻¹(3/4)


def sample_size(k: int, m: int) -> int:
    """How many rows of m columns a fit of k axes begins with."""
    return max(min(_MAX_ROWS, max(_MIN_ROWS, _ENTRIES // m)), 20 * k)


def sample_rows(
    n: int, weights: Float64Array | None, size: int, rng: np.random.RandomState
) -> Array | None:
    """Numbers of about `size` rows, in order, drawn by weight; None for all, where they are few.

    One is drawn at random from each of `size` equal parts of the weight, so that a row of weight
    2 is drawn as often as the row twice, and at the same draws.
    """
    mass = float(n) if weights is None else float(weights.sum())
    if max(n, mass) <= size:
        return None
    at = (np.arange(size) + rng.random_sample(size)) / size
    return rows_at(at, n, weights)


def rows_at(at: Float64Array, n: int, weights: Float64Array | None) -> Array:
    """The rows that stand at shares of the whole weight in [0, 1)."""
    if weights is None:
        return np.asarray(np.minimum((at * n).astype(np.intp), n - 1))
    ends = np.cumsum(weights)
    return np.asarray(np.minimum(np.searchsorted(ends, at * ends[-1], side="right"), n - 1))


def distinct_rows(X: Array, rows: Array | None = None) -> Array:
    """Which of the `rows` of X to take so that none repeats another: their places in `rows`."""
    rows = np.arange(len(X)) if rows is None else rows
    alone: list[Array] = []
    alike = np.arange(len(rows))
    # Rows that differ nearly always do so in their first columns: few are compared in all.
    for columns in (*_TELLING, X.shape[1]):
        some = X[rows[alike], :columns]
        some = some.ravel() if some.shape[1] == 1 else some  # numbers sort faster than rows
        _, first, group, count = np.unique(
            some, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        single = count[group.ravel()] == 1
        alone.append(alike[single])
        representatives = alike[first[count > 1]]
        alike = alike[~single]
        if not len(alike):
            break
    return np.sort(np.concatenate([*alone, representatives]))


def subsample(
    S: Float64Array, weights: Float64Array | None, size: int, rng: np.random.RandomState
) -> tuple[Float64Array, Float64Array | None]:
    """Rows drawn by weight, of equal weight then; all of them, with theirs, where they are few."""
    rows = sample_rows(len(S), weights, size, rng)
    return (S, weights) if rows is None else (S[rows], None)


def weighted_median(values: Float64Array, weights: Float64Array | None = None) -> Float64Array:
    """The median down each column; a weight of 2 counts as the value twice.

    Where half of the weight ends between two values, their mean, as for unweighted medians: so
    that the median of −x is minus that of x.
    """
    if weights is None:
        return np.asarray(np.median(values, axis=0))
    order = np.argsort(values, axis=0, kind="stable")
    mass = np.cumsum(weights[order], axis=0)
    half = mass[-1] / 2
    lower = np.argmax(mass >= half * (1 - 1e-12), axis=0)
    upper = np.argmax(mass > half * (1 + 1e-12), axis=0)
    ordered = np.take_along_axis(values, order, axis=0)
    ends = np.take_along_axis(ordered, np.stack([lower, upper]), axis=0)
    return np.asarray(ends.mean(axis=0))


def spatial_median(S: Float64Array, weights: Float64Array | None = None) -> Float64Array:
    """The point with the least sum of distances to the rows of S, to a millionth of it."""
    source = DenseSource(S, weights=weights, workers=Workers(1))
    # The mean, far off as it may be, turns with the rows, and so does every point that follows.
    first = np.average(S, axis=0, weights=weights)
    loss = L2p(1.0, epsilon=1e-8 * typical_distance(S, first, weights))

    def evaluate(point: Subspace, probe: Float64Array | None) -> Moments:
        return source.reduce(Sweep.at(point, probe, loss, source.dtype))

    return np.asarray(location(evaluate, first, max_iter=200, tol=1e-6).point.center)


def typical_distance(
    S: Float64Array, center: Float64Array, weights: Float64Array | None = None
) -> float:
    """The median distance of the rows to a point: a scale that outliers leave alone.

    Where most rows lie on the point itself, the median of the others'; 1.0 where all do.
    """
    D = S - center
    distances = np.sqrt(np.einsum("ij,ij->i", D, D))
    away = distances > 1e-12 * distances.max(initial=0.0)
    for some in (np.ones_like(away), away):
        if some.any():
            median = float(weighted_median(distances[some], _picked(weights, some)))
            if median > 1e-12 * distances.max():
                return median
    return 1.0


def _picked(weights: Float64Array | None, rows: Array) -> Float64Array | None:
    return None if weights is None else weights[rows]


def spherical(
    S: Float64Array, k: int, center: Float64Array, weights: Float64Array | None
) -> Float64Array:
    """The k leading axes of the rows scaled to unit length about the center (Locantore 1999).

    No row, however far, has more than unit influence, and the directions are those of the
    covariance where the distribution is elliptical.
    """
    Y = S - center
    squares = np.einsum("ij,ij->i", Y, Y)
    with np.errstate(divide="ignore"):
        d = np.where(squares > 0, 1.0 / squares, 0.0)
    return _leading_axes(Y, k, d if weights is None else d * weights)


def plain(
    S: Float64Array, k: int, center: Float64Array, weights: Float64Array | None
) -> Float64Array:
    """The k leading principal axes of the rows about the center."""
    return _leading_axes(S - center, k, weights)


def least_outlying(
    S: Float64Array,
    k: int,
    center: Float64Array,
    weights: Float64Array | None,
    rng: np.random.RandomState,
    *,
    moves: bool,
) -> Subspace:
    """The k leading axes of the half of the rows that no direction shows to be far out.

    The outlyingness of a row is the largest |aᵀx − med| / MAD over directions a through pairs of
    rows (Stahel 1981, Donoho 1982; the first stage of ROBPCA). A direction from a bad row to a
    good one shows the bad rows that lie together, whatever k is.
    """
    ends = rows_at(rng.random_sample(2 * _DIRECTIONS), len(S), weights)
    A = (S[ends[:_DIRECTIONS]] - S[ends[_DIRECTIONS:]]).T
    lengths = np.linalg.norm(A, axis=0)
    A = A[:, lengths > 0] / lengths[lengths > 0]
    if not A.shape[1]:
        return Subspace(plain(S, k, center, weights), center)
    deviations = S @ A
    deviations = np.abs(deviations - weighted_median(deviations, weights))
    spread = weighted_median(deviations, weights)
    outlyingness = (deviations / np.maximum(spread, 1e-9 * deviations.max())).max(axis=1)
    near = outlyingness <= weighted_median(outlyingness, weights)
    near[np.argsort(outlyingness, kind="stable")[: k + 2]] = True  # half may be too few for k axes
    omega = _picked(weights, near)
    if moves:
        center = np.average(S[near], axis=0, weights=omega)
    return Subspace(plain(S[near], k, center, omega), center)


def random_basis(m: int, k: int, rng: np.random.RandomState) -> Float64Array:
    """A basis drawn uniformly over all k-dimensional subspaces."""
    return orthonormalize(rng.standard_normal((m, k)))


def _leading_axes(Y: Float64Array, k: int, d: Float64Array | None) -> Float64Array:
    """The k leading eigenvectors of Σ d_i y_i y_iᵀ."""
    n, m = Y.shape
    wide = k + _FURTHER
    if min(n, m) > max(_SMALL, 4 * wide):
        # Orthogonal iteration with more columns than are wanted: a start need not be exact.
        d = np.ones(n) if d is None else d
        V, about = (
            np.random.default_rng(0).standard_normal((m, wide)),
            split_center(np.zeros(m), Y.dtype),
        )
        for _ in range(_ROUNDS):
            rows = project(Y, about, padded_columns(V, Y.dtype), 0)
            V = orthonormalize(rows.accumulate(0, wide, d)[0])
        _, _, gram = project(Y, about, padded_columns(V, Y.dtype), 0).accumulate(0, wide, d)
        return V @ top_eigenvectors(gram, k)[1]
    if d is not None:
        Y = Y * np.sqrt(d)[:, None]
    if n < m:
        # The row space has an orthonormal basis of n vectors: the axes are found in it.
        Q = orthonormalize(Y.T)
        Y = Y @ Q
    _, _, Vt = scipy.linalg.svd(Y, full_matrices=False, check_finite=False)
    axes = Vt[:k].T if n >= m else Q @ Vt[:k].T
    return np.asarray(axes)


Start = Callable[[Float64Array, int, Float64Array, Float64Array | None], Float64Array]
STARTS: dict[str, Start] = {"spherical": spherical, "pca": plain}


def robust_scree(
    S: Float64Array, subspace: Subspace, weights: Float64Array | None = None
) -> Float64Array:
    """Variances along the axes of a subspace, from the median absolute deviation of the scores."""
    Z = subspace.project(S)
    deviation = weighted_median(np.abs(Z - weighted_median(Z, weights)), weights)
    return np.asarray((_MAD_TO_STD * deviation) ** 2)


def sample_rank(S: Float64Array, center: Float64Array) -> int:
    """The number of dimensions that the rows span about the center."""
    singular = scipy.linalg.svdvals(S - center, check_finite=False)
    return numerical_rank(singular, float(np.linalg.norm(S)), S.shape)


def components_in_scree(variances: Float64Array, share: float = 0.8, most: int = 10) -> int:
    """How many leading axes hold `share` of the variance, each at least 1e-3 of the first's.

    The rule of ROBPCA (Hubert et al. 2005), with at least one axis and at most `most`.
    """
    ordered = np.sort(variances)[::-1]
    if ordered.size == 0 or ordered[0] <= 0:
        return 1
    needed = int(np.searchsorted(np.cumsum(ordered) / ordered.sum(), share) + 1)
    tall = int(np.count_nonzero(ordered >= 1e-3 * ordered[0]))
    return max(1, min(needed, tall, most))
