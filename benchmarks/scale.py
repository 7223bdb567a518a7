"""Rows per second, peak memory and passes as data grow, beside plain PCAs that scale as well.

    python benchmarks/scale.py                  # n = 1e5, 1e6, 1e7 at m = 100, and sparse rows
    python benchmarks/scale.py --largest 1e6    # up to so many rows
    python benchmarks/scale.py --file           # an 8 GB file: memory, whatever n is
    python benchmarks/scale.py --memmap         # a map with warm pages beside the same in memory
    python benchmarks/scale.py --sparse         # 1e6×10000 and 2000×100000 at density 1e-3

Every fit runs in a process of its own, whose peak of memory is its own: `peak` is that of the whole
process, `more` what is above the process before the fit (rows in memory are in the first only).
A pass is one reading of all rows;
"rows/s" counts a row once, however often it was read. Files are written to a temporary folder
(`--folder` for another) and deleted; 1e7 rows are in one, which every arm reads. The peers are
scikit-learn's IncrementalPCA and, on the same Dask array as ours and on Dask's threads, dask-ml's
PCA: no dependency of the project's, but pip install dask-ml. The last column is ours by its peer's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from scipy import sparse
from sklearn.decomposition import IncrementalPCA
from threadpoolctl import threadpool_limits

from timing import machine
from trueaxis import RobustPCA

try:
    from dask_ml import decomposition as dask_ml
except Exception as reason:  # it may be absent, or older than the scikit-learn it imports
    dask_ml, absent = None, reason

M, K, TOL = 100, 10, 1e-4
STEP = 20_000  # rows that are made, and given to IncrementalPCA, at once


def blocks(n, m=M, seed=0):
    """Rows with deviations j^-0.75 in a rotation, and 10 % scattered ones, a part at a time."""
    rng = np.random.default_rng(seed)
    mix = np.linalg.qr(rng.standard_normal((m, m)))[0] * np.arange(1, m + 1)[:, None] ** -0.75
    for i in range(0, n, STEP):
        size = min(STEP, n - i)
        rows = rng.standard_normal((size, m)) @ mix
        rows[rng.random(size) < 0.1] *= 5
        yield rows


def thin(n, m, density, seed=0):
    """Sparse rows of `density`, with columns of falling size."""
    rng = np.random.default_rng(seed)
    ends = np.concatenate([[0], np.cumsum(rng.binomial(m, density, n))])
    columns = rng.integers(0, m, ends[-1], dtype=np.int32)
    values = rng.standard_normal(ends[-1]) * (1 + columns) ** -0.25
    X = sparse.csr_array((values, columns, ends.astype(np.int32)), shape=(n, m))
    X.sum_duplicates()
    return X


def write(path, n):
    with path.open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (n, M)}
        np.lib.format.write_array_header_1_0(file, header)
        for rows in blocks(n):
            rows.tofile(file)


# What a case is made of, and the arms that fit it. Another peer is another arm.


def partition(path, size, block_id=None):
    """Rows of a file, read when Dask asks for them."""
    i = block_id[0] * size
    return np.array(np.load(path, mmap_mode="r")[i : i + size])


def partitioned(case):
    """A Dask array: partitions that are in memory, or that are read from a file in every pass."""
    n, size = case["n"], min(50_000, case["n"] // 4)
    if case["kind"] == "file":
        chunks = ((size,) * (n // size), (case["m"],))
        return da.map_blocks(partition, case["path"], size, chunks=chunks, dtype=float)
    return da.from_array(load(case), chunks=(size, -1))


def load(case):
    """The rows of a case, as the arms get them."""
    kind, n, m = case["kind"], case["n"], case["m"]
    if kind == "memory":
        rows = np.empty((n, m))
        for i, part in zip(range(0, n, STEP), blocks(n), strict=True):
            rows[i : i + STEP] = part
        return rows
    if kind == "sparse":
        return thin(n, m, case["density"])
    return case["path"]


def ours(rows, case):
    pca = RobustPCA(K, tol=TOL, check_breakdown=False).fit(rows)
    return pca.n_sweeps_


def incremental(rows, case):
    """One pass by partial_fit, which neither copies the rows nor takes them dense as a whole."""
    # On one thread: those of BLAS wait for one another where the machine has more to do.
    pca, size = IncrementalPCA(K), case.get("batch", STEP)
    if case["kind"] == "file":
        rows = np.load(rows, mmap_mode="r")
    with threadpool_limits(1):
        for i in range(0, rows.shape[0], size):
            part = rows[i : i + size]
            pca.partial_fit(part.toarray() if sparse.issparse(part) else np.array(part))
    return 1


def ours_on_dask(rows, case):
    with dask.config.set(scheduler="threads"):
        return ours(rows, case)


def plain_on_dask(rows, case):
    with dask.config.set(scheduler="threads"):
        dask_ml.PCA(K, random_state=0).fit(rows)
    return ""


ARMS = {
    "RobustPCA": ours,
    "IncrementalPCA": incremental,
    "RobustPCA on Dask": ours_on_dask,
    "dask-ml's PCA": plain_on_dask,
}
ON_DASK = ("RobustPCA on Dask", "dask-ml's PCA")
PEERS = {"RobustPCA": "IncrementalPCA", "RobustPCA on Dask": "dask-ml's PCA"}


def peak():
    """The most memory in MB that this process has had, pages of mapped files included.

    Not that of `resource.getrusage`, which a process inherits from the one that started it.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def run_here(arm, case):
    """One arm on one case in this process."""
    rows = partitioned(case) if arm in ON_DASK else load(case)
    before, start = peak(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        passes = ARMS[arm](rows, case)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "before": before, "peak": peak(), "passes": passes}


