"""Recovery, new rows, missing entries, invariances, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from trueaxis.pursuit import OutlierPursuit, PrincipalComponentPursuit, StablePCP
from trueaxis.pursuit._regression import least_absolute

ALL = [PrincipalComponentPursuit, StablePCP, OutlierPursuit]


def low_rank_plus_sparse(n, m, r, share=0.1, seed=0):
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((n, r)) @ rng.standard_normal((r, m))
    bad = rng.random((n, m)) < share
    S = np.where(bad, 10 * rng.random((n, m)) * rng.choice([-1.0, 1.0], (n, m)), 0.0)
    return L + S, L, S


def error(found, truth):
    return np.linalg.norm(found - truth) / np.linalg.norm(truth)


@pytest.mark.parametrize(
    ("rank", "share"), [(5, 0.05), (5, 0.2), (10, 0.1), (5, 0.3), (20, 0.05), (10, 0.2)]
)
@pytest.mark.parametrize("known", [False, True])
def test_exact_recovery(rank, share, known):
    X, L, S = low_rank_plus_sparse(200, 200, rank, share, seed=rank)
    fit = PrincipalComponentPursuit(rank if known else None).fit(X)
    assert fit.converged_
    assert fit.rank_ == rank
    assert error(fit.low_rank_, L) <= 1e-6
    assert ((fit.sparse_ != 0) == (S != 0)).mean() > 0.999
    np.testing.assert_allclose(fit.low_rank_ + fit.sparse_, X, atol=1e-5)


@pytest.mark.parametrize("shape", [(150, 120), (120, 150)])
def test_missing_entries_are_filled_in(shape):
    X, L, _ = low_rank_plus_sparse(*shape, 3, 0.05, seed=2)
    hidden = np.random.default_rng(3).random(shape) < 0.2
    holes = np.where(hidden, np.nan, X)
    fit = PrincipalComponentPursuit(missing="nan").fit(holes)
    assert error(fit.low_rank_, L) <= 1e-6
    assert not fit.sparse_[hidden].any()
    by_mask = PrincipalComponentPursuit().fit(np.where(hidden, 1e6, X), mask=hidden)
    np.testing.assert_allclose(by_mask.low_rank_, fit.low_rank_, atol=1e-9)
    low, rest = fit.decompose(holes)
    assert error(low, L) <= 1e-6
    assert not rest[hidden].any()


def test_new_rows_are_split_where_projection_fails():
    X, _, _ = low_rank_plus_sparse(300, 60, 3, seed=4)
    fit = PrincipalComponentPursuit().fit(X)
    rng = np.random.default_rng(5)
    truth = rng.standard_normal((50, fit.rank_)) @ fit.components_ * 5
    gross = np.where(rng.random(truth.shape) < 0.15, 50.0, 0.0)
    low, rest = fit.decompose(truth + gross)
    np.testing.assert_allclose(low, truth, atol=1e-6)
    np.testing.assert_allclose(rest, gross, atol=1e-6)
    assert ((rest != 0) == (gross != 0)).all()
    projected = (truth + gross) @ fit.components_.T @ fit.components_
    assert error(projected, truth) > 0.1
    Z = fit.transform(truth + gross)
    np.testing.assert_allclose(fit.inverse_transform(Z), low, atol=1e-12)
    np.testing.assert_allclose(fit.components_ @ fit.components_.T, np.eye(fit.rank_), atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(1, 25),
    k=st.integers(1, 6),
    kind=st.sampled_from(["heavy", "exact", "integer"]),
    holes=st.booleans(),
)
def test_least_absolute_deviations_are_least(seed, m, k, kind, holes):
    rng = np.random.default_rng(seed)
    k = min(k, m)
    V = np.linalg.qr(rng.standard_normal((m, k)))[0]
    X = rng.standard_normal((4, k)) @ V.T
    if kind == "heavy":
        X = X + rng.standard_t(1.5, (4, m))
    elif kind == "exact":
        X = X + 9.0 * (rng.random((4, m)) < 0.2)
    else:
        X = rng.integers(-2, 3, (4, m)).astype(float)
    seen = rng.random((4, m)) < 0.8 if holes else np.ones((4, m), dtype=bool)
    Z = least_absolute(X, V, seen if holes else None)
    for x, z, entries in zip(X, Z, seen, strict=True):
        count = int(entries.sum())
        if count == 0:
            continue
        value = np.abs(x[entries] - V[entries] @ z).sum()
        eye = np.eye(count)
        best = linprog(
            np.r_[np.zeros(k), np.ones(2 * count)],
            A_eq=np.hstack([V[entries], eye, -eye]),
            b_eq=x[entries],
            bounds=[(None, None)] * k + [(0, None)] * (2 * count),
        ).fun
        assert value <= best + 1e-6 * (1 + np.abs(x[entries]).sum())


def test_a_row_is_answered_alike_in_any_company():
    X, _, _ = low_rank_plus_sparse(80, 30, 3, seed=6)
    fit = PrincipalComponentPursuit().fit(X)
    together = fit.transform(X)
    alone = np.vstack([fit.transform(row[None]) for row in X])
    np.testing.assert_allclose(together, alone, atol=1e-9)


@pytest.mark.parametrize("estimator", ALL)
def test_invariances(estimator):
    """Scale, transposition of order, and signs of columns change nothing else."""
    X, _, _ = low_rank_plus_sparse(60, 40, 2, 0.05, seed=7)
    fit = estimator(tol=1e-8).fit(X)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(60), rng.permutation(40)
    signs = rng.choice([-1.0, 1.0], 40)
    tight = 2e-3 * np.abs(X).max()
    for scale in (2.0**-400, 2.0**300):
        other = estimator(tol=1e-8).fit(X * scale)
        np.testing.assert_array_equal(other.low_rank_, fit.low_rank_ * scale)
        np.testing.assert_array_equal(other.sparse_, fit.sparse_ * scale)
    other = estimator(tol=1e-8).fit((X * signs)[rows][:, columns])
    np.testing.assert_allclose(
        other.low_rank_, (fit.low_rank_ * signs)[rows][:, columns], atol=tight
    )
    assert other.objective_ == pytest.approx(fit.objective_, rel=2e-8)


def test_transposed_data_have_the_transposed_answer():
    X, _, _ = low_rank_plus_sparse(60, 40, 2, seed=8)
    one = PrincipalComponentPursuit().fit(X)
    two = PrincipalComponentPursuit().fit(X.T)
    np.testing.assert_allclose(one.low_rank_, two.low_rank_.T, atol=1e-8)


@pytest.mark.parametrize("estimator", ALL)
def test_a_shift_moves_the_mean_alone(estimator):
    X, _, _ = low_rank_plus_sparse(80, 30, 2, 0.05, seed=9)
    shift = 1000.0 * np.random.default_rng(1).standard_normal(30)
    one = estimator(center=True).fit(X)
    two = estimator(center=True).fit(X + shift)
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-5)
    np.testing.assert_allclose(two.mean_, one.mean_ + shift, atol=0.05)
    regular = one.low_rank_ - one.mean_
    np.testing.assert_allclose(regular.mean(axis=0), 0.0, atol=1e-9)


def test_a_centered_fit_recovers_an_offset():
    X, L, _ = low_rank_plus_sparse(200, 100, 3, 0.05, seed=10)
    offset = 100.0 + np.arange(100.0)
    fit = PrincipalComponentPursuit(center=True).fit(X + offset)
    assert fit.rank_ == 3
    assert error(fit.low_rank_, L + offset) <= 1e-6


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (3, 40), (40, 3)])
@pytest.mark.parametrize("fill", ["zeros", "ones", "noise"])
def test_odd_shapes(estimator, shape, fill):
    X = {
        "zeros": np.zeros(shape),
        "ones": np.ones(shape),
        "noise": np.random.default_rng(0).standard_normal(shape),
    }[fill]
    fit = estimator(tol=1e-4).fit(X)
    assert fit.low_rank_.shape == fit.sparse_.shape == shape
    assert np.isfinite(fit.low_rank_).all()
    Z = fit.transform(X)
    assert Z.shape == (shape[0], fit.n_components_)
    assert fit.inverse_transform(Z).shape == shape


@pytest.mark.parametrize("estimator", ALL)
def test_float32_is_answered_in_float32(estimator):
    X = low_rank_plus_sparse(60, 40, 2, 0.05)[0]
    one, two = estimator().fit(X), estimator().fit(X.astype(np.float32))
    for name in ("low_rank_", "sparse_", "components_", "mean_"):
        assert getattr(two, name).dtype == np.float32
    np.testing.assert_allclose(two.low_rank_, one.low_rank_, atol=0.01)
    assert two.transform(X.astype(np.float32)).dtype == np.float32


def test_the_same_data_give_the_same_bits():
    X = low_rank_plus_sparse(300, 250, 5)[0]
    one, two = (PrincipalComponentPursuit().fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.low_rank_, two.low_rank_)


HOLES = np.array([[1.0, 2.0], [np.nan, 1.0], [0.0, 1.0]])


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({}, HOLES, "NaN: first at row 1, column 0"),
        ({"missing": "nan"}, np.array([[np.inf, 1.0]]), "infinity: first at row 0, column 0"),
        ({"missing": "nan"}, np.full((2, 2), np.nan), "Every entry of X is missing"),
        ({"missing": True}, np.eye(3), "missing=True is unknown"),
        ({"lam": 0}, np.eye(3), r"lam=0 is out of range; it must be a number in \(0, inf\)"),
        ({"lam": -1.0}, np.eye(3), "lam=-1.0 is out of range"),
        ({"lam": "big"}, np.eye(3), "lam='big' is unknown; choose one of 'auto'"),
        ({"n_components": 4}, np.eye(3), r"n_components=4 .* n_samples=3 and n_features=3"),
        ({"n_components": 0}, np.eye(3), "n_components=0 is out of range"),
        ({"n_components": 1.5}, np.eye(3), "n_components=1.5 is out of range"),
        ({"solver": "ialm"}, np.eye(3), "solver='ialm' is unknown; choose one of 'auto'"),
        ({"tol": 0.0}, np.eye(3), "tol=0.0 is out of range"),
        ({"max_iter": 0}, np.eye(3), "max_iter=0 is out of range"),
        ({"center": "mean"}, np.eye(3), "center='mean' is unknown"),
    ],
)
def test_bad_input_is_refused_by_name(estimator, options, X, message):
    fitted = estimator(**options)
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match=message):
        fitted.fit(X)
    assert vars(fitted) == before


def test_further_errors():
    with pytest.raises(ValueError, match="delta=-1 is out of range"):
        StablePCP(delta=-1).fit(np.eye(3))
    with pytest.raises(ValueError, match="mask has dtype"):
        PrincipalComponentPursuit().fit(np.eye(3), mask=np.zeros((2, 3), dtype=bool))
    with pytest.raises(NotFittedError):
        PrincipalComponentPursuit().transform(np.eye(3))
    fit = PrincipalComponentPursuit().fit(low_rank_plus_sparse(30, 20, 2)[0])
    with pytest.raises(ValueError, match="the model has"):
        fit.inverse_transform(np.ones((3, fit.n_components_ + 1)))


def test_stopping_short_is_said_with_the_gap_left():
    X = low_rank_plus_sparse(60, 20, 3)[0]
    with pytest.warns(ConvergenceWarning, match=r"max_iter=12 .* relative gap of .*tol=1.0e-06"):
        fit = PrincipalComponentPursuit(max_iter=12).fit(X)
    assert not fit.converged_
    assert fit.gap_ > 1e-6
