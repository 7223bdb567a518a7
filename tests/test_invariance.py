import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import heavy_tailed, projector, random_basis
from trueaxis import RobustPCA
from trueaxis.datasets import make_contaminated


def fitted(X, k=2, **options):
    options = {"tol": 1e-13, "max_iter": 3000, "p": 1.0} | options
    return RobustPCA(k, **options).fit(X)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(("n", "m"), [(150, 6), (15, 40)])
def test_rotating_shifting_and_scaling_the_data_does_the_same_to_the_answer(p, n, m):
    X = make_contaminated(n_samples=n, n_features=m, random_state=1).X
    base = fitted(X, p=p)
    Q = random_basis(m, m, seed=2)
    moved = fitted(3.0 * X @ Q + 7.0, p=p)
    np.testing.assert_allclose(
        projector(moved.components_.T), Q.T @ projector(base.components_.T) @ Q, atol=1e-6
    )
    W = moved.components_.T
    shift = moved.mean_ - (3.0 * base.mean_ @ Q + 7.0)
    np.testing.assert_allclose(shift - W @ (W.T @ shift), 0, atol=1e-4)
    # The rows that p < 1 draws the subspace through add sqrt(rounding) each to the bare objective.
    assert moved.objective_ == pytest.approx(3.0**p * base.objective_, rel=1e-9 if p >= 1 else 1e-7)


@pytest.mark.parametrize("factor", [1e-150, 1e-8, 1e8, 1e150])
@pytest.mark.parametrize("loss", ["l2p", "l1"])
@pytest.mark.parametrize("n_components", [2, None])
def test_extreme_scales(factor, loss, n_components):
    X = heavy_tailed(60, 5, seed=3, df=4)
    options = {"loss": loss, "solver": "reweighted", "max_iter": 20, "tol": 0}
    one = RobustPCA(n_components, **options).fit(X)
    other = RobustPCA(n_components, **options).fit(X * factor)
    np.testing.assert_allclose(other.components_, one.components_, atol=1e-7)
    np.testing.assert_allclose(other.mean_ / factor, one.mean_, atol=1e-7)
    np.testing.assert_allclose(other.singular_values_ / factor, one.singular_values_, rtol=1e-6)
    np.testing.assert_allclose(other.objective_ / factor, one.objective_, rtol=1e-9)
    np.testing.assert_allclose(other.history_.objective / factor, one.history_.objective)
    np.testing.assert_allclose(
        other.explained_variance_ratio_, one.explained_variance_ratio_, rtol=1e-6
    )
    np.testing.assert_allclose(other.transform(X * factor) / factor, one.transform(X), atol=1e-6)


@settings(deadline=None, max_examples=25)
@given(
    n=st.integers(6, 30),
    m=st.integers(2, 30),
    p=st.sampled_from([1.0, 1.5, 2.0]),
    whole=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_a_weight_of_2_is_the_row_twice_and_0_the_row_absent(n, m, p, whole, seed):
    rng = np.random.default_rng(seed)
    X, times = rng.standard_normal((n, m)), rng.integers(0, 4, n)
    if np.count_nonzero(times) < 3:
        times[:3] = 1
    k = None if whole else int(rng.integers(1, min(np.count_nonzero(times) - 1, m) + 1))
    weighted = RobustPCA(k, p=p, max_iter=30, tol=0).fit(X, sample_weight=times)
    repeated = RobustPCA(k, p=p, max_iter=30, tol=0).fit(np.repeat(X, times, axis=0))
    scale = np.abs(X).max()
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-6 * scale)
    np.testing.assert_allclose(
        weighted.explained_variance_, repeated.explained_variance_, atol=1e-6 * scale**2
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6, abs=1e-6)
    assert weighted.n_samples_ == repeated.n_samples_
    assert weighted.n_components_ == repeated.n_components_
    assert (weighted.weights_[times == 0] == 0).all()


def test_weights_that_are_all_1_change_nothing():
    X = heavy_tailed(50, 4)
    one, two = RobustPCA(2).fit(X), RobustPCA(2).fit(X, sample_weight=np.ones(50))
    np.testing.assert_array_equal(one.components_, two.components_)


@pytest.mark.parametrize("n", [500, 30_000])
def test_same_bits_whatever_the_number_of_threads(n):
    X = heavy_tailed(n, 12, seed=5, df=3)
    for options in ({"p": 0.7}, {"loss": "l1"}, {"solver": "proximal"}, {"center": "median"}):
        fits = [
            RobustPCA(3, max_iter=6, tol=0, random_state=0, n_jobs=j, **options).fit(X)
            for j in (1, 2, 5, None)
        ]
        for other in fits[1:]:
            np.testing.assert_array_equal(other.components_, fits[0].components_)
            np.testing.assert_array_equal(other.mean_, fits[0].mean_)
            np.testing.assert_array_equal(other.weights_, fits[0].weights_)
            np.testing.assert_array_equal(other.transform(X), fits[0].transform(X))
            np.testing.assert_array_equal(other.history_.objective, fits[0].history_.objective)
