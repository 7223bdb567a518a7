import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from trueaxis import BreakdownWarning, RobustPCA, Subspace
from trueaxis.datasets import make_contaminated

KINDS = ["scattered", "clustered", "leverage"]


def angle(pca, truth):
    return float(np.degrees(pca.subspace_.angles(truth).max()))


def oracle(data):
    inliers = PCA(3).fit(data.X[~data.is_outlier])
    subspace = Subspace(inliers.components_.T, inliers.mean_)
    return inliers, float(np.degrees(subspace.angles(data.truth).max()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("share", "factor"), [(0.2, 1.05), (0.4, 1.1)])
@pytest.mark.parametrize("seed", [0, 1])
def test_bisquare_is_as_good_as_knowing_the_outliers(kind, share, factor, seed):
    data = make_contaminated(kind, outlier_share=share, random_state=seed)
    pca = RobustPCA(3, loss="bisquare").fit(data.X)
    inliers, best = oracle(data)
    assert angle(pca, data.truth) <= factor * best
    np.testing.assert_allclose(pca.explained_variance_, inliers.explained_variance_, rtol=0.15)
    assert pca.noise_variance_ == pytest.approx(inliers.noise_variance_, rel=0.15)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["huber", "cauchy", "trimmed"])
def test_other_losses_withstand_some_outliers(kind, loss):
    data = make_contaminated(kind, outlier_share=0.04, random_state=1)
    pca = RobustPCA(3, loss=loss).fit(data.X)
    assert angle(pca, data.truth) < 1.5
    plain = PCA(3).fit(data.X)
    assert angle(pca, data.truth) < np.degrees(
        Subspace(plain.components_.T, plain.mean_).angles(data.truth).max()
    )


@pytest.mark.parametrize("kind", ["clustered", "leverage"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_fit_that_broke_down_says_so(kind, seed):
    data = make_contaminated(kind, outlier_share=0.2, random_state=seed)
    with pytest.warns(BreakdownWarning, match=r"degrees.*20%.*loss='bisquare'"):
        pca = RobustPCA(3).fit(data.X)
    assert angle(pca, data.truth) > 45
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RobustPCA(3, check_breakdown=False).fit(data.X)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_few_gross_errors_that_take_a_weak_axis_are_said(seed):
    """A third axis that explains little is lost to 5 % of the rows at little cost to the others."""
    rng = np.random.default_rng(seed)
    clean = StandardScaler().fit_transform(load_wine().data)
    X, rows = clean.copy(), rng.choice(178, 8, replace=False)
    X[np.ix_(rows, rng.choice(13, 2, replace=False))] += 30.0 + 5.0 * rng.standard_normal((8, 2))
    with pytest.warns(BreakdownWarning, match="leaves out 4% of the rows"):
        RobustPCA(3).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", BreakdownWarning)
        RobustPCA(3).fit(clean)


@pytest.mark.parametrize("kind", ["clustered", "leverage"])
def test_starts_near_most_rows_are_preferred(kind):
    data = make_contaminated(kind, outlier_share=0.1, random_state=0)
    assert angle(RobustPCA(3).fit(data.X), data.truth) < 1


def test_too_few_rows_for_the_breakdown_point_are_said():
    X = np.random.default_rng(0).standard_normal((9, 6))
    with pytest.warns(BreakdownWarning, match="9 rows are few for n_components=3"):
        RobustPCA(3, loss="bisquare").fit(X)


@pytest.mark.parametrize("m", [2, 5, 30])
@pytest.mark.parametrize("decay", [0.0, 1.0])
def test_clean_gaussian_rows_raise_no_alarm(m, decay):
    scale = np.arange(1, m + 1) ** -decay
    with warnings.catch_warnings():
        warnings.simplefilter("error", BreakdownWarning)
        for seed in range(6):
            rng = np.random.default_rng([seed, m])
            n = int(rng.integers(20, 400))
            k = int(rng.integers(1, min(m, n // 4)))
            RobustPCA(k, max_iter=500).fit(rng.standard_normal((n, m)) * scale)


@pytest.mark.parametrize(
    "options",
    [{}, {"p": 0.5}, {"loss": "huber"}, {"loss": "cauchy"}, {"loss": "bisquare"},
     {"loss": "trimmed"}, {"loss": "l1", "solver": "reweighted", "tol": 1e-3}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("k", [1, 3, 5, None])
def test_variances_are_consistent_at_the_gaussian(options, k):
    truth = np.array([25.0, 16.0, 9.0, 4.0, 2.0, 1.0])
    X = np.random.default_rng(0).standard_normal((8000, 6)) * np.sqrt(truth)
    pca = RobustPCA(k, **options).fit(X)
    number = k or 6
    np.testing.assert_allclose(pca.explained_variance_, truth[:number], rtol=0.05)
    np.testing.assert_allclose(
        pca.explained_variance_ratio_, truth[:number] / truth.sum(), rtol=0.05
    )
    if number < 6:
        assert pca.noise_variance_ == pytest.approx(truth[number:].mean(), rel=0.05)


def test_a_share_of_variance_is_of_the_inliers():
    data = make_contaminated("scattered", outlier_share=0.2, random_state=0)
    assert RobustPCA(0.99).fit(data.X).n_components_ == 3
    assert RobustPCA(0.99, loss="bisquare").fit(data.X).n_components_ == 3
    assert PCA(0.99).fit(data.X).n_components_ > 3


def haystack(D, d, n_in, n_out, seed, condition=1.0, within=None):
    """Inliers N(0,1)·P·g/√d in a d-dimensional subspace; outliers N(0, I/D), or in a subspace."""
    rng = np.random.default_rng([seed, 7])
    P = np.linalg.qr(rng.standard_normal((D, d)))[0]
    g = np.geomspace(1.0, 1.0 / condition, d)
    inliers = (rng.standard_normal((n_in, d)) * g / np.sqrt(d)) @ P.T
    if within is None:
        outliers = rng.standard_normal((n_out, D)) / np.sqrt(D)
    else:
        Q = np.linalg.qr(rng.standard_normal((D, within)))[0]
        outliers = rng.standard_normal((n_out, within)) @ Q.T / np.sqrt(within)
    return np.vstack([inliers, outliers]), Subspace(P, np.zeros(D))


@pytest.mark.parametrize(
    "case",
    [(100, 5, 100, 100), (30, 29, 300, 500), (100, 5, 200, 200, 1e3), (100, 5, 200, 150, 1.0, 3)],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::trueaxis.BreakdownWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_noiseless_haystacks_are_found_exactly(case):
    X, truth = haystack(*case[:4], 0, *case[4:])
    pca = RobustPCA(case[1], p=0.5, center=False).fit(X)
    assert np.sin(pca.subspace_.angles(truth).max()) < 1e-6
