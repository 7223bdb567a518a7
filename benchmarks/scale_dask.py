"""What a fit on Dask costs beside one in memory, and beside dask-ml's PCA on the same rows.

    python benchmarks/scale_dask.py                # 1e6×100, k = 10: seconds, CPU seconds, ratios
    python benchmarks/scale_dask.py --rows 100000 --peers 3

dask-ml is no dependency of the project's: pip install dask-ml for its rows of the table. Arms take
turns; a ratio is one of medians of the same run. On a busy machine that of CPU seconds, summed over
the process and the workers, says more. The clusters are LocalClusters of two workers with a thread
each and of one with two threads, the rows persisted on them: all arms have their rows in memory.
The threads are those of Dask's own scheduler.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from contextlib import ExitStack, contextmanager
from statistics import median

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from speed import fit, make
from timing import machine

try:
    from dask_ml import decomposition as dask_ml
except Exception as reason:  # it may be absent, or older than the scikit-learn it imports
    dask_ml, absent = None, reason


def block(n, m, block_id=None):
    """The rows of one partition, the same wherever they are made."""
    return make(n, m, seed=0)[np.random.default_rng(block_id[0]).permutation(n)]


def seconds_of_cpu():
    times = os.times()
    return times.user + times.system


@contextmanager
def cluster(workers, threads):
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": ":0"},  # any free port for its own pages
        ) as started,
        Client(started, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def on_cluster(client):
    with client.as_current():
        yield


@contextmanager
def on_threads():
    with dask.config.set(scheduler="threads"):
        yield


def turns(arms, clusters, repeats):
    """Medians of seconds and of CPU seconds of each arm, the arms taking turns; one warms up."""

    def cpu():
        workers = sum(sum(client.run(seconds_of_cpu).values()) for client in clusters)
        return seconds_of_cpu() + workers

    wall, used = ({name: [] for name in arms} for _ in range(2))
    for turn in range(repeats + 1):
        for name, run in arms.items():
            time.sleep(0.2)
            start, before = time.perf_counter(), cpu()
            run()
            if turn:  # the first one warms up
                wall[name].append(time.perf_counter() - start)
                used[name].append(cpu() - before)
            print(".", end="", flush=True)
    print()
    return {name: (median(wall[name]), median(used[name])) for name in arms}


def plain(rows, k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dask_ml.PCA(k, random_state=0).fit(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--components", type=int, default=10)
    parser.add_argument("--partitions", type=int, default=20)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--peers", type=int, default=1, help="turns of dask-ml, which take long")
    options = parser.parse_args()
    m, k, size = options.columns, options.components, options.rows // options.partitions
    chunks = ((size,) * options.partitions, (m,))
    with ExitStack() as stack:
        lazy = da.map_blocks(block, size, m, chunks=chunks, dtype=float)
        clients = {}
        for workers, threads in ((2, 1), (1, 2)):
            client = stack.enter_context(cluster(workers, threads))
            with on_cluster(client):
                remote = lazy.persist()
                wait(remote)
            clients[f"cluster, {workers}×{threads}"] = client, remote
        # Made anew: what is computed from persisted partitions is put together on one worker, which
        # keeps them all from then on.
        X = lazy.compute(scheduler="threads")
        local = da.from_array(X, chunks=chunks)

        def here():
            return fit(X, k, tol=options.tol, check_breakdown=False)

        def there(rows, place, *arguments):
            def run():
                with place(*arguments):
                    return fit(rows, k, tol=options.tol, check_breakdown=False)

            return run

        def peer(rows, place, *arguments):
            def run():
                with place(*arguments):
                    return plain(rows, k)

            return run

        arms = {
            "in memory": here,
            "threads": there(local, on_threads),
        }
        arms |= {name: there(rows, on_cluster, client) for name, (client, rows) in clients.items()}
        peers = {}
        if dask_ml is None:
            print(f"dask-ml is left out: {absent}")
        elif options.peers:
            peers = {"dask-ml, threads": peer(local, on_threads)}
            for name, (client, rows) in clients.items():
                peers[f"dask-ml, {name}"] = peer(rows, on_cluster, client)
        print(
            f"{time.strftime('%Y-%m-%d')}, {machine()}, load {os.getloadavg()[0]:.1f}; "
            f"{len(X)}×{m}, k = {k}, p = 1, tol {options.tol:.0e}, {options.partitions} partitions"
        )
        everywhere = [client for client, _ in clients.values()]
        found = turns(arms, everywhere, options.repeats)
        found |= turns(peers, everywhere, options.peers)
        dense = here()
        print(
            "| arm | s | CPU s | ratio | CPU ratio | passes | angle to in memory |\n|" + "---|" * 7
        )
        base = found["in memory"]
        for name, (wall, used) in found.items():
            cells = [name, f"{wall:.2f}", f"{used:.2f}", f"{wall / base[0]:.2f}",
                     f"{used / base[1]:.2f}"]  # fmt: skip
            if name in arms and name != "in memory":
                model = arms[name]()
                angle = model.subspace_.angles(dense.subspace_).max()
                cells += [str(model.n_sweeps_), f"{angle:.0e}"]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
