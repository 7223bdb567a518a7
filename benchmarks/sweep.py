"""One sweep against ``X @ W; X.T @ Z`` in plain NumPy, with and without the compiled kernels.

    python benchmarks/sweep.py

A sweep also centers the rows, takes residual norms, losses and weights, and needs no array of the
size of X; the peak of what it allocates is printed beside the size of X.
"""

from __future__ import annotations

import tracemalloc

import numpy as np

from timing import interleaved, machine
from trueaxis import Subspace, _products
from trueaxis._sweep import Sweep
from trueaxis._threads import Workers
from trueaxis.losses import L2p
from trueaxis.sources import DenseSource

CASES = [
    (200_000, 100, 10, "float64"),
    (20_000, 1000, 20, "float64"),
    (200_000, 100, 10, "float32"),
]


def compare(n, m, k, dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, m)).astype(dtype)
    W = np.linalg.qr(rng.standard_normal((m, k)))[0]
    point = Subspace(W, X.mean(axis=0, dtype=np.float64))
    W_plain = W.astype(dtype)
    sweep = Sweep.at(point, W, L2p(1.0), X.dtype)
    kernels = _products.kernels

    def plain():
        Z = X @ W_plain
        return X.T @ Z

    def ours(compiled):
        def run():
            _products.kernels = kernels if compiled else None
            with Workers.start(None) as workers:
                return DenseSource(X, workers=workers).reduce(sweep)

        return run

    arms = {"plain": plain, "numpy": ours(compiled=False)}
    if kernels is not None:
        arms["compiled"] = ours(compiled=True)
    seconds = interleaved(arms, repeats=11)
    _products.kernels = kernels
    tracemalloc.start()
    ours(compiled=kernels is not None)()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, peak, X.nbytes


def main():
    print(f"sweep against X @ W; X.T @ Z ({machine()})\n")
    print("| case | plain, ms | NumPy sweep | compiled sweep | extra memory / X |")
    print("|---|---|---|---|---|")
    for n, m, k, dtype in CASES:
        seconds, peak, size = compare(n, m, k, dtype)
        plain = seconds["plain"]
        compiled = f"{seconds['compiled'] / plain:.2f}" if "compiled" in seconds else "none"
        print(
            f"| {n}x{m}, k = {k}, {dtype} | {1e3 * plain:.1f} | {seconds['numpy'] / plain:.2f} "
            f"| {compiled} | {peak / size:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
