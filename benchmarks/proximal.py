"""30 proximal iterations against the paper's text taken literally: same iterates, time ratio.

python benchmarks/proximal.py
"""

from __future__ import annotations

import numpy as np

import paper_literal
from timing import interleaved, machine
from trueaxis import RobustPCA


def main(n=2000, m=1000, k=10, n_iter=30):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, m)) * np.arange(1, m + 1) ** -0.75
    X[: n // 5] = 3 * rng.standard_normal((n // 5, m))
    X -= X.mean(axis=0)
    W0 = np.linalg.qr(rng.standard_normal((m, k)))[0]
    found = {}

    def literal():
        found["literal"] = list(paper_literal.iterates(X.T, W0, "l2p", "proximal", 1.0, n_iter))

    def ours(record=False):
        seen = []
        RobustPCA(
            k,
            solver="proximal",
            center=False,
            start=W0.T,
            smoothing=0,
            max_iter=n_iter,
            tol=0,
            callback=(lambda s, r: seen.append((s.basis, float(r.objective)))) if record else None,
        ).fit(X)
        found["ours"] = seen

    seconds = interleaved({"literal": literal, "ours": ours}, repeats=3, warm=False)
    ours(record=True)
    apart = max(
        np.linalg.norm(W @ W.T - V @ V.T)
        for (W, _), (V, _) in zip(found["literal"], found["ours"], strict=True)
    )
    in_value = max(
        abs(a / b - 1) for (_, a), (_, b) in zip(found["literal"], found["ours"], strict=True)
    )
    print(f"{n_iter} proximal iterations, {n}x{m}, k = {k} ({machine()})")
    print(f"literal {seconds['literal']:.2f} s, ours {seconds['ours']:.3f} s:", end=" ")
    print(f"{seconds['literal'] / seconds['ours']:.1f} times faster")
    print(f"largest difference of iterates {apart:.1e}, of objectives {in_value:.1e}")


if __name__ == "__main__":
    main()
