"""Newton's method with a Hessian from a sample of the rows. Ours, not the paper's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import numpy as np
import scipy.linalg

from trueaxis._linalg import polar
from trueaxis._moments import Moments
from trueaxis._subspace import Subspace
from trueaxis._typing import Float64Array
from trueaxis.solvers.base import Evaluate
from trueaxis.solvers.driver import Journal, Result, estimated_gap
from trueaxis.solvers.hessian import Curvature, Hessian
from trueaxis.solvers.norms import extend

_PAIRS = 10  # changes of the gradient that the Hessian is made to agree with
_SAFETY = 2.0  # by which an estimated gap is made larger
_UNCONFIRMED = 10.0  # by which it is made larger where no step has shown the model to be right
_AGREED = 2.0  # times what it promised that a step may gain, and times less
_LEFT = 0.015  # of the gap, what a step leaves as a rule
_SMALL = 1e-12  # relative gain that rounding of J hides
_ROUGH_STEPS = 40
_SHORT = 0.05  # ‖Δ‖, an angle, of a step that the model may well tell the gain of
_LARGE = 0.5  # ‖Δ‖ from which the sample is asked how far to go
_NEAR, _FARTHEST = 0.25, 64.0  # times D: where the slope along it is taken, and what it may become


CurvatureAt: TypeAlias = Callable[[Subspace], Curvature]
Value: TypeAlias = Callable[[Subspace], float]
"""Point → J as a sample of the rows has it."""


@dataclass(frozen=True)
class Seen:
    """A point, the probe that was swept there and what the sweep returned."""

    point: Subspace
    probe: Float64Array
    moments: Moments


@dataclass(frozen=True)
class Newton:
    """Minimize J by majorizing steps while it falls fast, and Newton's thereafter.

    A majorizing step is orthogonal iteration with more columns than axes: with V = [W, N], the
    Ritz vectors Y of VᵀAV and [W, N] ← orth(AVY). The majorizer falls from W to the leading Ritz
    vectors and again from them to their images, so that J cannot rise; the further columns N
    carry the axes that W may have to be exchanged with.

    A Newton step solves HD = −∇J, H from a sample (`Hessian`), for W ← polar(W + Δ), c ← c + δ.
    Half of −⟨∇J, D⟩ is what the step is expected to gain, and estimates the gap. Where J rises
    all the same the step is taken back, and a majorizing one made instead. Where Δ is large, or H
    not positive, as beside a saddle, the sample tells how far to go along D, and D nothing of the
    gap.

    Parameters
    ----------
    moves_center : bool
        Whether c is optimized too.
    max_iter : int
        Most updates.
    tol : float
        It stops once the estimated relative gap (J − J*)/J* is below this.
    rounding : float
        Relative changes of J that count as none.
    """

    moves_center: bool
    max_iter: int
    tol: float
    rounding: float
    name: str = "newton"

    def roughly(
        self,
        evaluate: Evaluate,
        point: Subspace,
        N: Float64Array,
        enough: float,
        journal: Journal | None = None,
    ) -> tuple[Subspace, Float64Array]:
        """Majorizing steps until the gap left is about `enough`: a start for `run`.

        `evaluate` is over a sample; where it is over all rows, the `journal` counts its sweeps. N
        is orthonormal `beside` W, and so is the one that comes back.
        """
        values: list[float] = []
        for _ in range(_ROUGH_STEPS):
            V = np.hstack([point.basis, N])
            seen = Seen(point, V, evaluate(point, V))
            values.append(seen.moments.objective)
            if journal is not None:
                journal.sweeps += 1
            if estimated_gap(values[-4:], self.rounding) < enough:
                break
            point, N = self.majorize(seen, N)
        return point, N

    def majorize(self, seen: Seen, N: Float64Array) -> tuple[Subspace, Float64Array]:
        """The majorizing step, and its N where the point was swept with V = [W, N]."""
        point, moments = seen.point, seen.moments
        center, k = point.center, point.n_components
        if self.moves_center:
            center, moments = center + moments.shift, moments.recenter(seen.probe)
        _, Y = np.linalg.eigh(moments.gram)
        V, _ = scipy.linalg.qr(moments.product @ Y[:, ::-1], mode="economic", check_finite=False)
        there = Subspace(np.asarray(V[:, :k]), center)
        return there, np.asarray(V[:, k:]) if V.shape[1] > k else N

    def run(
        self,
        evaluate: Evaluate,
        curvature: CurvatureAt,
        value: Value,
        point: Subspace,
        N: Float64Array,
        journal: Journal,
        *,
        wide: bool,
        exact: bool = False,
        last: Callable[[Subspace], Moments] | None = None,
    ) -> Result:
        """Newton's steps from near a minimizer; the further columns N come from `roughly`.

        `wide` asks for N in the first sweep, as suits a sample that is small beside m; `exact` says
        that the sample is all rows. `last`
        takes the place of `evaluate` with W itself as probe where the sweep may be the last.
        """
        walk = _Walk(self, curvature, value, N, wide, exact)
        while True:
            if last is not None and not walk.wide and walk.expected < self.tol:
                seen = Seen(point, point.basis, last(point))
            else:
                seen = _look(evaluate, point, walk.N if walk.wide else walk.N[:, :0])
            journal.sweeps += 1
            if not walk.accepts(seen):
                there = walk.retreat(seen)
                if there is None:
                    # A majorizing step rises by rounding alone: there is nothing left to gain.
                    return journal.result(walk.seen.point, converged=True)
                point = there
                continue
            gap, there = walk.advance(seen)
            journal.add(point, seen.moments.objective, gap)
            if gap < self.tol or journal.records[-1].iteration >= self.max_iter:
                return journal.result(point, gap < self.tol)
            point = there


@dataclass
class _Walk:
    """Where a descent stands: the last point accepted, and what has been learned on the way."""

    solver: Newton
    curvature: CurvatureAt
    value: Value
    N: Float64Array
    wide: bool
    exact: bool
    seen: Seen = field(init=False)
    gradient: Float64Array = field(init=False)
    model: Hessian = field(init=False)
    step: Float64Array | None = None
    promised: float | None = None
    refused: int = 0
    expected: float = np.inf
    excess: Float64Array | None = None
    values: list[float] = field(default_factory=list)
    pairs: deque[tuple[Float64Array, Float64Array]] = field(
        default_factory=lambda: deque(maxlen=_PAIRS)
    )

    def accepts(self, seen: Seen) -> bool:
        """Whether J has not risen."""
        J = seen.moments.objective
        return not self.values or self.values[-1] * (1 + self.solver.rounding) >= J

    def retreat(self, seen: Seen) -> Subspace | None:
        """Another point to go to from the last one; None where J falls no more."""
        if self.step is None:
            return None
        self.refused += 1
        if self.refused == 1:
            # Too long a step knows how the Hessian bends along it.
            self.pairs.append((self.step, self._slope(seen) - self.gradient))
            self.step = self.model.again(self.pairs[-1], self.gradient)
            return _retract(self.seen.point, self.step)
        self.pairs.clear()
        return self._majorized()

    def advance(self, seen: Seen) -> tuple[float, Subspace]:
        """The estimated gap at a point that is accepted, and the next point."""
        J, slope = seen.moments.objective, self._slope(seen)
        if self.step is not None:
            self.pairs.append((self.step, slope - self.gradient))
        self.seen, self.gradient, self.refused = seen, slope, 0
        self.values.append(J)
        gap = estimated_gap(self.values[-4:], self.solver.rounding)
        if J <= 0:
            return gap, self._majorized()
        self.model = self._hessian(seen)
        D, gain, definite = self.model.minimize(slope, self.solver.tol * J / _SAFETY)
        positive = definite and self.model.trust == 1.0
        length = float(np.linalg.norm(D[:, : seen.point.n_components]))
        likely = _SAFETY * gain / J
        self.expected, likely = _LEFT * likely, likely * (1 + (length / _SHORT) ** 2)
        if positive and self._told_right(gain):
            gap = likely
        elif positive and self.exact and self.promised is not None:
            gap = likely * max(_UNCONFIRMED, self._error())
        else:
            gap = max(gap, likely * self._error())
        self.step, self.promised, self.wide = D, gain, False
        if not positive or length > _LARGE:
            τ = self._length(D)
            if τ == 0.0:
                return gap, self._majorized()
            if τ != 1.0 or not positive:
                self.step, self.promised, self.expected = τ * D, None, np.inf
        return gap, _retract(seen.point, self.step)

    def _length(self, D: Float64Array) -> float:
        """The τ of …, ½, 1, 2, … where J(τD) is least as the sample has it; 0 where it but rises.

        With the values J_S of the sample, J(τ) ≈ J_S(τ) + τ(⟨∇J, D⟩ − J_S′(0)).
        """
        point = self.seen.point

        def sampled(τ: float) -> float:
            return self.value(_retract(point, τ * D))

        slope = (sampled(_NEAR) - sampled(-_NEAR)) / (2 * _NEAR)
        excess = float(np.vdot(self.gradient, D)) - slope

        def along(τ: float) -> float:
            return sampled(τ) + τ * excess

        τ, J = 1.0, along(1.0)
        factor = 2.0 if (doubled := along(2.0)) < J else 0.5
        τ, J = (2.0, doubled) if factor > 1 else (τ, J)
        while 1 / _FARTHEST < τ < _FARTHEST and (other := along(factor * τ)) < J:
            τ, J = factor * τ, other
        return τ if along(0.0) > J else 0.0

    def _error(self) -> float:
        """By what factor the model was wrong about what the last step would gain."""
        if self.promised is None:
            return 1.0
        gained = max(self.values[-2] - self.values[-1], _SMALL * self.values[-1])
        return max(self.promised / gained, gained / self.promised)

    def _told_right(self, gain: float) -> bool:
        """Whether the model told what the last step would gain, as it must to be believed."""
        if self.promised is None:
            return False
        gained = self.values[-2] - self.values[-1]
        if self.promised <= _AGREED * gained <= _AGREED**2 * self.promised:
            return True
        return max(gain, self.promised) < _SMALL * self.values[-1]

    def _majorized(self) -> Subspace:
        """The majorizing step from the last point, after which N is swept too."""
        point, self.N = self.solver.majorize(self.seen, self.N)
        self.step, self.promised, self.wide = None, None, True
        self.expected = np.inf
        return point

    def _slope(self, seen: Seen) -> Float64Array:
        """∇J = −(I − WWᵀ)[AW, Σ d_i (x_i − c)], the last column where the center moves."""
        W, moments = seen.point.basis, seen.moments
        G = -moments.product[:, : W.shape[1]]
        if self.solver.moves_center:
            G = np.column_stack([G, -moments.first])
        return _horizontal(W, G)

    def _hessian(self, seen: Seen) -> Hessian:
        rows = self.curvature(seen.point)
        W, moments = seen.point.basis, seen.moments
        k = W.shape[1]
        S = moments.gram[:k, :k]
        if self.solver.moves_center:
            f = W.T @ moments.first
            S = np.block([[S, f[:, None]], [f[None, :], np.array([[moments.mass]])]])
        N = E = np.zeros((len(W), 0))
        if self.wide or self.excess is not None:
            N = beside(W, self.N)
            if self.wide:
                self.excess = rows.scatter(N) - moments.product[:, k:]
            E = _horizontal(W, cast(Float64Array, self.excess))
        pairs = [(_horizontal(W, s), _horizontal(W, y)) for s, y in self.pairs]
        return Hessian(S, rows, N, E, k, pairs)


def _look(evaluate: Evaluate, point: Subspace, N: Float64Array) -> Seen:
    W = point.basis
    probe = np.hstack([W, beside(W, N)]) if N.shape[1] else W
    return Seen(point, probe, evaluate(point, probe))


def beside(W: Float64Array, N: Float64Array) -> Float64Array:
    """The columns of N made orthonormal, and orthogonal to W."""
    return extend(W, N)[:, W.shape[1] :]


def _horizontal(W: Float64Array, V: Float64Array) -> Float64Array:
    """(I − WWᵀ)V."""
    return np.asarray(V - W @ (W.T @ V))


def _retract(point: Subspace, D: Float64Array) -> Subspace:
    k = point.n_components
    center = point.center + D[:, k] if D.shape[1] > k else point.center
    return Subspace(polar(point.basis + D[:, :k]), center)
