"""Entries missing at random: angles to the truth, what is imputed, and what a sweep costs.

    python benchmarks/missing.py

The largest angle is the worst of ten seeds of the design generator, beside that of the minimizer
which is found from the truth at tol=1e-9: no solver comes nearer with the same loss. The error of
imputation is that of the missing entries of good rows, whose noise is 0.1.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from timing import machine
from trueaxis import RobustPCA
from trueaxis.datasets import make_contaminated

FITS = {"p = 1": {}, "p = 0.5": {"p": 0.5}, "bisquare": {"loss": "bisquare"}}


def gaps(X, share, seed):
    Y = X.copy()
    Y[np.random.default_rng([seed, 1]).random(X.shape) < share] = np.nan
    return Y


def table(seeds=range(10)):
    print("| bad rows | missing | loss | worst angle | minimizer | all entries known | imputed |")
    print("|---|---|---|---|---|---|---|")
    for kind, share in (("scattered", 0.2), ("clustered", 0.2), ("leverage", 0.2)):
        for missing in (0.02, 0.1, 0.3):
            for name, options in FITS.items():
                if kind != "scattered" and name != "bisquare":
                    continue  # no fit of an unbounded loss withstands these
                worst, least, whole, error = 0.0, 0.0, 0.0, 0.0
                for seed in seeds:
                    data = make_contaminated(kind, outlier_share=share, random_state=seed)
                    X = gaps(data.X, missing, seed)
                    pca = RobustPCA(3, missing="nan", **options).fit(X)
                    exact = {"start": data.truth.basis.T, "tol": 1e-9, "max_iter": 3000}
                    best = RobustPCA(3, missing="nan", **options, **exact).fit(X)
                    least = max(least, angle(best, data.truth))
                    known = RobustPCA(3, **options).fit(data.X)
                    worst = max(worst, angle(pca, data.truth))
                    whole = max(whole, angle(known, data.truth))
                    off = pca.inverse_transform(pca.transform(X)) - data.X
                    off = off[np.isnan(X) & ~data.is_outlier[:, None]]
                    error = max(error, float(np.sqrt(np.mean(off**2))))
                print(
                    f"| {share:.0%} {kind} | {missing:.0%} | {name} | {worst:.2f}° | "
                    f"{least:.2f}° | {whole:.2f}° | {error:.3f} |",
                    flush=True,
                )


def angle(pca, truth):
    return float(np.degrees(pca.subspace_.angles(truth).max()))


def cost(n=100_000, m=50):
    data = make_contaminated("scattered", n_samples=n, n_features=m, random_state=0)
    for missing in (0.0, 0.1):
        X = gaps(data.X, missing, 0)
        start = time.perf_counter()
        pca = RobustPCA(3, missing="nan").fit(X)
        seconds = time.perf_counter() - start
        print(
            f"{n} x {m}, {missing:.0%} missing: {seconds:.2f} s, {pca.n_sweeps_} sweeps, "
            f"{angle(pca, data.truth):.3f}°",
            flush=True,
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(machine())
    table()
    cost()
