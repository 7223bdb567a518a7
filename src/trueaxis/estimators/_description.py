"""What is said of the subspace found: axes and variances of the rows that agree with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtr, chdtri

from trueaxis import outliers
from trueaxis._products import scratch
from trueaxis._subspace import Subspace
from trueaxis._sweep import row_squares, row_terms
from trueaxis._typing import Array, Float64Array
from trueaxis.sources import Source

# Rows beyond these quantiles of a Gaussian's distances do not count for variances. Far out, so
# that few good rows are lost; what the score quantile cuts off a Gaussian is made up for.
_ORTHOGONAL, _SCORE = 0.9999, 0.99
_TELLING = 1000  # rows of a sample that tell how far agreement goes


@dataclass(frozen=True)
class Reach:
    """Which rows agree with a subspace, and what leaving the others out takes from variances.

    Those near it, and within it near the middle of the others: with the location μ and the
    scatter S of the scores, (z − μ)ᵀS⁻¹(z − μ) ≤ χ²_{k,0.99}. The variance of what is left of a
    Gaussian falls short by F_{k+2}(χ²)/F_k(χ²), which `inflation` makes up for.
    """

    cutoff: float
    location: Float64Array | None = None
    whitening: Float64Array | None = None

    @classmethod
    def of(cls, sample: Float64Array, omega: Float64Array | None, point: Subspace) -> Reach:
        """The reach that the rows of a sample determine."""
        k = point.n_components
        thin = len(sample) // _TELLING
        if thin > 1 and omega is None:
            sample = sample[::thin]
        terms = row_terms(point, sample.dtype)(sample)
        orthogonal, Z = np.sqrt(terms[:, 0]), np.ascontiguousarray(terms[:, 1:])
        cutoff = outliers.orthogonal_cutoff(orthogonal, _ORTHOGONAL, omega)
        near = orthogonal <= cutoff
        mass = np.ones(len(sample)) if omega is None else omega
        if k == 0 or mass[near].sum() < 5 * k + 5:
            return cls(cutoff)
        location, scatter = outliers.robust_scatter(Z[near], mass[near])
        return cls(cutoff, location, outliers.whitening(scatter))

    @property
    def is_all(self) -> bool:
        """Whether every row agrees."""
        return self.cutoff == np.inf and self.location is None

    @property
    def inflation(self) -> float:
        """1 where no row is left out for its scores."""
        if self.location is None:
            return 1.0
        k = len(self.location)
        return float(_SCORE / chdtr(k + 2, chdtri(k, 1 - _SCORE)))

    def __call__(self, t: Float64Array, Z: Array) -> Array:
        """Whether each of some rows agrees, from its squared residual norm and its scores."""
        near = np.asarray(t <= self.cutoff**2)
        if self.location is None or self.whitening is None:
            return near
        T = self.whitening.astype(Z.dtype, copy=False)
        # One row of Y for a column of T: sums over few numbers each are slow.
        Y = scratch("whitened", Z.T.shape, Z.dtype)
        np.matmul(T.T, Z.T, out=Y)
        Y -= (self.location @ T).astype(Z.dtype)[:, None]
        squares = np.einsum("ij,ij->j", Y, Y)
        return np.asarray(near & (squares <= chdtri(len(self.location), 1 - _SCORE)))


def near_rows(source: Source, point: Subspace) -> Reach:
    """The rows whose orthogonal distance is within the cut-off."""
    orthogonal = np.sqrt(source.collect(row_squares(point, source.dtype)).astype(np.float64))
    return Reach(outliers.orthogonal_cutoff(orthogonal, _ORTHOGONAL, source.weights))
