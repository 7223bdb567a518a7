"""The reduction by a Gram matrix against Householder QR, and where it must give way to it."""

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from helpers import random_basis
from trueaxis import Subspace
from trueaxis._threads import Workers
from trueaxis.estimators._coordinates import Coordinates, reduce_rows, row_space
from trueaxis.estimators._row_basis import RowBasis


def reduced(X, origin=None, further=None, n_jobs=1, **options):
    m = X.shape[1]
    origin = np.zeros(m) if origin is None else origin
    further = np.zeros((0, m)) if further is None else further
    with Workers.start(n_jobs) as workers:
        return reduce_rows(X, origin, further, workers, **options)


def by_qr(X, origin=None, further=None):
    m = X.shape[1]
    origin = np.zeros(m) if origin is None else origin
    further = np.zeros((0, m)) if further is None else further
    return row_space(X.astype(np.float64), origin, further)


def is_gram(coordinates):
    return isinstance(coordinates.Q, RowBasis)


def wide(n=60, m=900, seed=0):
    """A few strong factors, noise, and a mean away from zero."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((n, 5)) @ rng.standard_normal((5, m))
    return factors + 0.3 * rng.standard_normal((n, m)) + 2.0


def with_far_rows(size=1e6):
    X = wide()
    X[::9] *= size * np.random.default_rng(1).standard_normal((len(X[::9]), X.shape[1]))
    return X


def with_duplicates():
    X = wide()
    X[[3, 17, 40]] = X[0]
    X[50:] = X[5:15]
    return X


def of_low_rank():
    rng = np.random.default_rng(2)
    return rng.standard_normal((60, 12)) @ rng.standard_normal((12, 900)) + 1.0


DATA = {
    "plain": (wide(), None, 60),
    "centered": (wide(), "mean", 59),
    "column-major": (np.asfortranarray(wide()), "mean", 59),
    "float32": (wide().astype(np.float32), "mean", 59),
    "far rows": (with_far_rows(), None, 60),
    "far rows, about another": (with_far_rows(), "median", 60),
    "duplicates": (with_duplicates(), None, 47),
    "a row at the origin": (wide(), "row", 59),
    "low rank": (of_low_rank(), None, 13),
    "low rank, centered": (of_low_rank(), "mean", 12),
}
ORIGINS = {
    None: lambda X: np.zeros(X.shape[1]),
    "mean": lambda X: X.mean(axis=0),
    "median": lambda X: np.median(X, axis=0),
    "row": lambda X: X[7].copy(),
}


@pytest.fixture(params=DATA)
def case(request):
    X, about, rank = DATA[request.param]
    return X, np.asarray(ORIGINS[about](X.astype(np.float64))), rank


def residuals(rows, others):
    """Residual norms of rows about the span of others, itself in the same coordinates."""
    _, s, Vt = np.linalg.svd(others, full_matrices=False)
    V = Vt[s > 1e-9 * s[0]].T
    return np.linalg.norm(rows - (rows @ V) @ V.T, axis=1)


def test_distances_and_residuals_are_those_of_qr(case):
    X, origin, rank = case
    rows, _, coordinates = reduced(X, origin)
    expected, _, _ = by_qr(X, origin)
    assert is_gram(coordinates)
    assert not coordinates.is_own
    assert rows.shape == (len(X), rank)
    assert rows.flags.c_contiguous
    lengths = np.linalg.norm(expected, axis=1)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), lengths, rtol=1e-13)
    rounding = 1e-13 * np.add.outer(lengths, lengths)[np.triu_indices(len(X), 1)]
    assert (np.abs(pdist(rows) - pdist(expected)) <= rounding + 1e-10 * pdist(expected)).all()
    for seed in range(5):
        mix = np.random.default_rng(seed).standard_normal((3, len(X))) / np.maximum(lengths, 1e-9)
        np.testing.assert_allclose(
            residuals(rows, mix @ rows), residuals(expected, mix @ expected), rtol=1e-9, atol=1e-9
        )


def test_every_row_is_at_its_coordinates(case):
    X, origin, rank = case
    rows, _, coordinates = reduced(X, origin)
    Q = coordinates.Q @ np.eye(rank)
    deviations = X - origin
    lengths = np.linalg.norm(deviations, axis=1, keepdims=True)
    size = lengths + np.linalg.norm(origin)
    assert (np.abs(rows @ Q.T - deviations) <= 1e-12 * size).all()
    np.testing.assert_allclose(Q.T @ Q, np.eye(rank), atol=1e-9)


def test_lifted_axes_are_orthonormal_and_in_the_row_space(case):
    X, origin, rank = case
    rows, _, coordinates = reduced(X, origin)
    W, y = random_basis(rank, 8), np.random.default_rng(0).standard_normal(rank)
    lifted = coordinates.lift(Subspace(W, y))
    np.testing.assert_allclose(lifted.basis.T @ lifted.basis, np.eye(8), atol=1e-14)
    np.testing.assert_allclose(coordinates.lower(lifted.center), y, atol=1e-8)
    _, _, exact = by_qr(X, origin)
    span = exact.Q[:, : len(X)]
    np.testing.assert_allclose(span @ (span.T @ lifted.basis), lifted.basis, atol=1e-9)
    # What it leaves of a row is what W leaves of its coordinates.
    np.testing.assert_allclose(
        np.linalg.norm(lifted.residuals(X.astype(np.float64)), axis=1),
        np.linalg.norm(Subspace(W, y).residuals(rows), axis=1),
        rtol=1e-9,
    )


def test_no_axes_are_lifted_as_none():
    X = wide()
    rows, _, coordinates = reduced(X)
    lifted = coordinates.lift(Subspace(np.zeros((rows.shape[1], 0)), rows[4]))
    assert lifted.basis.shape == (X.shape[1], 0)
    np.testing.assert_allclose(lifted.center, X[4], atol=1e-12)


def test_points_are_lowered():
    X = wide()
    origin = X.mean(axis=0)
    rows, _, coordinates = reduced(X, origin)
    np.testing.assert_allclose(coordinates.lower(X[3]), rows[3], atol=1e-10)
    np.testing.assert_array_equal(coordinates.lower(origin), np.zeros(rows.shape[1]))


def test_own_coordinates_leave_everything_as_it_is():
    own = Coordinates(np.zeros(4))
    subspace = Subspace(np.eye(4)[:, :2], np.ones(4))
    assert own.is_own
    assert own.lift(subspace) is subspace
    assert own.lower(subspace.center) is subspace.center


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_are_divided_by_the_unit(dtype):
    X = (wide() * 2.0**70).astype(dtype)
    origin = np.ones(X.shape[1])
    rows, _, coordinates = reduced(X, origin, unit=2.0**70)
    assert is_gram(coordinates)
    expected, _, _ = reduced((X / dtype(2.0**70)).astype(dtype), origin)
    np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("n_further", [1, 4])
def test_further_rows_are_in_the_span(inside, n_further):
    X = wide()
    origin = X.mean(axis=0)
    F = random_basis(X.shape[1], n_further).T
    if inside:
        F = random_basis(len(X), n_further, seed=3).T @ (X - origin)
        F /= np.linalg.norm(F, axis=1, keepdims=True)
    rows, further, coordinates = reduced(X, origin, F)
    assert is_gram(coordinates)
    assert rows.shape == (60, 59 + (0 if inside else n_further))
    both = np.vstack([rows, further])
    exact = np.vstack([X - origin, F])
    np.testing.assert_allclose(both @ both.T, exact @ exact.T, atol=1e-10)
    np.testing.assert_allclose((coordinates.Q @ further.T).T, F, atol=1e-11)


def ill_conditioned(smallest):
    """Singular values of 1 but for the last."""
    s = np.ones(60)
    s[-1] = smallest
    return (random_basis(60, 60) * s) @ random_basis(900, 60, seed=1).T


@pytest.mark.parametrize(
    "X",
    [
        ill_conditioned(1e-5),
        ill_conditioned(1e-9),
        of_low_rank() + 1e-9 * np.random.default_rng(0).standard_normal((60, 900)),
        wide() + 1e8,
        wide() * 1e-170,
        wide() * 1e160,
        np.zeros((60, 900)),
    ],
)
def test_qr_where_squares_lack_the_digits(X):
    rows, _, coordinates = reduced(X)
    assert not is_gram(coordinates)
    np.testing.assert_array_equal(rows, by_qr(X)[0])


@pytest.mark.parametrize("change", [0.0, 1e-8])
@pytest.mark.parametrize("n_alike", [2, 30])
def test_rows_that_are_nearly_alike_are_not_taken_for_the_same(change, n_alike):
    X = wide()
    X[:n_alike] = X[0]
    X[1] += change * np.random.default_rng(0).standard_normal(X.shape[1])
    assert is_gram(reduced(X)[2]) == (change == 0.0)


def test_as_many_columns_as_asked_for():
    X = of_low_rank()
    assert reduced(X, least=13)[0].shape == (60, 13)
    rows, _, coordinates = reduced(X, least=14)
    assert rows.shape == (60, 60)
    assert not is_gram(coordinates)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_same_bits_for_any_number_of_threads(dtype):
    X = wide(150, 3000).astype(dtype)
    origin = X.mean(axis=0, dtype=np.float64)
    found = []
    for n_jobs in (1, 2, 3):
        with Workers.start(n_jobs) as workers:
            rows, _, coordinates = reduce_rows(X, origin, np.zeros((0, 3000)), workers)
            assert is_gram(coordinates)
            lifted = coordinates.lift(Subspace(random_basis(rows.shape[1], 5), rows[1]))
            found.append((rows, lifted.basis, lifted.center, coordinates.lower(X[0] + 0.5)))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("n", "m", "dtype"), [(200, 30_000, np.float64), (120, 100_000, np.float32)]
)
def test_the_rows_are_neither_copied_nor_written_to(n, m, dtype):
    X = np.random.default_rng(0).standard_normal((n, m), dtype=dtype)
    origin = X.mean(axis=0, dtype=np.float64)
    X.flags.writeable = False
    with Workers.start(2) as workers:
        tracemalloc.start()
        rows, _, coordinates = reduce_rows(X, origin, np.zeros((0, m)), workers)
        reducing = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        W = random_basis(rows.shape[1], 2)
        coordinates.lift(Subspace(W, rows[0]))
        lifting = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert is_gram(coordinates)
    assert reducing <= 0.1 * X.nbytes
    assert lifting <= 0.15 * X.nbytes  # with the axes and the center themselves, of length m
