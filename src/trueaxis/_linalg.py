"""Small dense factorizations of tall, thin matrices."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from trueaxis._typing import Array, Float64Array


def polar(R: Array) -> Float64Array:
    """The orthonormal matrix nearest to R: UVᵀ of the thin SVD R = USVᵀ.

    It maximizes tr(WᵀR) over WᵀW = I (the paper's closing step of algorithms 1, 2, 4 and 5).

    Examples
    --------
    >>> import numpy as np
    >>> polar(np.array([[2.0], [0.0]]))
    array([[1.],
           [0.]])
    """
    U, _, Vt = scipy.linalg.svd(R, full_matrices=False, check_finite=False)
    return np.asarray(U @ Vt)


def orthonormalize(R: Array) -> Float64Array:
    """An orthonormal basis of the columns' span, completed arbitrarily where they are dependent."""
    Q, _ = scipy.linalg.qr(R, mode="economic", check_finite=False)
    return np.asarray(Q)


def top_eigenvectors(A: Array, k: int) -> tuple[Float64Array, Float64Array]:
    """The k largest eigenvalues of the symmetric A, in descending order, and their vectors."""
    m = A.shape[0]
    # The subset driver of LAPACK pays once few of many vectors are wanted; for small matrices
    # the divide-and-conquer one is faster and returns exactly orthogonal vectors.
    if m <= 64 or 4 * k > m:
        values, vectors = np.linalg.eigh(A)
        values, vectors = values[-k:], vectors[:, -k:]
    else:
        values, vectors = scipy.linalg.eigh(
            A, driver="evr", subset_by_index=[m - k, m - 1], check_finite=False
        )
    return np.asarray(values[::-1]), np.asarray(vectors[:, ::-1])


def complete(V: Array, k: int, within: Array | None = None) -> Float64Array:
    """Orthonormal columns up to k in number, the first of them V's.

    The further ones depend on the span of V alone: each is what V and those before leave of the
    coordinate axis they leave the most of (a pivoted Cholesky factorization of I − VVᵀ). Where
    they shall lie in the span of the orthonormal W = `within`, WWᵀ takes the place of I.
    """
    m, r = V.shape
    basis = np.zeros((m, k))
    basis[:, :r] = V
    room = np.ones(m) if within is None else np.sum(within * within, axis=1)
    for j in range(r, k):
        found = basis[:, :j]
        axis = int(np.argmax(np.round(room - np.sum(found * found, axis=1), 9)))
        v = np.zeros(m)
        v[axis] = 1.0
        for _ in range(2):  # twice is enough (Kahan and Parlett)
            v = v if within is None else within @ (within.T @ v)
            v = v - found @ (found.T @ v)
        basis[:, j] = v / np.linalg.norm(v)
    return basis


def numerical_rank(singular_values: Array, size: float, shape: tuple[int, int]) -> int:
    """How many singular values stand out of the rounding of entries of that size."""
    floor = max(shape) * np.finfo(np.float64).eps * size
    return int(np.count_nonzero(singular_values > floor))


def flip_signs(W: Array) -> Float64Array:
    """Each column with its largest entry positive: scikit-learn's convention for PCA."""
    rows = np.argmax(np.abs(W), axis=0)
    signs = np.sign(W[rows, np.arange(W.shape[1])])
    signs[signs == 0] = 1.0
    return np.asarray(W * signs)


def axes_from_scaled_gram(gram: Array, scale: Array) -> tuple[Float64Array, Float64Array]:
    """Singular values and right vectors of Y from the Gram matrix of Y/scale, digits kept.

    Y = Ŷ diag(scale) with nearly orthonormal Ŷ. With ŶᵀŶ = EΛEᵀ, YᵀY = RᵀR for
    R = Λ^½Eᵀ diag(scale), and R is accurate column by column; so small singular values keep the
    digits that the eigenvalues of YᵀY would lose (the idea of CholeskyQR2).
    """
    values, E = scipy.linalg.eigh(gram, check_finite=False)
    R = np.sqrt(np.maximum(values, 0.0))[:, None] * E.T * scale
    _, s, Vt = scipy.linalg.svd(R, check_finite=False)
    return np.asarray(s), np.asarray(Vt.T)