def run(arm, case):
    """One arm on one case in a process of its own."""
    command = [sys.executable, __file__, "--one", arm, json.dumps(case)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(found.stdout.splitlines()[-1])


def table(title, cases, arms=("RobustPCA", "IncrementalPCA")):
    print(f"\n{title}\n\n| rows | arm | s | rows/s | passes | peak MB | more MB | of its peer's |")
    print("|" + "---|" * 8)
    for name, case in cases:
        found = {arm: run(arm, case) for arm in arms}
        for arm, seen in found.items():
            peer = found.get(PEERS.get(arm))
            ratio = f"{seen['seconds'] / peer['seconds']:.2f}" if peer else ""
            cells = [
                name, arm, f"{seen['seconds']:.2f}", f"{case['n'] / seen['seconds']:.3g}",
                str(seen["passes"]), f"{seen['peak']:.0f}", f"{seen['peak'] - seen['before']:.0f}",
                ratio,
            ]  # fmt: skip
            print(f"| {' | '.join(cells)} |", flush=True)


def file_table(n, folder, arms):
    """Memory on a file, for the file itself and for a tenth of it."""
    for rows in (n // 10, n):
        path = Path(folder) / "rows.npy"
        write(path, rows)
        case = {"kind": "file", "n": rows, "m": M, "path": str(path)}
        table(
            f"A file of {path.stat().st_size / 1e9:.1f} GB", [(f".npy, n = {rows:.0e}", case)], arms
        )
        path.unlink()


def memmap_ratio(n, folder, repeats=7):
    """Rows per second of one sweep over a map with warm pages, beside the same rows in memory."""
    from trueaxis._subspace import Subspace
    from trueaxis._sweep import Sweep
    from trueaxis._threads import Workers
    from trueaxis.losses import L2p
    from trueaxis.sources import DenseSource, open_source

    path = Path(folder) / "rows.npy"
    write(path, n)
    rows = np.load(path)
    W = np.linalg.qr(np.random.default_rng(0).standard_normal((M, K)))[0]
    sources = {
        "memory": DenseSource(rows),
        "memmap": open_source(np.load(path, mmap_mode="r")),
        ".npy": open_source(path),
    }
    seconds = {name: [] for name in sources}
    with Workers.start(None) as workers:
        for _ in range(repeats):
            for name, source in sources.items():
                start = time.perf_counter()
                sweep = Sweep.at(Subspace(W, np.zeros(M)), W, L2p(1.0), np.dtype(np.float64))
                source.posed(workers).reduce(sweep)
                seconds[name].append(time.perf_counter() - start)
    best = {name: float(np.median(taken)) for name, taken in seconds.items()}
    print(f"\nOne sweep over {n:.0e}×{M}, k = {K}, page cache warm\n")
    for name, taken in best.items():
        share = best["memory"] / taken
        print(f"- {name}: {n / taken:.3g} rows/s, {share:.0%} of those in memory", flush=True)
    path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("file", "memmap", "sparse"):
        parser.add_argument(f"--{name}", action="store_true", help="only this")
    parser.add_argument("--rows", type=float, default=None, help="rows of the file or the map")
    parser.add_argument("--no-peer", action="store_true", help="with --file")
    parser.add_argument("--largest", type=float, default=1e7)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--one", nargs=2, metavar=("ARM", "CASE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run_here(options.one[0], json.loads(options.one[1]))))
        return
    print(f"{time.strftime('%Y-%m-%d')}, {machine()}, k = {K}, tol = {TOL:g}", flush=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        if options.file:
            arms = ("RobustPCA",) if options.no_peer else ("RobustPCA", "IncrementalPCA")
            file_table(int(options.rows or 1e7), folder, arms)
        if options.memmap:
            memmap_ratio(int(options.rows or 1e6), folder)
        if options.sparse:
            cases = [
                (f"{n:.0e}×{m}, density 1e-3", {"kind": "sparse", "n": n, "m": m, "density": 1e-3})
                for n, m in ((1_000_000, 10_000), (2000, 100_000))
            ]
            table("Sparse rows", cases, ("RobustPCA",))
        if not (options.file or options.memmap or options.sparse):
            grow([n for n in (100_000, 1_000_000, 10_000_000) if n <= options.largest], folder)


def grow(sizes, folder):
    """Ever more rows, and sparse ones, for every arm."""
    arms = tuple(arm for arm in ARMS if dask_ml is not None or arm != "dask-ml's PCA")
    if dask_ml is None:
        print(f"dask-ml is left out: {absent}")
    for n in sizes:
        case, name = {"kind": "memory", "n": n, "m": M}, "in memory"
        if n > 2_000_000:
            path = Path(folder) / "rows.npy"
            write(path, n)
            case |= {"kind": "file", "path": str(path)}
            name = f"a file of {path.stat().st_size / 1e9:.0f} GB"
        table(f"Dense rows, {name}", [(f"{n:.0e}×{M}", case)], arms)
    case = {"kind": "sparse", "n": 100_000, "m": 1000, "density": 1e-2, "batch": 5000}
    table("Sparse rows", [("1e5×1000, density 1e-2", case)])


if __name__ == "__main__":
    main()
