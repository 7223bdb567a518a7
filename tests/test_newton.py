"""Newton's method: its Hessian, what it says of the gap, and where it begins."""

from itertools import product

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import heavy_tailed, objective, random_basis
from trueaxis import RobustPCA
from trueaxis._curvature import RowCurvature
from trueaxis._subspace import Subspace
from trueaxis._threads import Workers
from trueaxis.losses import Cauchy, Huber, L2p
from trueaxis.losses.bounded import m_scale
from trueaxis.multistart import random_subsets, refine
from trueaxis.solvers.hessian import Hessian
from trueaxis.starts import distinct_rows
from trueaxis.weighers import BisquareWeigher, PowerWeigher


def geodesic(W, D, s):
    """W at arc s along the geodesic of subspaces that leaves in the direction of D ⟂ W."""
    U, σ, Vt = np.linalg.svd(D, full_matrices=False)
    return (W @ Vt.T * np.cos(σ * s) + U * np.sin(σ * s)) @ Vt


def total(X, W, c, loss):
    R = (X - c) - (X - c) @ W @ W.T
    return float(loss.value_and_weight((R**2).sum(axis=1))[0].sum())


@pytest.mark.parametrize("moves", [True, False])
@pytest.mark.parametrize("loss", [L2p(1.0), L2p(0.5), L2p(1.5), Cauchy(2.0)])
def test_curvature_is_the_second_derivative_along_geodesics(loss, moves):
    X = heavy_tailed(200, 7, seed=3, df=5.0)
    W, c = random_basis(7, 2, seed=4), X.mean(axis=0)
    rng = np.random.default_rng(5)
    D = rng.standard_normal((7, 3 if moves else 2))
    D -= W @ (W.T @ D)
    rows = RowCurvature.at(Subspace(W, c), X, None, 1.0, loss, moves_center=moves)
    Z = (X - c) @ W
    Z = np.column_stack([Z, np.ones(len(Z))]) if moves else Z
    _, d = loss.value_and_weight((((X - c) - (X - c) @ W @ W.T) ** 2).sum(axis=1))
    S = (Z.T * d) @ Z
    seen = rows(D, 1.0)
    bend = np.vdot(D, D @ S) + np.vdot(D, seen - W @ (W.T @ seen))

    def J(s):
        shift = s * D[:, 2] if moves else 0.0
        return total(X, geodesic(W, D[:, :2], s), c + shift, loss)

    h = 1e-4
    assert bend == pytest.approx((J(h) - 2 * J(0.0) + J(-h)) / h**2, rel=1e-4)
    N = rng.standard_normal((7, 3))
    N -= W @ (W.T @ N)
    R = (X - c) - (X - c) @ W @ W.T
    found = rows.scatter(N)
    np.testing.assert_allclose(found - W @ (W.T @ found), (R.T * d) @ R @ N, rtol=1e-9)


def test_curvature_keeps_the_digits_of_small_residuals():
    rng = np.random.default_rng(0)
    W = random_basis(7, 2, seed=4)
    X = rng.standard_normal((200, 2)) @ W.T + 1e-7 * rng.standard_normal((200, 7))
    N = rng.standard_normal((7, 3))
    N -= W @ (W.T @ N)
    rows = RowCurvature.at(
        Subspace(W, np.zeros(7)), X, None, 1.0, L2p(1.0, epsilon=1e-9), moves_center=False
    )
    R = X - X @ W @ W.T
    d = ((R**2).sum(axis=1) + 1e-18) ** -0.5
    found = rows.scatter(N)
    np.testing.assert_allclose(found - W @ (W.T @ found), (R.T * d) @ R @ N, rtol=1e-6, atol=1e-13)


