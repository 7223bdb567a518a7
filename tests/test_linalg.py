import numpy as np
import pytest

from helpers import random_basis
from trueaxis import Subspace
from trueaxis._linalg import (
    axes_from_scaled_gram,
    complete,
    flip_signs,
    orthonormalize,
    polar,
    top_eigenvectors,
)
from trueaxis.solvers.eigenspace import leading_eigenspace
from trueaxis.solvers.norms import extend, first_guess, spectral_norm


def positive(m, seed=0, decay=1.0):
    V = random_basis(m, m, seed)
    return (V * np.arange(1, m + 1) ** -decay) @ V.T


def test_polar_maximizes_the_trace():
    R = np.random.default_rng(0).standard_normal((7, 3))
    best = np.trace(polar(R).T @ R)
    assert best == pytest.approx(np.linalg.svd(R, compute_uv=False).sum())
    for seed in range(20):
        assert np.trace(random_basis(7, 3, seed).T @ R) <= best


@pytest.mark.parametrize("m", [1, 2, 30, 200])
def test_spectral_norm_from_products_alone(m):
    A = positive(m)
    basis = extend(random_basis(m, min(2, m)), first_guess(m))
    norm, u = spectral_norm(lambda V: A @ V, basis, A @ basis)
    assert norm == pytest.approx(np.linalg.norm(A, 2), rel=1e-11)
    assert np.linalg.norm(A @ u - norm * u) < 1e-5


def test_spectral_norm_is_found_from_an_invariant_subspace_of_smaller_eigenvalues():
    A = np.diag([1.0, 2.0, 3.0, 10.0])
    basis = extend(np.eye(4)[:, :2], first_guess(4))
    assert spectral_norm(lambda V: A @ V, basis, A @ basis)[0] == pytest.approx(10.0)


@pytest.mark.parametrize(("m", "k"), [(5, 1), (60, 7), (300, 10), (40, 40)])
def test_eigenspace_from_products_alone(m, k):
    A = positive(m, decay=1.5)
    start = random_basis(m, k, seed=1)
    W = leading_eigenspace(lambda V: A @ V, start, A @ start)
    expected = top_eigenvectors(A, k)[1]
    np.testing.assert_allclose(W @ W.T, expected @ expected.T, atol=1e-8)


def test_small_singular_values_keep_their_digits():
    rng = np.random.default_rng(0)
    s = 10.0 ** -np.arange(0, 14, 2)
    Y = np.linalg.qr(rng.standard_normal((50, 7)))[0] * s @ random_basis(7, 7).T
    _, V = np.linalg.eigh(Y.T @ Y)
    V = V[:, ::-1]
    scale = np.maximum(np.linalg.norm(Y @ V, axis=0), 1e-8)
    scaled = Y @ (V / scale)
    singular, _ = axes_from_scaled_gram(scaled.T @ scaled, scale)
    np.testing.assert_allclose(singular[:6], s[:6], rtol=1e-4)
    # What the eigenvalues of YᵀY make of it: nothing of the last ones is left.
    lost = np.sqrt(np.abs(np.linalg.eigvalsh(Y.T @ Y)[::-1]))
    assert abs(lost[5] / s[5] - 1) > 1e-2


def test_completion_depends_on_the_span_alone():
    V = random_basis(8, 3)
    full, turned = complete(V, 8), complete(V @ random_basis(3, 3, 1), 8)
    np.testing.assert_allclose(full.T @ full, np.eye(8), atol=1e-12)
    np.testing.assert_allclose(full[:, 3:], turned[:, 3:], atol=1e-12)


def test_signs_and_orthonormal_bases():
    W = flip_signs(random_basis(6, 3))
    assert (W[np.abs(W).argmax(axis=0), range(3)] > 0).all()
    Q = orthonormalize(np.ones((5, 2)))
    np.testing.assert_allclose(Q.T @ Q, np.eye(2), atol=1e-12)


def test_angles_between_subspaces():
    a = Subspace(np.eye(3)[:, :1], np.zeros(3))
    for angle in (1e-9, 0.3, np.pi / 2):
        b = Subspace(np.array([[np.cos(angle)], [np.sin(angle)], [0.0]]), np.ones(3))
        assert a.angles(b)[0] == pytest.approx(angle, rel=1e-6)
