"""The reduction of wide data to its row space, and the way back, against scikit-learn's PCA.

    python benchmarks/row_space.py

`lift` takes 10 axes and a center back to the columns of the data. The origin is the mean, which
makes one row dependent on the others, or a median of some rows, which does not.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
from sklearn.decomposition import PCA

from timing import interleaved, machine
from trueaxis import Subspace
from trueaxis._threads import Workers
from trueaxis.estimators._coordinates import reduce_rows, row_space

CASES = [(500, 10_000, "float64"), (500, 10_000, "float32"), (200, 30_000, "float64")]
K = 10


def compare(n, m, dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20)) @ rng.standard_normal((20, m))
    X = (X + rng.standard_normal((n, m))).astype(dtype)
    mean = X.mean(axis=0, dtype=np.float64)
    median = np.median(X[:: n // 15].astype(np.float64), axis=0)
    none = np.zeros((0, m))
    W = np.linalg.qr(rng.standard_normal((n - 1, K)))[0]

    def ours(origin, lift):
        def run():
            with Workers.start(None) as workers:
                rows, _, coordinates = reduce_rows(X, origin, none, workers)
                if lift:
                    basis = W if rows.shape[1] == n - 1 else np.vstack([W, np.zeros(K)])
                    coordinates.lift(Subspace(basis, rows[0]))

        return run

    arms = {
        "PCA": lambda: PCA(K, random_state=0).fit(X),
        "about the median": ours(median, lift=False),
        "about the mean": ours(mean, lift=False),
        "and lift": ours(mean, lift=True),
        "QR": lambda: row_space(X.astype(np.float64), mean, none),
    }
    seconds = interleaved(arms, repeats=7)
    tracemalloc.start()
    ours(mean, lift=False)()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, peak / X.nbytes


def main():
    print(f"Reduction to the row space, as a share of PCA({K}).fit ({machine()})\n")
    print("| case | PCA, ms | about a median | about the mean | and lift | QR | extra memory / X |")
    print("|---|---|---|---|---|---|---|")
    for n, m, dtype in CASES:
        seconds, extra = compare(n, m, dtype)
        pca = seconds.pop("PCA")
        shares = " | ".join(f"{s / pca:.3f}" for s in seconds.values())
        print(f"| {n}×{m} {dtype} | {pca * 1e3:.0f} | {shares} | {extra:.2f} |")


if __name__ == "__main__":
    main()
