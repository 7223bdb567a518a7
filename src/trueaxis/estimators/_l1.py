"""The true ℓ1 fit: where its descents begin, and the functions that they see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueaxis import starts
from trueaxis._linalg import orthonormalize
from trueaxis._moments import Moments, Slopes
from trueaxis._subspace import Subspace
from trueaxis._sweep import Sweep
from trueaxis._sweep_l1 import AbsoluteSums, SlopeSweep
from trueaxis._threads import Workers
from trueaxis._typing import Float64Array
from trueaxis.losses import L2p
from trueaxis.solvers.base import Evaluate, Solver
from trueaxis.solvers.driver import Callback, Journal, Result, run
from trueaxis.solvers.true_l1 import EvaluateL1, TrueL1
from trueaxis.sources import DenseSource, Source

PAPERS = ("proximal", "accelerated", "reweighted")
_LOOKS = 1 << 21  # entries of the sample times elementary subspaces that are evaluated,
_MOST_LOOKS = 128  # and the most of these,
_KEPT = 4  # of which the best are descended from
_L21_UPDATES = 30
_L21_SMOOTHING = 1e-7


@dataclass(frozen=True)
class L1Fit:
    """The fit of the ℓ1 objective over the rows of a source.

    Parameters
    ----------
    source : Source
    objective : callable
        Makes the evaluation of the paper's ℓ1 weights over the source, anew for every solver.
    sample, sample_weights : ndarray of shape (n, m), and (n,) or None
        Rows of the source, all of them where they are few.
    papers : sequence of Solver
        Those of `PAPERS`; the last finds the ℓ2,1 solution too.
    solver : TrueL1
    rounding : float
        Changes of the objective that count as none to the paper's solvers.
    """

    source: Source
    objective: Callable[[], Evaluate]
    sample: Float64Array
    sample_weights: Float64Array | None
    papers: Sequence[Solver[Any, Any]]
    solver: TrueL1
    rounding: float

    def descend(self, start: Subspace, callback: Callback | None, verbose: int) -> Result:
        """The best point that any of the descents evaluates.

        The paper's solvers are run from `start`, and the best iterate of each is a start too:
        the result is never above what they reach. The other starts come from the sample: its
        leading axes, plain and spherical, the ℓ2,1 solution, the coordinate axes with the largest
        Σ|x_ij − c_j|, and the best of many elementary subspaces, through rows or along coordinate
        axes, where minimizers of ℓ1 problems like to lie.
        """
        journal = Journal(callback, verbose)
        reached = [self._best_iterate(solver, start, journal) for solver in self.papers]
        evaluate = evaluator(self.source)
        if len(self.sample) == self.source.shape[0]:
            others = self._candidates(start, self.source, evaluate)
        else:
            sample = DenseSource(self.sample, weights=self.sample_weights, workers=Workers(1))
            others = self._candidates(start, sample, evaluator(sample))
            others = self.solver.screen(evaluator(sample), others)
            reached = [min(reached, key=lambda point: evaluate(point, 0.0).objective)]
        return self.solver.run(evaluate, [start, *reached, *others], journal)

    def _best_iterate(
        self, solver: Solver[Any, Any], start: Subspace, journal: Journal
    ) -> Subspace:
        """The lowest of all iterates of one of the paper's solvers, which may rise again."""
        best, lowest = start, np.inf

        def compare(point: Subspace, record: np.record) -> None:
            nonlocal best, lowest
            if record["objective"] < lowest:
                best, lowest = point, float(record["objective"])

        result = self._run(solver, self.objective(), start, self.solver.max_iter, compare)
        journal.sweeps += int(result.history[-1]["sweeps"])
        return best

    def _run(
        self,
        solver: Solver[Any, Any],
        evaluate: Evaluate,
        start: Subspace,
        max_iter: int,
        callback: Callback | None = None,
    ) -> Result:
        return run(
            solver,
            evaluate,
            start,
            move_center=self.solver.move_center,
            max_iter=max_iter,
            tol=self.solver.tol,
            rounding=self.rounding,
            callback=callback,
        )

    def _candidates(self, start: Subspace, sample: Source, evaluate: EvaluateL1) -> list[Subspace]:
        """Starts that the rows themselves suggest."""
        k, c = start.n_components, start.center
        points = [
            Subspace(find(self.sample, k, c, self.sample_weights), c)
            for find in starts.STARTS.values()
        ]
        l21 = L2p(1.0, epsilon=_L21_SMOOTHING * self.solver.unit)

        def moments(point: Subspace, probe: Float64Array | None) -> Moments:
            return sample.reduce(Sweep.at(point, probe, l21, sample.dtype))

        points.append(self._run(self.papers[-1], moments, points[-1], _L21_UPDATES).point)
        looks = min(_MOST_LOOKS, _LOOKS // self.sample.size)
        sums = sample.reduce(AbsoluteSums(c))
        order = np.argsort(-sums, kind="stable")
        points.append(Subspace(_axes(len(c), order[:k]), c))
        ranked = [
            (evaluate(point, 0.0).objective, number, point)
            for number, point in enumerate(self._elementary(start, order, looks))
        ]
        return points + [point for _, _, point in sorted(ranked)[:_KEPT]]

    def _elementary(
        self, start: Subspace, order: np.ndarray[Any, Any], looks: int
    ) -> Iterator[Subspace]:
        """Up to `looks` subspaces along coordinate axes, or through rows.

        All of those of dimension 1 where there are so few, and random ones else: through c and k
        rows, or, where the center moves, in turns with those through k + 1 rows.
        """
        k, c, m, n = start.n_components, start.center, len(start.center), len(self.sample)
        rng = np.random.default_rng(0)
        axes = min(m, looks // 4) if k == 1 else 0
        for j in order[:axes]:
            yield Subspace(_axes(m, np.array([j])), c)
        rows = looks - axes
        few = k == 1 and n <= rows
        for look in range(n if few else rows):
            if n <= k:
                break
            picked = np.array([look]) if few else rng.choice(n, k + 1, replace=False)
            through = c
            if self.solver.move_center and look % 2:
                through = self.sample[rng.integers(n) if few else picked[-1]]
            directions = (self.sample[picked[:k]] - through).T
            if np.linalg.norm(directions, axis=0).min() > 0:
                yield Subspace(orthonormalize(directions), through)


def evaluator(source: Source) -> EvaluateL1:
    """(point, μ) → the slopes of the rows of a source."""

    def evaluate(point: Subspace, mu: float) -> Slopes:
        return source.reduce(SlopeSweep(point, mu))

    return evaluate


def _axes(m: int, columns: np.ndarray[Any, Any]) -> Float64Array:
    basis = np.zeros((m, len(columns)))
    basis[columns, np.arange(len(columns))] = 1.0
    return basis
