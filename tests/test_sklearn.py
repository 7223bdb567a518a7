import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from helpers import heavy_tailed, random_basis
from trueaxis import RobustPCA


@pytest.mark.parametrize(
    "estimator",
    [
        RobustPCA(),
        RobustPCA(2, p=0.5),
        RobustPCA(1, loss="l1", solver="proximal", center="median"),
        RobustPCA(0.9, p=2, whiten=True),
    ],
    ids=str,
)
def test_estimator_checks_pass_without_exception(estimator):
    with warnings.catch_warnings():
        # The checks warn about themselves where an optional dependency of theirs is absent.
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert not failed
    assert not any(r["expected_to_fail"] for r in results)


ATTRIBUTES = [
    "components_",
    "mean_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "noise_variance_",
    "n_components_",
    "n_samples_",
    "n_features_in_",
]


def wide():
    return heavy_tailed(25, 80, seed=9)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n_components", [1, 3, 0.5, 0.95, 0.999, None])
@pytest.mark.parametrize(
    "load",
    [
        lambda: load_iris().data,
        lambda: load_wine().data,
        lambda: load_breast_cancer().data,
        lambda: load_digits().data[:, 20:30],
        wide,
    ],
    ids=["iris", "wine", "breast_cancer", "digits", "wide"],
)
def test_p_2_is_scikit_learns_pca(load, n_components, whiten):
    X = load()
    # The last axis of centered wide data has no variance, and any direction will do for it.
    if n_components is None and len(X) < X.shape[1]:
        n_components = len(X) - 1
    ours = RobustPCA(n_components, p=2, whiten=whiten)
    theirs = PCA(n_components, svd_solver="full", whiten=whiten)
    Z, Z_theirs = ours.fit_transform(X), theirs.fit_transform(X)
    for name in ATTRIBUTES:
        found, expected = getattr(ours, name), getattr(theirs, name)
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8, err_msg=name)
    scale = max(1.0, np.abs(Z_theirs).max())
    np.testing.assert_allclose(Z, Z_theirs, atol=1e-8 * scale)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-8 * scale)
    np.testing.assert_allclose(
        ours.inverse_transform(Z), theirs.inverse_transform(Z_theirs), atol=1e-8 * np.abs(X).max()
    )


@pytest.mark.parametrize("n_components", [2, None])
def test_likelihood_and_covariance_at_p_2(n_components):
    X = load_iris().data
    ours, theirs = RobustPCA(n_components, p=2).fit(X), PCA(n_components).fit(X)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-8)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-7)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-7)
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-8)


def test_pipeline_and_grid_search():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), RobustPCA(), LogisticRegression())
    grid = {"robustpca__p": [0.5, 1.0, 2.0], "robustpca__n_components": [1, 2, 0.9]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    alone = GridSearchCV(RobustPCA(), {"p": [1.0, 2.0], "n_components": [1, 2]}, cv=3).fit(X)
    assert np.isfinite(alone.cv_results_["mean_test_score"]).all()


def test_clone_repr_and_parameters():
    pca = RobustPCA(2, p=0.5, start=random_basis(4, 2).T)
    twin = clone(pca)
    assert twin.get_params().keys() == pca.get_params().keys()
    assert "p=0.5" in repr(twin)
    assert not hasattr(twin, "components_")


def test_data_frames_in_and_out():
    frame = pd.DataFrame(load_iris().data, columns=["a", "b", "c", "d"], index=range(10, 160))
    pca = RobustPCA(2).set_output(transform="pandas").fit(frame)
    scores = pca.transform(frame)
    assert list(scores.columns) == ["robustpca0", "robustpca1"] == list(pca.get_feature_names_out())
    assert (scores.index == frame.index).all()
    assert list(pca.feature_names_in_) == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names"):
        pca.transform(frame[["b", "a", "c", "d"]])


def test_float32_is_answered_in_float32_and_agrees():
    X = heavy_tailed(500, 10, seed=1, df=4, shift=1000.0)
    one, two = RobustPCA(3).fit(X), RobustPCA(3).fit(X.astype(np.float32))
    for name in ("components_", "mean_", "explained_variance_", "singular_values_"):
        assert getattr(two, name).dtype == np.float32
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), rtol=1e-3, atol=1e-3)
    assert two.transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("shape", [(600, 401), (450, 700), (1500, 450)])
@pytest.mark.parametrize("n_components", [3, 0.5])
def test_p_2_is_pca_in_many_columns(shape, n_components):
    X = np.random.default_rng(5).standard_normal(shape) * np.linspace(3, 1, shape[1])
    ours = RobustPCA(n_components, p=2).fit(X)
    theirs = PCA(n_components, svd_solver="full").fit(X)
    for name in ATTRIBUTES:
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-8, err_msg=name
        )


@pytest.mark.parametrize("k", [1, 3, None])
@pytest.mark.parametrize(
    "X",
    [np.zeros((8, 3)), np.ones((9, 3)), np.vstack([np.eye(3)[[0] * 40], np.eye(3), -np.eye(3)])],
    ids=["zeros", "equal", "mostly equal"],
)
@pytest.mark.parametrize("options", [{}, {"center": "mean"}, {"loss": "huber", "center": "mean"}])
def test_a_model_without_variance_has_no_density_and_no_nan(X, k, options):
    pca = RobustPCA(k, check_breakdown=False, **options).fit(X)
    assert pca.noise_variance_ >= 0
    assert (pca.explained_variance_ >= 0).all()
    assert pca.explained_variance_ratio_.sum() <= 1 + 1e-12
    assert not np.isnan(pca.score_samples(X)).any()
