"""What makes a decomposition optimal: feasible points of both problems, and the KKT conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueaxis._threads import Workers, single_threaded_blas
from trueaxis.pursuit import OutlierPursuit, PrincipalComponentPursuit, StablePCP
from trueaxis.pursuit import _certificate as certificate
from trueaxis.pursuit._admm import steps
from trueaxis.pursuit._penalties import Entrywise, Rowwise
from trueaxis.pursuit._problem import Problem
from trueaxis.pursuit._svt import Thresholding


@pytest.fixture(autouse=True)
def _one_thread():
    # Small decompositions by the hundred: threads only stand in one another's way.
    with single_threaded_blas():
        yield


def low_rank_plus_sparse(n, m, r, share=0.1, seed=0):
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((n, r)) @ rng.standard_normal((r, m))
    bad = rng.random((n, m)) < share
    S = np.where(bad, 10 * rng.random((n, m)) * rng.choice([-1.0, 1.0], (n, m)), 0.0)
    return L + S, L, S


def nuclear(L):
    return np.linalg.svd(L, compute_uv=False).sum()


def lam_of(X):
    return 1 / np.sqrt(max(X.shape))


def objective(fit, X):
    return nuclear(fit.low_rank_) + lam_of(X) * np.abs(X - fit.low_rank_).sum()


@pytest.mark.parametrize("shape", [(80, 15), (20, 80), (60, 60)])
@pytest.mark.parametrize("solver", ["admm", "altproj"])
def test_the_fit_satisfies_the_kkt_conditions(shape, solver):
    """‖L‖_* and λ‖S‖₁ share a subgradient Y: recovered from the solution alone."""
    X, _, _ = low_rank_plus_sparse(*shape, 3, seed=1)
    fit = PrincipalComponentPursuit(3, solver=solver, tol=1e-8, max_iter=20000).fit(X)
    assert fit.converged_
    L, S, lam = fit.low_rank_, fit.sparse_, lam_of(X)
    best = nuclear(L) + lam * np.abs(X - L).sum()
    # At a minimum no direction leads down: those of L and of S least of all.
    rng = np.random.default_rng(0)
    for _ in range(10):
        for direction in (rng.standard_normal(X.shape), L * rng.standard_normal(), S):
            for step in (1e-2, 1e-4, -1e-2, -1e-4):
                other = L + step * direction
                assert nuclear(other) + lam * np.abs(X - other).sum() >= best * (1 - 2e-8)
    # The multiplier that alternating projections find meets the support, the signs and the space.
    U, s, Vt = np.linalg.svd(L, full_matrices=False)
    U, Vt = U[:, : fit.rank_], Vt[: fit.rank_]
    assert s[fit.rank_ :].max(initial=0.0) <= 1e-9 * s[0]
    Y = np.zeros_like(X)
    for _ in range(300):
        T = U @ (U.T @ Y) + (Y @ Vt.T) @ Vt - U @ (U.T @ Y @ Vt.T) @ Vt
        Y = Y - T + U @ Vt
        W, t, Zt = np.linalg.svd(Y, full_matrices=False)
        Y = (W * np.minimum(t, 1)) @ Zt
        Y = np.where(S != 0, lam * np.sign(S), np.clip(Y, -lam, lam))
    bound = np.vdot(Y, X) / max(1.0, np.linalg.norm(Y, 2))
    assert best * (1 - 1e-2) <= bound <= best * (1 + 1e-12)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 25),
    m=st.integers(1, 25),
    rowwise=st.booleans(),
    centered=st.booleans(),
    missing=st.booleans(),
    delta=st.sampled_from([0.0, 0.3]),
)
def test_a_lower_bound_is_below_and_an_objective_above(
    seed, n, m, rowwise, centered, missing, delta
):
    """Every iterate brackets the optimum, which the last one knows best."""
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, m)) + 5 * (rng.random((n, m)) < 0.2)
    observed = rng.random((n, m)) < 0.8 if missing else None
    if observed is not None:
        observed[0, 0] = True
        M = np.where(observed, M, 0.0)
    with Workers.start(1) as workers:
        problem = Problem(
            M, Rowwise() if rowwise else Entrywise(), 0.3, workers, delta, observed, centered
        )
        uppers, lowers = [], []
        walk = steps(problem, Thresholding(problem, np.random.RandomState(0)))
        for _ in range(60):
            state = next(walk)
            uppers.append(problem.objective(state.low))
            lowers.append(certificate.lower_bound(problem, state.Y))
    # Rounding of sums near the size of M, where the optimum itself may be 0.
    assert max(lowers) <= min(uppers) + 1e-10 * np.abs(M).sum()


def test_the_spectral_bound_is_no_estimate():
    rng = np.random.default_rng(0)
    for shape in [(1, 1), (3, 200), (200, 3), (150, 160)]:
        Y = rng.standard_normal(shape)
        with Workers.start(1) as workers:
            problem = Problem(Y, Entrywise(), 1.0, workers)
            bound = certificate.spectral_bound(problem, Y)
        exact = np.linalg.norm(Y, 2)
        assert exact * (1 - 1e-13) <= bound <= exact * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_gap_bounds_the_distance_to_the_optimum(seed):
    """tol means what it says: a loose fit is within tol of what a tight one reaches."""
    X, _, _ = low_rank_plus_sparse(60, 20, 3, seed=seed)
    best = objective(PrincipalComponentPursuit(tol=1e-10, max_iter=50000).fit(X), X)
    for tol in (1e-1, 1e-2, 1e-4, 1e-6):
        fit = PrincipalComponentPursuit(tol=tol, solver="admm", max_iter=5000).fit(X)
        assert fit.converged_
        assert fit.gap_ <= tol
        assert best * (1 - 1e-9) <= objective(fit, X) <= best * (1 + tol)
        assert fit.objective_ == pytest.approx(objective(fit, X), rel=1e-9)


def test_the_solvers_agree():
    X, L, _ = low_rank_plus_sparse(120, 100, 5)
    convex = PrincipalComponentPursuit(solver="admm", tol=1e-9, max_iter=20000).fit(X)
    other = PrincipalComponentPursuit(5, solver="altproj").fit(X)
    assert (convex.solver_, other.solver_) == ("admm", "altproj")
    assert objective(convex, X) == pytest.approx(objective(other, X), rel=1e-8)
    np.testing.assert_allclose(convex.low_rank_, other.low_rank_, atol=1e-4)
    np.testing.assert_allclose(other.low_rank_, L, atol=1e-10)


@pytest.mark.parametrize("rank", [1, 2, 8, 15])
def test_a_wrong_rank_is_noticed(rank):
    """The matrix of another rank is not optimal, and the convex solver's answer is given."""
    X, L, _ = low_rank_plus_sparse(100, 90, 4)
    fit = PrincipalComponentPursuit(rank, solver="altproj").fit(X)
    assert fit.converged_
    assert fit.rank_ == 4
    assert len(fit.components_) == min(rank, 4)
    np.testing.assert_allclose(fit.low_rank_, L, atol=1e-3)


