"""The probabilistic reading of principal axes: a Gaussian with a spherical rest."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from trueaxis._typing import Array, Float64Array


def covariance(components: Array, variances: Array, noise: float) -> Float64Array:
    """C = W diag(λ − σ²) Wᵀ + σ²I (Tipping and Bishop 1999)."""
    W = components.T
    C = (W * np.maximum(variances - noise, 0.0)) @ W.T
    C.flat[:: len(C) + 1] += noise
    return np.asarray(C)


def precision(components: Array, variances: Array, noise: float) -> Float64Array:
    """C⁻¹ = W diag(1/λ) Wᵀ + (I − WWᵀ)/σ²; where σ² is 0 on a proper subspace, +inf appears."""
    W, m = components.T, components.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        within = (W / np.maximum(variances, noise)) @ W.T
        if len(components) == m:
            return np.asarray(within)
        return np.asarray(within + (np.eye(m) - W @ W.T) / np.float64(noise))


def log_likelihood(
    scores: Array, squared_residuals: Array, variances: Array, noise: float, m: int
) -> Float64Array:
    """log N(x; c, C) of each row: −½(m log 2π + log|C| + Σ z_j²/λ_j + t/σ²)."""
    k = len(variances)
    λ = np.maximum(variances, noise)
    if not λ.all() or (k < m and noise == 0.0):
        # No density off a proper subspace, and no finite one on it.
        return np.full(len(scores), -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_det = float(np.sum(np.log(λ)))
        mahalanobis = np.sum(scores**2 / λ, axis=1)
        if k < m:
            log_det += (m - k) * float(np.log(np.float64(noise)))
            mahalanobis = mahalanobis + squared_residuals / np.float64(noise)
        return np.asarray(-0.5 * (m * np.log(2 * np.pi) + log_det + mahalanobis))


def log_likelihood_of_observed(X: Array, center: Float64Array, C: Float64Array) -> Float64Array:
    """log N(x_O; c_O, C_OO) of each row, O being its entries that are no NaN.

    −½(|O| log 2π + log|C_OO| + ‖L⁻¹(x_O − c_O)‖²) with C_OO = LLᵀ, one L for all rows with the
    same gaps.
    """
    found = np.empty(len(X))
    patterns, which = np.unique(~np.isnan(X), axis=0, return_inverse=True)
    for number, observed in enumerate(patterns):
        rows = which.ravel() == number
        B = X[rows][:, observed] - center[observed]
        try:
            L = np.linalg.cholesky(C[np.ix_(observed, observed)])
        except np.linalg.LinAlgError:
            found[rows] = -np.inf  # as in `log_likelihood`, on a proper subspace
            continue
        Y = scipy.linalg.solve_triangular(L, B.T, lower=True, check_finite=False)
        log_det = 2.0 * float(np.log(L.diagonal()).sum())
        squares = np.sum(Y**2, axis=0)
        found[rows] = -0.5 * (observed.sum() * np.log(2 * np.pi) + log_det + squares)
    return found
