"""partial_fit: axes that follow a stream of blocks."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from helpers import heavy_tailed, projector
from trueaxis import RobustPCA
from trueaxis.datasets import make_contaminated
from trueaxis.solvers.stochastic import Memory, share_kept


def followed(X, sizes, **options):
    pca, place = RobustPCA(3, **options), 0
    while place < len(X):
        step = sizes if isinstance(sizes, int) else next(sizes)
        pca.partial_fit(X[place : place + step])
        place += step
    return pca


def angle(one, other):
    return float(np.degrees(one.subspace_.angles(getattr(other, "subspace_", other)).max()))


ROWS = 40_000


def stream(kind, share, seed=0):
    data = make_contaminated(kind, n_samples=ROWS, outlier_share=share, random_state=seed)
    return data, np.random.default_rng(seed).permutation(ROWS)


@pytest.mark.parametrize(
    ("kind", "share", "p", "block"),
    [
        ("scattered", 0.2, 1.0, 100),
        ("scattered", 0.2, 1.0, 10_000),
        ("scattered", 0.2, 0.5, 1000),
        ("scattered", 0.2, 1.5, 1000),
        ("clustered", 0.05, 1.0, 1000),
        ("leverage", 0.05, 1.0, ROWS),
    ],
)
def test_one_pass_ends_where_the_batch_does(kind, share, p, block):
    data, order = stream(kind, share)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batch = RobustPCA(3, p=p).fit(data.X)
    pca = followed(data.X[order], block, p=p)
    # The stream weighs later rows more: it has the noise of somewhat fewer rows than the batch.
    assert angle(pca, batch) <= 0.3 + 0.6 * angle(batch, data.truth)
    assert angle(pca, data.truth) <= 0.3 + 1.6 * angle(batch, data.truth)
    np.testing.assert_allclose(pca.explained_variance_, batch.explained_variance_, rtol=0.1)
    assert pca.noise_variance_ == pytest.approx(batch.noise_variance_, rel=0.1)
    assert pca.n_samples_seen_ == pca.n_samples_ == ROWS


@pytest.mark.parametrize("kind", ["scattered", "clustered", "leverage"])
@pytest.mark.parametrize("first", ["bad", "good", "low scores"])
def test_the_order_of_the_rows_matters_little(kind, first):
    data, _ = stream(kind, 0.2 if kind == "scattered" else 0.05)
    far = np.linalg.norm(data.truth.residuals(data.X), axis=1)
    by = {"bad": -far, "good": far, "low scores": data.truth.project(data.X)[:, 0]}[first]
    pca = followed(data.X[np.argsort(by)], 1000)
    assert angle(pca, data.truth) <= 1.0
    np.testing.assert_allclose(pca.explained_variance_, [25, 16, 9], rtol=0.3)
    assert pca.noise_variance_ == pytest.approx(0.01, rel=0.3)


def test_a_few_rows_at_a_time():
    data = make_contaminated("scattered", n_samples=3000, random_state=2)
    X = data.X[np.random.default_rng(0).permutation(3000)]
    sizes = iter(np.random.default_rng(1).integers(1, 20, 3000).tolist())
    pca = followed(X, sizes)
    assert angle(pca, RobustPCA(3).fit(X)) <= 1.0
    assert pca.n_samples_seen_ == 3000


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(3, 30),
    center=st.sampled_from(["optimal", "mean", False, "point"]),
    block=st.integers(3, 200),
    shift=st.sampled_from([0.0, 1e6]),
)
def test_p_2_is_pca_of_all_rows_so_far(seed, m, center, block, shift):
    X = heavy_tailed(150, m, seed, df=5, shift=shift)
    point = np.full(m, shift) if center == "point" else center
    if center is False:
        X = X - shift  # squares of large entries keep few digits of what the axes leave
    pca = followed(X, block, p=2, center=point)
    batch = RobustPCA(3, p=2, center=point).fit(X)
    np.testing.assert_allclose(pca.mean_, batch.mean_, rtol=1e-10)
    np.testing.assert_allclose(
        projector(pca.components_.T), projector(batch.components_.T), atol=1e-5
    )
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        np.testing.assert_allclose(getattr(pca, name), getattr(batch, name), rtol=1e-6)
    assert pca.noise_variance_ == pytest.approx(batch.noise_variance_, rel=1e-6)


def test_p_2_in_many_columns_is_close_to_pca():
    X = np.random.default_rng(0).standard_normal((2000, 120)) * np.append(
        [10, 9, 8], np.geomspace(2, 0.1, 117)
    )
    pca, batch = followed(X, 100, p=2), PCA(3).fit(X)
    axes = projector(pca.components_.T), projector(batch.components_.T)
    np.testing.assert_allclose(*axes, atol=1e-3)
    np.testing.assert_allclose(pca.explained_variance_, batch.explained_variance_, rtol=1e-4)
    # What narrow directions hold is not forgotten.
    assert pca.noise_variance_ == pytest.approx(batch.noise_variance_, rel=1e-3)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), cut=st.integers(0, 40))
def test_memories_of_parts_make_the_memory_of_the_whole(seed, n, cut):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, 4)) + 100.0, rng.random(n) + 0.1
    cut = min(cut, n)
    memory = Memory.empty(4).joined(X[:cut], w[:cut], 4).faded(0.5).joined(X[cut:], w[cut:], 4)
    w = np.concatenate([0.5 * w[:cut], w[cut:]])
    mean = w @ X / w.sum()
    D = X - mean
    np.testing.assert_allclose(memory.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(memory.factor.T @ memory.factor, (D.T * w) @ D, atol=1e-9)
    assert memory.mass == pytest.approx(w.sum())
    narrow = Memory.empty(4).joined(X, w, 2)
    assert narrow.trace == pytest.approx(float(w @ np.sum((X - w @ X / w.sum()) ** 2, axis=1)))


def test_steps_are_those_that_convergence_asks_for():
    steps = np.array([1 - share_kept(n, 1.0, 1.0) for n in range(1, 10_000)])
    assert (np.diff(steps) < 0).all()
    assert steps * np.arange(2, 10_001) == pytest.approx(1.0)  # Σγ diverges, Σγ² does not


def test_weights_count_rows():
    X = heavy_tailed(300, 6, 3, df=4)
    counts = np.random.default_rng(0).integers(0, 3, 300)
    for p in (1.0, 2.0):
        one = RobustPCA(2, p=p).partial_fit(X, sample_weight=counts)
        two = RobustPCA(2, p=p).partial_fit(np.repeat(X, counts, axis=0))
        np.testing.assert_allclose(
            projector(one.components_.T), projector(two.components_.T), atol=1e-6
        )
        np.testing.assert_allclose(one.explained_variance_, two.explained_variance_, rtol=1e-6)
        assert one.n_samples_ == two.n_samples_ == counts.sum()
        assert one.n_samples_seen_ == 300


def test_it_can_be_used_as_soon_as_there_are_more_rows_than_axes():
    X = heavy_tailed(60, 8, 1, df=4)
    pca = RobustPCA(3).partial_fit(X[:2])
    with pytest.raises(NotFittedError):
        pca.transform(X)
    for i in range(2, 60):
        pca.partial_fit(X[i : i + 1])
        if i >= 3:
            assert pca.transform(X).shape == (60, 3)
            np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(3), atol=1e-10)
            assert (np.diff(pca.explained_variance_) <= 0).all()
    assert pca.n_samples_seen_ == 60


def test_fit_forgets_the_stream_and_a_stream_the_fit():
    X, Y = heavy_tailed(200, 5, 1), heavy_tailed(200, 5, 2)
    pca = RobustPCA(2).fit(X).partial_fit(Y)
    alone = RobustPCA(2).partial_fit(Y)
    np.testing.assert_array_equal(pca.components_, alone.components_)
    assert not hasattr(pca, "weights_")
    pca.partial_fit(X).fit(X)
    np.testing.assert_array_equal(pca.components_, RobustPCA(2).fit(X).components_)
    assert not hasattr(pca, "n_samples_seen_")
    np.testing.assert_array_equal(pca.partial_fit(Y).components_, alone.components_)


def test_sparse_blocks_float32_and_pickles():
    X = heavy_tailed(800, 6, 1, df=4)
    one, two = RobustPCA(2), RobustPCA(2)
    for i in range(0, 800, 200):
        one.partial_fit(X[i : i + 200])
        two = pickle.loads(pickle.dumps(two)).partial_fit(sparse.csr_array(X[i : i + 200]))
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-10)
    single = RobustPCA(2).partial_fit(X.astype(np.float32))
    assert single.components_.dtype == single.mean_.dtype == np.float32


GOOD = heavy_tailed(100, 5, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "bisquare"}, "partial_fit needs loss='l2p', and loss='bisquare'"),
        ({"loss": "l1"}, "partial_fit needs loss='l2p'"),
        ({"n_components": None}, "whole number n_components, and n_components=None"),
        ({"n_components": 0.9}, "whole number n_components"),
        ({"n_components": 5}, r"n_components=5 .*\[1, 4\]"),
        ({"n_components": 3}, "followed with n_components=2"),
        ({"center": "median"}, "center='median' cannot follow"),
        ({"p": 3}, "p=3"),
    ],
)
def test_what_a_stream_cannot_give_is_named(options, message):
    pca = RobustPCA(2).partial_fit(GOOD).set_params(**options)
    expected = pickle.dumps(vars(pca))
    with pytest.raises(ValueError, match=message):
        pca.partial_fit(GOOD)
    assert pickle.dumps(vars(pca)) == expected


def test_a_bad_block_is_named_and_changes_nothing():
    pca = RobustPCA(2).partial_fit(GOOD)
    expected = pickle.dumps(vars(pca))
    bad = GOOD.copy()
    bad[7, 3] = np.nan
    with pytest.raises(ValueError, match="row 7, column 3"):
        pca.partial_fit(bad)
    with pytest.raises(ValueError, match="4 features"):
        pca.partial_fit(GOOD[:, :4])
    assert pickle.dumps(vars(pca)) == expected
    with pytest.raises(ValueError, match="complete rows"):
        clone(pca).set_params(missing="nan").partial_fit(bad)


@pytest.mark.parametrize("estimator", [RobustPCA(1), RobustPCA(1, p=2)], ids=str)
def test_estimator_checks_pass(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert not [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert hasattr(estimator, "partial_fit")
    assert not hasattr(RobustPCA(), "partial_fit")
