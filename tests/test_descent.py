import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import data_sets, heavy_tailed, objective, projector, random_basis
from trueaxis import RobustPCA

MONOTONE = ["reweighted", "proximal", "orthogonal"]


@settings(deadline=None, max_examples=60)
@given(
    data=data_sets(),
    solver=st.sampled_from(MONOTONE),
    p=st.sampled_from([0.3, 0.5, 1.0, 1.5]),
    center=st.sampled_from(["optimal", "mean", "median", False]),
    start=st.sampled_from(["auto", "pca", "random"]),
)
def test_objective_never_rises(data, solver, p, center, start):
    X, k, seed = data
    pca = RobustPCA(
        k,
        p=p,
        solver=solver,
        center=center,
        start=start,
        max_iter=15,
        tol=0,
        random_state=seed % 1000,
        check_breakdown=False,  # which heavy tails may well warn of
    ).fit(X)
    J = pca.history_.objective
    assert (np.diff(J) <= 1e-9 * J[:-1]).all()


@settings(deadline=None, max_examples=30)
@given(data=data_sets(), p=st.sampled_from([0.5, 1.0, 1.5, 2.0]))
def test_objective_is_that_of_the_formula(data, p):
    X, k, _ = data
    pca = RobustPCA(k, p=p, max_iter=500, tol=1e-5, check_breakdown=False).fit(X)
    J = objective(X, pca.components_.T, pca.mean_, p)
    assert pca.objective_ == pytest.approx(J, rel=1e-6, abs=1e-9 * np.abs(X).max() ** p * len(X))


@pytest.mark.parametrize("p", [0.7, 1.0, 1.5])
@pytest.mark.parametrize("solver", MONOTONE)
def test_stationary_at_convergence(p, solver):
    X = heavy_tailed(300, 8, seed=3)
    pca = RobustPCA(2, p=p, solver=solver, tol=1e-15, max_iter=5000).fit(X)
    assert pca.converged_
    W, c = pca.components_.T, pca.mean_
    D = X - c
    R = D - D @ W @ W.T
    d = p * np.linalg.norm(R, axis=1) ** (p - 2)
    np.testing.assert_allclose(pca.weights_, d, rtol=1e-3)
    A = (D * d[:, None]).T @ D
    # W spans eigenvectors of its own A, and c is the weighted mean up to a shift inside the span.
    assert np.linalg.norm(A @ W - W @ (W.T @ A @ W)) < 1e-5 * np.linalg.norm(A)
    shift = d @ R / d.sum()
    assert np.linalg.norm(shift) < 1e-5 * np.median(np.linalg.norm(D, axis=1))


def test_solvers_agree_where_they_converge():
    X = heavy_tailed(400, 10, seed=4, df=3)
    fits = [RobustPCA(3, solver=s, tol=1e-13, max_iter=5000).fit(X) for s in MONOTONE]
    for other in fits[1:]:
        np.testing.assert_allclose(
            projector(other.components_.T), projector(fits[0].components_.T), atol=1e-5
        )
        assert other.objective_ == pytest.approx(fits[0].objective_, rel=1e-10)


def test_optimal_center_is_no_worse_than_any_other():
    X = heavy_tailed(200, 6, seed=5, shift=10)
    X[:40] += 100
    start = random_basis(6, 2, seed=1).T
    J = {
        str(c): RobustPCA(2, center=c, start=start, tol=1e-12, max_iter=2000).fit(X).objective_
        for c in ("optimal", "mean", "median", False)
    }
    assert J["optimal"] <= min(J.values()) * (1 + 1e-9)


def test_spatial_median_balances_unit_vectors():
    X = heavy_tailed(101, 4, seed=6, shift=3)
    c = RobustPCA(1, center="median").fit(X).mean_
    D = X - c
    assert np.linalg.norm((D / np.linalg.norm(D, axis=1)[:, None]).sum(axis=0)) < 1e-3


def test_all_components_stay_robust():
    from trueaxis.datasets import make_contaminated

    data = make_contaminated("scattered", random_state=0)
    for n_components in (None, 20, 0.9):
        pca = RobustPCA(n_components).fit(data.X)
        leading = pca.components_[:3].T
        sines = np.linalg.svd(leading.T @ data.truth.basis, compute_uv=False)
        assert np.degrees(np.arccos(min(1, sines.min()))) < 5


def test_tol_is_the_true_gap():
    X = heavy_tailed(500, 10, seed=8, df=3)
    best = RobustPCA(3, tol=0, max_iter=2000).fit(X).objective_
    for tol in (1e-2, 1e-4, 1e-6, 1e-8):
        pca = RobustPCA(3, tol=tol, max_iter=2000).fit(X)
        assert pca.objective_ / best - 1 < tol
        assert pca.history_[-1].gap < tol
