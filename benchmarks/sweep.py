"""One sweep against ``X @ W; X.T @ Z`` in plain NumPy, with and without the compiled kernels.

    python benchmarks/sweep.py [--threads 1]

The mixed sweep makes float32 products of the float64 rows. The sweeps and the plain products run
on the same number of threads. A sweep also centers the rows, takes residual norms, losses and
weights, and needs no array of the size of X; the peak of what it allocates is printed beside the
size of X.
"""

from __future__ import annotations

import argparse
import tracemalloc

import numpy as np
from threadpoolctl import threadpool_limits

from timing import interleaved, machine
from trueaxis import Subspace
from trueaxis._products import dense as _products
from trueaxis._sweep import Sweep
from trueaxis._threads import Workers
from trueaxis.losses import L2p
from trueaxis.sources import DenseSource

CASES = [
    (200_000, 100, 10, "float64"),
    (20_000, 1000, 20, "float64"),
    (2_000, 1000, 12, "float64"),
    (200_000, 100, 10, "float32"),
]


def compare(n, m, k, dtype, threads):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, m)).astype(dtype)
    W = np.linalg.qr(rng.standard_normal((m, k)))[0]
    point = Subspace(W, X.mean(axis=0, dtype=np.float64))
    W_plain = W.astype(dtype)
    sweep = Sweep.at(point, W, L2p(1.0), X.dtype)
    mixed = Sweep.at(point, W, L2p(1.0), np.dtype(np.float32))
    kernels = _products.kernels

    def plain():
        return X.T @ (X @ W_plain)

    def ours(sweep, compiled):
        def run():
            _products.kernels = kernels if compiled else None
            with Workers.start(threads) as workers:
                return DenseSource(X, workers=workers).reduce(sweep)

        return run

    arms = {"plain": plain, "NumPy": ours(sweep, compiled=False)}
    if kernels is not None:
        arms["compiled"] = ours(sweep, compiled=True)
        if X.dtype == np.float64:
            arms["mixed"] = ours(mixed, compiled=True)
    seconds = interleaved(arms, repeats=11)
    _products.kernels = kernels
    tracemalloc.start()
    ours(sweep, compiled=kernels is not None)()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, peak, X.nbytes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=None, help="default: all cores")
    threads = parser.parse_args().threads
    print(f"sweep against X @ W; X.T @ Z ({machine()}, threads: {threads or 'all'})\n")
    print("| case | plain, ms | NumPy sweep | compiled | mixed | extra memory / X |")
    print("|---|---|---|---|---|---|")
    for n, m, k, dtype in CASES:
        with threadpool_limits(threads, user_api="blas"):
            seconds, peak, size = compare(n, m, k, dtype, threads)
        plain = seconds["plain"]
        ratios = [
            f"{seconds[arm] / plain:.2f}" if arm in seconds else "none"
            for arm in ("NumPy", "compiled", "mixed")
        ]
        print(
            f"| {n}x{m}, k = {k}, {dtype} | {1e3 * plain:.1f} | {' | '.join(ratios)} "
            f"| {peak / size:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
