r"""The products of a sweep with rows that have gaps: the gaps are filled by the point itself.

Let O be the columns observed in row i, and its squared residual what no scores can do away with,

    t_i(W, c) = min_z ‖x_O − c_O − W_O z‖².

At a point (W₀, c₀) with the minimizing scores z_i, fill the row to x̂_i: x_O where observed, and
c₀ + W₀z_i elsewhere. With t̂_i(W, c) = ‖(I − WWᵀ)(x̂_i − c)‖², the residual of complete rows:

1.  t̂_i(W, c) = min_z ‖x̂_i − c − Wz‖² ≥ min_z ‖x_O − c_O − W_O z‖² = t_i(W, c), since a sum of
    squares over all columns is at least that over O.
2.  At (W₀, c₀) both are equal: z_i leaves nothing in the filled columns, and in O what no scores
    improve on.

So Σ d_i t̂_i with d_i = 2ρ′(t_i) majorizes J = Σ ρ(t_i) up to a constant wherever ρ is concave and
rising, J ≤ Σ ρ(t̂_i) ≤ J(W₀, c₀) + ½ Σ d_i (t̂_i − t_i(W₀, c₀)), with equality at (W₀, c₀). A step
that lowers it for complete rows, as every solver's here that majorizes does, never raises J. Sums
over x̂_i are all it takes, and x̂_i is made when the block is projected.
"""

from __future__ import annotations

import numpy as np

from trueaxis._gaps import GappyBlock
from trueaxis._products.base import Center, Projection, dense_rows, project
from trueaxis._typing import Array, Float64Array

# Scores that the observed entries leave open are those of least length: a ridge of this share of
# the mean eigenvalue of WᵀW decides for them, and moves no others by more than rounding.
_RIDGE = 1e-13
_PIECE = 1 << 20  # entries of the matrices G_i that are formed at once


@project.register
def _(block: GappyBlock, center: Center, P: Array, inner: int) -> Projection:
    W = P[:, :inner].astype(np.float64, copy=False)
    return project(complete_rows(block.rows, center.whole, W), center, P, inner)


@dense_rows.register
def _(block: GappyBlock, rows: slice) -> Array:
    return np.where(np.isnan(block.rows[rows]), 0.0, block.rows[rows])


def complete_rows(X: Array, center: Float64Array, W: Float64Array) -> Array:
    """x̂_i: the observed entries, and c + W z_i in place of every NaN.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Rows; the same array comes back where they have no NaN.
    center : ndarray of shape (m,)
    W : ndarray of shape (m, k)
        Independent columns.

    Returns
    -------
    ndarray of shape (n, m)
        In float64 where anything was filled, so that x̂ − c is as exact as x − c.

    Examples
    --------
    >>> diagonal = np.array([[1.0], [1.0]])
    >>> complete_rows(np.array([[3.0, np.nan]]), np.zeros(2), diagonal).round(6)
    array([[3., 3.]])
    """
    gaps = np.isnan(X)
    which = np.flatnonzero(gaps.any(axis=1))
    if not which.size:
        return X
    filled = X.astype(np.float64)
    step = max(1, _PIECE // max(1, W.shape[1] ** 2))
    for first in range(0, len(which), step):
        some = which[first : first + step]
        rows, observed = filled[some], ~gaps[some]
        B = np.where(observed, rows - center, 0.0)
        Z = observed_scores(B, observed, W)
        filled[some] = np.where(observed, rows, center + Z @ W.T)
    return filled


def observed_scores(B: Float64Array, observed: Array, W: Float64Array) -> Float64Array:
    """argmin_z ‖b_O − W_O z‖²: G_i z_i = W_Oᵀb_O with G_i = W_Oᵀ W_O = Σ_{j ∈ O} w_j w_jᵀ.

    Parameters
    ----------
    B : ndarray of shape (n, m)
        Deviations, 0 where nothing was observed.
    observed : ndarray of bool, shape (n, m)
    W : ndarray of shape (m, k)

    Returns
    -------
    ndarray of shape (n, k)
        The shortest of the minimizers where there are several.
    """
    m, k = W.shape
    if k == 0:
        return np.zeros((len(B), 0))
    pairs = (W[:, :, None] * W[:, None, :]).reshape(m, k * k)
    G = (observed.astype(np.float64) @ pairs).reshape(-1, k, k)
    G[:, range(k), range(k)] += _RIDGE * float(np.vdot(W, W)) / k
    return np.asarray(np.linalg.solve(G, (B @ W)[:, :, None])[:, :, 0])
