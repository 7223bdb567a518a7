"""Sparse rows: the answers of dense ones, and never made dense."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from helpers import projector
from trueaxis import PCAOutlierDetector, RobustPCA


def thin(n, m, density, seed=0):
    """Sparse rows with two columns that are far larger than the others: axes that are certain."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(4, size=(n, m)) * (rng.random((n, m)) < density)
    X[:, :2] = rng.standard_normal((n, 2)) * [60.0, 25.0] * (rng.random((n, 2)) < 0.8)
    return X


TALL, WIDE = thin(500, 12, 0.4), thin(40, 300, 0.1, seed=1)

OPTIONS = [
    {},
    {"p": 0.7, "tol": 1e-10},
    {"p": 2},
    {"loss": "huber"},
    {"loss": "cauchy"},
    {"loss": "bisquare"},
    {"loss": "trimmed"},
    {"solver": "reweighted"},
    {"solver": "orthogonal", "p": 1.5},
    {"solver": "proximal", "p": 1.5, "tol": 0, "max_iter": 30},
    {"solver": "accelerated", "p": 1.5, "tol": 0, "max_iter": 30},
    {"center": "mean"},
    {"center": "median"},
    {"center": False},
    {"n_components": None},
    {"n_components": 0.8},
]


def assert_same(one, two, atol=1e-8, axes=None):
    np.testing.assert_allclose(
        projector(one.components_.T), projector(two.components_.T), atol=axes or atol
    )
    scale = float(np.sqrt(two.explained_variance_[0]))
    np.testing.assert_allclose(one.mean_, two.mean_, atol=(axes or atol) * scale)
    np.testing.assert_allclose(one.objective_, two.objective_, rtol=atol)


@pytest.mark.parametrize("X", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_loss_and_solver_gives_the_dense_answer(X, options):
    options = {"n_components": 2, "tol": 1e-12, "max_iter": 2000, **options}
    one, two = RobustPCA(**options).fit(sparse.csr_array(X)), RobustPCA(**options).fit(X)
    assert one.solver_ == two.solver_
    assert_same(one, two)
    typical = two.weights_ < 1e3 * np.median(two.weights_)
    np.testing.assert_allclose(one.weights_[typical], two.weights_[typical], rtol=1e-5)


@pytest.mark.parametrize("solver", ["auto", "proximal", "reweighted"])
def test_the_l1_loss_gives_the_dense_answer(solver):
    for X in (TALL[:40], WIDE[:, :50]):
        options = {"loss": "l1", "solver": solver, "max_iter": 200}
        one, two = (RobustPCA(2, **options).fit(rows) for rows in (sparse.csr_array(X), X))
        np.testing.assert_allclose(one.objective_, two.objective_, rtol=1e-8)


@pytest.mark.parametrize(
    "convert",
    [
        sparse.csr_array,
        sparse.csc_array,
        sparse.csr_matrix,
        sparse.csc_matrix,
        sparse.coo_array,
        lambda X: sparse.csr_array(X.astype(np.float32)),
    ],
)
def test_every_form_of_storage_gives_the_dense_answer(convert):
    for X in (TALL, WIDE):
        stored = convert(X)
        one = RobustPCA(2, tol=1e-12).fit(stored)
        two = RobustPCA(2, tol=1e-12).fit(stored.toarray().astype(np.float64))
        assert_same(one, two, atol=1e-8 if stored.dtype == np.float64 else 1e-5)
        np.testing.assert_allclose(
            one.transform(stored), (X - one.mean_) @ one.components_.T, atol=1e-4
        )


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_wide_sparse_rows_about_any_origin(shift):
    X = np.vstack([WIDE, WIDE[:7], np.zeros((3, 300))])  # rows repeat, and some are empty
    X[:, :20] += shift
    one, two = (RobustPCA(2, tol=1e-12).fit(rows) for rows in (sparse.csr_array(X), X))
    assert_same(one, two, axes=1e-6)  # a gap of 1e-12
    center = np.full(300, shift)
    one, two = (
        RobustPCA(2, center=center, tol=1e-12).fit(rows) for rows in (sparse.csr_array(X), X)
    )
    assert_same(one, two, axes=1e-6)
    weights = np.arange(len(X)) % 3
    one, two = (
        RobustPCA(2, tol=1e-12).fit(rows, sample_weight=weights)
        for rows in (sparse.csr_array(X), X)
    )
    assert_same(one, two, axes=1e-6)


def test_the_detector_says_of_sparse_rows_what_it_says_of_dense_ones():
    for X in (TALL, WIDE):
        stored = sparse.csr_array(X)
        one, two = PCAOutlierDetector(2).fit(stored), PCAOutlierDetector(2).fit(X)
        np.testing.assert_array_equal(one.predict(stored), two.predict(X))


def peak_of(rows, **options):
    tracemalloc.start()
    RobustPCA(3, check_breakdown=False, tol=1e-3, **options).fit(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_is_a_share_of_what_the_dense_matrix_would_take():
    rng = np.random.default_rng(0)
    wide = sparse.random_array((1000, 40_000), density=1e-3, rng=rng, format="csr")
    assert peak_of(wide) < 0.25 * 8 * wide.shape[0] * wide.shape[1]
    tall = sparse.random_array((100_000, 1000), density=5e-3, rng=rng, format="csr")
    assert peak_of(tall) < 0.15 * 8 * tall.shape[0] * tall.shape[1]
