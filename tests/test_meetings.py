"""Pictures, reports and models on disk, of rows of every kind."""

from __future__ import annotations

import dask.array
import dask.dataframe
import matplotlib
import numpy as np
import pandas as pd
import pytest
import sklearn
import torch
from matplotlib import pyplot as plt
from scipy import sparse

from trueaxis import PCAOutlierDetector, RobustPCA, persistence, plots, report
from trueaxis.contributions import contributions
from trueaxis.datasets import make_contaminated
from trueaxis.pursuit import PrincipalComponentPursuit
from trueaxis.sources import RowBlocks

matplotlib.use("Agg")

X = make_contaminated("scattered", n_samples=120, n_features=5, random_state=0).X
MODELS = {"axes": RobustPCA(2), "detector": PCAOutlierDetector(2)}


def npy(folder):
    np.save(folder / "rows.npy", X)
    return str(folder / "rows.npy")


def parquet(folder):
    pd.DataFrame(X, columns=list("abcde")).to_parquet(folder / "rows.parquet")
    return folder / "rows.parquet"


KINDS = {
    "list": lambda _: X.tolist(),
    "npy": npy,
    "parquet": parquet,
    "blocks": lambda _: RowBlocks(lambda: (X[i : i + 50] for i in range(0, len(X), 50))),
    "sparse": lambda _: sparse.csr_array(X),
    "dask array": lambda _: dask.array.from_array(X, chunks=(50, 5)),
    "dask frame": lambda _: dask.dataframe.from_pandas(
        pd.DataFrame(X, columns=list("abcde")), npartitions=3
    ),
    "tensor": lambda _: torch.asarray(X),
}


@pytest.fixture
def fitted(request, tmp_path, monkeypatch):
    """A model fitted to rows of some kind, these rows, and the model fitted to the array."""
    kind, name = request.param
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    rows = KINDS[kind](tmp_path)
    with (
        sklearn.config_context(array_api_dispatch=kind == "tensor"),
        dask.config.set(scheduler="synchronous"),
    ):
        yield sklearn.clone(MODELS[name]).fit(rows), rows, sklearn.clone(MODELS[name]).fit(X)


every_kind = pytest.mark.parametrize(
    "fitted",
    [(kind, name) for kind in KINDS for name in MODELS],
    indirect=True,
    ids=lambda pair: "-".join(pair),
)


@every_kind
def test_pictures_and_reports_take_rows_of_every_kind(fitted):
    model, rows, of_array = fitted
    np.testing.assert_allclose(contributions(model, rows), contributions(of_array, X), atol=1e-4)
    for draw in (plots.outlier_map, plots.scores):
        there, here = draw(model, rows), draw(of_array, X)
        for a, b in zip(there.collections, here.collections, strict=True):
            np.testing.assert_allclose(a.get_offsets(), b.get_offsets(), rtol=1e-3, atol=1e-3)
    plots.scree(model)
    plots.convergence(model)
    plt.close("all")
    page = report.render(model, rows, columns=list("abcde"), ids=range(120))
    expected = report.render(of_array, X, columns=list("abcde"), ids=range(120))
    assert page.count("<circle") == expected.count("<circle")


@every_kind
def test_models_on_disk_are_numpys(fitted, tmp_path):
    model, _, of_array = fitted
    persistence.save(model, tmp_path / "model.skops")
    with sklearn.config_context(array_api_dispatch=False):
        found = persistence.load(tmp_path / "model.skops")
        assert isinstance(getattr(found, "pca_", found).components_, np.ndarray)
        table = pd.DataFrame(X, columns=getattr(found, "feature_names_in_", None))
        np.testing.assert_allclose(
            found.orthogonal_distance(table), of_array.orthogonal_distance(X), atol=1e-4
        )


def test_labels_are_those_of_a_frame_of_dask():
    table = pd.DataFrame(X, columns=list("abcde"), index=[f"row {i}" for i in range(120)])
    table = table.sort_index()
    with dask.config.set(scheduler="synchronous"):
        lazy = dask.dataframe.from_pandas(table, npartitions=3)
        page = report.render(PCAOutlierDetector(2).fit(lazy), lazy)
    assert "row 17" in page


def with_gaps():
    """Few enough of them that every row has more observed entries than axes."""
    gappy = X.copy()
    gappy[np.arange(0, 120, 3), np.arange(0, 120, 3) % 5] = np.nan
    return gappy


GAPPY = {
    "npy": lambda folder, Y: (np.save(folder / "rows.npy", Y), str(folder / "rows.npy"))[1],
    "blocks": lambda _, Y: RowBlocks(lambda: (Y[i : i + 50] for i in range(0, len(Y), 50))),
    "dask": lambda _, Y: dask.array.from_array(Y, chunks=(50, 5)),
}


@pytest.mark.parametrize("kind", GAPPY)
@pytest.mark.parametrize("number", [2, "scree"])
def test_the_detector_reads_gaps_wherever_they_are(kind, number, tmp_path):
    Y = with_gaps()
    rows = GAPPY[kind](tmp_path, Y)
    with dask.config.set(scheduler="synchronous"):
        detector = PCAOutlierDetector(number, missing="nan").fit(rows)
        expected = PCAOutlierDetector(number, missing="nan").fit(Y)
        np.testing.assert_array_equal(np.asarray(detector.predict(rows)), expected.predict(Y))
        with pytest.raises(ValueError, match=r"contains NaN: first at row 0.*column 0"):
            PCAOutlierDetector(number).fit(rows)


@pytest.mark.parametrize("estimator", MODELS.values(), ids=MODELS)
def test_sparse_blocks_have_no_gaps(estimator):
    rows = RowBlocks(lambda: (sparse.csr_array(X[i : i + 50]) for i in range(0, len(X), 50)))
    for held in (rows, sparse.csr_array(X)):
        with pytest.raises(ValueError, match="cannot be combined with sparse data"):
            sklearn.clone(estimator).set_params(missing="nan").fit(held)


def test_a_model_that_followed_a_stream_is_reported_and_saved(tmp_path):
    pca = RobustPCA(2).partial_fit(X[:60]).partial_fit(X[60:])
    assert "followed a stream" in report.render(pca, X)
    plots.outlier_map(pca, X)
    plt.close("all")
    persistence.save(pca, tmp_path / "model.skops")
    found = persistence.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(found.transform(X), pca.transform(X))
    pca.partial_fit(X)  # saving took nothing from it
    assert pca.n_samples_seen_ == 240
    found.partial_fit(X)
    assert found.n_samples_seen_ == 120
    with pytest.raises(AttributeError, match="`fit` makes one, `partial_fit` none"):
        _ = found.history_


@pytest.mark.parametrize("rows", [KINDS["npy"], KINDS["parquet"], KINDS["blocks"]])
def test_decompositions_say_that_they_need_the_matrix(rows, tmp_path):
    with pytest.raises(TypeError, match=r"decomposes a matrix in memory.*numpy.load"):
        PrincipalComponentPursuit().fit(rows(tmp_path))


def test_decompositions_have_no_outlier_map(tmp_path):
    pursuit = PrincipalComponentPursuit().fit(X)
    for use in (report.render, plots.outlier_map, plots.scores, contributions):
        with pytest.raises(TypeError, match="PrincipalComponentPursuit has no axes to measure"):
            use(pursuit, X)
    with pytest.raises(TypeError, match="PrincipalComponentPursuit cannot be saved"):
        persistence.save(pursuit, tmp_path / "model.skops")
