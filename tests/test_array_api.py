"""PyTorch's arrays, and array-api-strict's on a device that NumPy cannot read."""

from __future__ import annotations

import pickle
import sys
import warnings

import array_api_strict
import numpy as np
import pytest
import sklearn
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from helpers import heavy_tailed, projector, random_basis
from trueaxis import PCAOutlierDetector, RobustPCA, _device
from trueaxis._device import DeviceBlock, to_host
from trueaxis._products import array_api as products
from trueaxis._products import dense_rows, padded_columns, project, split_center
from trueaxis.estimators import _namespace
from trueaxis.sources import ArrayApiSource, DenseSource
from trueaxis.sources import array_api as sources

DEVICE = array_api_strict.Device("device1")
KINDS = {
    "torch": torch.asarray,
    # NumPy cannot read this one, and it mixes with no array of another device.
    "strict": lambda X: array_api_strict.asarray(X, device=DEVICE),
}
ATTRIBUTES = [
    "components_",
    "mean_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "noise_variance_",
    "weights_",
]
X = heavy_tailed(600, 8, seed=3, df=3, shift=5.0)


@pytest.fixture(autouse=True, scope="module")
def _enabled():
    """scikit-learn asks for this variable; torch's threads wait for one another on busy cores."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCIPY_ARRAY_API", "1")
        yield
    torch.set_num_threads(threads)


@pytest.fixture
def dispatch():
    with sklearn.config_context(array_api_dispatch=True):
        yield


@pytest.fixture(params=KINDS)
def convert(request):
    return KINDS[request.param]


def assert_like(found, expected, given, tolerance=1e-8, floor=1e-300):
    """The same numbers, in an array of the library and on the device of the data given."""
    assert type(found) is type(given)
    assert found.device == given.device
    found = to_host(found)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    scale = max(float(np.abs(expected).max(initial=0.0)), floor)
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"p": 0.5},
        {"p": 2.0},
        {"loss": "bisquare"},
        {"loss": "trimmed"},
        {"loss": "huber"},
        {"loss": "cauchy"},
        {"loss": "l1"},
        {"loss": "l1", "solver": "reweighted"},
        {"center": "median"},
        {"center": "mean"},
        {"center": False},
        {"center": np.arange(8.0)},
        {"n_components": 0.7},
        {"n_components": None},
        {"solver": "proximal", "whiten": True},
        {"solver": "accelerated", "p": 1.5},
        {"solver": "orthogonal", "start": random_basis(8, 3).T},
    ],
    ids=str,
)
@pytest.mark.usefixtures("dispatch")
def test_a_fit_and_its_answers_are_numpys_where_the_data_live(convert, options):
    pca = RobustPCA(**{"n_components": 3, **options})
    Y = convert(X)
    ours, theirs = clone(pca).fit(Y), pca.fit(X)
    for name in ATTRIBUTES:
        if isinstance(getattr(theirs, name), np.ndarray | np.floating):
            assert_like(getattr(ours, name), np.asarray(getattr(theirs, name)), Y)
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-8)
    assert ours.history_.objective[0] == pytest.approx(theirs.history_.objective[0], rel=1e-8)
    Z = ours.transform(Y)
    assert_like(Z, theirs.transform(X), Y)
    assert_like(ours.inverse_transform(Z), theirs.inverse_transform(theirs.transform(X)), Y)
    for name in ("score_samples", "score_distance", "orthogonal_distance"):
        assert_like(getattr(ours, name)(Y), getattr(theirs, name)(X), Y, floor=1.0)
    assert ours.score(Y) == pytest.approx(theirs.score(X), rel=1e-8)
    for name in ("get_covariance", "get_precision"):
        found, expected = getattr(ours, name)(), getattr(theirs, name)()
        if np.isfinite(expected).all():
            assert_like(found, expected, Y)
    assert ours.subspace_.angles(theirs.subspace_).max() < 1e-7


@pytest.mark.usefixtures("dispatch")
def test_weights_of_either_library_count(convert):
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    expected = RobustPCA(3).fit(X, sample_weight=weights)
    for given_weights in (weights, convert(weights)):
        found = RobustPCA(3).fit(convert(X), sample_weight=given_weights)
        assert_like(found.components_, expected.components_, convert(X))
        assert_like(found.weights_, expected.weights_, convert(X))


@pytest.mark.parametrize("options", [{}, {"p": 2.0}, {"loss": "bisquare"}, {"n_components": None}])
@pytest.mark.usefixtures("dispatch")
def test_wide_data(convert, options):
    wide = heavy_tailed(25, 60, seed=9)
    pca = RobustPCA(**{"n_components": 3, **options})
    ours, theirs = clone(pca).fit(convert(wide)), pca.fit(wide)
    assert_like(ours.explained_variance_, theirs.explained_variance_, convert(wide))
    axes, expected = to_host(ours.components_), theirs.components_
    np.testing.assert_allclose(projector(axes[:3].T), projector(expected[:3].T), atol=1e-8)


@pytest.mark.usefixtures("dispatch")
def test_entries_whose_squares_overflow(convert):
    Y = convert(X * 1e120)
    assert_like(RobustPCA(3).fit(Y).mean_, RobustPCA(3).fit(X * 1e120).mean_, Y)


@pytest.mark.usefixtures("dispatch")
def test_whole_numbers_are_counted_as_float64(convert):
    whole = np.round(10 * X).astype(np.int64)
    found = RobustPCA(3).fit(convert(whole))
    assert_like(found.mean_, RobustPCA(3).fit(whole).mean_, convert(X))
    assert_like(found.transform(convert(whole)), RobustPCA(3).fit_transform(whole), convert(X))


@pytest.mark.usefixtures("dispatch")
def test_float32_is_answered_in_float32(convert):
    tall = heavy_tailed(12_000, 8, seed=1, df=4, shift=1000.0).astype(np.float32)
    Y = convert(tall)
    ours, theirs = RobustPCA(3).fit(Y), RobustPCA(3).fit(tall)
    for name in ATTRIBUTES:
        assert_like(getattr(ours, name), np.asarray(getattr(theirs, name)), Y, 1e-4)
    assert_like(ours.transform(Y), theirs.transform(tall), Y, 1e-4)
    assert_like(ours.score_samples(Y), theirs.score_samples(tall), Y, 1e-4)


@pytest.mark.usefixtures("dispatch")
def test_a_device_without_float64(monkeypatch):
    def floats(array):
        return {"float32": torch.float32}

    for module in (_device, products, _namespace):
        monkeypatch.setattr(module, "floats", floats)
    tall = heavy_tailed(6000, 8, seed=1, df=4).astype(np.float32)
    ours, theirs = RobustPCA(3).fit(torch.asarray(tall)), RobustPCA(3).fit(tall)
    for name in ATTRIBUTES:
        assert getattr(ours, name).dtype == torch.float32
    np.testing.assert_allclose(to_host(ours.components_), theirs.components_, atol=1e-4)
    assert ours.orthogonal_distance(torch.asarray(tall)).dtype == torch.float32


@pytest.mark.usefixtures("dispatch")
def test_blocks_add_up(monkeypatch, convert):
    monkeypatch.setattr(sources, "_BLOCK_BYTES", 64 * 100)
    assert_like(
        RobustPCA(3).fit(convert(X)).components_, RobustPCA(3).fit(X).components_, convert(X)
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"p": 2.0},
        {"loss": "huber"},
        {"loss": "bisquare"},
        {"solver": "orthogonal", "tol": 1e-3},
        {"n_components": 0.7},
    ],
    ids=str,
)
@pytest.mark.usefixtures("dispatch")
def test_sweeps_leave_the_rows_where_they_are(monkeypatch, options):
    """What a pass brings to the host is a few numbers a row, and sums."""
    n, m = 30_000, 40
    tall = array_api_strict.asarray(heavy_tailed(n, m, seed=2, df=3), device=DEVICE)
    kind, moved, passes = type(tall), [], []
    to_device = kind.to_device

    def counted(array, *args, **options):
        found = to_device(array, *args, **options)  # one that fails moves nothing
        moved.append(array.size)
        return found

    def watched(method):
        def pass_(self, kernel):
            before = len(moved)
            result = method(self, kernel)
            passes.append(sum(moved[before:]))
            return result

        return pass_

    monkeypatch.setattr(kind, "to_device", counted)
    for name in ("reduce", "collect"):
        monkeypatch.setattr(ArrayApiSource, name, watched(getattr(ArrayApiSource, name)))
    RobustPCA(**{"n_components": 3, **options}).fit(tall)
    assert len(passes) >= 3
    assert np.median(passes) <= 2 * n + 4 * m * m  # ‖b_i‖² and ‖z_i‖², and sums
    # Those that tell which rows agree bring scores besides, of 10 axes in a width of 16, and look
    # twice.
    assert max(passes) <= (2 + 16 + 2) * n + 4 * m * m
    assert max(moved) < n * m / 2  # samples are parts of the rows


@settings(deadline=None, max_examples=40)
@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 12), st.integers(1, 5)),
    types=st.sampled_from([("float64",) * 2, ("float32",) * 2, ("float64", "float32")]),
    shift=st.sampled_from([0.0, 1e3]),
    seed=st.integers(0, 2**32 - 1),
)
def test_products_are_those_of_an_array(shape, types, shift, seed):
    n, m, k = shape
    rng = np.random.default_rng(seed)
    rows = (rng.standard_normal((n, m)) + shift).astype(types[0])
    dtype = np.dtype(types[1])
    P = padded_columns(rng.standard_normal((m, k)), dtype)
    center = split_center(np.full(m, shift) + rng.standard_normal(m), dtype)
    d, first = rng.random(n), int(rng.integers(k))
    inner, some = int(rng.integers(k + 1)), np.flatnonzero(rng.random(n) < 0.5)
    expected = project(rows, center, P, inner)
    tolerance = 1e-12 if types[1] == "float64" else 1e-4
    for convert in KINDS.values():
        array = convert(rows)
        block = DeviceBlock(array, _device.namespace(array))
        found = project(block, center, P, inner)
        pairs = [
            (found.Z, expected.Z.copy()),
            (found.squares, expected.squares),
            (found.inside, expected.inside),
            (found.deviations(), expected.deviations().copy()),
            (found.deviations(some), expected.deviations(some).copy()),
            (found.deviations(slice(n // 2, n)), expected.deviations(slice(n // 2, n)).copy()),
            (dense_rows(block, slice(n // 2, n)), rows[n // 2 :]),
            *zip(
                found.accumulate(first, k - first, d),
                expected.accumulate(first, k - first, d),
                strict=True,
            ),
            (found.gram(d), expected.gram(d)),
        ]
        for ours, theirs in pairs:
            assert ours.dtype == theirs.dtype
            size = max(np.abs(theirs).max(initial=0.0), 1.0)
            np.testing.assert_allclose(ours, theirs, atol=tolerance * size, rtol=0)


@pytest.mark.parametrize("n", [255, 256, 10_000])
def test_float32_products_are_added_up_in_float64(convert, n):
    ones = convert(np.full((n, 2), 0.1, np.float32))
    sums = products._product(_device.namespace(ones), ones, ones)
    assert sums.dtype == np.float64
    np.testing.assert_allclose(sums, n * np.float64(np.float32(0.1)) ** 2, rtol=1e-5)


def test_a_source_takes_and_leaves_out_rows(convert):
    source, dense = ArrayApiSource(convert(X)), DenseSource(X)
    present = X[:, 0] > 5
    rows = np.array([0, 3, 7])
    np.testing.assert_array_equal(source.take(rows)[0], X[rows])
    np.testing.assert_array_equal(source.where(present).wide(), dense.where(present).wide())
    assert source.shape == dense.shape
    assert source.dtype == source.answers == np.float64


@pytest.mark.parametrize("options", [{}, {"n_components": 3, "contamination": 0.1}])
@pytest.mark.usefixtures("dispatch")
def test_the_outlier_detector(convert, options):
    Y = convert(X)
    ours, theirs = PCAOutlierDetector(**options).fit(Y), PCAOutlierDetector(**options).fit(X)
    for name in ("score_samples", "decision_function", "score_distance", "orthogonal_distance"):
        assert_like(getattr(ours, name)(Y), getattr(theirs, name)(X), Y, 1e-7)
    assert_like(ours.predict(Y), theirs.predict(X), Y)
    assert_like(ours.score_scatter_, theirs.score_scatter_, Y, 1e-7)
    assert (ours.classify(Y) == theirs.classify(X)).all()
    assert isinstance(ours.score_cutoff_, float)
    assert isinstance(ours.orthogonal_cutoff_, float)


@pytest.mark.parametrize(
    "estimator",
    [RobustPCA(2), RobustPCA(0.9, p=2, whiten=True), PCAOutlierDetector()],
    ids=str,
)
def test_scikit_learns_checks_run_for_torch_and_strict_arrays(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    # A build of PyTorch for GPUs may be on a machine that has no driver for one.
    assert not [(name, error) for name, error in failed if "CUDA driver" not in str(error)]
    ran = [r for r in results if "array_api" in r["check_name"] and r["status"] == "passed"]
    assert len(ran) >= 5  # torch and strict, both in float64 and float32, and mixed input


@pytest.mark.parametrize("shape", [(600, 8), (5000, 30)], ids=str)
@pytest.mark.usefixtures("dispatch")
def test_a_true_l1_fit_is_numpys_to_the_bit(convert, shape):
    # Its descents end where |r| has corners: what rounding changed on the way would show.
    rows = heavy_tailed(*shape, seed=3, df=3, shift=5.0)
    pca = RobustPCA(2, loss="l1", max_iter=30, tol=1e-3)
    ours, theirs = clone(pca).fit(convert(rows)), pca.fit(rows)
    for name in ("components_", "mean_", "explained_variance_", "weights_"):
        assert_like(getattr(ours, name), getattr(theirs, name), convert(rows), tolerance=0.0)


def test_without_dispatch_a_tensor_in_memory_is_an_array():
    pca = RobustPCA(3).fit(torch.asarray(X))
    assert isinstance(pca.components_, np.ndarray)
    np.testing.assert_array_equal(pca.components_, RobustPCA(3).fit(X).components_)
    assert isinstance(pca.transform(torch.asarray(X)), np.ndarray)


def test_a_model_fitted_to_tensors_serves_numpy_without_dispatch(convert):
    with sklearn.config_context(array_api_dispatch=True):
        pca = RobustPCA(3).fit(convert(X))
    expected = RobustPCA(3).fit(X)
    Z = pca.transform(X)
    assert isinstance(Z, np.ndarray)
    np.testing.assert_allclose(Z, expected.transform(X), atol=1e-8)
    np.testing.assert_allclose(pca.inverse_transform(Z), expected.inverse_transform(Z), atol=1e-8)
    np.testing.assert_allclose(pca.score_samples(X), expected.score_samples(X), rtol=1e-8)


def test_a_fitted_model_survives_pickling():
    with sklearn.config_context(array_api_dispatch=True):
        pca = RobustPCA(3).fit(torch.asarray(X))
        again = pickle.loads(pickle.dumps(pca))
        assert_like(
            again.transform(torch.asarray(X)),
            to_host(pca.transform(torch.asarray(X))),
            torch.asarray(X),
        )
    assert (again.history_ == pca.history_).all()
    del again.history_
    assert not hasattr(again, "history_")


def test_an_array_that_numpy_cannot_read_is_refused_with_a_way_out():
    Y = KINDS["strict"](X)
    with pytest.raises(TypeError, match=r"on device .*device1.*array_api_dispatch=True"):
        RobustPCA(3).fit(Y)
    with pytest.raises(TypeError, match="array_api_dispatch=True"):
        RobustPCA(3).fit(X).inverse_transform(Y)


@pytest.mark.usefixtures("dispatch")
def test_other_arrays_than_those_of_the_fit_are_refused(convert):
    elsewhere = array_api_strict.asarray(X, device=array_api_strict.Device("device2"))
    for estimator in (RobustPCA(3), PCAOutlierDetector(3)):
        ours, theirs = clone(estimator).fit(convert(X)), clone(estimator).fit(X)
        for fitted, other in (
            (ours, X),
            (ours, X.tolist()),
            (ours, elsewhere),
            (theirs, convert(X)),
        ):
            with pytest.raises(ValueError, match="must use the same namespace and the same device"):
                fitted.score_samples(other)
    with pytest.raises(ValueError, match=r"RobustPCA.inverse_transform\(\) must use the same"):
        RobustPCA(3).fit(convert(X)).inverse_transform(X[:, :3])


@pytest.mark.usefixtures("dispatch")
def test_bad_entries_are_named(convert):
    Y = X.copy()
    Y[7, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*row 7, column 3"):
        RobustPCA(3).fit(convert(Y))
    with pytest.raises(ValueError, match=r"NaN.*row 7, column 3"):
        RobustPCA(3).fit(convert(X)).transform(convert(Y))
    with pytest.raises(ValueError, match="Complex data not supported"):
        RobustPCA(3).fit(convert(X + 0j))
    with pytest.raises(ValueError, match="2D"):
        RobustPCA(3).fit(convert(X[0]))
    with pytest.raises(ValueError, match=r"\[1, 8\]"):
        RobustPCA(9).fit(convert(X))
    with pytest.raises(ValueError, match="features"):
        RobustPCA(3).fit(convert(X)).transform(convert(X[:, :5]))
    with pytest.raises(ValueError, match="the model has 3 components"):
        RobustPCA(3).fit(convert(X)).inverse_transform(convert(X))


@pytest.mark.usefixtures("dispatch")
def test_tensors_that_are_more_than_rows_are_refused():
    with pytest.raises(ValueError, match=r"sparse tensor.*X\.to_dense\(\)"):
        RobustPCA(3).fit(torch.asarray(X).to_sparse())
    with pytest.raises(ValueError, match=r"X\.detach\(\)"):
        RobustPCA(3).fit(torch.asarray(X).requires_grad_())


@pytest.mark.usefixtures("dispatch")
def test_without_array_api_compat_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    _device._compat.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'trueaxis\[array-api\]'"):
        RobustPCA(3).fit(torch.asarray(X))
    RobustPCA(3).fit(X)
