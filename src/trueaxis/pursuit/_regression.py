"""New rows against a fixed row space, by least absolute deviations.

    min over z   Σ_j |x_j − (Vz)_j|    over the observed entries j.

A linear program a row: a solution meets k entries exactly. The alternating direction method, for
all rows at once, finds which; their k equations then give z to the last digit, and the multiplier

    Vᵀy = 0,  |y_j| ≤ 1,  y_j = sign r_j where r_j ≠ 0

proves it. A row that is not proved in time goes to SciPy's linear programming.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.optimize import linprog

from trueaxis._typing import Array, Float64Array

# The first attempt to prove a row, the factor to the next, and the last.
_FIRST, _GROWTH, _LAST = 10, 1.6, 400
_RELAXATION = 1.6
# A residual below this share of the row's mean entry is 0; a multiplier may exceed 1 by as much.
_ZERO = 1e-9
# Most exchanges of an entry that is met, for each of the k.
_EXCHANGES = 10
# Rows whose arrays are held at a time: a bound of the memory, in entries.
_ENTRIES = 1 << 21


def least_absolute(X: Float64Array, V: Float64Array, observed: Array | None = None) -> Float64Array:
    """Z (rows) of the minimizers, for V (m×k) with orthonormal columns.

    A row's answer does not depend on the rows it comes with. Where fewer than k entries are
    observed, or they do not determine z, it is the shortest of the minimizers.

    Examples
    --------
    >>> import numpy as np
    >>> V = np.full((5, 1), 5**-0.5)
    >>> x = np.array([[1.0, 2.0, 3.0, 40.0, 50.0]])
    >>> least_absolute(x, V) @ V.T  # the median
    array([[3., 3., 3., 3., 3.]])
    """
    n, m = X.shape
    Z = np.zeros((n, V.shape[1]))
    step = max(1, _ENTRIES // m)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        Z[rows] = _some_rows(X[rows], V, None if observed is None else observed[rows])
    return Z


def least_squares(X: Float64Array, V: Float64Array, observed: Array | None = None) -> Float64Array:
    """The same for the sum of squares."""
    if observed is None or V.shape[1] == 0:
        return np.asarray(X @ V)
    Z = np.zeros((len(X), V.shape[1]))
    for i, seen in enumerate(observed):
        Z[i] = np.linalg.lstsq(V[seen], X[i, seen], rcond=None)[0]
    return Z


def _some_rows(X: Float64Array, V: Float64Array, observed: Array | None) -> Float64Array:
    n, m = X.shape
    k = V.shape[1]
    if k == 0 or n == 0:
        return np.zeros((n, k))
    seen = np.ones(X.shape, dtype=bool) if observed is None else observed
    X = np.where(seen, X, 0.0)
    size = np.abs(X).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    Z = np.zeros((n, k))
    left = np.flatnonzero(size > 0)
    if k == m and observed is None:
        return np.asarray(X @ V)
    Xl, sl, size = X[left], seen[left], size[left]
    Zl = Xl @ V
    # The level at which the first residuals are clipped sets the speed, not the answer.
    level = np.abs(Xl - Zl @ V.T).sum(axis=1, keepdims=True) / np.maximum(sl.sum(1), 1)[:, None]
    level = np.maximum(level, 1e-12 * size[:, None])
    Y = np.zeros_like(Xl)
    rest = Y
    attempt = _FIRST
    for iteration in range(1, _LAST + 1):
        P = Zl @ V.T
        if iteration > 1:
            P = _RELAXATION * P + (1.0 - _RELAXATION) * (Xl - rest)
        B = Xl - P + Y
        Y = np.clip(B, -level, level)
        Y[~sl] = 0.0
        rest = B - Y
        Zl = (Xl - rest + Y) @ V
        if iteration != attempt:
            continue
        attempt = int(np.ceil(attempt * _GROWTH))
        done, exact = _vertices(Xl, V, sl, Zl, size)
        Z[left[done]] = exact[done]
        keep = ~done
        left, size, level = left[keep], size[keep], level[keep]
        Xl, sl, Zl, Y, rest = Xl[keep], sl[keep], Zl[keep], Y[keep], rest[keep]
        if not left.size:
            return Z
    for i, x, entries in zip(left, Xl, sl, strict=True):
        Z[i] = _linear_program(x[entries], V[entries])
    return Z


def _vertices(
    X: Float64Array, V: Float64Array, seen: Array, Z: Float64Array, size: Array
) -> tuple[Array, Float64Array]:
    """Which rows are proved, and their z from k entries that are met exactly."""
    n, k = Z.shape
    exact = np.zeros((n, k))
    done = np.zeros(n, dtype=bool)
    distance = np.where(seen, np.abs(X - Z @ V.T), np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, : 2 * k + 2]
    for i in range(n):
        # Entries that are met, the surest first, as far as they are independent.
        met = near[i][seen[i, near[i]]]
        basis = _independent(V[met], k)
        if basis is None:
            continue
        entries = slice(None) if seen[i].all() else np.flatnonzero(seen[i])
        place = np.cumsum(seen[i])[met[basis]] - 1
        found = descend(X[i, entries], V[entries], place, _ZERO * size[i])
        if found is not None:
            done[i], exact[i] = True, found
    return done, exact


def descend(x: Float64Array, V: Float64Array, basis: Array, zero: float) -> Float64Array | None:
    """The minimizer by exchanges of the entries that are met, from `basis`; None if not proved.

    Where an entry's multiplier is beyond ±1, the objective falls as that entry is let go, until
    the slope, which each sign change raises by 2|a_j|, turns: there another entry is met.
    """
    basis = basis.copy()
    for _ in range(_EXCHANGES * len(basis)):
        VB = V[basis]
        try:
            inverse = np.linalg.inv(VB)
        except np.linalg.LinAlgError:
            return None
        z = inverse @ x[basis]
        r = x - V @ z
        r[basis] = 0.0
        flat = np.abs(r) <= zero
        r[flat] = 0.0
        s = np.sign(r)
        pull = s @ V
        yB = -pull @ inverse
        if np.abs(yB).max() <= 1.0 + _ZERO or _balanced(pull, V[flat]):
            return np.asarray(z)
        flat[basis] = False
        p = int(np.argmax(np.abs(yB)))
        a = V @ (-np.sign(yB[p]) * inverse[:, p])
        a[basis] = 0.0
        slope = 1.0 - abs(yB[p]) + np.abs(a[flat]).sum()
        ahead = np.flatnonzero(r * a > 0)
        if slope >= 0 or not ahead.size:
            return None
        t = r[ahead] / a[ahead]
        order = np.argsort(t)
        slopes = slope + np.cumsum(2.0 * np.abs(a[ahead[order]]))
        basis[p] = ahead[order[min(int(np.searchsorted(slopes, 0.0)), len(order) - 1)]]
    return None


def _balanced(pull: Float64Array, met: Float64Array) -> bool:
    """Whether multipliers within ±1 of more than k entries that are met balance the others' pull.

    The shortest ones are tried; where many entries are met exactly these are small.
    """
    k = met.shape[1]
    if len(met) <= k:
        return False
    y = met @ np.linalg.lstsq(met.T @ met, pull, rcond=None)[0]
    return bool(np.abs(y).max() <= 1.0)


def _independent(rows: Float64Array, k: int) -> Array | None:
    """The first k independent ones of the rows; None where there are fewer."""
    if len(rows) < k:
        return None
    first = rows[:k]
    if np.linalg.cond(first) < 1e8:
        return np.arange(k)
    _, R, order = scipy.linalg.qr(rows.T, mode="economic", pivoting=True, check_finite=False)
    if abs(R[k - 1, k - 1]) < 1e-8 * abs(R[0, 0]):
        return None
    return np.asarray(order[:k])


def _linear_program(x: Float64Array, V: Float64Array) -> Float64Array:
    """The same by min Σ(p + q) over Vz + p − q = x, p, q ≥ 0; by least squares where it meets x."""
    z = np.linalg.lstsq(V, x, rcond=None)[0]
    size = np.abs(x).mean() if x.size else 0.0
    if size == 0 or np.abs(x - V @ z).max() <= _ZERO * size:
        return np.asarray(z)
    m, k = V.shape
    found = linprog(
        np.r_[np.zeros(k), np.ones(2 * m)],
        A_eq=np.hstack([V, np.eye(m), -np.eye(m)]),
        b_eq=x / size,
        bounds=[(None, None)] * k + [(0, None)] * (2 * m),
        method="highs",
    )
    return np.asarray(found.x[:k] * size if found.x is not None else z)
