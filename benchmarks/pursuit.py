"""Low rank plus sparse: trueaxis beside the packages that pip installs, judged by one scorer.

python benchmarks/pursuit.py [case ...]      (all cases but "grid" and "large" by default)

The peers are not dependencies: `pip install pyrpca rpca tensorly`. One that is absent is left out.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import numpy as np

from timing import machine
from trueaxis.pursuit import PrincipalComponentPursuit

CASES = {
    "thin": (500, 20, 3, 0.1),
    "wide": (20, 500, 3, 0.1),
    "square": (400, 400, 20, 0.1),
    "wanted": (1000, 1000, 20, 0.1),
    "large": (3000, 3000, 50, 0.1),
}


def problem(n, m, r, share, seed=0):
    """Products of Gaussian factors, and a share of the entries off by ±10·U(0,1)."""
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((n, r)) @ rng.standard_normal((r, m))
    S = np.zeros((n, m))
    bad = rng.random((n, m)) < share
    S[bad] = 10 * rng.random(bad.sum()) * rng.choice([-1, 1], bad.sum())
    return L + S, L


def score(M, L, S, lam):
    """Objective of the feasible pair (L, M − L), objective of (L, S), ‖M − L − S‖/‖M‖, rank."""
    M, L, S = (np.asarray(a, dtype=np.float64) for a in (M, L, S))
    s = np.linalg.svd(L, compute_uv=False)
    feasible = s.sum() + lam * np.abs(M - L).sum()
    claimed = s.sum() + lam * np.abs(S).sum()
    left = np.linalg.norm(M - L - S) / np.linalg.norm(M)
    return feasible, claimed, left, int(np.count_nonzero(s > 1e-9 * s[0]))


def ours(**options):
    def run(M, lam, rank):
        fit = PrincipalComponentPursuit(rank if options.get("known") else None, lam=lam).fit(M)
        return fit.low_rank_, fit.sparse_

    return run


def ours_convex(M, lam, rank):
    fit = PrincipalComponentPursuit(lam=lam, solver="admm").fit(M)
    return fit.low_rank_, fit.sparse_


def pyrpca(M, lam, rank):
    import pyrpca as package

    return package.rpca_pcp_ialm(M, lam, verbose=False)


def pyrpca_tight(M, lam, rank):
    import pyrpca as package

    return package.rpca_pcp_ialm(M, lam, tol=1e-9, verbose=False)


def rpca(M, lam, rank):
    from rpca import RobustPCA

    # Accelerated alternating projections, which must know the rank; not convex, and no λ.
    fit = RobustPCA(n_components=rank, tol=1e-9, max_iter=500, verbose=False).fit(M)
    return fit.low_rank_ + fit.mean_, fit.sparse_


def tensorly(M, lam, rank):
    from tensorly.decomposition import robust_pca

    # Its objective is that of every unfolding: two of a matrix.
    return robust_pca(M, reg_E=2 * lam, reg_J=1.0, n_iter_max=300, tol=1e-9, verbose=0)


SOLVERS = {
    "trueaxis": ours(),
    "trueaxis, rank known": ours(known=True),
    "trueaxis, admm": ours_convex,
    "pyrpca IALM": pyrpca,
    "pyrpca IALM, tol=1e-9": pyrpca_tight,
    "rpca AccAltProj, rank known": rpca,
    "tensorly": tensorly,
}


def compare(name, repeats):
    """All solvers on one problem, taking turns; the bound is the least feasible objective."""
    n, m, r, share = CASES[name]
    M, L0 = problem(n, m, r, share)
    lam = 1 / np.sqrt(max(n, m))
    print(f"\n{name}: {n}x{m}, rank {r}, {share:.0%} of the entries wrong")
    reference = PrincipalComponentPursuit(lam=lam, tol=1e-9, max_iter=20000).fit(M)
    best = score(M, reference.low_rank_, reference.sparse_, lam)[0]
    seconds = {}
    found = {}
    for _ in range(repeats):
        for solver, run in SOLVERS.items():
            began = time.perf_counter()
            try:
                found[solver] = run(M.copy(), lam, r)
            except ImportError as error:
                print(f"  {solver:28s} absent: {error}")
                continue
            except Exception as error:
                print(f"  {solver:28s} failed: {error!r}")
                continue
            seconds.setdefault(solver, []).append(time.perf_counter() - began)
    for solver, (L, S) in found.items():
        feasible, claimed, left, rank = score(M, L, S, lam)
        error = np.linalg.norm(L - L0) / np.linalg.norm(L0)
        print(
            f"  {solver:28s} {min(seconds[solver]):8.2f} s  gap {feasible / best - 1:9.2e}"
            f"  of (L, S) {claimed / best - 1:9.2e}  infeasible by {left:7.1e}  rank {rank:4d}"
            f"  error of L {error:7.1e}"
        )


def grid(n=400):
    """The error of L over rank and share of wrong entries: ours, and the best peer's."""
    ranks, shares = (0.05, 0.1, 0.15, 0.2, 0.25), (0.05, 0.1, 0.2, 0.3, 0.4)
    print(f"\ngrid: {n}x{n}, error of L by trueaxis / by pyrpca (tol=1e-9), seconds of each")
    print("rank/n \\ share " + "".join(f"{s:>26.0%}" for s in shares))
    lam = 1 / np.sqrt(n)
    for rank in ranks:
        row = []
        for share in shares:
            M, L0 = problem(n, n, int(rank * n), share)
            cell = ""
            for run in (ours(), pyrpca_tight):
                began = time.perf_counter()
                try:
                    L = run(M.copy(), lam, None)[0]
                except ImportError:
                    cell += "   absent"
                    continue
                took = time.perf_counter() - began
                error = np.linalg.norm(L - L0) / np.linalg.norm(L0)
                cell += f" {error:7.0e} {took:4.1f}"
            row.append(f"{cell:>26s}")
        print(f"{rank:14.2f} " + "".join(row), flush=True)


def large():
    """The largest case, ours alone, with the peak memory of the process."""
    n, m, r, share = CASES["large"]
    M, L0 = problem(n, m, r, share)
    began = time.perf_counter()
    fit = PrincipalComponentPursuit().fit(M)
    took = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    error = np.linalg.norm(fit.low_rank_ - L0) / np.linalg.norm(L0)
    print(
        f"\nlarge: {n}x{m}, rank {r}: {took:.1f} s, gap {fit.gap_:.1e}, error of L {error:.1e}, "
        f"peak memory of the process {peak:.2f} GiB"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", choices=[*CASES, "grid"], metavar="case")
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"machine: {machine()}; the least of {options.repeats} times")
    for case in options.cases or ["thin", "wide", "square", "wanted"]:
        if case == "grid":
            grid()
        elif case == "large":
            large()
        else:
            compare(case, options.repeats)


if __name__ == "__main__":
    main()
