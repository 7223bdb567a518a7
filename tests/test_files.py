"""Rows from files and from blocks: the same answers as in memory, and errors that say where."""

from __future__ import annotations

import pickle
import sys
import threading

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from helpers import heavy_tailed, projector
from trueaxis import PCAOutlierDetector, RobustPCA
from trueaxis._threads import Workers
from trueaxis.sources import ParquetSource, RowBlocks, open_source, stream

pytestmark = pytest.mark.filterwarnings("ignore:X has feature names")

X = heavy_tailed(3000, 6, seed=1, shift=3.0)
NAMES = [f"c{j}" for j in range(6)]


class Blocks:
    """Blocks of the rows of an array, which counts how often it is read."""

    def __init__(self, rows, size=700, change=None):
        self.rows, self.size, self.reads, self.change = rows, size, 0, change

    def __iter__(self):
        self.reads += 1
        for number, i in enumerate(range(0, self.rows.shape[0], self.size)):
            block = self.rows[i : i + self.size]
            yield block if self.change is None else self.change(self.reads, number, block)


def write_npy(rows, path, **options):
    np.save(path / "rows.npy", rows)
    return path / "rows.npy"


def write_memmap(rows, path, **options):
    return np.load(write_npy(rows, path), mmap_mode="r")


def write_hdf5(rows, path, size=700):
    file = h5py.File(path / "rows.h5", "w")
    chunks = (min(size, len(rows)), rows.shape[1])
    return file.create_dataset("rows", data=rows, chunks=chunks, compression="gzip")


def write_zarr(rows, path, size=700):
    chunks = (min(size, len(rows)), rows.shape[1])
    return zarr.create_array(store=str(path / "rows.zarr"), data=rows, chunks=chunks)


def write_parquet(rows, path, size=700):
    frame = pd.DataFrame(rows, columns=[f"c{j}" for j in range(rows.shape[1])])
    frame.to_parquet(path / "rows.parquet", row_group_size=size)
    return path / "rows.parquet"


def write_folder(rows, path, size=700):
    folder = path / "rows"
    folder.mkdir()
    frame = pd.DataFrame(rows, columns=[f"c{j}" for j in range(rows.shape[1])])
    parts = np.array_split(np.arange(len(rows)), 10)
    for number, part in enumerate(parts):
        frame.iloc[part].to_parquet(folder / f"part-{number}.parquet", row_group_size=size)
    return folder


def write_blocks(rows, path, size=700):
    return Blocks(rows, size)


KINDS = {
    "memmap": write_memmap,
    "npy": write_npy,
    "fortran npy": lambda rows, path, **options: write_npy(np.asfortranarray(rows), path),
    "hdf5": write_hdf5,
    "zarr": write_zarr,
    "parquet": write_parquet,
    "folder": write_folder,
    "blocks": write_blocks,
}
kinds = pytest.mark.parametrize("write", KINDS.values(), ids=KINDS.keys())


def assert_same(one, two, atol=1e-8):
    """The same subspace, center, variances and objective."""
    scale = float(np.sqrt(two.explained_variance_[0]))
    np.testing.assert_allclose(
        projector(one.components_.T), projector(two.components_.T), atol=atol
    )
    np.testing.assert_allclose(one.mean_, two.mean_, atol=atol * scale)
    np.testing.assert_allclose(one.explained_variance_, two.explained_variance_, rtol=atol)
    np.testing.assert_allclose(one.objective_, two.objective_, rtol=atol)


@pytest.fixture
def threaded(monkeypatch):
    """Reader and workers even for data that are small."""
    monkeypatch.setattr(stream, "SMALL", 0)


@kinds
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"p": 0.5, "center": "median"},
        {"p": 2},
        {"loss": "bisquare"},
        {"solver": "reweighted"},
        {"loss": "huber", "n_components": None},
    ],
    ids=str,
)
def test_every_kind_gives_the_answer_of_the_array(write, options, tmp_path, threaded):
    options = {"n_components": 2, "tol": 1e-10, **options}
    source = write(X, tmp_path)
    one, two = RobustPCA(**options).fit(source), RobustPCA(**options).fit(X)
    assert_same(one, two)
    scale = float(np.sqrt(two.explained_variance_[0]))
    rebuilt = one.inverse_transform(one.transform(source))
    np.testing.assert_allclose(
        rebuilt, two.inverse_transform(two.transform(X)), atol=1e-7 * max(scale, np.abs(X).max())
    )
    np.testing.assert_allclose(
        one.score_distance(source), two.score_distance(X), rtol=1e-6, atol=1e-7
    )
    if one.n_components_ < 6:
        np.testing.assert_allclose(
            one.orthogonal_distance(source), two.orthogonal_distance(X), rtol=1e-6, atol=1e-6
        )