class Fixed:
    """A curvature that does not depend on rows: D ↦ −MD for a matrix M."""

    def __init__(self, M):
        self.M = M

    def __call__(self, D, trust):
        return -self.M @ D

    def scatter(self, N):
        return self.M @ N


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10_000), weakest=st.floats(0.03, 0.9), enough=st.floats(0.0, 10.0))
def test_what_a_step_gains_is_not_told_too_small(seed, weakest, enough):
    rng = np.random.default_rng(seed)
    m, k = 12, 3
    Q = random_basis(m, m, seed)
    M = (Q * (0.98 - 0.98 * weakest ** rng.uniform(0.0, 1.0, m))) @ Q.T
    S = np.diag(rng.uniform(0.99, 1.0, k))  # S̃ ⊗ I − I ⊗ M is positive
    g = rng.standard_normal((m, k))
    H = np.kron(np.eye(m), S) - np.kron(M, np.eye(k))
    exact = float(g.ravel() @ np.linalg.solve(H, g.ravel())) / 2
    none = np.zeros((m, 0))
    found = Hessian(S, Fixed(M), none, none, k).minimize(g, enough * exact)
    assert found.definite
    # Conjugate gradients leave a share of the gradient.
    assert found.gain >= 0.97 * exact
    assert found.gain <= max(1.01, enough) * exact


@pytest.mark.parametrize("seed", range(5))
def test_as_many_steps_as_dimensions_tell_the_least_eigenvalue(seed):
    m = 6
    Q = random_basis(m, m, seed)
    λ = np.linspace(0.1, 0.9, m)
    S, none = np.array([[1.5]]), np.zeros((m, 0))
    hessian = Hessian(S, Fixed((Q * λ) @ Q.T), none, none, 1)
    *_, last = hessian._conjugate_gradients(Q @ np.ones((m, 1)))
    assert last.definite
    assert last.least == pytest.approx((1.5 - 0.9) / 1.5, rel=1e-6)


def test_an_indefinite_hessian_is_seen():
    m, k = 6, 2
    M = np.diag([2.0, 0, 0, 0, 0, 0])
    none = np.zeros((m, 0))
    g = np.ones((m, k))
    assert not Hessian(np.eye(k), Fixed(M), none, none, k).minimize(g).definite


def test_axes_whose_scatter_has_no_digits_are_left_where_they_are():
    none = np.zeros((4, 0))
    S = np.array([[1.0, 1.0], [1.0, 1.0]])
    found = Hessian(S, Fixed(np.zeros((4, 4))), none, none, 2).minimize(np.ones((4, 2)))
    assert not found.definite
    np.testing.assert_array_equal(found.D, 0.0)


@pytest.mark.parametrize("p", [0.5, 1.0, 1.5])
def test_how_far_off_the_rows_lie_makes_no_difference(p):
    X = heavy_tailed(1500, 8, seed=1)
    here, far = RobustPCA(3, p=p, tol=1e-9).fit(X), RobustPCA(3, p=p, tol=1e-9).fit(X + 2.0**25)
    assert here.solver_ == far.solver_ == "newton"
    # What was minimized is what was asked for: rounding off is small beside the residuals.
    assert far.history_.objective[-1] == pytest.approx(far.objective_, rel=1e-6)
    assert far.objective_ == pytest.approx(here.objective_, rel=1e-6)


@pytest.mark.parametrize("size", [2.0**-90, 2.0**90, 2.0**300])
@pytest.mark.parametrize("loss", [L2p(1.0, epsilon=1e-6), Huber(3.0)])
def test_a_sample_holds_rows_of_any_size(size, loss):
    X = heavy_tailed(9000, 100, seed=1, df=4.0)  # of which some are drawn
    scaled = L2p(1.0, epsilon=1e-6 * size) if isinstance(loss, L2p) else Huber(3.0, scale=size)
    degree = 1 if isinstance(loss, L2p) else 2
    one, other = RobustPCA(3, loss=loss).fit(X), RobustPCA(3, loss=scaled).fit(size * X)
    assert one.solver_ == other.solver_ == "newton"
    assert other.objective_ / size**degree == pytest.approx(one.objective_, rel=1e-5)


