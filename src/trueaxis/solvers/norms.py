"""‖A‖₂ of the weighted scatter matrix, from a few products with it."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from trueaxis._typing import Float64Array
from trueaxis.solvers.base import Apply

_ERROR = 1e-12  # relative, of the norm
_MAX_PRODUCTS = 300
_DEPENDENT = 1e-12  # of a column, what others do not span


def first_guess(m: int) -> Float64Array:
    """A unit vector (m, 1) that no data can be expected to be orthogonal to, always the same."""
    v = np.random.default_rng(0).standard_normal((m, 1))
    return np.asarray(v / np.linalg.norm(v))


def extend(basis: Float64Array, V: Float64Array) -> Float64Array:
    """`basis` with more columns: orthonormal, along what it leaves of the columns of V.

    Where the basis comes to span the whole space there is nothing left to add.
    """
    m = len(basis)
    V = V[:, : m - basis.shape[1]]
    if V.shape[1] == 0:
        return basis
    Q, _ = scipy.linalg.qr(basis, mode="economic", check_finite=False)
    for _ in range(2):  # twice is enough (Kahan and Parlett)
        V = V - Q @ (Q.T @ V)
        factors = scipy.linalg.qr(V, mode="economic", check_finite=False)
        V, R = (np.asarray(f, dtype=np.float64) for f in factors)
        if not np.abs(np.diag(R)).min() > 0:
            V = V + first_guess(m)
    return np.hstack([basis, V - Q @ (Q.T @ V)])


def spectral_norm(
    apply: Apply, basis: Float64Array, image: Float64Array
) -> tuple[float, Float64Array]:
    """λ_max(A) and its eigenvector (m, 1), by Rayleigh–Ritz on a growing Krylov space.

    The space starts as the span of `basis`, whose image is known already, and grows by the
    residual r = Au − θu of the leading Ritz pair (θ, u): one product with a single vector each.
    The Ritz value errs by at most ‖r‖, and by ‖r‖²/gap where the gap to the next is known.

    Parameters
    ----------
    apply : callable
        V → AV.
    basis, image : ndarray of shape (m, q)
        Columns that span a first guess, and A times them; those that others span are left out.
    """
    factors = scipy.linalg.qr(basis, mode="economic", check_finite=False)
    Q, R = (np.asarray(f, dtype=np.float64) for f in factors)
    kept = np.abs(np.diag(R)) > _DEPENDENT * np.abs(R).max()
    if not kept.all():
        factors = scipy.linalg.qr(basis[:, kept], mode="economic", check_finite=False)
        Q, R = (np.asarray(f, dtype=np.float64) for f in factors)
        image = image[:, kept]
    AQ = scipy.linalg.solve_triangular(R, image.T, trans="T", check_finite=False).T
    for _ in range(_MAX_PRODUCTS):
        H = Q.T @ AQ
        values, vectors = scipy.linalg.eigh((H + H.T) / 2, check_finite=False)
        theta, y = float(values[-1]), vectors[:, -1]
        u = Q @ y
        residual = AQ @ y - theta * u
        size = float(np.linalg.norm(residual))
        # The next Ritz value is below the next eigenvalue: half of the gap is taken for safety.
        gap = (theta - float(values[-2])) / 2 if len(values) > 1 else 0.0
        error = min(size, size * size / gap) if gap > 0 else size
        if error <= _ERROR * abs(theta) or Q.shape[1] >= len(Q):
            break
        Q = extend(Q, residual[:, None])
        AQ = np.column_stack([AQ, apply(Q[:, -1:])])
    return theta, u[:, None]