@pytest.mark.parametrize("write", [write_npy, write_blocks, write_hdf5])
def test_the_true_l1_fit_reads_every_kind(write, tmp_path, threaded):
    source = write(X[:300], tmp_path)
    # Slopes that jump carry rounding to the axes; the objective is what is minimized.
    one, two = RobustPCA(1, loss="l1").fit(source), RobustPCA(1, loss="l1").fit(X[:300])
    np.testing.assert_allclose(one.objective_, two.objective_, rtol=1e-8)


@given(
    size=st.integers(1, 400),
    n=st.integers(8, 400),
    seed=st.integers(0, 2**31),
    kind=st.sampled_from(["hdf5", "parquet", "folder", "blocks"]),
)
@settings(deadline=None, max_examples=15)
def test_any_size_of_blocks_gives_the_same_answer(tmp_path_factory, size, n, seed, kind):
    rows = heavy_tailed(n, 4, seed)
    source = KINDS[kind](rows, tmp_path_factory.mktemp("rows"), size=size)
    one, two = (RobustPCA(1, tol=1e-11, max_iter=1000).fit(data) for data in (source, rows))
    np.testing.assert_allclose(one.objective_, two.objective_, rtol=1e-8)
    scores = (rows - one.mean_) @ one.components_.T
    np.testing.assert_allclose(one.transform(source), scores, atol=1e-9 * abs(rows).max())


@kinds
def test_the_bits_do_not_depend_on_the_number_of_threads(write, tmp_path, threaded):
    source = write(X, tmp_path)
    fits = [RobustPCA(2, n_jobs=n_jobs).fit(source) for n_jobs in (1, 2, 5)]
    assert len({pickle.dumps((fit.components_, fit.mean_, fit.objective_)) for fit in fits}) == 1


@kinds
def test_weights_count_rows_and_leave_rows_out(write, tmp_path, threaded):
    weights = np.arange(len(X)) % 3
    weights[700:1500] = 0  # a whole block of most kinds
    repeated = np.repeat(X, weights, axis=0)
    source = write(X, tmp_path)
    one = RobustPCA(2, tol=1e-10).fit(source, sample_weight=weights)
    assert_same(one, RobustPCA(2, tol=1e-10).fit(repeated))


@kinds
def test_the_outlier_detector_reads_every_kind(write, tmp_path, threaded):
    source = write(X, tmp_path)
    one, two = PCAOutlierDetector().fit(source), PCAOutlierDetector().fit(X)
    np.testing.assert_array_equal(one.predict(source), two.predict(X))
    np.testing.assert_allclose(one.score_distance(source), two.score_distance(X), rtol=1e-6)


@kinds
def test_wide_rows_and_integers_and_single_precision(write, tmp_path):
    for number, rows in enumerate(
        (
            heavy_tailed(12, 40, seed=2),
            (10 * heavy_tailed(300, 5, seed=3)).astype(np.int32),
            heavy_tailed(300, 5, seed=4).astype(np.float32),
        )
    ):
        path = tmp_path / str(number)
        path.mkdir()
        one, two = RobustPCA(2).fit(write(rows, path)), RobustPCA(2).fit(rows)
        assert one.components_.dtype == two.components_.dtype
        if rows.dtype == np.float32:
            np.testing.assert_allclose(one.objective_, two.objective_, rtol=1e-5)
        else:
            assert_same(one, two)