def test_without_a_low_rank_part_the_fallback_answers():
    X = np.random.default_rng(0).standard_normal((40, 30))
    fit = PrincipalComponentPursuit(3, solver="altproj", max_iter=20000).fit(X)
    assert fit.solver_ == "admm"
    assert fit.gap_ <= 1e-6


def test_history_brackets_and_ends_where_the_fit_does():
    X, _, _ = low_rank_plus_sparse(60, 20, 3)
    seen = []
    fit = PrincipalComponentPursuit(solver="admm", callback=seen.append).fit(X)
    history = fit.history_
    assert fit.n_iter_ == len(history) == len(seen)
    assert history.dtype.names == (
        "iteration", "objective", "feasibility", "gap", "rank", "seconds",
    )  # fmt: skip
    assert (history.objective >= fit.objective_ * (1 - 1e-6)).all()
    assert history.gap[-1] == fit.gap_ <= 1e-6
    assert [r.objective for r in seen] == pytest.approx(history.objective.tolist())


def test_stable_pursuit_is_feasible_and_bracketed_by_its_noise():
    X, L, _ = low_rank_plus_sparse(100, 80, 4)
    X = X + 0.1 * np.random.default_rng(1).standard_normal(X.shape)
    for delta in (1.0, 8.0):
        fit = StablePCP(delta=delta).fit(X)
        left = np.linalg.norm(X - fit.low_rank_ - fit.sparse_)
        assert left <= delta * (1 + 1e-9)
        value = nuclear(fit.low_rank_) + lam_of(X) * np.abs(fit.sparse_).sum()
        assert value == pytest.approx(fit.objective_, rel=1e-9)
    estimated = StablePCP().fit(X)
    assert estimated.delta_ == pytest.approx(0.1 * np.sqrt(X.size), rel=0.25)
    error = np.linalg.norm(estimated.low_rank_ - L) / np.linalg.norm(L)
    assert error < 0.1


def test_stable_pursuit_without_noise_is_pursuit_and_with_much_is_nothing():
    X, _, _ = low_rank_plus_sparse(50, 20, 2)
    plain = PrincipalComponentPursuit(tol=1e-8, max_iter=20000).fit(X)
    stable = StablePCP(delta=0.0, tol=1e-8, max_iter=20000).fit(X)
    assert objective(stable, X) == pytest.approx(objective(plain, X), rel=1e-7)
    nothing = StablePCP(delta=2 * np.linalg.norm(X)).fit(X)
    assert nothing.converged_
    assert not nothing.low_rank_.any()
    assert not nothing.sparse_.any()


def test_outlier_pursuit_finds_the_rows_and_the_row_space():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((50, 4)))[0]
    X = rng.standard_normal((150, 4)) @ basis.T
    bad = np.arange(150) % 10 == 3
    X[bad] = rng.standard_normal((bad.sum(), 50))
    fit = OutlierPursuit().fit(X)
    assert (fit.outliers_ == bad).all()
    assert fit.rank_ == 4
    cosines = np.linalg.svd(fit.components_ @ basis, compute_uv=False)
    np.testing.assert_allclose(cosines, 1.0, atol=1e-6)
    lam = 1.5 * 150**-0.25
    value = nuclear(fit.low_rank_) + lam * np.linalg.norm(X - fit.low_rank_, axis=1).sum()
    assert value == pytest.approx(fit.objective_, rel=1e-9)
    low, rest = fit.decompose(X)
    assert (rest.any(axis=1) == bad).all()
    np.testing.assert_allclose(low + rest, X, atol=1e-5)
