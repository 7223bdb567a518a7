import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from helpers import heavy_tailed, projector, random_basis
from trueaxis import RobustPCA

X = heavy_tailed(20, 5, seed=0)


def with_entry(row, column, value):
    Y = X.copy()
    Y[row, column] = value
    return Y


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        ({}, with_entry(7, 3, np.nan), r"NaN.*row 7, column 3"),
        ({}, with_entry(7, 3, -np.inf), r"infinity.*row 7, column 3"),
        ({}, pd.DataFrame(with_entry(2, 1, np.nan), columns=list("abcde")), r"column 1 \('b'\)"),
        ({}, X[0], "1D array|Expected 2D"),
        ({}, X[None], "3|dim"),
        ({}, X[:0], "0 sample"),
        ({}, X[:, :0], "0 feature"),
        ({}, X + 1j, "[Cc]omplex"),
        ({}, np.array([["a", "b"], ["c", "d"]], dtype=object), "could not convert|float"),
        ({"n_components": 0}, X, r"\[1, 5\]"),
        ({"n_components": 6}, X, r"n_components=6.*\[1, 5\]"),
        ({"n_components": 4}, X[:3], r"\[1, 3\]"),
        ({"n_components": 1.5}, X, r"share of variance in \(0, 1\)"),
        ({"n_components": True}, X, "n_components=True"),
        ({"n_components": "all"}, X, "n_components='all'"),
        ({"p": 0}, X, r"p=0 .*\(0, 2\]"),
        ({"p": 2.5}, X, r"p=2.5 .*\(0, 2\]"),
        ({"p": np.nan}, X, "p=nan"),
        ({"p": "1"}, X, "p='1'"),
        ({"loss": "l3"}, X, "loss='l3'.*'l2p', 'l1'"),
        ({"loss": 3}, X, "not a loss"),
        ({"solver": "svd"}, X, "solver='svd'.*'auto', 'proximal', 'accelerated', 'reweighted'"),
        ({"center": "middle"}, X, "center='middle'.*'optimal', 'mean', 'median'"),
        ({"center": True}, X, "center=True"),
        ({"center": np.zeros(4)}, X, r"center has shape \(4,\).*\(5,\)"),
        ({"center": [np.nan] * 5}, X, "center contains NaN"),
        ({"start": "there"}, X, "start='there'.*'spherical', 'pca', 'random'"),
        ({"n_components": 2, "start": np.eye(5)}, X, r"start has shape \(5, 5\).*\(2, 5\)"),
        ({"n_components": 2, "start": np.ones((2, 5))}, X, "not of full rank.*1 dim"),
        ({"n_components": 2, "start": np.zeros((2, 5))}, X, "not of full rank"),
        ({"n_components": None, "start": np.eye(5)}, X, "n_components=None"),
        ({"smoothing": "some"}, X, "smoothing='some'"),
        ({"smoothing": -1}, X, "smoothing=-1"),
        ({"max_iter": 0}, X, "max_iter=0"),
        ({"tol": -1e-3}, X, "tol=-0.001"),
        ({"callback": 3}, X, "callback=3"),
        ({"n_jobs": 0}, X, "n_jobs=0"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(options, data, message):
    pca = RobustPCA(2).fit(X[:, :4])
    pca.set_params(**options)
    expected = pickle.dumps(vars(pca))
    with pytest.raises((ValueError, TypeError), match=message):
        pca.fit(data)
    assert pickle.dumps(vars(pca)) == expected


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(20), r"sample_weight\[0\] is -1.0"),
        (np.zeros(20), "zero for every row"),
        (np.ones(19), r"shape \(19,\).*\(20,\)"),
        (np.full(20, np.nan), r"sample_weight\[0\] is nan"),
        (np.array(["a"] * 20), "real numbers"),
    ],
)
def test_bad_weights_are_named(weights, message):
    with pytest.raises(ValueError, match=message):
        RobustPCA(2).fit(X, sample_weight=weights)


def test_transform_checks_its_input():
    pca = RobustPCA(2)
    with pytest.raises(NotFittedError):
        pca.transform(X)
    pca.fit(X)
    with pytest.raises(ValueError, match="features"):
        pca.transform(X[:, :4])
    with pytest.raises(ValueError, match="row 7, column 3"):
        pca.transform(with_entry(7, 3, np.nan))
    with pytest.raises(ValueError, match="2 components"):
        pca.inverse_transform(X)


def test_an_interrupted_fit_leaves_the_estimator_as_it_was():
    def interrupt(subspace, record):
        raise KeyboardInterrupt

    pca = RobustPCA(2, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        pca.fit(X)
    with pytest.raises(NotFittedError):
        pca.transform(X)
    assert not hasattr(pca, "n_features_in_")


def test_stopping_early_is_said_with_the_gap_left():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 .*gap of .*tol=1.0e-12"):
        pca = RobustPCA(2, max_iter=2, tol=1e-12).fit(X)
    assert not pca.converged_
    assert pca.n_iter_ == 2


def assert_sound(pca, data):
    k = len(pca.components_)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(k), atol=1e-5)
    for name in ("mean_", "explained_variance_", "singular_values_", "noise_variance_", "weights_"):
        assert np.isfinite(getattr(pca, name)).all(), name
    assert np.isfinite(pca.objective_)
    assert np.isfinite(pca.transform(data)).all()
    assert np.isfinite(pca.inverse_transform(pca.transform(data))).all()


