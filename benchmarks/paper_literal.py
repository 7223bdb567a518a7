"""The paper's six algorithms as its text has them, columns as samples, for comparison only.

Each iteration forms the dense X D Xᵀ, takes its spectral norm, and a full SVD where the paper
takes one. Nothing here is fast, and nothing is shared with the package.
"""

from __future__ import annotations

import numpy as np


def weights(X, W, loss, p):
    """The diagonal of D: p‖y_i‖^{p−2} for ℓ2,p and ‖y_i‖₁/‖y_i‖₂² for ℓ1, Y = X − WWᵀX."""
    Y = X - W @ (W.T @ X)
    norm2 = np.linalg.norm(Y, axis=0)
    if loss == "l2p":
        return p * norm2 ** (p - 2)
    return np.abs(Y).sum(axis=0) / norm2**2


def objective(X, W, loss, p):
    """Σ‖y_i‖₂^p, or Σ‖y_i‖₁."""
    Y = X - W @ (W.T @ X)
    if loss == "l2p":
        return float((np.linalg.norm(Y, axis=0) ** p).sum())
    return float(np.abs(Y).sum())


def iterates(X, W, loss="l2p", solver="proximal", p=1.0, n_iter=10):
    """Yield (W, J) before the first and after each of `n_iter` updates; X is m×n."""
    W_old, s = W, 1
    yield W, objective(X, W, loss, p)
    for _ in range(n_iter):
        A = X @ np.diag(weights(X, W, loss, p)) @ X.T
        if solver == "reweighted":
            U, _, _ = np.linalg.svd(A)
            W_new = U[:, : W.shape[1]]
        else:
            t = 1.0 / np.linalg.norm(A, 2)
            V = W + (s - 2) / (s + 1) * (W - W_old) if solver == "accelerated" else W
            U, _, Vt = np.linalg.svd(V + t * A @ V, full_matrices=False)
            W_new = U @ Vt
        W_old, W, s = W, W_new, s + 1
        yield W, objective(X, W, loss, p)