@pytest.mark.parametrize("dtype", [">f8", ">f4", "<f4", "i2", "u1", "?"])
def test_a_map_of_any_type_is_converted_block_by_block(dtype, tmp_path):
    rows = np.abs(10 * heavy_tailed(400, 5, seed=3)).clip(0, 200).astype(dtype)
    mapped, written = write_memmap(rows, tmp_path), tmp_path / "rows.npy"
    # As many updates of both: in float32, rounding may end one of them sooner.
    pca = RobustPCA(2, solver="reweighted", tol=0, max_iter=60)
    two = clone(pca).fit(rows)
    for source in (mapped, mapped[::1], written):
        one = clone(pca).fit(source)
        np.testing.assert_allclose(
            projector(one.components_.T), projector(two.components_.T), atol=1e-5
        )
    assert (
        mapped[:50].shape
        == RobustPCA(2)
        .fit(mapped[:50])
        .inverse_transform(RobustPCA(2).fit(mapped[:50]).transform(mapped[:50]))
        .shape
    )


def test_maps_that_are_private_or_cut_are_read_as_they_are(tmp_path, monkeypatch):
    rows = heavy_tailed(40_000, 8, seed=5)
    path = write_npy(rows, tmp_path)
    private = np.load(path, mmap_mode="c")
    private[:100] = 0.0  # nowhere but in memory
    RobustPCA(2).fit(private)
    assert not private[:100].any()
    shared = np.load(path, mmap_mode="r+")
    shared[:100] = 0.0
    changed = rows.copy()
    changed[:100] = 0.0
    one = RobustPCA(2).fit(shared)
    np.testing.assert_array_equal(shared, changed)
    assert_same(one, RobustPCA(2).fit(changed))
    for cut in (slice(1, None), slice(None, None, 3), slice(None, None, -1)):
        assert_same(RobustPCA(2).fit(shared[cut]), RobustPCA(2).fit(changed[cut]))
    assert_same(RobustPCA(2).fit(shared[:, 2:]), RobustPCA(2).fit(changed[:, 2:]))


def test_passes_are_counted_and_the_sample_is_read_once(threaded):
    for rows in (X, heavy_tailed(80_000, 60, seed=1)):
        blocks = Blocks(rows, size=1000)
        pca = RobustPCA(2).fit(blocks)
        in_memory = RobustPCA(2).fit(rows)
        assert pca.n_sweeps_ == blocks.reads
        # Once to count them, and once for all rows that are looked at one by one.
        assert blocks.reads == in_memory.n_sweeps_ + 2
        assert pca.weights_ is None
        blocks.reads = 0
        pca.transform(blocks)
        assert blocks.reads == 2


def test_reading_runs_ahead_of_computing_but_not_far(threaded):
    made, used, ahead, readers = 0, 0, [], set()

    def make():
        nonlocal made
        for i in range(0, len(X), 50):
            made += 1
            readers.add(threading.current_thread().name)
            yield X[i : i + 50]

    source = open_source(RowBlocks(make))

    def kernel(block, weights):
        nonlocal used
        used += 1
        ahead.append(made - used)
        return block.sum(axis=0)

    for n_jobs in (1, 2):
        with Workers.start(n_jobs) as workers:
            posed, made, used = source.posed(workers), 0, 0
            np.testing.assert_allclose(posed.reduce(kernel), X.sum(axis=0))
    assert max(ahead) <= 8
    assert any(name.startswith("trueaxis-reader") for name in readers)
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("trueaxis")]


def test_blocks_may_be_frames_or_sparse(threaded):
    rows = X * (np.random.default_rng(0).random(X.shape) < 0.5)
    two = RobustPCA(2, tol=1e-10).fit(rows)
    for convert in (pd.DataFrame, sparse.csr_array, sparse.coo_matrix, np.ndarray.tolist):
        one = RobustPCA(2, tol=1e-10).fit(Blocks(rows, change=lambda _, __, b, f=convert: f(b)))
        assert_same(one, two)


def test_names_come_from_the_schema_and_columns_are_selected_by_name(tmp_path):
    frame = pd.DataFrame(X, columns=NAMES)
    frame.insert(2, "label", "text")
    frame.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(
        ValueError, match=r"Column 'label' of .*rows.parquet.* holds .*string.*columns="
    ):
        RobustPCA(2).fit(tmp_path / "rows.parquet")
    pca = RobustPCA(2).fit(ParquetSource(tmp_path / "rows.parquet", columns=["c4", "c0", "c2"]))
    assert pca.feature_names_in_.tolist() == ["c4", "c0", "c2"]
    assert_same(pca, RobustPCA(2).fit(X[:, [4, 0, 2]]))
    with pytest.raises(ValueError, match="feature names should match"):
        pca.transform(ParquetSource(tmp_path / "rows.parquet", columns=["c4", "c0", "c3"]))
    with pytest.raises(ValueError, match="no column 'c9'"):
        ParquetSource(tmp_path / "rows.parquet", columns=["c9"])
    with pytest.raises(ValueError, match="twice"):
        ParquetSource(tmp_path / "rows.parquet", columns=["c1", "c1"])
    with pytest.raises(TypeError, match="one name"):
        ParquetSource(tmp_path / "rows.parquet", columns="c1")


