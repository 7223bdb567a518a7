"""Coordinates in which a fit is made: those of the data, or of their row space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from trueaxis._subspace import Subspace
from trueaxis._typing import Array, Float64Array


@dataclass(frozen=True)
class Coordinates:
    """y = Qᵀ(x − origin), with Q orthonormal; x = origin + Qy for every row of the data.

    `Q` is None where the coordinates are the data's own.
    """

    origin: Float64Array
    Q: Float64Array | None = None

    def lift(self, subspace: Subspace) -> Subspace:
        """The subspace in the coordinates of the data."""
        if self.Q is None:
            return subspace
        return Subspace(self.Q @ subspace.basis, self.origin + self.Q @ subspace.center)

    def lower(self, point: Float64Array) -> Float64Array:
        """A point of the affine hull of the rows, in these coordinates."""
        return point if self.Q is None else self.Q.T @ (point - self.origin)


def row_space(
    X: Array, origin: Float64Array, further: Float64Array
) -> tuple[Float64Array, Float64Array, Coordinates]:
    """The rows X − origin in an orthonormal basis of their span and of `further` rows.

    [X − origin; further]ᵀ = QR, so that row i is QR[:, i]. A rotation-invariant loss has its
    minimizers in the span of the rows, and every iterate stays in it and the span of its start:
    for n < m the fit is exact with n columns instead of m. Householder QR, which does not square
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
