"""New rows against a fixed row space, by least absolute deviations."""

from __future__ import annotations

import numpy as np

from trueaxis._typing import Array, Float64Array


def least_absolute(
    X: Float64Array, V: Float64Array, observed: Array | None = None, max_iter: int = 500
) -> Float64Array:
    """Z (rows) that minimizes Σ|x_i − V z_i|₁ over the observed entries, for orthonormal V."""
    Z = X @ V
    scale = np.abs(X).mean(axis=1, keepdims=True)
    scale[scale == 0] = 1.0
    R = X - Z @ V.T
    Y = np.zeros_like(X)
    for _ in range(max_iter):
        B = X - Z @ V.T + Y
        C = np.clip(B, -scale, scale)
        if observed is not None:
            C[~observed] = 0.0
        R = B - C
        Y = C
        Z_new = (X - R + Y) @ V
        if np.abs(Z_new - Z).max(initial=0.0) <= 1e-10 * scale.max():
            return Z_new
        Z = Z_new
    return Z