def test_columns_in_another_order_are_matched_by_name(tmp_path):
    folder = write_folder(X, tmp_path)
    pd.read_parquet(folder / "part-4.parquet")[NAMES[::-1]].to_parquet(folder / "part-4.parquet")
    assert_same(RobustPCA(2).fit(folder), RobustPCA(2).fit(X))


def test_empty_parts_alone_are_no_error(tmp_path, threaded):
    frame = pd.DataFrame(X, columns=NAMES)
    folder = tmp_path / "rows"
    folder.mkdir()
    schema = pa.Schema.from_pandas(frame)
    with pq.ParquetWriter(folder / "a.parquet", schema) as writer:
        writer.write_table(pa.Table.from_pandas(frame[:0]))
        writer.write_table(pa.Table.from_pandas(frame[:1000]))
        writer.write_table(pa.Table.from_pandas(frame[:0]))
        writer.write_table(pa.Table.from_pandas(frame[1000:]))
    frame[:0].to_parquet(folder / "b.parquet")
    (folder / "_metadata").write_text("not rows")
    expected = RobustPCA(2).fit(X)
    assert_same(RobustPCA(2).fit(folder), expected)
    parts = [X[:0], X[:1000], X[:0], X[1000:], X[:0]]
    assert_same(RobustPCA(2).fit(RowBlocks(lambda: parts)), expected)
    (folder / "a.parquet").unlink()
    with pytest.raises(ValueError, match=r"rows' has 0 rows"):
        RobustPCA(2).fit(folder)


# What is wrong, where, and what to do.


def refused(data, message, error=ValueError):
    """A fit and a transform are refused with this message, and change nothing."""
    pca = RobustPCA(2).fit(X)
    before = pickle.dumps(vars(pca))
    with pytest.raises(error, match=message):
        pca.fit(data)
    assert pickle.dumps(vars(pca)) == before
    with pytest.raises(error, match=message):
        pca.transform(data)
    assert pickle.dumps(vars(pca)) == before
    detector = PCAOutlierDetector()
    with pytest.raises(error, match=message):
        detector.fit(data)
    assert set(vars(detector)) == set(vars(PCAOutlierDetector()))


def with_nan(row, column):
    rows = X.copy()
    rows[row, column] = np.nan
    return rows


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        ("memmap", r"row 2901 of '.*rows\.npy'"),
        ("npy", r"row 2901 of '.*rows\.npy', which is row 2901 of block 0"),
        ("hdf5", r"row 2901 of Dataset '/rows' of '.*rows\.h5', which is row 101 of block 4"),
        ("zarr", r"row 2901 of Array .*which is row 101 of block 4"),
        ("parquet", r"row 2901 of '.*', which is row 101 of rows 0 to 199 of row group 4 of"),
        ("folder", r"row 2901 of '.*', which is row 201 .* row group 0 of 'part-9.parquet'"),
        ("blocks", r"row 2901 of the Blocks, which is row 101 of block 4"),
    ],
)
def test_nan_is_named_with_its_file_block_row_and_column(kind, where, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "trueaxis.sources.sliced.BLOCK_BYTES", 700 * 48 if kind != "npy" else 1 << 22
    )
    name = r" \('c3'\)" if kind in ("parquet", "folder") else ""
    refused(KINDS[kind](with_nan(2901, 3), tmp_path), f"contains NaN.*{where}.*column 3{name}")


def test_nan_in_block_731():
    big = np.random.default_rng(0).standard_normal((80_000, 6))
    big[73_155, 2] = np.inf
    message = r"infinity: first at row 73155 of the Blocks, which is row 55 of block 731, column 2"
    refused(Blocks(big, size=100), message)


