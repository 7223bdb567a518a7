"""Coordinates in which a fit is made: those of the data, or of their row space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy import sparse

from trueaxis._subspace import Subspace
from trueaxis._threads import Workers
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators._center import origin_of
from trueaxis.estimators._row_basis import LongRows, RowBasis, Rows
from trueaxis.estimators._settings import Settings
from trueaxis.estimators._sparse_rows import SparseRows, telling_columns
from trueaxis.sources import DenseSource, Source


@dataclass(frozen=True)
class Coordinates:
    """y = Qᵀ(x − origin), with Q orthonormal; x = origin + Qy for every row of the data.

    `Q` is None where the coordinates are the data's own. A `RowBasis` is held to be orthonormal to
    1e-8 only; what it lifts is orthonormal to rounding all the same.
    """

    origin: Float64Array
    Q: Float64Array | RowBasis | None = None

    @property
    def is_own(self) -> bool:
        """Whether the coordinates are the data's own."""
        return self.Q is None

    def lift(self, subspace: Subspace) -> Subspace:
        """The subspace in the coordinates of the data."""
        if self.Q is None:
            return subspace
        # Center and axes in one pass over what may be the rows themselves.
        lifted = self.Q @ np.column_stack([subspace.basis, subspace.center])
        basis, center = lifted[:, :-1], self.origin + lifted[:, -1]
        return Subspace(_orthonormal(basis) if isinstance(self.Q, RowBasis) else basis, center)

    def lower(self, point: Float64Array) -> Float64Array:
        """A point of the affine hull of the rows, in these coordinates."""
        if self.Q is None:
            return point
        if np.array_equal(point, self.origin):
            return np.zeros(self.Q.shape[1])
        deviation = point - self.origin
        return self.Q.lower(deviation) if isinstance(self.Q, RowBasis) else self.Q.T @ deviation


def in_row_space(
    source: Source,
    basis: Float64Array | None,
    n_components: int | float | None,
    most: int,
    settings: Settings,
) -> tuple[Source, Float64Array | None, Coordinates, Any]:
    """Source and basis in the row space, where rows are few and at hand as one array.

    Returns
    -------
    source : Source
    basis : ndarray or None
    coordinates : Coordinates
        Those that the two are in.
    wide : array of shape (n, m) or None
        The rows as they were, dense or sparse; None where they are left as they are.
    """
    n, m = source.shape
    further = np.zeros((0, m)) if basis is None else basis.T
    least = n_components if isinstance(n_components, int) else most
    if not isinstance(n_components, int) or n_components > n:
        # Weights can stand for more rows than there are; their axes need room to be named.
        further = np.random.default_rng(0).standard_normal((max(0, most - n), m))
    # ℓ1 is of the entries, which a rotation changes.
    stays = settings.loss.entrywise or n + len(further) >= m
    wide = None if stays else source.wide()
    if wide is None:
        return source, basis, Coordinates(np.zeros(m)), None
    found = reduce_rows(
        wide, origin_of(source, settings.center), further, source.workers, source.unit, least
    )
    if found is None:
        return source, basis, Coordinates(np.zeros(m)), None
    reduced, lowered, coordinates = found
    basis = None if basis is None else np.ascontiguousarray(lowered.T)
    posed = DenseSource(reduced, weights=source.weights, workers=source.workers)
    return posed, basis, coordinates, wide


def reduce_rows(
    X: Any,
    origin: Float64Array,
    further: Float64Array,
    workers: Workers,
    unit: float = 1.0,
    least: int = 0,
) -> tuple[Float64Array, Float64Array, Coordinates] | None:
    """The rows X / unit − origin in an orthonormal basis of their span and of `further` rows.

    A rotation-invariant loss has its minimizers in the span of the rows, and every iterate stays
    in it and the span of its start: for n < m the fit is exact with r ≤ n columns instead of m.
    With A the rows and D their lengths, a Cholesky factorization

        D⁻¹AAᵀD⁻¹ = LLᵀ   gives   y_i = d_i L[i, :],   Q = AᵀD⁻¹L⁻ᵀ,

    at the price of one product AAᵀ. Rows of unit length keep a far row from taking the digits of
    all others. Squaring doubles the digits that a direction of little variance loses; where they
    matter, or where r would be below `least`, the columns are those of `row_space`, and there are
    none (None) where that would make sparse rows dense.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, m)
        Neither written to nor copied as a whole, except for `row_space`. The coordinates refer
        to it.
    origin : ndarray of shape (m,)
    further : ndarray of shape (k, m)
        Rows that the span shall hold as well; they are not shifted or scaled.
    workers : Workers
        The result has the same bits whatever their number.
    unit : float
        A power of two.
    least : int
        The least number of columns.

    Returns
    -------
    rows : ndarray of shape (n, r)
    further : ndarray of shape (k, r)
        The further rows in the new coordinates.
    coordinates : Coordinates
        They lift and lower as long as `workers` last.
    """
    n = X.shape[0]
    is_sparse = sparse.issparse(X)
    rows: LongRows = (
        SparseRows(X, origin, further, unit)
        if is_sparse
        else Rows(X, origin, further, workers, unit)
    )
    basis = RowBasis.of(rows)
    if basis is None or basis.shape[1] < least:
        if is_sparse:
            return None
        return row_space(X.astype(np.float64) * (1.0 / unit), origin, further)
    columns = basis.coordinates()
    return columns[:n], columns[n:], Coordinates(origin, basis)


def telling(X: Any) -> Array:
    """Columns in which rows of X differ if they do: X itself, where it is dense."""
    return telling_columns(X) if sparse.issparse(X) else X


def row_space(
    X: Array, origin: Float64Array, further: Float64Array
) -> tuple[Float64Array, Float64Array, Coordinates]:
    """The rows X − origin in an orthonormal basis of their span and of `further` rows.

    [X − origin; further]ᵀ = QR, so that row i is QR[:, i]. Householder QR, which does not square
    the condition number. X is overwritten.

    Returns
    -------
    rows : ndarray of shape (n, r)
    further : ndarray of shape (k, r)
        The further rows in the new coordinates.
    coordinates : Coordinates
    """
    n = X.shape[0]
    X -= origin
    stacked = np.vstack([X, further]) if len(further) else X
    Q, R = scipy.linalg.qr(stacked.T, mode="economic", overwrite_a=True, check_finite=False)
    columns = np.ascontiguousarray(R.T, dtype=np.float64)
    return columns[:n], columns[n:], Coordinates(origin, np.asarray(Q, dtype=np.float64))


def _orthonormal(V: Float64Array) -> Float64Array:
    """Nearly orthonormal columns made so, each changed by rounding and those before it alone."""
    if not V.shape[1]:
        return V
    L = scipy.linalg.cholesky(V.T @ V, lower=True, check_finite=False)
    return np.ascontiguousarray(
        scipy.linalg.solve_triangular(L, V.T, lower=True, check_finite=False).T
    )
