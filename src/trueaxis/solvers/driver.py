"""The loop around every solver: it alone owns stopping, history and progress."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from trueaxis._moments import Moments
from trueaxis._subspace import Subspace
from trueaxis._typing import Array, Float64Array
from trueaxis.solvers.base import Evaluate, Solver

HISTORY = np.dtype(
    [
        ("iteration", np.int64),
        ("objective", np.float64),
        ("change", np.float64),
        ("gap", np.float64),
        ("sweeps", np.int64),
        ("seconds", np.float64),
    ]
)
"""One record of `history_`: the number of updates made, the objective after them, its relative
change by the last one, the estimated relative gap to the limit, the sweeps over the data and the
seconds spent so far."""

Callback = Callable[[Subspace, np.record], object]

_RATE_CAP = 0.999  # a slower rate of convergence than this cannot be told from stagnation


class Record(NamedTuple):
    """One line of the history."""

    iteration: int
    objective: float
    change: float
    gap: float
    sweeps: int
    seconds: float


@dataclass(frozen=True)
class Result:
    """Where a solver arrived, and how."""

    point: Subspace
    history: np.recarray
    converged: bool

    @property
    def n_iter(self) -> int:
        """The number of updates made."""
        return int(self.history[-1]["iteration"])


@dataclass
class Journal:
    """The history in the making: counts sweeps, takes the time, tells of every record."""

    callback: Callback | None = None
    verbose: int = 0
    sweeps: int = 0
    records: list[Record] = field(default_factory=list)
    clock: float = field(default_factory=time.perf_counter)

    def add(self, point: Subspace, objective: float, gap: float) -> None:
        """Record the next point."""
        last = [r.objective for r in self.records[-1:]]
        self.records.append(
            Record(
                len(self.records),
                objective,
                _relative_change([*last, objective]),
                gap,
                self.sweeps,
                time.perf_counter() - self.clock,
            )
        )
        _tell(point, self.records[-1], self.callback, self.verbose)

    def result(self, point: Subspace, converged: bool) -> Result:
        """What was recorded, and where it led."""
        return Result(point, np.array(self.records, dtype=HISTORY).view(np.recarray), converged)


def run(
    solver: Solver[Any, Any],
    evaluate: Evaluate,
    point: Subspace,
    *,
    move_center: bool,
    max_iter: int,
    tol: float,
    rounding: float = 2e-15,
    negligible: float = 0.0,
    patience: int = 1,
    ready: Callable[[], bool] = lambda: True,
    callback: Callback | None = None,
    verbose: int = 0,
) -> Result:
    """Step from `point` until the estimated relative gap is below `tol`, or `max_iter` steps.

    One step is: sweep at (W, c), with the weights d_i that belong to it; c ← Σd_i x_i / Σd_i
    where `move_center`; W ← the solver's step for the scatter about the new c. Both lower the
    same majorizer, so that a solver that is monotone in W is monotone in (c, W).

    Relative changes of the objective below `rounding` count as none, and an objective that is not
    above `negligible`, what rounding of the rows could make of it, has no gap. With ``tol=0``
    exactly `max_iter` steps are made. `patience` is how many gaps must have been below `tol`; none
    is enough before `evaluate` is `ready`, as one that rounds its function off ever less is not.
    """
    journal = Journal(callback, verbose)
    state = solver.start(point)

    for iteration in range(max_iter + 1):
        probe = solver.probe(point, state)
        moments = evaluate(point, probe)
        journal.sweeps += 1
        objectives = [*(r.objective for r in journal.records[-3:]), moments.objective]
        nothing = moments.objective <= negligible
        gap = 0.0 if nothing else estimated_gap(objectives, rounding)
        journal.add(point, moments.objective, gap)
        converged = gap < tol and ready() and sum(r.gap < tol for r in journal.records) >= patience
        if converged or iteration == max_iter:
            break

        def apply(V: Float64Array, at: Subspace = point) -> Float64Array:
            journal.sweeps += 1
            there = evaluate(at, V)
            return (there.recenter(V) if move_center else there).product

        center, about = point.center, moments
        if move_center:
            center, about = center + moments.shift, moments.recenter(probe)
        basis, state = solver.step(point, probe, about, state, apply)
        point = Subspace(basis, center)

    return journal.result(point, converged)


def _relative_change(objectives: list[float]) -> float:
    if len(objectives) < 2 or objectives[-2] <= 0:
        return 0.0
    return (objectives[-2] - objectives[-1]) / objectives[-2]


def estimated_gap(objectives: list[float], rounding: float = 2e-15) -> float:
    """(J − J*)/J* extrapolated from the last objectives of a sequence, newest last.

    With steps δ = |J_{s−1} − J_s| that shrink by the rate q, what is left is δq/(1−q); the larger
    of the last two rates is taken, and twice the result, for rates that have yet to settle.

    Examples
    --------
    >>> gap = estimated_gap([1 + 2.0**-s for s in range(3, 7)])
    >>> round(gap * 2**6, 1)
    2.0
    """
    J = objectives[-1]
    if J <= 0:
        return 0.0
    steps = [abs(a - b) for a, b in itertools.pairwise(objectives)]
    if steps and steps[-1] <= rounding * J:
        return 0.0
    if len(steps) < 2:
        return float("inf")
    rates = [b / a for a, b in itertools.pairwise(steps) if a > 0]
    rate = min(max(rates, default=_RATE_CAP), _RATE_CAP)
    if any(after > before for before, after in itertools.pairwise(objectives)):
        rate = _RATE_CAP  # a sequence that turns has no rate yet
    return 2.0 * steps[-1] * rate / (1 - rate) / J


def _tell(point: Subspace, record: Record, callback: Callback | None, verbose: int) -> None:
    if verbose:
        print(
            f"[trueaxis] iteration {record.iteration:4d}  objective {record.objective:.10g}  "
            f"gap {record.gap:.1e}  sweeps {record.sweeps:4d}  {record.seconds:.2f} s"
        )
    if callback is not None:
        callback(point, np.array([record], dtype=HISTORY).view(np.recarray)[0])


def location(evaluate: Evaluate, center: Array, *, max_iter: int, tol: float) -> Result:
    """The c that minimizes Σω_iρ(‖x_i − c‖²): a subspace of dimension 0 with a moving center.

    For the ℓ2,1 loss this is the spatial median, and the loop Weiszfeld's.
    """
    point = Subspace(np.zeros((len(center), 0)), np.asarray(center, dtype=np.float64))
    return run(_Stay(), evaluate, point, move_center=True, max_iter=max_iter, tol=tol)


@dataclass(frozen=True, slots=True)
class _Stay:
    """The solver that has no basis to move."""

    name: str = "location"

    def start(self, point: Subspace) -> None:
        return None

    def probe(self, point: Subspace, state: None) -> Float64Array:
        return point.basis

    def step(
        self, point: Subspace, probe: object, moments: Moments, state: None, apply: object
    ) -> tuple[Float64Array, None]:
        return point.basis, None