rng = np.random.default_rng(0)
LINE = rng.standard_normal((30, 1)) @ rng.standard_normal((1, 6)) + 2.0
ODD = {
    "constant column": np.column_stack([X, np.full(20, 7.0)]),
    "constant zero columns": np.column_stack([np.zeros((20, 2)), X]),
    "duplicate rows": np.repeat(X[:6], 5, axis=0),
    "all rows equal": np.full((10, 4), 3.0),
    "all zeros": np.zeros((10, 4)),
    "rows exactly in a line": LINE,
    "all but two rows in a line": np.vstack([LINE, rng.standard_normal((2, 6))]),
    "one row": X[:1],
    "two rows": X[:2],
    "one column": X[:, :1],
    "wide, duplicate rows": np.repeat(rng.standard_normal((3, 50)), 4, axis=0),
    "mostly zero rows": np.vstack([np.zeros((30, 4)), rng.standard_normal((5, 4))]),
    "one entry of 1e12": with_entry(3, 3, 1e12),
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("n_components", [1, 2, None, 0.9])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"p": 0.3},
        {"p": 2},
        {"loss": "l1"},
        {"solver": "proximal"},
        {"solver": "accelerated", "loss": "l1"},
        {"solver": "orthogonal"},
        {"center": "mean", "smoothing": 0},
        {"center": False},
        {"center": "median", "start": "pca"},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_odd_but_legal_data_fits_soundly(data, n_components, options):
    if n_components == 2 and min(data.shape) < 2:
        n_components = 1
    pca = RobustPCA(n_components, max_iter=30, **options).fit(data)
    assert_sound(pca, data)


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda a: np.repeat(a, 2, axis=0)[::2],
        lambda a: np.repeat(a, 2, axis=1)[:, ::2],
        lambda a: a[::-1][::-1],
        lambda a: a.astype(">f8"),
        lambda a: a.tolist(),
        pd.DataFrame,
    ],
    ids=["fortran", "strided rows", "strided columns", "reversed", "big endian", "list", "frame"],
)
def test_layouts_agree(convert):
    one, two = RobustPCA(2).fit(X), RobustPCA(2).fit(convert(X))
    np.testing.assert_allclose(two.components_, one.components_, atol=1e-10)


def test_input_is_neither_written_nor_needed_writable():
    frozen = X.copy()
    frozen.flags.writeable = False
    for loss in ("l2p", "l1"):
        RobustPCA(2, loss=loss).fit(frozen).transform(frozen)
    np.testing.assert_array_equal(frozen, X)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool])
def test_integers_and_booleans(dtype):
    data = (np.abs(X) * 3).astype(dtype)
    one, two = RobustPCA(2).fit(data), RobustPCA(2).fit(data.astype(float))
    np.testing.assert_array_equal(one.components_, two.components_)


def test_duplicates_and_exact_rows_weigh_without_infinity():
    pca = RobustPCA(1).fit(ODD["all but two rows in a line"])
    direction = LINE[1] - LINE[0]
    direction /= np.linalg.norm(direction)
    np.testing.assert_allclose(
        projector(pca.components_.T), np.outer(direction, direction), atol=1e-6
    )
    assert pca.weights_[-2:].max() < 1e-3 * np.median(pca.weights_)


def test_a_start_is_used_and_may_be_any_independent_rows():
    first = []
    W = random_basis(5, 2, seed=3)
    mixed = (W @ np.array([[2.0, 1.0], [0.0, 3.0]])).T
    RobustPCA(2, start=mixed, max_iter=1, tol=0, callback=lambda s, r: first.append(s)).fit(X)
    np.testing.assert_allclose(projector(first[0].basis), projector(W), atol=1e-12)


def test_rows_that_are_not_aligned_are_read_as_they_are():
    packed = np.zeros(len(X), dtype=[("flag", "i1"), ("row", "f8", (5,))])
    packed["row"] = X
    one, two = RobustPCA(2).fit(packed["row"]), RobustPCA(2).fit(X)
    np.testing.assert_array_equal(one.components_, two.components_)
    np.testing.assert_array_equal(one.transform(packed["row"]), two.transform(X))


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_entries_whose_squares_do_not_fit_are_refused(factor):
    with pytest.raises(ValueError, match="multiply X by a constant"):
        RobustPCA(2).fit(X * factor)


@pytest.mark.parametrize("n_jobs", [1.5, "a"])
def test_a_senseless_number_of_threads_is_named(n_jobs):
    with pytest.raises(ValueError, match="n_jobs="):
        RobustPCA(2, n_jobs=n_jobs).fit(X)


def test_the_likelihood_off_a_subspace_without_noise_is_minus_infinity():
    wide = rng.standard_normal((5, 9))
    assert (RobustPCA(None).fit(wide).score_samples(wide) == -np.inf).all()


def test_the_callback_is_told_what_the_history_says():
    told = []
    pca = RobustPCA(2, tol=0, max_iter=3, callback=lambda s, r: told.append(float(r.objective)))
    pca.fit(X * 1e150)
    np.testing.assert_allclose(told, pca.history_.objective)
