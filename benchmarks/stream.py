"""One pass over a stream: the angle to the batch answer and to the truth, and rows a second.

    python benchmarks/stream.py [orders] [peers] [n]

`n` is the number of rows, 1e6 where it is not given (a tenth of it for blocks of 10 rows). Without
a name both tables are printed. Data are the design generator's, in random order but for `orders`.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from sklearn.decomposition import IncrementalPCA

from timing import machine
from trueaxis import RobustPCA
from trueaxis.datasets import make_contaminated

KINDS = {"scattered": 0.2, "clustered": 0.05, "leverage": 0.05}
BLOCKS = (10, 100, 1000, 10_000)


def followed(X, block, estimator):
    """The estimator after the rows of X, and how many of these it took a second."""
    start = time.perf_counter()
    for i in range(0, len(X), block):
        estimator.partial_fit(X[i : i + block])
    return estimator, len(X) / (time.perf_counter() - start)


def angle(one, other):
    return float(np.degrees(one.subspace_.angles(getattr(other, "subspace_", other)).max()))


def peers(n):
    print("| bad rows | p | block | to batch | to truth | batch to truth | rows/s |")
    print("|---|---|---|---|---|---|---|")
    for kind, share in KINDS.items():
        data = make_contaminated(kind, n_samples=n, outlier_share=share, random_state=0)
        X = data.X[np.random.default_rng(0).permutation(n)]
        for p in (0.5, 1.0):
            batch = RobustPCA(3, p=p).fit(X)
            for block in BLOCKS:
                rows = X[: n // 10] if block == 10 else X
                pca, rate = followed(rows, block, RobustPCA(3, p=p))
                print(
                    f"| {share:.0%} {kind} | {p} | {block} | {angle(pca, batch):.3f}° | "
                    f"{angle(pca, data.truth):.3f}° | {angle(batch, data.truth):.3f}° | "
                    f"{rate:,.0f} |",
                    flush=True,
                )
    for block in BLOCKS:
        rows = X[: n // 10] if block == 10 else X
        _, rate = followed(rows, block, IncrementalPCA(3))
        _, ours = followed(rows, block, RobustPCA(3, p=2))
        print(f"blocks of {block}: IncrementalPCA {rate:,.0f} rows/s, p=2 {ours:,.0f} rows/s")


def orders(n):
    print(
        "| bad rows | order | to batch | to truth | variances | noise |\n|---|---|---|---|---|---|"
    )
    for kind, share in KINDS.items():
        data = make_contaminated(kind, n_samples=n, outlier_share=share, random_state=0)
        far = np.linalg.norm(data.truth.residuals(data.X), axis=1)
        batch = RobustPCA(3).fit(data.X)
        along = data.truth.project(data.X)[:, 0]
        for name, by in {"bad first": -far, "bad last": far, "by a score": along}.items():
            show(kind, name, data.X[np.argsort(by)], batch, data.truth)
    data = make_contaminated("scattered", n_samples=n, random_state=0)
    X, path = data.X[np.random.default_rng(0).permutation(n)], np.linspace(0, 1, n)[:, None]
    off = data.truth.residuals((data.truth.center + np.eye(20)[0])[None])[0]
    for name, drift in {
        "drift within": 10 * path * data.truth.basis[:, 0],
        "drift away": path * off / np.linalg.norm(off),
    }.items():
        show("scattered", name, X + drift, RobustPCA(3).fit(X + drift), data.truth)


def show(kind, name, X, batch, truth):
    pca, _ = followed(X, 1000, RobustPCA(3))
    print(
        f"| {kind} | {name} | {angle(pca, batch):.3f}° | {angle(pca, truth):.3f}° | "
        f"{pca.explained_variance_.round(1)} | {pca.noise_variance_:.4f} |",
        flush=True,
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    names = [a for a in sys.argv[1:] if a in ("orders", "peers")] or ["peers", "orders"]
    numbers = [int(float(a)) for a in sys.argv[1:] if a not in ("orders", "peers")]
    print(machine())
    for name in names:
        {"orders": orders, "peers": peers}[name](*numbers[:1] or [1_000_000])
