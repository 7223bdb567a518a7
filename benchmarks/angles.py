"""How far from the truth: angles under outliers, exact haystacks, false alarms, and what they cost.

    python benchmarks/angles.py [table] [haystacks] [alarms] [cost]

Without a name all four are run. Angles are the largest to the true subspace, the worst of the
seeds; the oracle is plain PCA of the inliers alone.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from sklearn.decomposition import PCA

from timing import interleaved, machine
from trueaxis import BreakdownWarning, RobustPCA, Subspace
from trueaxis.datasets import make_contaminated

KINDS = ("scattered", "clustered", "leverage")
HAYSTACKS = {
    "D 100, d 5, 100 + 100": (100, 5, 100, 100),
    "D 100, d 5, 100 + 900": (100, 5, 100, 900),
    "D 30, d 29, 1500 + 3500": (30, 29, 1500, 3500),
    "D 100, d 90, 1500 + 3500": (100, 90, 1500, 3500),
    "D 100, d 5, 200 + 200, condition 1e2": (100, 5, 200, 200, 1e2),
    "D 100, d 5, 200 + 200, condition 1e3": (100, 5, 200, 200, 1e3),
    "D 100, d 5, 200 + 90 in 3 dimensions": (100, 5, 200, 90, 1.0, 3),
    "D 100, d 5, 200 + 150 in 3 dimensions": (100, 5, 200, 150, 1.0, 3),
    "D 100, d 5, 200 + 200 in 3 dimensions": (100, 5, 200, 200, 1.0, 3),
}


def haystack(D, d, n_in, n_out, seed, condition=1.0, within=None):
    rng = np.random.default_rng([seed, 7])
    P = np.linalg.qr(rng.standard_normal((D, d)))[0]
    inliers = rng.standard_normal((n_in, d)) * np.geomspace(1.0, 1.0 / condition, d) / np.sqrt(d)
    if within is None:
        outliers = rng.standard_normal((n_out, D)) / np.sqrt(D)
    else:
        Q = np.linalg.qr(rng.standard_normal((D, within)))[0]
        outliers = rng.standard_normal((n_out, within)) @ Q.T / np.sqrt(within)
    return np.vstack([inliers @ P.T, outliers]), Subspace(P, np.zeros(D))


def fit(X, k, **options):
    """The estimator, and whether it warned of a breakdown."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pca = RobustPCA(k, **options).fit(X)
    return pca, any(w.category is BreakdownWarning for w in caught)


def angle(subspace, truth):
    return float(np.degrees(subspace.angles(truth).max()))


def table(seeds=range(10)):
    print("| bad rows | " + " | ".join(KINDS) + " |\n|---|---|---|---|")
    for share, options in ((0.2, {"loss": "bisquare"}), (0.4, {"loss": "bisquare"}), (0.2, {})):
        cells = []
        for kind in KINDS:
            worst, ratio, warned, variance = 0.0, 0.0, 0, 0.0
            for seed in seeds:
                data = make_contaminated(kind, outlier_share=share, random_state=seed)
                clean = PCA(3).fit(data.X[~data.is_outlier])
                best = angle(Subspace(clean.components_.T, clean.mean_), data.truth)
                pca, said = fit(data.X, 3, **options)
                found = angle(pca.subspace_, data.truth)
                worst, ratio, warned = max(worst, found), max(ratio, found / best), warned + said
                off = np.abs(pca.explained_variance_ / clean.explained_variance_ - 1).max()
                variance = max(variance, float(off))
            cells.append(
                f"{worst:.2f}, {ratio:.3f} x oracle, {warned} of {len(seeds)} warned, "
                f"variances within {variance:.0%}"
            )
        name = options.get("loss", "default")
        print(f"| {share:.0%}, {name} | " + " | ".join(cells) + " |", flush=True)


def haystacks(seeds=range(20)):
    print("| haystack, p = 0.5 | sin < 1e-6 | worst sin found | seconds a fit |\n|---|---|---|---|")
    for name, case in HAYSTACKS.items():
        sines, start = [], time.perf_counter()
        for seed in seeds:
            X, truth = haystack(*case[:4], seed, *case[4:])
            pca, _ = fit(X, case[1], p=0.5, center=False)
            sines.append(float(np.sin(pca.subspace_.angles(truth).max())))
        seconds = (time.perf_counter() - start) / len(sines)
        good = [s for s in sines if s < 1e-6]
        worst = f"{max(good):.1e}" if good else "-"
        print(f"| {name} | {len(good)} of {len(sines)} | {worst} | {seconds:.2f} |", flush=True)


def alarms(fits=400):
    count = {"flat": 0, "falling": 0, "low rank": 0}
    for seed in range(fits):
        rng = np.random.default_rng([seed, 11])
        m = int(rng.integers(2, 60))
        n = int(rng.integers(20, 600))
        k = int(rng.integers(1, max(2, min(m, n // 3))))
        k = min(k, m - 1, n - 2)
        Z = rng.standard_normal((n, m))
        scale = np.arange(1, m + 1) ** -1.0
        low = (np.arange(m) < k) * 5.0 + 0.1
        for name, X in (("flat", Z), ("falling", Z * scale), ("low rank", Z * low)):
            count[name] += fit(X, k)[1]
    print(f"warnings on {fits} clean Gaussian data sets each: {count}", flush=True)


def cost():
    rng = np.random.default_rng(0)
    for n, m, k, repeats in ((500, 20, 3, 21), (200_000, 100, 10, 5)):
        X = rng.standard_normal((n, m)) * np.arange(1, m + 1) ** -0.75
        arms = {
            "without check": lambda X=X, k=k: RobustPCA(k, check_breakdown=False).fit(X),
            "with check": lambda X=X, k=k: RobustPCA(k).fit(X),
            "spherical start": lambda X=X, k=k: RobustPCA(
                k, check_breakdown=False, start="spherical"
            ).fit(X),
        }
        seconds = interleaved(arms, repeats=repeats)
        off, on, one = seconds.values()
        print(
            f"{n}x{m}, k = {k}: {1e3 * off:.0f} ms; the check adds {1e3 * (on - off):.0f} ms "
            f"({on / off - 1:+.0%}), the screening of starts {off / one - 1:+.0%}",
            flush=True,
        )


def main():
    parts = {"table": table, "haystacks": haystacks, "alarms": alarms, "cost": cost}
    print(f"({machine()})")
    for name in sys.argv[1:] or parts:
        print(f"\n{name}\n")
        parts[name]()


if __name__ == "__main__":
    main()
