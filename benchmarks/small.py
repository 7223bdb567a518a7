"""Small fits: whether tol means what it says on many seeds, and what a fit costs beside PCA's.

    python benchmarks/small.py

The gap is the objective's relative distance to that of a long run from the point found.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.decomposition import PCA

from speed import TOLS, fit, make

SHAPES = ((150, 4, 2), (100, 10, 3), (200, 3, 1))
SEEDS = 16


def gaps():
    print("| p | tol | fits above tol | worst gap |\n|---|---|---|---|")
    cases = [(make(n, m, seed), k) for n, m, k in SHAPES for seed in range(SEEDS)]
    for p in (1.0, 1.5, 0.5):
        for tol in TOLS:
            found = []
            for X, k in cases:
                pca = fit(X, k, p=p, tol=tol, check_breakdown=False)
                further = fit(
                    X,
                    k,
                    p=p,
                    tol=1e-13,
                    max_iter=3000,
                    check_breakdown=False,
                    start=pca.components_,
                )
                found.append(pca.objective_ / min(pca.objective_, further.objective_) - 1)
            above = sum(gap > tol for gap in found)
            print(f"| {p:g} | {tol:.0e} | {above} of {len(cases)} | {max(found):.0e} |", flush=True)


def overhead(repeats=100):
    """Arms in turns without a pause between them, which leaves both warm."""
    X = make(150, 4)
    print("\n| p | tol | PCA, ms | RobustPCA, ms | ratio |\n|---|---|---|---|---|")
    for p in (1.0, 0.5):
        for tol in (TOLS[0], TOLS[-1]):
            ours, plain = [], []
            for _ in range(repeats):
                start = time.perf_counter()
                fit(X, 2, p=p, tol=tol, check_breakdown=False)
                middle = time.perf_counter()
                PCA(2).fit(X)
                ours.append(middle - start)
                plain.append(time.perf_counter() - middle)
            a, b = 1e3 * np.median(ours), 1e3 * np.median(plain)
            print(f"| {p:g} | {tol:.0e} | {b:.2f} | {a:.2f} | {a / b:.1f} |", flush=True)


if __name__ == "__main__":
    overhead()
    gaps()
