"""Thin products and Gram matrices: the compiled kernels beside NumPy's BLAS, one thread each.

    python benchmarks/gram.py

BLAS is held to one thread, as it is during a fit; what it was built for decides its share of the
machine's speed, so its own name for the processor heads the table.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info

from timing import interleaved, machine
from trueaxis import _products
from trueaxis._threads import single_threaded_blas

GRAMS = ((500, 10_000), (200, 30_000), (1000, 2000))
THIN = ((500, 500, 20), (500, 100, 100), (4000, 100, 11))


def rows(name, operations, arms):
    # Many products an arm: one alone would be over before its rows are in the cache.
    often = max(1, int(2e9 / operations))
    seconds = interleaved({a: lambda f=f: [f() for _ in range(often)] for a, f in arms.items()})
    speeds = {arm: often * operations / taken / 1e9 for arm, taken in seconds.items()}
    cells = [name, *(f"{speeds[arm]:.0f}" for arm in ("NumPy", "ours"))]
    print(f"| {' | '.join(cells)} | {speeds['ours'] / speeds['NumPy']:.2f} |", flush=True)


def gram_in_blocks(A, width=512):
    """As a fit makes it: from some columns at a time."""
    total = np.zeros((len(A), len(A)))
    for first in range(0, A.shape[1], width):
        _products.add_outer(np.ascontiguousarray(A[:, first : first + width]), total)
    return total


def main():
    built_for = {b["architecture"] for b in threadpool_info() if b["user_api"] == "blas"}
    print(f"{machine()}; BLAS for {', '.join(sorted(built_for))}; 1e9 operations a second\n")
    print("| product | NumPy | ours | ratio |\n|---|---|---|---|")
    rng = np.random.default_rng(0)
    with single_threaded_blas():
        for n, m in GRAMS:
            A = rng.standard_normal((n, m))
            rows(
                f"AAᵀ, {n}×{m}",
                n * n * m,
                {"NumPy": lambda A=A: A @ A.T, "ours": lambda A=A: gram_in_blocks(A)},
            )
        for n, m, q in THIN:
            A, B, C = (rng.standard_normal(shape) for shape in ((n, m), (m, q), (n, q)))
            rows(
                f"AB, {n}×{m} by {q}",
                2 * n * m * q,
                {
                    "NumPy": lambda A=A, B=B: A @ B,
                    "ours": lambda A=A, B=B: _products.times(A, B),
                },
            )
            rows(
                f"AᵀC, {n}×{m} by {q}",
                2 * n * m * q,
                {
                    "NumPy": lambda A=A, C=C: A.T @ C,
                    "ours": lambda A=A, C=C: _products.transposed_times(A, C),
                },
            )


if __name__ == "__main__":
    main()
