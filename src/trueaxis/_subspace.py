"""A point of the problem: where the affine subspace lies and which way it runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from trueaxis._typing import Array


@dataclass(frozen=True, slots=True)
class Subspace:
    """The affine subspace ``{center + basis @ z}``.

    Parameters
    ----------
    basis : ndarray of shape (n_features, n_components)
        Orthonormal columns, the paper's W.
    center : ndarray of shape (n_features,)
        A point of the subspace, c.

    Examples
    --------
    >>> import numpy as np
    >>> line = Subspace(basis=np.array([[1.0], [0.0]]), center=np.zeros(2))
    >>> line.residuals(np.array([[3.0, 4.0]]))
    array([[0., 4.]])
    """

    basis: Array
    center: Array

    @property
    def n_components(self) -> int:
        """The dimension k of the subspace."""
        return int(self.basis.shape[1])

    def project(self, X: Array) -> Array:
        """Coordinates z_i = Wᵀ(x_i − c) of the rows of X."""
        return np.asarray((X - self.center) @ self.basis)

    def residuals(self, X: Array) -> Array:
        """What the subspace leaves of each row: r_i = (I − WWᵀ)(x_i − c)."""
        R = X - self.center
        R -= (R @ self.basis) @ self.basis.T
        return np.asarray(R)

    def angles(self, other: Subspace) -> Array:
        """Principal angles to the directions of another subspace, in radians, largest first.

        The centers play no part. Small angles are computed from their sine, so that they are
        exact to rounding.
        """
        return np.asarray(scipy.linalg.subspace_angles(self.basis, other.basis))
