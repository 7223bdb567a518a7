"""Entries that were not observed: NaN in rows, and what a fit of the others finds."""

import pickle
import warnings

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from helpers import data_sets, heavy_tailed, projector, random_basis
from trueaxis import BreakdownWarning, PCAOutlierDetector, RobustPCA
from trueaxis._gaps import GappyBlock
from trueaxis._products import complete_rows, padded_columns, project, split_center
from trueaxis.datasets import make_contaminated
from trueaxis.sources import RowBlocks


def with_gaps(X, share, seed=0):
    Y = X.copy()
    Y[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return Y


def squares_of_observed(X, W, c):
    """min_z ‖x_O − c_O − W_O z‖², row by row, and the scores."""
    t, Z = np.zeros(len(X)), np.zeros((len(X), W.shape[1]))
    for i, x in enumerate(X):
        seen = ~np.isnan(x)
        Z[i] = np.linalg.lstsq(W[seen], x[seen] - c[seen], rcond=None)[0]
        t[i] = np.sum((x[seen] - c[seen] - W[seen] @ Z[i]) ** 2)
    return t, Z


def objective_of_observed(X, W, c, p=1.0):
    return float((squares_of_observed(X, W, c)[0] ** (p / 2)).sum())


@settings(deadline=None, max_examples=40)
@given(
    shape=st.tuples(st.integers(1, 30), st.integers(3, 9)),
    share=st.floats(0.0, 0.6),
    seed=st.integers(0, 10**6),
    k=st.integers(1, 2),
)
def test_a_completed_row_has_the_residual_of_its_observed_entries_and_elsewhere_no_less(
    shape, share, seed, k
):
    n, m = shape
    X, W, c = with_gaps(heavy_tailed(n, m, seed, df=4), share, seed), random_basis(m, k, seed), 1.0
    c = np.full(m, c)
    rows = project(GappyBlock(X), split_center(c, X.dtype), padded_columns(W, X.dtype), k)
    t, Z = squares_of_observed(X, W, c)
    size = 1.0 + rows.squares
    np.testing.assert_allclose(rows.squares - rows.inside, t, atol=1e-9 * size.max())
    observed = (~np.isnan(X)).sum(axis=1) > k + 2
    np.testing.assert_allclose(rows.Z[observed, :k], Z[observed], atol=1e-5 * size.max())
    # Anywhere else the completed rows leave at least what the observed entries do.
    other, at = random_basis(m, k, seed + 1), c + 0.3
    D = complete_rows(X, c, W) - at
    bound = np.linalg.norm(D - D @ other @ other.T, axis=1) ** 2
    assert (bound >= squares_of_observed(X, other, at)[0] - 1e-8 * size).all()


@settings(deadline=None, max_examples=40)
@given(
    data=data_sets(max_rows=40, max_columns=8),
    share=st.sampled_from([0.02, 0.1, 0.3]),
    solver=st.sampled_from(["reweighted", "orthogonal", "proximal"]),
    p=st.sampled_from([0.5, 1.0, 1.5, 2.0]),
    center=st.sampled_from(["optimal", "mean", False]),
)
def test_objective_never_rises(data, share, solver, p, center):
    X, k, seed = data
    X = with_gaps(X, share, seed)
    counts = (~np.isnan(X)).sum(axis=1) > k
    if counts.sum() < k + 2 or np.isnan(X[counts]).all(axis=0).any():
        return
    options = {"p": p, "solver": solver, "center": center, "max_iter": 12, "tol": 0}
    pca = RobustPCA(k, missing="nan", check_breakdown=False, **options).fit(X)
    J = pca.history_.objective
    # What is left of rows that the axes fit exactly is rounding.
    floor = 1e-7 * np.nanmax(np.abs(X)) ** p
    assert (np.diff(J) <= 1e-8 * J[:-1] + floor).all()


@pytest.mark.parametrize("p", [0.5, 1.0, 1.5, 2.0])
def test_the_result_minimizes_the_objective_of_the_observed_entries(p):
    X = with_gaps(heavy_tailed(150, 7, 3, df=4, shift=2.0), 0.15)
    pca = RobustPCA(2, p=p, missing="nan", tol=1e-7, max_iter=1000).fit(X)
    W, c = pca.components_.T, pca.mean_
    J = objective_of_observed(X, W, c, p)
    assert pca.objective_ == pytest.approx(J, rel=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(20):
        V = np.linalg.qr(W + 1e-2 * rng.standard_normal(W.shape))[0]
        assert objective_of_observed(X, V, c, p) > J * (1 - 1e-7)
        assert objective_of_observed(X, W, c + 1e-2 * rng.standard_normal(7), p) > J * (1 - 1e-7)


LOSSES = [{"loss": "bisquare"}, {"loss": "trimmed", "support_fraction": 0.7}, {"p": 0.5}]


@pytest.mark.parametrize("options", LOSSES, ids=str)
def test_angle_with_a_tenth_missing_and_a_fifth_bad(options):
    for seed in range(10):
        data = make_contaminated("scattered", random_state=seed)
        X = with_gaps(data.X, 0.1, seed + 100)
        pca = RobustPCA(3, missing="nan", check_breakdown=False, **options).fit(X)
        assert np.degrees(pca.subspace_.angles(data.truth).max()) <= 2.0
        # Variances are those of the good rows, the noise per entry that was observed.
        np.testing.assert_allclose(pca.explained_variance_, [25, 16, 9], rtol=0.35)
        assert pca.noise_variance_ == pytest.approx(0.01, rel=0.15)


def test_clusters_and_lines_of_bad_rows_are_withstood():
    for kind in ("clustered", "leverage"):
        data = make_contaminated(kind, random_state=1)
        pca = RobustPCA(3, loss="bisquare", missing="nan").fit(with_gaps(data.X, 0.2, 5))
        assert np.degrees(pca.subspace_.angles(data.truth).max()) <= 2.0
    with pytest.warns(BreakdownWarning):
        RobustPCA(3, missing="nan").fit(with_gaps(data.X, 0.1, 5))


@pytest.mark.parametrize("n_components", [2, 0.8, None])
@pytest.mark.parametrize("shape", [(200, 6), (20, 40)])
def test_without_nan_it_is_the_complete_fit(shape, n_components):
    X = heavy_tailed(*shape, seed=2, df=3)
    one = RobustPCA(n_components).fit(X)
    two = RobustPCA(n_components, missing="nan").fit(X)
    for name in ("components_", "mean_", "explained_variance_", "noise_variance_", "weights_"):
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(two.transform(X), one.transform(X), atol=1e-8)


def test_sample_weights_are_repeated_rows():
    X = with_gaps(heavy_tailed(120, 6, 4, df=4), 0.1)
    counts = np.random.default_rng(1).integers(0, 4, len(X))
    options = {"missing": "nan", "tol": 0, "max_iter": 40, "check_breakdown": False}
    one = RobustPCA(2, **options).fit(X, sample_weight=counts)
    two = RobustPCA(2, **options).fit(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(
        projector(one.components_.T), projector(two.components_.T), atol=1e-8
    )
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-9)
    assert one.n_samples_ == two.n_samples_


def test_a_row_without_more_entries_than_axes_counts_for_nothing():
    X = with_gaps(heavy_tailed(100, 6, 5, df=4), 0.05)
    X[10] = np.nan
    X[20, 2:] = np.nan
    pca = RobustPCA(2, missing="nan", check_breakdown=False).fit(X)
    assert pca.weights_[10] == 0.0
    assert pca.weights_[20] == 0.0
    others = np.delete(X, [10, 20], axis=0)
    alone = RobustPCA(2, missing="nan", check_breakdown=False).fit(others)
    np.testing.assert_allclose(pca.components_, alone.components_, atol=1e-12)
    assert not pca.transform(X[10:11]).any()
    np.testing.assert_allclose(pca.inverse_transform(pca.transform(X[10:11]))[0], pca.mean_)


def in_file(X, folder):
    np.save(folder / "rows.npy", X)
    return folder / "rows.npy"


def in_blocks(X, folder):
    return RowBlocks(lambda: (X[i : i + 90] for i in range(0, len(X), 90)))


def in_partitions(X, folder):
    return da.from_array(X, chunks=(130, -1))


@pytest.mark.parametrize("kept", [in_file, in_blocks, in_partitions])
@pytest.mark.parametrize("bare", [[], [0, 89, 90, 399]], ids=["all count", "some are bare"])
@pytest.mark.parametrize("weigh", [False, True])
def test_rows_in_blocks_count_what_they_count_in_memory(kept, bare, weigh, tmp_path):
    X = with_gaps(heavy_tailed(400, 6, 5, df=4), 0.05)
    X[np.isnan(X).sum(axis=1) > 3] = 1.0
    X[bare, 1:] = 100.0
    X[bare, 2:] = np.nan
    omega = np.random.default_rng(2).integers(0, 3, len(X)) if weigh else None
    pca = RobustPCA(2, missing="nan")
    expected = clone(pca).fit(X, sample_weight=omega)
    found = pca.fit(kept(X, tmp_path), sample_weight=omega)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-8)
    np.testing.assert_allclose(found.mean_, expected.mean_, atol=1e-8)
    for name in ("explained_variance_", "noise_variance_", "objective_", "n_samples_"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-8)


@pytest.mark.parametrize("whiten", [False, True])
def test_scores_fit_the_observed_entries_and_impute_the_others(whiten):
    data = make_contaminated("scattered", random_state=3)
    X = with_gaps(data.X, 0.2)
    pca = RobustPCA(3, loss="bisquare", missing="nan", whiten=whiten).fit(X)
    t, Z = squares_of_observed(X, pca.components_.T, pca.mean_)
    scale = np.sqrt(pca.explained_variance_) if whiten else 1.0
    np.testing.assert_allclose(pca.transform(X), Z / scale, atol=1e-6)
    np.testing.assert_allclose(pca.orthogonal_distance(X), np.sqrt(t), atol=1e-6)
    good = np.isnan(X) & ~data.is_outlier[:, None]
    error = (pca.inverse_transform(pca.transform(X)) - data.X)[good]
    assert np.sqrt(np.mean(error**2)) < 0.2  # 0.1 of it is the noise itself


def test_likelihood_is_that_of_the_observed_entries():
    X = heavy_tailed(60, 5, 7, df=5)
    pca = RobustPCA(2, missing="nan", check_breakdown=False).fit(with_gaps(X, 0.1))
    complete = RobustPCA(2).fit(X)
    vars(complete).update({k: v for k, v in vars(pca).items() if k.endswith("_")})
    np.testing.assert_allclose(pca.score_samples(X), complete.score_samples(X), rtol=1e-8)
    row = X[:1].copy()
    row[0, 3] = np.nan
    C, b = pca.get_covariance(), (X[0] - pca.mean_)[[0, 1, 2, 4]]
    C = np.delete(np.delete(C, 3, 0), 3, 1)
    expected = -0.5 * (4 * np.log(2 * np.pi) + np.linalg.slogdet(C)[1] + b @ np.linalg.solve(C, b))
    assert pca.score_samples(row)[0] == pytest.approx(expected)


def test_float32_and_data_frames():
    X = with_gaps(heavy_tailed(300, 8, 1, df=4, shift=100.0), 0.1)
    options = {"missing": "nan", "check_breakdown": False}
    one, two = RobustPCA(3, **options).fit(X), RobustPCA(3, **options).fit(X.astype(np.float32))
    assert two.components_.dtype == np.float32
    np.testing.assert_allclose(two.components_, one.components_, atol=2e-3)
    frame = pd.DataFrame(X, columns=list("abcdefgh")).convert_dtypes()
    np.testing.assert_allclose(RobustPCA(3, **options).fit(frame).components_, one.components_)


def test_all_axes_and_shares_of_variance_stay_robust():
    data = make_contaminated("scattered", random_state=0)
    X = with_gaps(data.X, 0.1)
    for n_components in (None, 20, 0.9):
        pca = RobustPCA(n_components, missing="nan", loss="bisquare").fit(X)
        sines = np.linalg.svd(pca.components_[:3] @ data.truth.basis, compute_uv=False)
        assert np.degrees(np.arccos(min(1, sines.min()))) < 2


def test_outliers_are_found_among_rows_with_gaps():
    data = make_contaminated("scattered", random_state=2)
    X = with_gaps(data.X, 0.1)
    for n_components in (3, "scree"):
        detector = PCAOutlierDetector(n_components, missing="nan").fit(X)
        said = detector.predict(X) == -1
        assert said[data.is_outlier].all()
        assert said[~data.is_outlier].mean() < 0.15


FILLED = heavy_tailed(20, 5, seed=0)


def entry(row, column, value, X=FILLED):
    Y = X.copy()
    Y[row, column] = value
    return Y


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        ({"missing": None}, entry(7, 3, np.nan), r"NaN.*row 7, column 3.*missing='nan'"),
        ({"missing": False}, entry(7, 3, np.nan), r"missing='nan'"),
        ({}, entry(7, 3, np.inf, entry(2, 1, np.nan)), r"infinity.*row 7, column 3"),
        ({"missing": "mean"}, FILLED, "missing='mean' is unknown; pass 'nan'"),
        ({"missing": True}, FILLED, "missing=True"),
        ({}, sparse.csr_array(FILLED), "missing='nan' cannot be combined with sparse"),
        ({}, entry(slice(None), 2, np.nan), "Column 2 of X.*no observed entry"),
        ({}, entry(slice(None), slice(1, None), np.nan), "more than 2 observed entries"),
        ({"loss": "l1"}, entry(2, 1, np.nan), "missing='nan' needs a loss of residual norms"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(options, data, message):
    pca = RobustPCA(2, missing="nan").fit(FILLED)
    pca.set_params(**options)
    expected = pickle.dumps(vars(pca))
    with pytest.raises((ValueError, TypeError), match=message):
        pca.fit(data)
    assert pickle.dumps(vars(pca)) == expected


@pytest.mark.parametrize(
    "estimator", [RobustPCA(missing="nan"), PCAOutlierDetector(missing="nan")], ids=str
)
def test_estimator_checks_pass(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert not [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert estimator.__sklearn_tags__().input_tags.allow_nan
