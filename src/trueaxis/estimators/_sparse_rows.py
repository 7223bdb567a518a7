"""Few, long rows in sparse storage, multiplied for the basis of their span and never made dense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trueaxis._typing import Array, Float64Array

_LEFT = 1e-4  # of the squares that are subtracted from one another; with less, digits are lost


@dataclass(frozen=True)
class SparseRows:
    """A = [X / unit − 1oᵀ; F] with X sparse, o the origin and F the further rows.

    The origin is subtracted in the products alone:

        AAᵀ = [XXᵀ − p1ᵀ − 1pᵀ + ‖o‖²,  XFᵀ − 1(Fo)ᵀ;  ·,  FFᵀ],   p = Xo.

    Parameters
    ----------
    X : sparse array of shape (n, m)
    origin : ndarray of shape (m,)
    further : ndarray of shape (k, m)
    unit : float
        A power of two.
    """

    X: Any
    origin: Float64Array
    further: Float64Array
    unit: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns of A."""
        n, m = self.X.shape
        return n + len(self.further), m

    def gram(self) -> Float64Array:
        """AAᵀ; not finite where squares overflow, or the differences have lost their digits."""
        X, o, F = self._scaled, self.origin, self.further
        n = X.shape[0]
        K = np.empty((n + len(F), n + len(F)))
        with np.errstate(over="ignore", invalid="ignore"):  # told by the result
            top = (X @ X.T).toarray()
            squares = np.diagonal(top).copy()
            if o.any():
                p = X @ o
                top -= p
                top -= p[:, None]
                top += o @ o
                if (np.diagonal(top) < _LEFT * (squares + o @ o)).any():
                    top[:] = np.nan
            K[:n, :n] = top
            K[:n, n:] = X @ F.T - F @ o
            K[n:, :n] = K[:n, n:].T
            K[n:, n:] = F @ F.T
        return K

    def combine(self, G: Float64Array) -> Float64Array:
        """AᵀG = Xᵀ G₁ − o(1ᵀG₁) + Fᵀ G₂: combinations of the rows, in columns."""
        n = self.X.shape[0]
        out = self._scaled.T @ G[:n]
        if self.origin.any():
            out -= np.outer(self.origin, G[:n].sum(axis=0))
        if len(self.further):
            out += self.further.T @ G[n:]
        return np.asarray(out)

    def multiply(self, v: Float64Array) -> Float64Array:
        """Av."""
        return np.concatenate([self._scaled @ v - self.origin @ v, self.further @ v])

    @property
    def _scaled(self) -> Any:
        X = self.X.astype(np.float64, copy=False)
        return X if self.unit == 1.0 else X * (1.0 / self.unit)


def telling_columns(X: Any) -> Array:
    """Products of sparse rows with random vectors: equal for equal rows, and only for these."""
    columns = np.random.default_rng(0).standard_normal((X.shape[1], 2))
    return np.asarray(X.astype(np.float64, copy=False) @ columns)