@pytest.mark.parametrize("noise", [1e-2, 1e-4, 1e-6])
def test_a_sample_shows_small_residuals(noise):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9000, 3)) @ rng.standard_normal((3, 100))
    X += noise * rng.standard_t(4, X.shape)
    found = RobustPCA(3).fit(X)
    other = RobustPCA(3, solver="reweighted", tol=1e-9).fit(X)
    assert found.solver_ == "newton"
    assert found.objective_ == pytest.approx(other.objective_, rel=1e-6)
    assert np.diff(found.history_.objective).max(initial=0.0) <= 1e-14 * found.objective_


def test_a_sample_holds_rows_far_beyond_others():
    X = heavy_tailed(9000, 100, seed=1)
    X[::50] *= 1e60
    found = RobustPCA(3, check_breakdown=False).fit(X)
    assert found.converged_
    assert np.diff(found.history_.objective).max(initial=0.0) <= 1e-14 * found.objective_


@pytest.mark.parametrize(("p", "off"), [(0.5, 1e-6), (1.0, 1e-6), (1.0, 1e-3), (1.5, 0.0)])
def test_a_fit_leaves_a_saddle(p, off):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 6)) * [6.0, 4.0, 3.0, 1.0, 1.0, 1.0]
    mirrors = [np.array([*signs, 1, 1, 1]) for signs in product((-1, 1), repeat=3)]
    X = np.vstack([X * mirror for mirror in mirrors])  # in which the three axes are stationary
    saddle = np.eye(6)[[0, 2]]  # the second should be the other
    saddle = scipy.linalg.orth((saddle + off * rng.standard_normal(saddle.shape)).T).T
    left = RobustPCA(2, p=p, start=saddle, tol=1e-7).fit(X)
    best = RobustPCA(2, p=p, tol=1e-7).fit(X)
    assert objective(X, saddle.T, X.mean(axis=0), p) > 1.02 * best.objective_
    assert left.objective_ == pytest.approx(best.objective_, rel=1e-6)


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(0, 30), m=st.integers(1, 14), same=st.integers(0, 14), seed=st.integers(0, 999)
)
def test_distinct_rows_are_all_there_and_none_twice(n, m, same, seed):
    X = np.random.default_rng(seed).integers(0, 3, (n, m)).astype(float)
    X[:, :same] = 0.0
    found = X[distinct_rows(X)]
    assert len(found) == len(np.unique(X, axis=0)) == len(np.unique(found, axis=0))


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(2, 60), zeros=st.floats(0, 0.45), df=st.sampled_from([1.0, 3.0]),
    breakdown=st.sampled_from([0.25, 0.5]), seed=st.integers(0, 999),
)  # fmt: skip
def test_the_scale_of_many_starts_is_the_m_scale(n, zeros, df, breakdown, seed):
    rng = np.random.default_rng(seed)
    T = rng.standard_t(df, (n, 4)) ** 2
    T[: int(zeros * n)] = 0.0
    found = BisquareWeigher(breakdown).values(T)
    for σ, t in zip(found, T.T, strict=True):
        exact = m_scale(t, None, breakdown)
        floor = 1e-12 * np.sqrt(t.max())  # below it both count as nothing
        assert σ == pytest.approx(exact, rel=1e-6, abs=10 * floor)


@pytest.mark.parametrize(("n", "m", "k"), [(60, 8, 2), (500, 60, 5), (400, 500, 5)])
def test_starts_are_the_same_whatever_the_threads(n, m, k):
    S = heavy_tailed(n, m, seed=1)
    found = []
    for n_jobs in (1, 2, 3):
        rng = np.random.RandomState(0)
        first = Subspace(random_basis(m, k), S.mean(axis=0))
        starts = random_subsets(S, None, first, [k + 1, 2 * k] * 4, rng, moves=True)
        with Workers.start(n_jobs) as workers:
            found.append(refine(S, None, starts, PowerWeigher(1.0), 3, workers, moves=True))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].bases, other.bases)
        np.testing.assert_array_equal(found[0].centers, other.centers)


def test_what_is_made_meanwhile_is_what_would_be_made_here():
    for n_jobs in (1, 2):
        with Workers.start(n_jobs) as workers:
            assert workers.meanwhile(lambda: 6 * 7)() == 42