def test_a_missing_value_of_parquet_is_a_nan(tmp_path):
    frame = pd.DataFrame({f"c{j}": pd.array(range(3000), dtype="Int64") for j in range(6)})
    frame.loc[17, "c1"] = pd.NA
    frame.to_parquet(tmp_path / "rows.parquet")
    refused(tmp_path / "rows.parquet", r"NaN: first at row 17 .*column 1 \('c1'\)")


@pytest.mark.parametrize("keep", [0.5, 0.001, 0.0])
def test_a_truncated_file_is_named(keep, tmp_path):
    for write in (write_npy, write_parquet):
        path = write(X, tmp_path)
        data = path.read_bytes()
        path.write_bytes(data[: int(keep * len(data))])
        refused(path, f"{path.name}' is .*truncated")
    fortran = write_npy(np.asfortranarray(X), tmp_path)
    fortran.write_bytes(fortran.read_bytes()[:5000])
    refused(fortran, "truncated")


def test_a_parquet_file_that_is_damaged_inside_is_named(tmp_path):
    folder = write_folder(X, tmp_path)
    path = folder / "part-6.parquet"
    data = bytearray(path.read_bytes())
    data[4:4000] = bytes(3996)
    path.write_bytes(bytes(data))
    refused(folder, r"part-6\.parquet' cannot be read", OSError)


def test_a_hdf5_file_that_is_closed_or_damaged_is_named(tmp_path):
    stored = write_hdf5(X, tmp_path)
    chunk = stored.id.get_chunk_info(2)
    stored.file.close()
    with (tmp_path / "rows.h5").open("r+b") as file:
        file.seek(chunk.byte_offset)
        file.write(bytes(chunk.size))
    with h5py.File(tmp_path / "rows.h5") as file:
        refused(file["rows"], r"of Dataset '/rows' of '.*rows.h5' cannot be read", OSError)


@pytest.mark.parametrize("dtype", ["U5", "complex128", "M8[s]", object])
def test_a_wrong_dtype_is_named(dtype, tmp_path):
    rows = np.ones((20, 3)).astype(dtype) if dtype != "M8[s]" else np.zeros((20, 3), dtype)
    np.save(tmp_path / "rows.npy", rows)
    refused(tmp_path / "rows.npy", r"rows\.npy' has dtype .*real numbers")
    refused(Blocks(rows, size=10), r"block 0 of the Blocks has dtype .*real numbers")
    if dtype is not object:  # which no file can be mapped as
        mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
        refused(mapped, r"memory map of '.*rows\.npy' has dtype .*real numbers")


def test_wrong_shapes_are_named(tmp_path):
    for shape in [(30,), (3, 4, 5)]:
        np.save(tmp_path / "rows.npy", np.ones(shape))
        refused(tmp_path / "rows.npy", r"rows\.npy' has shape \(3.*2 dimensions")
        with h5py.File(tmp_path / "a.h5", "w") as file:
            refused(file.create_dataset("a", data=np.ones(shape)), "a.h5' has shape .*2 dimensions")
    np.save(tmp_path / "rows.npy", np.ones((0, 4)))
    refused(tmp_path / "rows.npy", "0 rows")


def test_a_block_of_the_wrong_width_is_named():
    def narrow(read, number, block):
        return block[:, :5] if number == 3 else block

    refused(Blocks(X, change=narrow), "block 3 of the Blocks has 5 columns, .* have 6")
    refused(Blocks(X, change=lambda read, number, block: block[0]), "block 0 .* 1 dimension")
    refused(
        Blocks(X, change=lambda read, number, block: [[1.0], [2.0, 3.0]]), "block 0 .*no matrix"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda read, i, b: b[:-1] if read > 1 and i == 2 else b,
            "block 2 .* 699 rows, and had 700",
        ),
        (lambda read, i, b: b[:, :5] if read > 1 and i == 2 else b, "block 2 .* 5 columns"),
    ],
)
def test_blocks_that_change_from_pass_to_pass_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        RobustPCA(2).fit(Blocks(X, change=change))


@pytest.mark.parametrize(
    ("rows", "message"), [(3500, "block 4 .* is new"), (1400, "block 2 .* is missing")]
)
def test_more_or_fewer_blocks_than_before_are_named(rows, message):
    reads = []
    longer = np.vstack([X, X])

    def make():
        reads.append(0)
        stop = 2800 if len(reads) == 1 else rows
        return (longer[i : min(i + 700, stop)] for i in range(0, stop, 700))

    with pytest.raises(ValueError, match=message + ".*must not change"):
        RobustPCA(2).fit(RowBlocks(make))


