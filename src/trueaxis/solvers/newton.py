"""Newton's method with a Hessian from a sample of the rows. Ours, not the paper's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

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
_AGREED = 2.0  # times what it promised that a step may gain, and times less
_COARSE = 1e-6  # relative, what rounding of float32 products may do to J
_FINE = 3e-6  # gap that is expected from here on down needs products in full precision
_EXPECTED = 0.05  # of a gap, what a step leaves of it
_ROUGH = 1e-3  # gap at which a sample has told what it can
_ROUGH_STEPS = 15


CurvatureAt: TypeAlias = Callable[[Subspace], Curvature]


@dataclass(frozen=True)
class Descended:
    """The objective over all rows, with cheaper products where there are any, and how it bends."""

    evaluate: Evaluate
    coarse: Evaluate | None
    curvature: CurvatureAt


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
    all the same the step is taken back, and a majorizing one made instead.

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
        self, evaluate: Evaluate, point: Subspace, N: Float64Array, journal: Journal | None = None
    ) -> tuple[Subspace, Float64Array]:
        """Majorizing steps until they have little left to gain: a start for `run`.

        `evaluate` is over a sample; where it is over all rows, the `journal` counts its sweeps.
        """
        values: list[float] = []
        for _ in range(_ROUGH_STEPS):
            seen = _look(evaluate, point, N)
            values.append(seen.moments.objective)
            if journal is not None:
                journal.sweeps += 1
            if estimated_gap(values[-4:], self.rounding) < _ROUGH:
                break
            point, N = self._majorize(seen, N)
        return point, N

    def run(
        self, function: Descended, point: Subspace, N: Float64Array, journal: Journal
    ) -> Result:
        """Newton's steps from near a minimizer; the further columns N come from `roughly`."""
        pairs: deque[tuple[Float64Array, Float64Array]] = deque(maxlen=_PAIRS)
        accepted: Seen | None = None
        gradient = step = model = promised = None
        E = np.zeros_like(N)
        expected, wide, trust, refused = np.inf, True, 1.0, 0
        coarse = was_coarse = function.coarse is not None
        values: list[float] = []
        while True:
            coarse = coarse and expected > _FINE
            evaluate = function.coarse if coarse and function.coarse else function.evaluate
            seen = _look(evaluate, point, N if wide else N[:, :0])
            journal.sweeps += 1
            J, new = seen.moments.objective, self._gradient(seen)
            noise = _COARSE if coarse or was_coarse else self.rounding
            if accepted is not None and not accepted.moments.objective * (1 + noise) >= J:
                if step is None or not np.isfinite(J):
                    break  # a majorizing step rises by rounding alone
                refused += 1
                if refused == 1 and model is not None and gradient is not None:
                    # Too long a step knows how the Hessian bends along it.
                    pairs.append((step, new - gradient))
                    step = model.again(pairs[-1], gradient)
                    point = _retract(accepted.point, step)
                else:
                    pairs.clear()
                    (point, N), wide = self._majorize(accepted, N), True
                    step = promised = None
                continue
            refused = 0
            values.append(J)
            gap, D = estimated_gap(values[-4:], self.rounding), None
            if J > 0:
                if step is not None and gradient is not None:
                    pairs.append((step, new - gradient))
                model = self._model(function.curvature(seen.point), seen, N, E, wide, pairs)
                E = model.E
                D, definite = model.minimize(new, trust)
                # A model is to be believed once it has told right what a step would gain.
                known = (
                    definite
                    and model.trust == trust
                    and promised is not None
                    and promised <= _AGREED * (values[-2] - J) <= _AGREED**2 * promised
                )
                trust = model.trust
                gain = -float(np.vdot(new, D)) / 2
                gap = _SAFETY * gain / J if known else max(gap, _SAFETY * gain / J)
                promised = gain if definite else None
                if not definite:
                    D = None
            accepted, gradient, was_coarse = seen, new, coarse
            journal.add(point, J, gap)
            if gap < self.tol or journal.records[-1].iteration >= self.max_iter:
                break
            expected = gap * _EXPECTED if D is not None else gap
            if D is None:
                point, N = self._majorize(seen, N)
                step = promised = None
                wide = True
            else:
                point, step = _retract(point, D), D
                wide = False
        assert accepted is not None
        return journal.result(accepted.point, journal.records[-1].gap < self.tol)

    def _model(
        self,
        rows: Curvature,
        seen: Seen,
        N: Float64Array,
        E: Float64Array,
        wide: bool,
        pairs: Sequence[tuple[Float64Array, Float64Array]],
    ) -> Hessian:
        W, moments = seen.point.basis, seen.moments
        k = W.shape[1]
        S = moments.gram[:k, :k]
        if self.moves_center:
            f = W.T @ moments.first
            S = np.block([[S, f[:, None]], [f[None, :], np.array([[moments.mass]])]])
        N = _orthonormal_beside(W, N)
        if wide:
            E = rows.scatter(N) - _horizontal(W, moments.product[:, k:])
        model = Hessian(S, rows, N, _horizontal(W, E), k)
        model.pairs = [(_horizontal(W, s), _horizontal(W, y)) for s, y in pairs]
        return model

    def _gradient(self, seen: Seen) -> Float64Array:
        """∇J = −(I − WWᵀ)[AW, Σ d_i (x_i − c)], the last column where the center moves."""
        W, moments = seen.point.basis, seen.moments
        G = -moments.product[:, : W.shape[1]]
        if self.moves_center:
            G = np.column_stack([G, -moments.first])
        return _horizontal(W, G)

    def _majorize(self, seen: Seen, N: Float64Array) -> tuple[Subspace, Float64Array]:
        """The majorizing step, and its N where the point was swept with V = [W, N]."""
        point, moments = seen.point, seen.moments
        center, k = point.center, point.n_components
        if self.moves_center:
            center, moments = center + moments.shift, moments.recenter(seen.probe)
        _, Y = scipy.linalg.eigh(moments.gram, check_finite=False)
        V, _ = scipy.linalg.qr(moments.product @ Y[:, ::-1], mode="economic", check_finite=False)
        there = Subspace(np.asarray(V[:, :k]), center)
        return there, np.asarray(V[:, k:]) if V.shape[1] > k else N


def _look(evaluate: Evaluate, point: Subspace, N: Float64Array) -> Seen:
    W = point.basis
    probe = np.hstack([W, _orthonormal_beside(W, N)]) if N.shape[1] else W
    return Seen(point, probe, evaluate(point, probe))


def _orthonormal_beside(W: Float64Array, N: Float64Array) -> Float64Array:
    return extend(W, N)[:, W.shape[1] :]


def _horizontal(W: Float64Array, V: Float64Array) -> Float64Array:
    """(I − WWᵀ)V."""
    return np.asarray(V - W @ (W.T @ V))


def _retract(point: Subspace, D: Float64Array) -> Subspace:
    k = point.n_components
    center = point.center + D[:, k] if D.shape[1] > k else point.center
    return Subspace(polar(point.basis + D[:, :k]), center)
