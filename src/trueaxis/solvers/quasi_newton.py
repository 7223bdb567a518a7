"""Limited-memory BFGS over subspaces and centers, for smooth functions of (W, c)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from trueaxis._linalg import polar
from trueaxis._moments import Slopes
from trueaxis._subspace import Subspace
from trueaxis._typing import Float64Array

_MEMORY = 20
_ARMIJO = 1e-4
_HALVINGS = 20
_FIRST_STEP = 0.1  # radians, where no curvature is known yet
_WINDOW = 5


class Arrival(NamedTuple):
    """Where a descent ended, what was seen there, and what another one may still gain."""

    point: Subspace
    slopes: Slopes
    left: float


def descend(
    evaluate: Callable[[Subspace], Slopes],
    point: Subspace,
    *,
    unit: float,
    max_iter: int,
    share: float,
) -> Arrival:
    """Lower ``evaluate(point).smooth`` by at most `max_iter` Riemannian L-BFGS updates.

    The gradient at W is G − WWᵀG, whose W-directions are zero because the function sees WWᵀ
    only; a step D leads to polar(W + tD), t by Armijo's rule. Steps and differences of gradients
    are kept as they were when they were made: pairs of positive curvature stay so, and the
    direction, projected, is one of descent at every later W.

    Parameters
    ----------
    unit : float
        The length that a change of c is measured in; 0 holds the center.
    share : float
        The end: the last 5 updates together lowered the value by less than this share of
        smooth − objective, what the smoothing itself adds to it.

    Returns
    -------
    Arrival
        Its ``left`` is 0 if the end was reached, and else extrapolated from the last updates as
        if the gain of an update fell with the square of their number.
    """
    slopes = evaluate(point)
    gradient = _gradient(point, slopes, unit)
    curvature = _Curvature()
    values = [slopes.smooth]
    while len(values) <= max_iter:
        W = point.basis
        d = -_horizontal(W, curvature.solve(gradient))
        fall = float(np.vdot(d, gradient))
        if not fall < 0:
            break
        # A step of more than a radian is beyond what a quadratic model can know.
        t = 1.0 / max(1.0, float(np.linalg.norm(d[:, :-1])))
        for _ in range(_HALVINGS):
            there = Subspace(polar(W + t * d[:, :-1]), point.center + t * unit * d[:, -1])
            seen = evaluate(there)
            excess = seen.smooth - slopes.smooth - t * fall
            if excess <= (_ARMIJO - 1.0) * t * fall:
                break
            # The minimum of the parabola through both values and the slope.
            t = min(max(-fall * t * t / (2 * excess), 0.1 * t), 0.5 * t)
        else:
            if not curvature.known:
                break
            curvature = _Curvature()
            continue
        new = _gradient(there, seen, unit)
        curvature.learn(_horizontal(there.basis, t * d), new - _horizontal(there.basis, gradient))
        point, slopes, gradient = there, seen, new
        values.append(slopes.smooth)
        if len(values) > _WINDOW:
            gained = values[-1 - _WINDOW] - values[-1]
            if gained < share * (slopes.smooth - slopes.objective):
                break
    else:
        last = values[-1 - _WINDOW :]
        each = (last[0] - last[-1]) / max(1, len(last) - 1)
        return Arrival(point, slopes, each * max_iter)
    return Arrival(point, slopes, 0.0)


class _Curvature:
    """What pairs of a step s and the change y of the gradient along it tell of the Hessian."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[Float64Array, Float64Array, float]] = deque(maxlen=_MEMORY)
        self._scale = 0.0

    @property
    def known(self) -> bool:
        """Whether there is any."""
        return bool(self._pairs)

    def learn(self, step: Float64Array, change: Float64Array) -> None:
        """Keep a pair, if the curvature along it is positive."""
        s, y = step.ravel(), change.ravel()
        sy, yy = float(s @ y), float(y @ y)
        if sy > 1e-12 * np.sqrt(float(s @ s) * yy):
            self._pairs.append((s, y, sy))
            self._scale = sy / yy

    def solve(self, gradient: Float64Array) -> Float64Array:
        """The inverse Hessian of the pairs times the gradient, by the two-loop recursion."""
        q = gradient.flatten()
        shares = []
        for s, y, sy in reversed(self._pairs):
            a = float(s @ q) / sy
            shares.append(a)
            q -= a * y
        q *= self._scale if self._pairs else _FIRST_STEP / max(float(np.linalg.norm(q)), 1e-300)
        for (s, y, sy), a in zip(self._pairs, reversed(shares), strict=True):
            q += (a - float(y @ q) / sy) * s
        return q.reshape(gradient.shape)


def _horizontal(W: Float64Array, V: Float64Array) -> Float64Array:
    """(I − WWᵀ)V."""
    return np.asarray(V - W @ (W.T @ V))


def _gradient(point: Subspace, slopes: Slopes, unit: float) -> Float64Array:
    """Shape (m, k+1): with respect to W, and to c in the given unit in the last column."""
    G = np.column_stack([slopes.basis, unit * slopes.center])
    return _horizontal(point.basis, G)
