import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import heavy_tailed, random_basis, source_of
from trueaxis import _products as products
from trueaxis._products import dense as _products
from trueaxis._subspace import Subspace
from trueaxis._sweep import Sweep
from trueaxis.losses import L1, L2p
from trueaxis.sources import dense

FIELDS = ("objective", "mass", "first", "product", "gram", "leftover")


def direct(X, point, V, loss, omega):
    """Every sum of a sweep, from the formulas."""
    W, c = point.basis, point.center
    V = np.eye(X.shape[1]) if V is None else V
    D = X - c
    R = D - D @ W @ W.T
    t = (R**2).sum(axis=1)
    value, d = loss.value_and_weight(R if loss.entrywise else t)
    w = omega * d
    A = (D * w[:, None]).T @ D
    return (omega * value).sum(), w.sum(), D.T @ w, A @ V, V.T @ A @ V, w @ t


def assert_moments(moments, expected, rtol=1e-9):
    for name, value in zip(FIELDS, expected, strict=True):
        found = getattr(moments, name)
        np.testing.assert_allclose(
            found, value, rtol=rtol, atol=rtol * np.abs(value).max(initial=0), err_msg=name
        )


@settings(deadline=None, max_examples=40)
@given(
    n=st.integers(1, 80),
    m=st.integers(1, 40),
    k=st.integers(0, 20),
    q=st.integers(0, 12),
    what=st.sampled_from(["scatter", "basis", "basis and more", "other"]),
    loss=st.sampled_from([L2p(1.0), L2p(0.5, 1e-3), L2p(2.0), L1()]),
    weighted=st.booleans(),
    compiled=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_moments_are_the_sums_of_their_formulas(n, m, k, q, what, loss, weighted, compiled, seed):
    k, q = min(k, m - 1), min(q, m)
    X = heavy_tailed(n, m, seed, shift=3.0)
    point = Subspace(random_basis(m, max(k, 1), seed)[:, :k], X.mean(axis=0) + 0.3)
    more = np.random.default_rng(seed).standard_normal((m, q))
    V = {
        "scatter": None,
        "basis": point.basis,
        "basis and more": np.hstack([point.basis, more]),
        "other": more,
    }[what]
    omega = np.random.default_rng(seed).uniform(0.5, 2, n) if weighted else None
    source = source_of(X, weights=omega)
    kernels = _products.kernels
    try:
        _products.kernels = kernels if compiled else None
        moments = source.reduce(Sweep.at(point, V, loss, source.dtype))
    finally:
        _products.kernels = kernels
    assert_moments(moments, direct(X, point, V, loss, np.ones(n) if omega is None else omega))


def test_sums_over_blocks_are_the_sum_over_all(monkeypatch):
    X, loss = heavy_tailed(3001, 7), L2p(1.0)
    point = Subspace(random_basis(7, 2), X.mean(axis=0))
    whole = direct(X, point, point.basis, loss, np.ones(len(X)))
    for size in (1, 5000, 1 << 30):
        monkeypatch.setattr(dense, "_BLOCK_BYTES", size)
        monkeypatch.setattr(dense, "_MIN_BLOCK_BYTES", 1)
        source = source_of(X)
        assert_moments(source.reduce(Sweep.at(point, point.basis, loss, X.dtype)), whole)


@pytest.mark.parametrize("probed", [True, False])
def test_recentered_moments_are_those_about_the_weighted_mean(probed):
    X, loss = heavy_tailed(50, 6), L2p(1.0)
    point = Subspace(random_basis(6, 2), np.zeros(6))
    V = random_basis(6, 3, seed=1) if probed else None
    source = source_of(X)
    moments = source.reduce(Sweep.at(point, V, loss, X.dtype))
    _, d = loss.value_and_weight((point.residuals(X) ** 2).sum(axis=1))
    mean = d @ X / d.sum()
    D = X - mean
    A = (D * d[:, None]).T @ D
    V_full = np.eye(6) if V is None else V
    about = moments.recenter(V)
    np.testing.assert_allclose(point.center + moments.shift, mean, atol=1e-12)
    np.testing.assert_allclose(about.product, A @ V_full, rtol=1e-9)
    np.testing.assert_allclose(about.gram, V_full.T @ A @ V_full, rtol=1e-9)
    np.testing.assert_allclose(about.first, 0)


PAIRS = [(np.float64, np.float64), (np.float32, np.float32), (np.float64, np.float32)]


def laid_out(X, layout):
    """The same rows elsewhere in memory."""
    n, m = X.shape
    if layout == "every other row":
        wide = np.full((2 * n, m), np.nan, X.dtype)[::2]
    elif layout == "some columns":
        wide = np.full((n, m + 4), np.nan, X.dtype)[:, 3 : m + 3]
    elif layout == "odd address":
        raw = np.empty(X.nbytes + 1, np.uint8)
        wide = raw[1:].view(X.dtype).reshape(n, m)
    else:
        return X
    wide[:] = X
    return wide


@pytest.mark.skipif(_products.kernels is None, reason="no compiler when the package was installed")
@pytest.mark.parametrize(("rows_dtype", "dtype"), PAIRS)
@pytest.mark.parametrize(
    ("n", "m", "k", "layout"),
    [
        (1, 1, 1, "plain"),
        (3, 2, 0, "plain"),
        (7, 3, 2, "some columns"),
        (64, 16, 8, "every other row"),
        (65, 17, 12, "odd address"),
        (203, 33, 17, "some columns"),
        (130, 100, 11, "every other row"),
        (71, 259, 25, "some columns"),
        (9, 129, 64, "plain"),
    ],
)
def test_every_instruction_set_agrees_with_the_reference(rows_dtype, dtype, n, m, k, layout):
    kernels = _products.kernels
    X = laid_out(heavy_tailed(n, m, shift=5.0).astype(rows_dtype), layout)
    center = products.split_center(X.mean(axis=0, dtype=np.float64), np.dtype(dtype))
    P = products.padded_columns(random_basis(max(m, k), k)[:m], np.dtype(dtype))
    d = np.random.default_rng(0).uniform(0.1, 1, n)
    first, q = k // 4, k - k // 4
    reference = _products.project_reference(np.ascontiguousarray(X), center, P, k // 2)
    sums = _products.accumulate_reference(reference, first, q, d)
    tol = 1e-12 if dtype == np.float64 else 1e-4
    names = kernels.instruction_sets()
    try:
        for name in names:
            kernels.choose(name)
            rows = products.project(X, center, P, k // 2)
            assert rows.Z.dtype == dtype
            scale = np.abs(reference.Z).max(initial=0)
            np.testing.assert_allclose(rows.Z, reference.Z, atol=tol * scale * m)
            np.testing.assert_allclose(rows.squares, reference.squares, rtol=tol)
            np.testing.assert_allclose(rows.inside, reference.inside, rtol=10 * tol, atol=tol)
            for ours, theirs in zip(rows.accumulate(first, q, d), sums, strict=True):
                assert ours.dtype == theirs.dtype == np.float64
                np.testing.assert_allclose(
                    ours, theirs, rtol=tol, atol=10 * tol * np.abs(theirs).max(initial=0)
                )
    finally:
        kernels.choose(names[0])


@pytest.mark.parametrize("compiled", [True, False])
def test_float32_products_of_float64_rows_far_away_keep_their_digits(compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(_products, "kernels", None)
    offset = 2.0**40  # its float32 neighbors are 2**17 apart
    X = heavy_tailed(50, 20).astype(np.float32) + offset
    near, far = X - offset, np.full(20, offset)
    P = products.padded_columns(random_basis(20, 3), np.dtype(np.float32))
    rows = products.project(X, products.split_center(far, P.dtype), P, 3)
    _, mean, _ = rows.accumulate(0, 3, np.ones(50))
    np.testing.assert_allclose(rows.squares, (near**2).sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(rows.Z, near @ P, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(mean, near.sum(axis=0), rtol=1e-5, atol=1e-4)


def test_kernels_refuse_buffers_that_do_not_fit():
    kernels = _products.kernels
    if kernels is None:
        pytest.skip("no compiler when the package was installed")
    good, row, norms = np.zeros((4, 8)), np.zeros(8), np.zeros(4)
    P = np.zeros((8, 8))
    kernels.project(good, row, None, P, 0, good.copy(), norms, norms.copy())
    with pytest.raises(ValueError, match="fit"):
        kernels.project(good, row[:7], None, P, 0, good.copy(), norms, norms.copy())
    with pytest.raises(TypeError, match="float"):
        kernels.project(good.astype(int), row, None, P, 0, good.copy(), norms, norms.copy())
    sums = np.zeros((5, 8))
    with pytest.raises(ValueError, match="fit"):
        kernels.accumulate(good, row, None, good, 6, 4, np.ones(4), sums, sums.copy())


@pytest.mark.parametrize("compiled", [True, False])
def test_a_sweep_with_float32_products_of_float64_rows_has_their_digits(compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(_products, "kernels", None)
    X, loss = heavy_tailed(300, 30, shift=1e6), L2p(1.0)
    point = Subspace(random_basis(30, 4), np.median(X, axis=0))
    moments = source_of(X).reduce(Sweep.at(point, point.basis, loss, np.dtype(np.float32)))
    assert_moments(moments, direct(X, point, point.basis, loss, np.ones(len(X))), rtol=1e-5)


def test_far_from_the_origin_no_digits_are_lost():
    X = heavy_tailed(200, 5)
    point = Subspace(random_basis(5, 2), X.mean(axis=0))
    near = source_of(X).reduce(Sweep.at(point, point.basis, L2p(1.0), X.dtype))
    offset = 2.0**27  # exactly representable beside the data's leading digits
    Y = X + offset
    exact = Y - offset  # what is left of X in Y
    far_point = Subspace(point.basis, point.center + offset)
    far = source_of(Y).reduce(Sweep.at(far_point, point.basis, L2p(1.0), X.dtype))
    there = Subspace(point.basis, far_point.center - offset)
    same = source_of(exact).reduce(Sweep.at(there, point.basis, L2p(1.0), X.dtype))
    assert far.objective == pytest.approx(same.objective, rel=1e-14)
    assert far.objective == pytest.approx(near.objective, rel=1e-6)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-9), (np.float32, 2e-3)])
def test_small_residuals_keep_their_digits(dtype, rtol):
    rng = np.random.default_rng(0)
    W = random_basis(30, 3)
    noise = rng.standard_normal((100, 30))
    noise -= noise @ W @ W.T
    X = 1e4 * rng.standard_normal((100, 3)) @ W.T + (1.0 if dtype == np.float32 else 1e-3) * noise
    X = X.astype(dtype)
    point = Subspace(W, np.zeros(30))
    terms = Sweep.at(point, W, L2p(1.0), X.dtype).look(X)
    Y = X.astype(np.float64)
    t = ((Y - Y @ W @ W.T) ** 2).sum(axis=1)
    np.testing.assert_allclose(terms.t, t, rtol=rtol)


def test_gradient_of_the_objective_is_minus_the_projected_product():
    X, loss = heavy_tailed(40, 6), L2p(0.7)
    W, c, h = random_basis(6, 2), np.zeros(6), 1e-6
    source = source_of(X)

    def value(basis):
        Q, _ = np.linalg.qr(basis)
        moments = source.reduce(Sweep.at(Subspace(Q, c), Q, loss, X.dtype))
        return moments.objective

    AW = source.reduce(Sweep.at(Subspace(W, c), W, loss, X.dtype)).product
    # J is a function of the span alone, so its gradient is tangent: −(I − WWᵀ)AW (theorem 3).
    gradient = -(AW - W @ (W.T @ AW))
    for seed in range(5):
        direction = np.random.default_rng(seed).standard_normal(W.shape)
        numeric = (value(W + h * direction) - value(W - h * direction)) / (2 * h)
        assert numeric == pytest.approx((gradient * direction).sum(), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_kernel_that_arrives_between_two_numbers_gives_the_same_sums(dtype):
    """What comes from another process may lie at any address."""
    X = heavy_tailed(300, 20).astype(dtype)

    def displaced(A):
        raw = np.empty(A.nbytes + 1, np.uint8)
        copy = raw[1:].view(A.dtype).reshape(A.shape)
        copy[...] = A
        return copy

    center = products.split_center(X.mean(axis=0, dtype=np.float64), X.dtype)
    moved = type(center)(
        *(
            None if part is None else displaced(part)
            for part in (center.whole, center.hi, center.lo)
        )
    )
    P = products.padded_columns(random_basis(20, 4), X.dtype)
    for rows in (X, displaced(X)):
        a = products.project(X, center, P, 4)
        Z, sums = a.Z.copy(), a.accumulate(0, 4, np.ones(300))
        b = products.project(rows, moved, displaced(P), 4)
        np.testing.assert_array_equal(b.Z, Z)
        for one, other in zip(sums, b.accumulate(0, 4, np.ones(300)), strict=True):
            np.testing.assert_array_equal(one, other)


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 150),
    m=st.integers(1, 40),
    q=st.integers(1, 90),
    dtype=st.sampled_from([np.float64, np.float32]),
    order=st.sampled_from("CF"),
    compiled=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_thin_products_are_products(n, m, q, dtype, order, compiled, seed):
    rng = np.random.default_rng(seed)
    A = np.asarray(rng.standard_normal((n, m)), dtype, order=order)
    B, C, c = (rng.standard_normal(shape).astype(dtype) for shape in ((m, q), (n, q), (m,)))
    exact = np.asarray(A, np.float64)
    tolerance = {"rtol": 1e-5, "atol": 1e-4} if dtype == np.float32 else {"atol": 1e-11}
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            patch.setattr(_products, "kernels", None)
        np.testing.assert_allclose(products.times(A, B), exact @ B, **tolerance)
        found = products.transposed_times(A, C, c.astype(np.float64))
        np.testing.assert_allclose(found, (exact - c).T @ C, **tolerance)
        K = np.ones((n, n))
        products.add_outer(A, K)
        np.testing.assert_allclose(np.tril(K), np.tril(exact @ exact.T + 1), **tolerance)
