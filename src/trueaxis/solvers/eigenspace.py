"""The leading eigenvectors of A from products with it, where A is too large to form."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from trueaxis._typing import Float64Array
from trueaxis.solvers.base import Apply
from trueaxis.solvers.norms import first_guess

_RESIDUAL = 1e-12
_MAX_PRODUCTS = 500
_MAX_WIDTH = 24  # blocks of k columns kept before the space is compressed to its best part


def leading_eigenspace(apply: Apply, basis: Float64Array, image: Float64Array) -> Float64Array:
    """The eigenvectors of the k largest eigenvalues of A, as columns, largest first.

    By Rayleigh–Ritz on a block Krylov space, compressed when it grows wide.

    The space starts as the span of the orthonormal `basis`, whose image A·`basis` is known
    already, and grows by the residuals AU − UΘ of the leading Ritz pairs that have not converged.
    """
    m, k = basis.shape
    Q, AQ = basis, image
    # A start that happens to be invariant under A would never be left: one foreign direction,
    # multiplied along, finds any larger eigenvalue.
    Q, AQ, _ = _grow(apply, Q, AQ, first_guess(m))
    for _ in range(_MAX_PRODUCTS):
        H = Q.T @ AQ
        values, Y = scipy.linalg.eigh((H + H.T) / 2, check_finite=False)
        theta, Y = values[::-1], Y[:, ::-1]
        U, AU = Q @ Y[:, :k], AQ @ Y[:, :k]
        R = AU - U * theta[:k]
        open_pairs = np.linalg.norm(R, axis=0) > _RESIDUAL * max(theta[0], 0.0)
        if not open_pairs.any() or Q.shape[1] >= m:
            break
        if Q.shape[1] >= _MAX_WIDTH * k:
            kept = min(3 * k, Q.shape[1])
            Q, AQ = Q @ Y[:, :kept], AQ @ Y[:, :kept]
        Q, AQ, grown = _grow(apply, Q, AQ, R[:, open_pairs])
        if not grown:
            break
    return np.asarray(U)


def _grow(
    apply: Apply, Q: Float64Array, AQ: Float64Array, R: Float64Array
) -> tuple[Float64Array, Float64Array, bool]:
    """Q and AQ with the directions of R that Q does not span yet."""
    size = np.linalg.norm(R, axis=0)
    R = R[:, size > 0] / size[size > 0]
    for _ in range(2):  # twice is enough (Kahan and Parlett)
        R = R - Q @ (Q.T @ R)
        norms = np.linalg.norm(R, axis=0)
        R = R[:, norms > 1e-12]
        if R.shape[1] == 0:
            return Q, AQ, False
        U, s, _ = scipy.linalg.svd(R, full_matrices=False, check_finite=False)
        R = U[:, s > 1e-10 * s[0]]
    room = Q.shape[0] - Q.shape[1]
    R = R[:, :room]
    if R.shape[1] == 0:
        return Q, AQ, False
    return np.hstack([Q, R]), np.hstack([AQ, apply(R)]), True
