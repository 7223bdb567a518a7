"""Rows of a Dask array or DataFrame: every scheduler, the same answer, nothing gathered."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster, wait
from scipy import sparse

from helpers import heavy_tailed
from trueaxis import PCAOutlierDetector, RobustPCA
from trueaxis._subspace import Subspace
from trueaxis._sweep import Sweep, row_terms
from trueaxis._threads import Workers
from trueaxis.datasets import make_contaminated
from trueaxis.losses import L2p
from trueaxis.sources.dask import DaskSource, graph
from trueaxis.sources.dask.graph import futures_in, placed

N, M, K = 6000, 12, 3
CHUNKS = (1000, 1, 2500, 2499)
SCHEDULERS = ("synchronous", "threads", "processes", "cluster")


@pytest.fixture(scope="module")
def X():
    return heavy_tailed(N, M, shift=3.0)


@pytest.fixture(scope="module")
def cluster():
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": ":0"},  # any free port for its own pages
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.fixture(params=SCHEDULERS)
def scheduler(request):
    """Each scheduler, set as a user sets it."""
    if request.param == "cluster":
        with request.getfixturevalue("cluster").as_current():
            yield
    elif request.param == "processes":
        with dask.config.set(scheduler="processes", pool=request.getfixturevalue("pool")):
            yield
    else:
        with dask.config.set(scheduler=request.param):
            yield


def chunked(X, chunks=CHUNKS):
    return da.from_array(X, chunks=(chunks, X.shape[1]))


def frame(X, npartitions=3):
    names = [f"c{j}" for j in range(X.shape[1])]
    return dd.from_pandas(pd.DataFrame(X, columns=names), npartitions=npartitions)


def assert_same_fit(a, b, tol=1e-8):
    np.testing.assert_allclose(a.components_, b.components_, atol=tol)
    np.testing.assert_allclose(a.mean_, b.mean_, rtol=tol, atol=tol)
    np.testing.assert_allclose(a.explained_variance_, b.explained_variance_, rtol=tol)
    np.testing.assert_allclose(a.objective_, b.objective_, rtol=tol)


def test_every_scheduler_gives_the_dense_answer_and_lazy_results(X, scheduler):
    rows = chunked(X)
    dense, pca = RobustPCA(K).fit(X), RobustPCA(K).fit(rows)
    assert_same_fit(pca, dense)
    assert pca.weights_ is None
    Z = pca.transform(rows)
    assert isinstance(Z, da.Array)
    assert Z.chunks == (CHUNKS, (K,))
    np.testing.assert_allclose(Z.compute(), dense.transform(X), atol=1e-7)
    back = pca.inverse_transform(Z)
    assert isinstance(back, da.Array)
    np.testing.assert_allclose(back, dense.inverse_transform(dense.transform(X)), atol=1e-7)


@pytest.mark.parametrize(
    "options",
    [
        {"p": 2.0},
        {"p": 0.5},
        {"loss": "huber"},
        {"loss": "l1", "solver": "reweighted", "max_iter": 5, "tol": 0},
        {"loss": "bisquare"},
        {"loss": "trimmed"},
        {"solver": "proximal", "max_iter": 5, "tol": 0},
        {"solver": "reweighted", "center": "median"},
        {"n_components": None},
        {"n_components": 0.8},
        {"whiten": True, "center": "mean"},
    ],
    ids=str,
)
def test_every_loss_and_solver_gives_the_dense_answer(X, options):
    options = {"n_components": K, **options}
    assert_same_fit(RobustPCA(**options).fit(chunked(X)), RobustPCA(**options).fit(X))


def test_a_frame_keeps_the_names_of_its_columns(X):
    rows = frame(X)
    pca = RobustPCA(K).fit(rows)
    assert_same_fit(pca, RobustPCA(K).fit(X))
    assert list(pca.feature_names_in_) == list(rows.columns)
    Z = pca.transform(rows)
    assert isinstance(Z, da.Array)
    np.testing.assert_allclose(Z, pca.transform(rows.compute()), atol=1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        pca.transform(rows.rename(columns={"c0": "other"}))


def test_frames_of_whole_and_missing_types(X):
    whole = pd.DataFrame(np.round(10 * X[:500]).astype(int), columns=[f"c{j}" for j in range(M)])
    dense = RobustPCA(K).fit(whole)
    for kind in (int, "Int64", "Float64"):
        rows = dd.from_pandas(whole.astype(kind), npartitions=2)
        assert_same_fit(RobustPCA(K).fit(rows), dense)
    with pytest.raises(ValueError, match=r"Column 'c1' of X has dtype .*; it must hold real"):
        RobustPCA(K).fit(dd.from_pandas(whole.astype({"c1": str}), npartitions=2))


def test_weights_count_rows_and_zero_leaves_them_out(X):
    omega = np.random.default_rng(1).integers(0, 3, N)
    omega[1000:3400] = 0  # nearly all of one partition, and the whole of the one before
    dense = RobustPCA(K).fit(X, sample_weight=omega)
    for rows in (chunked(X), frame(X)):
        assert_same_fit(RobustPCA(K).fit(rows, sample_weight=omega), dense)
    assert_same_fit(RobustPCA(K).fit(chunked(X), sample_weight=da.from_array(omega)), dense)


def test_precision_and_size_follow_the_data(X):
    single = X.astype(np.float32)
    pca = RobustPCA(K).fit(chunked(single))
    assert pca.components_.dtype == pca.transform(chunked(single)).dtype == np.float32
    assert_same_fit(pca, RobustPCA(K).fit(single), tol=1e-4)
    assert_same_fit(RobustPCA(K).fit(chunked(1e-140 * X)), RobustPCA(K).fit(1e-140 * X))


def test_chunks_of_columns_become_whole_rows(X):
    rows = da.from_array(X, chunks=(2000, 5))
    pca = RobustPCA(K).fit(rows)
    assert_same_fit(pca, RobustPCA(K).fit(X))
    assert pca.transform(rows).chunks == ((2000,) * 3, (K,))
    with dask.config.set({"array.chunk-size": "64kiB"}):
        assert max(DaskSource(rows)._lengths) * X.itemsize * M <= 1 << 16


def test_sparse_partitions_stay_sparse():
    X = sparse.random_array((3000, 40), density=0.2, rng=np.random.default_rng(0), format="csr")
    X = (X * 0.7 ** np.arange(40)).tocsr()
    rows = da.from_array(X.toarray(), chunks=(1000, 40)).map_blocks(sparse.csr_array)
    assert_same_fit(RobustPCA(K).fit(rows), RobustPCA(K).fit(X))
    pca = RobustPCA(K).fit(X)
    np.testing.assert_allclose(pca.transform(rows).compute(), pca.transform(X), atol=1e-12)


def test_wide_rows_and_few_rows():
    X = heavy_tailed(40, 90)
    rows = chunked(X, (15, 25))
    for options in ({}, {"loss": "bisquare"}, {"n_components": None}):
        a, b = (RobustPCA(**{"n_components": K, **options}).fit(A) for A in (rows, X))
        np.testing.assert_allclose(a.explained_variance_[:K], b.explained_variance_[:K], rtol=1e-4)
    tiny = np.diag([5.0, 3.0, 1.0, 1.0])[:3]
    assert_same_fit(RobustPCA(1, p=2).fit(chunked(tiny, (1, 2))), RobustPCA(1, p=2).fit(tiny))


def test_distances_and_flags_are_lazy(X):
    rows, pca = chunked(X), RobustPCA(K).fit(X)
    for name in ("score_distance", "orthogonal_distance", "score_samples"):
        found = getattr(pca, name)(rows)
        assert isinstance(found, da.Array)
        assert found.chunks == (CHUNKS,)
        np.testing.assert_allclose(found, getattr(pca, name)(X), rtol=1e-9)
    assert pca.score(rows) == pytest.approx(pca.score(X))
    detector = PCAOutlierDetector(n_components=K).fit(rows)
    dense = PCAOutlierDetector(n_components=K).fit(X)
    assert isinstance(detector.predict(rows), da.Array)
    np.testing.assert_array_equal(detector.predict(rows), dense.predict(X))
    np.testing.assert_array_equal(detector.classify(rows), dense.classify(X))


def test_the_cut_offs_of_many_rows_come_from_some_of_them():
    data = make_contaminated("scattered", n_samples=50_000, random_state=0)
    detector = PCAOutlierDetector(n_components=3).fit(da.from_array(data.X, chunks=(9000, -1)))
    flagged = detector.predict(data.X) == -1
    assert flagged[data.is_outlier].all()
    assert 0.01 < flagged[~data.is_outlier].mean() < 0.04


def test_the_same_bits_on_each_run_and_scheduler(X):
    found = []
    for name in ("synchronous", "threads", "threads"):
        with dask.config.set(scheduler=name):
            found.append(RobustPCA(K).fit(chunked(X)).components_)
    assert all(np.array_equal(found[0], other) for other in found[1:])


def test_what_lies_together_is_read_by_one_task_and_sums_to_the_same_bits(X, cluster):
    with dask.config.set(scheduler="synchronous"):
        alone = RobustPCA(K).fit(chunked(X, (500,) * 12)).components_
    with cluster.as_current():
        rows = chunked(X, (500,) * 12).persist()
        wait(rows)
        placement = placed(DaskSource(rows)._blocks, futures_in(rows))
        groups = placement.groups(range(12), 1.0, 100.0)
        assert len(groups) == len(set(placement.homes)) < 12
        assert sorted(i for group in groups for i in group) == list(range(12))
        np.testing.assert_array_equal(RobustPCA(K).fit(rows).components_, alone)


def test_trees_and_large_tasks_change_nothing(X, cluster, monkeypatch):
    W = np.linalg.qr(np.random.default_rng(0).standard_normal((M, K)))[0]
    sweep = Sweep.at(Subspace(W, X.mean(axis=0)), None, L2p(1.0), np.dtype(np.float64))
    rows = chunked(X, (100,) * 60)
    whole = DaskSource(rows).reduce(sweep)
    monkeypatch.setattr(graph, "_CARRIED", 0)
    with cluster.as_current():
        np.testing.assert_array_equal(DaskSource(rows).reduce(sweep).product, whole.product)
    monkeypatch.setattr(graph, "_FAN", 3)
    found = DaskSource(rows).reduce(sweep)
    np.testing.assert_allclose(found.product, whole.product, rtol=1e-12)
    np.testing.assert_array_equal(DaskSource(rows).reduce(sweep).product, found.product)


def test_lazy_results_hold_what_was_persisted(X, cluster):
    pca = RobustPCA(K).fit(X)
    with cluster.as_current():
        rows = chunked(X).persist()
        wait(rows)
        Z = pca.transform(rows)
        del rows
        gc.collect()
        cluster.run(int)  # a round trip: what is to be forgotten is forgotten
        assert any(cluster.has_what().values())
        np.testing.assert_allclose(Z.compute(), pca.transform(X), atol=1e-12)


class Graphs:
    """A scheduler that notes how many bytes the result of each graph has."""

    def __init__(self):
        self.sizes = []

    def __call__(self, dsk, keys, **options):
        results = dask.get(dsk, keys, **options)
        self.sizes.append(len(pickle.dumps(results)))
        return results


def test_a_sweep_is_one_graph_and_no_graph_brings_more_than_sampled_rows():
    X = heavy_tailed(100_000, 50)
    graphs = Graphs()
    with dask.config.set(scheduler=graphs):
        pca = RobustPCA(K).fit(da.from_array(X, chunks=(7000, -1)))
    # All rows that are looked at one by one come in one graph beside the sweeps.
    assert len(graphs.sizes) == pca.n_sweeps_ + 1
    assert max(graphs.sizes) < 0.15 * X.nbytes


def test_rows_that_are_foreseen_are_fetched_in_one_graph(X):
    rng = np.random.default_rng(0)
    some = [np.sort(rng.integers(0, N, 300)) for _ in range(4)]
    graphs = Graphs()
    with dask.config.set(scheduler=graphs):
        source = DaskSource(chunked(X)).posed(Workers(1), weights=np.arange(N), unit=2.0)
        before = len(graphs.sizes)
        source.foresee(some)
        for rows in some:
            picked, weights = source.take(rows)
            np.testing.assert_array_equal(picked, X[rows] / 2.0)
            np.testing.assert_array_equal(weights, rows)
        assert len(graphs.sizes) == before + 1
        assert source.take(np.arange(0))[0].shape == (0, M)


def test_blocks_and_blocks_of_workers_sum_alike(X):
    W = np.linalg.qr(np.random.default_rng(0).standard_normal((M, K)))[0]
    point = Subspace(W, X.mean(axis=0))
    sweep = Sweep.at(point, None, L2p(1.0), np.dtype(np.float64))
    whole = sweep(X, None)
    for chunks in ((N,), CHUNKS, (1,) * 200 + (N - 200,)):
        source = DaskSource(chunked(X, chunks))
        moments = source.reduce(sweep)
        np.testing.assert_allclose(moments.product, whole.product, rtol=1e-11)
        terms = source.collect(row_terms(point, source.dtype))
        np.testing.assert_allclose(terms, row_terms(point, source.dtype)(X), rtol=1e-9)


# What bad input gets.


def test_unknown_chunk_sizes_are_refused_with_the_way_out(X):
    rows = frame(X).to_dask_array()
    with pytest.raises(ValueError, match=r"unknown sizes.*compute_chunk_sizes\(\)"):
        RobustPCA(K).fit(rows)
    assert_same_fit(RobustPCA(K).fit(rows.compute_chunk_sizes()), RobustPCA(K).fit(X))


def test_an_empty_partition_is_no_error(X):
    chunks = (0, 2000, 0, 4000, 0)
    rows = da.Array(parts_of(X, chunks), "parts", (chunks, (M,)), X.dtype)
    pca = RobustPCA(K).fit(rows)
    assert_same_fit(pca, RobustPCA(K).fit(X))
    assert pca.transform(rows).chunks == (chunks, (K,))
    np.testing.assert_allclose(pca.transform(rows), pca.transform(X), atol=1e-12)
    some = frame(X)
    some = some[some.c0 > some.c0.compute().nlargest(1000).min()]  # leaves partitions of any size
    assert_same_fit(RobustPCA(K).fit(some), RobustPCA(K).fit(some.compute().to_numpy()))


def parts_of(X, chunks):
    ends = np.cumsum([0, *chunks])
    pairs = pairwise(ends)
    return {("parts", i, 0): X[start:end] for i, (start, end) in enumerate(pairs)}


@pytest.mark.parametrize("shape", [(0, 3), (4, 0)])
def test_no_rows_and_no_columns_are_refused(shape):
    with pytest.raises(ValueError, match=r"Found array with 0 (sample|feature)\(s\)"):
        RobustPCA(1).fit(da.zeros(shape))


@pytest.mark.parametrize("scheduler", ["threads", "cluster"], indirect=True)
def test_the_place_of_nan_names_the_partition(X, scheduler):
    bad = X.copy()
    bad[3700, 4] = np.nan
    place = r"NaN: first at row 3700 \(row 199 of partition 3\), column 4"
    with pytest.raises(ValueError, match=place):
        RobustPCA(K).fit(chunked(bad))
    scores = RobustPCA(K).fit(chunked(X)).transform(chunked(bad))
    with pytest.raises(ValueError, match=place):
        scores.compute()
    with pytest.raises(ValueError, match=r"row \d+ of partition \d\), column 4 \('c4'\)"):
        RobustPCA(K).fit(frame(bad))


def test_nan_in_large_data_is_found_by_the_sweeps():
    bad = heavy_tailed(100_000, 50)
    bad[77_777, 7] = np.inf
    with pytest.raises(ValueError, match=r"infinity: first at row 77777 \(row 777 of partition 7"):
        RobustPCA(K).fit(da.from_array(bad, chunks=(11_000, -1)))


def wrong(block, block_info=None):
    number = block_info[0]["chunk-location"][0]
    return block[:, :-1] if number == 2 else block


@pytest.mark.parametrize("scheduler", ["threads", "cluster"], indirect=True)
def test_a_partition_of_the_wrong_width_is_named(X, scheduler):
    rows = chunked(X).map_blocks(wrong, dtype=X.dtype, chunks=chunked(X).chunks)
    with pytest.raises(ValueError, match=r"Partition 2 of X has shape \(2500, 11\), but .*12\)"):
        RobustPCA(K).fit(rows)


def without(frame, partition_info=None):
    return frame.drop(columns="c5") if partition_info and partition_info["number"] == 1 else frame


def test_a_column_missing_from_one_partition_is_named(X):
    rows = frame(X)
    rows = rows.map_partitions(without, meta=rows.dtypes.to_dict(), enforce_metadata=False)
    with pytest.raises(ValueError, match=r"Partition 1 of X lacks the columns \['c5'\]"):
        RobustPCA(K).fit(rows)


def test_other_shapes_and_types_are_refused(X):
    with pytest.raises(ValueError, match=r"Expected 2D array, got a 1D Dask array"):
        RobustPCA(K).fit(da.zeros(5))
    with pytest.raises(ValueError, match=r"X has dtype complex128; it must hold real numbers"):
        RobustPCA(K).fit(chunked(X).astype(complex))
    pca = RobustPCA(K).fit(X)
    with pytest.raises(ValueError, match=r"X has 11 features, but RobustPCA is expecting 12"):
        pca.transform(chunked(X[:, :-1]))
    with pytest.raises(ValueError, match=r"X has 12 columns, but the model has 3 components"):
        pca.inverse_transform(chunked(X))


# A worker is lost.


def made(block_id=None):
    """Rows that any worker makes, and makes again, from the number of their block."""
    return heavy_tailed(5000, 20, seed=block_id[0])


@pytest.mark.parametrize("pause", [0.0, 0.03], ids=["between sweeps", "in a sweep"])
def test_a_fit_survives_the_loss_of_a_worker(cluster, pause):
    with cluster.as_current():
        cluster.wait_for_workers(2, timeout=60)  # the nanny starts another for one that was lost
        rows = da.map_blocks(made, chunks=((5000,) * 8, (20,)), dtype=float).persist()
        omega = np.random.default_rng(0).uniform(1, 2, 40_000)
        whole = RobustPCA(K, tol=1e-10).fit(rows, sample_weight=omega)
        lost, killers = [], []

        def lose(subspace, record):
            if record.iteration == 1 and not killers:
                lost.append(next(iter(cluster.run(os.getpid).values())))
                killers.append(threading.Timer(pause, os.kill, (lost[0], signal.SIGKILL)))
                killers[0].start()
                if not pause:
                    killers[0].join()

        pca = RobustPCA(K, tol=1e-10, callback=lose).fit(rows, sample_weight=omega)
        killers[0].join()
        np.testing.assert_array_equal(pca.components_, whole.components_)