@pytest.mark.parametrize("grow", [True, False])
def test_a_file_that_changes_its_length_while_it_is_read_is_named(grow, tmp_path):
    path = write_npy(X, tmp_path)

    def change(subspace, record):
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.truncate(size + 48 if grow else size - 48)

    with pytest.raises(ValueError, match=r"rows\.npy' had 144128 bytes .*must not change"):
        RobustPCA(2, callback=change).fit(path)
    if not grow:
        mapped = write_memmap(X, tmp_path)
        with pytest.raises(ValueError, match=r"rows\.npy' had 144128 bytes .*must not change"):
            RobustPCA(2, callback=change).fit(mapped)


def test_a_dataset_that_is_resized_while_it_is_read_is_named(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        stored = file.create_dataset("a", data=X, maxshape=(None, 6), chunks=(100, 6))
        grown = lambda subspace, record: stored.resize(len(X) + 100, axis=0)  # noqa: E731
        with pytest.raises(
            ValueError, match=r"a\.h5' had shape \(3000, 6\) and now has \(3100, 6\)"
        ):
            RobustPCA(2, callback=grown).fit(stored)


def test_a_column_missing_in_one_parquet_file_of_ten_is_named(tmp_path):
    folder = write_folder(X, tmp_path)
    frame = pd.read_parquet(folder / "part-7.parquet")
    frame.drop(columns="c2").to_parquet(folder / "part-7.parquet")
    refused(folder, r"part-7\.parquet' has no column 'c2', which 'part-0\.parquet' has")
    frame.assign(more=1.0).to_parquet(folder / "part-7.parquet")
    refused(folder, r"part-7\.parquet' has a column 'more', which .* has not.*columns=")
    frame.assign(c2="text").to_parquet(folder / "part-7.parquet")
    refused(folder, r"Column 'c2' of '.*part-7\.parquet' holds .*string")


def test_what_can_be_read_once_only_is_refused_with_a_way_out():
    refused((X[i : i + 100] for i in range(0, 3000, 100)), "generator.*once.*RowBlocks", TypeError)
    with pytest.raises(TypeError, match="the function itself"):
        RowBlocks(X for _ in range(3))
    refused(RowBlocks(lambda: iter([])), "no blocks")


def test_paths_that_lead_nowhere_are_named(tmp_path):
    refused(str(tmp_path / "none.npy"), r"no file or folder '.*none\.npy'", FileNotFoundError)
    (tmp_path / "a.csv").write_text("1,2")
    refused(tmp_path / "a.csv", r"a\.csv', of a kind .*\.npy, \.parquet", ValueError)
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", r"empty' holds no \.parquet", FileNotFoundError)


def test_an_error_of_the_users_blocks_reaches_the_user_and_ends_the_reader(threaded):
    def broken(read, number, block):
        if read > 2 and number == 2:
            raise RuntimeError("the connection was lost")
        return block

    with pytest.raises(RuntimeError, match="the connection was lost"):
        RobustPCA(2).fit(Blocks(X, change=broken))
    assert not [t.name for t in threading.enumerate() if t.name.startswith("trueaxis")]


def test_without_pyarrow_the_command_that_installs_it_is_named(tmp_path, monkeypatch):
    path = write_parquet(X, tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "trueaxis._arrow", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'trueaxis\[parquet\]'"):
        RobustPCA(2).fit(path)


def test_features_are_counted_when_rows_are_transformed(tmp_path):
    pca = RobustPCA(2).fit(write_npy(X, tmp_path))
    assert pca.n_features_in_ == 6
    np.save(tmp_path / "narrow.npy", X[:, :5])
    with pytest.raises(ValueError, match="X has 5 features, but RobustPCA is expecting 6"):
        pca.transform(tmp_path / "narrow.npy")


def test_lists_and_tuples_are_matrices_and_not_blocks():
    for data in (X[:50].tolist(), tuple(map(tuple, X[:50])), list(X[:50])):
        np.testing.assert_array_equal(
            RobustPCA(2).fit(data).components_, RobustPCA(2).fit(X[:50]).components_
        )
