"""‖A‖₂ of the weighted scatter matrix, from a few products with it."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from trueaxis._typing import Float64Array
from trueaxis.solvers.base import Apply

# A Ritz value errs by the square of its vector's error: this residual leaves 1e-13 of θ²/gap.
_RESIDUAL = 3e-7
_MAX_PRODUCTS = 300


def first_guess(m: int) -> Float64Array:
    """A unit vector that no data can be expected to be orthogonal to, always the same one."""
    v = np.random.default_rng(0).standard_normal(m)
    return np.asarray(v / np.linalg.norm(v))


def extend(basis: Float64Array, v: Float64Array) -> Float64Array:
    """`basis` with one more column: the unit vector along what it leaves of v.

    Where the basis spans the whole space already there is nothing to add.
    """
    m, q = basis.shape
    if q >= m:
        return basis
    Q, _ = scipy.linalg.qr(basis, mode="economic", check_finite=False)
    for _ in range(2):  # twice is enough (Kahan and Parlett)
        v = v - Q @ (Q.T @ v)
        norm = float(np.linalg.norm(v))
        v = v / norm if norm > 0 else first_guess(m)
    return np.column_stack([basis, v - Q @ (Q.T @ v)])


def spectral_norm(
    apply: Apply, basis: Float64Array, image: Float64Array
) -> tuple[float, Float64Array]:
    """λ_max(A) and its eigenvector, by Rayleigh–Ritz on a growing Krylov space.

    The space starts as the span of `basis`, whose image is known already, and grows by the
    residual Au − θu of the leading Ritz pair (θ, u): one product with a single vector each.

    Parameters
    ----------
    apply : callable
        V → AV.
    basis, image : ndarray of shape (m, q)
        Well-conditioned columns that span a first guess, and A times them.
    """
    factors = scipy.linalg.qr(basis, mode="economic", check_finite=False)
    Q, R = (np.asarray(f, dtype=np.float64) for f in factors)
    AQ = scipy.linalg.solve_triangular(R, image.T, trans="T", check_finite=False).T
    for _ in range(_MAX_PRODUCTS):
        H = Q.T @ AQ
        values, vectors = scipy.linalg.eigh((H + H.T) / 2, check_finite=False)
        theta, y = float(values[-1]), vectors[:, -1]
        u = Q @ y
        residual = AQ @ y - theta * u
        if float(np.linalg.norm(residual)) <= _RESIDUAL * abs(theta) or Q.shape[1] >= len(Q):
            break
        Q = extend(Q, residual)
        AQ = np.column_stack([AQ, apply(Q[:, -1:])])
    return theta, u
