"""A fit that follows a stream: what is kept of the rows gone by, and what the next ones change."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from trueaxis import starts
from trueaxis._linalg import complete, orthonormalize
from trueaxis._subspace import Subspace
from trueaxis._sweep import Look
from trueaxis._threads import Workers
from trueaxis._typing import Float64Array
from trueaxis.estimators._description import Reach
from trueaxis.estimators._draws import Draws
from trueaxis.estimators._fit import fit
from trueaxis.estimators._settings import Settings
from trueaxis.estimators._start import MUCH_NEARER
from trueaxis.losses import L2p, Loss
from trueaxis.solvers.stochastic import Memory, share_kept
from trueaxis.sources import DenseSource
from trueaxis.weighers import BisquareWeigher

_KEPT_ROWS = 500  # drawn from all rows so far, or 20 an axis where these are more
_WIDTH, _FURTHER = 4, 20  # directions of the scatter that are kept: 4k + 20
_FADING = 0.5  # the exponent a for weights that depend on the point
_CHUNK = 4  # times the directions kept: rows between two updates of the axes
_SMOOTHING = 1e-2  # of the median residual: below it a row's weight rises no more
_NEGLIGIBLE = 1e-9  # of the rows' distances from their center
_OFF = 1.5  # ratio of variances that are not the same
_MUCH_BETTER = 4.0  # times what a fit of (k + 1)(m − k) numbers gains by following the noise


@dataclass(frozen=True)
class Kept:
    """Rows drawn evenly from all so far: those with the largest keys log(u_i) / ω_i.

    Which these are does not depend on the order of the stream (Efraimidis and Spirakis 2006).
    """

    rows: Float64Array
    omega: Float64Array
    keys: Float64Array
    seen: int = 0

    def joined(
        self, rows: Float64Array, omega: Float64Array, size: int, rng: np.random.Generator
    ) -> Kept:
        """The same of these rows and others."""
        keys = np.log(1.0 - rng.random(len(rows))) / omega
        seen = self.seen + len(rows)
        if len(self.rows) >= size:
            better = keys > self.keys.min()
            rows, omega, keys = rows[better], omega[better], keys[better]
        R = np.vstack([self.rows, rows])
        omega, keys = np.concatenate([self.omega, omega]), np.concatenate([self.keys, keys])
        if len(R) > size:
            best = np.sort(np.argpartition(keys, -size)[-size:])
            R, omega, keys = R[best], omega[best], keys[best]
        return Kept(R, omega, keys, seen)

    @property
    def is_all(self) -> bool:
        """Whether no row has been left out."""
        return self.seen == len(self.rows)

    @property
    def weights(self) -> Float64Array | None:
        """What the rows count: alike where they were drawn by weight."""
        return self.omega if self.is_all and np.any(self.omega != 1.0) else None


@dataclass(frozen=True)
class Stream:
    """Where a fit of k axes stands after some rows, of which O(mk) numbers are kept.

    ========  ==========================================================
    point     the subspace so far; None before there are k + 1 rows
    weighted  rows counted by the loss: center and axes
    near      rows that agree with the point, counted 1: variances
    kept      a few rows, which tell scales and whether the point is poor
    due       number of rows at which these are looked at again
    ========  ==========================================================
    """

    settings: Settings
    k: int
    seed: int
    kept: Kept
    weighted: Memory
    near: Memory
    mass: float = 0.0
    mean: Float64Array | None = None
    point: Subspace | None = None
    loss: Loss | None = None
    reach: Reach | None = None
    due: int = 0

    @classmethod
    def begin(cls, settings: Settings, k: int, m: int, seed: int) -> Stream:
        """No rows yet."""
        none = Kept(np.zeros((0, m)), np.zeros(0), np.zeros(0))
        return cls(settings, k, seed, none, Memory.empty(m), Memory.empty(m))

    @property
    def size(self) -> int:
        """How many rows are kept."""
        return max(_KEPT_ROWS, 20 * self.k)

    @property
    def chunk(self) -> int:
        """How many rows to follow at once: first enough to begin with."""
        return self.size if self.kept.seen < self.size else _CHUNK * self.width

    @property
    def width(self) -> int:
        """How many directions of a scatter are kept."""
        return _WIDTH * self.k + _FURTHER

    def follow(self, rows: Float64Array, omega: Float64Array) -> Stream:
        """The stream after some more rows, which count `omega`, each above 0."""
        if not len(rows):
            return self
        rng = np.random.default_rng([self.seed, self.kept.seen])
        kept = self.kept.joined(rows, omega, self.size, rng)
        new = float(omega.sum())
        first = rows[0] if self.mean is None else self.mean
        mean = first + (omega @ (rows - first)) / (self.mass + new)
        told = replace(self, kept=kept, mean=mean)
        if self.settings.is_plain:
            near = self.near.joined(rows, omega, self.width)
            told = replace(told, near=near, weighted=near, mass=self.mass + new)
            return replace(told, point=told._minimum()) if kept.seen >= self.k else told
        if self.point is not None:
            told = told._counted(rows, omega, share_kept(self.mass, new, _FADING))
        told = replace(told, mass=self.mass + new)
        return told._looked() if kept.seen >= max(self.due, self.k + 1) else told

    def _counted(self, rows: Float64Array, omega: Float64Array, share: float) -> Stream:
        """One step of stochastic majorize-minimize."""
        assert self.point is not None
        assert self.loss is not None
        assert self.reach is not None
        terms = Look(self.point, self.loss, rows.dtype)(rows)
        agrees = self.reach(terms.t, terms.rows.Z[:, : self.k]).astype(np.float64)
        weighted = self.weighted.faded(share).joined(rows, omega * terms.weight, self.width)
        near = self.near.joined(rows, omega * agrees, self.width)
        told = replace(self, weighted=weighted, near=near)
        return replace(told, point=told._minimum())

    def _minimum(self) -> Subspace:
        """The subspace that minimizes Σ w_i d_i t_i over what is remembered."""
        center = self._fixed_center()
        axes = self.weighted.axes(self.k, center)
        if axes.shape[1] < self.k:
            axes = complete(axes, self.k)
        return Subspace(axes, self.weighted.mean if center is None else center)

    def _fixed_center(self) -> Float64Array | None:
        center = self.settings.center
        if isinstance(center, str):
            return self.mean if center == "mean" else None
        return np.zeros_like(self.near.mean) if center is None else center

    def _looked(self) -> Stream:
        """What the kept rows tell of scales, and a new beginning where they know a better point.

        A point that is poor because of the rows that happened to come first is left so, whatever
        basin it is in; and as long as all rows are kept this is the fit of all of them.
        """
        S, omega = self.kept.rows, self.kept.weights
        fresh = self._fresh()
        poor = self.point is None or self.kept.is_all or self._is_poor(fresh)
        point = fresh if self.point is None or poor else self.point
        told = replace(self, due=2 * self.kept.seen)._scaled(point)
        none = Memory.empty(S.shape[1])
        counts = np.ones(len(S)) if omega is None else omega
        counts = counts * (self.mass / counts.sum())
        anew = replace(told, weighted=none, near=none)._counted(S, counts, 1.0)
        # Weights of a few rows are no reason to move from where their own fit has settled.
        anew = replace(anew, point=point)
        if poor:
            return anew
        # Variances of rows that were taken to agree with a poor point are told by the kept rows.
        then, now = told._spread(told.near), told._spread(anew.near)
        floor = np.finfo(np.float64).eps * float(now.sum())
        ratio = (then + floor) / (now + floor)
        off = bool((ratio > _OFF).any() or (ratio < 1.0 / _OFF).any())
        return replace(told, near=anew.near) if off else told

    def _is_poor(self, fresh: Subspace) -> bool:
        """Whether the kept rows prefer another point, by the rule by which a fit begins.

        The one that half of them are much nearer to; else the one of the lower objective, by more
        than a fit of so few rows gains by following their noise.
        """
        assert self.point is not None
        S, omega = self.kept.rows, self.kept.weights
        t = np.column_stack([np.sum(p.residuals(S) ** 2, axis=1) for p in (self.point, fresh)])
        half, fresh_half = BisquareWeigher(0.5, omega).values(t)
        if half > MUCH_NEARER * fresh_half or fresh_half > MUCH_NEARER * half:
            return bool(half > fresh_half)
        value, _ = self.settings.loss.value_and_weight(t)
        cost, fresh_cost = value.sum(axis=0) if omega is None else omega @ value
        gain = _MUCH_BETTER * (self.k + 1) / len(S)
        return bool(fresh_cost < (1.0 - gain) * cost)

    def _spread(self, near: Memory) -> Float64Array:
        """Variances along the axes of the point, and away from them."""
        assert self.point is not None
        along = np.sum((near.factor @ self.point.basis) ** 2, axis=0)
        left = max(near.trace - float(along.sum()), 0.0)
        return np.asarray(np.append(along, left) / max(near.mass, np.finfo(np.float64).tiny))

    def _scaled(self, point: Subspace) -> Stream:
        """At a point, with the smoothing and the reach that belong to it."""
        S, omega = self.kept.rows, self.kept.weights
        loss = self.settings.loss
        assert isinstance(loss, L2p)
        scale = starts.typical_distance(S, point.center, omega)
        residuals = np.linalg.norm(point.residuals(S), axis=1)
        typical = float(starts.weighted_median(residuals, omega))
        epsilon = max(_SMOOTHING * typical, _NEGLIGIBLE * scale)
        if self.settings.smoothing is not None:
            epsilon = self.settings.smoothing * scale
        loss = loss if loss.epsilon > 0.0 else loss.smoothed(epsilon)
        return replace(self, point=point, loss=loss, reach=Reach.of(S, omega, point))

    def _fresh(self) -> Subspace:
        S, omega = self.kept.rows, self.kept.weights
        n, m = S.shape
        source = DenseSource(S, weights=omega, workers=Workers(1))
        most, rng = min(n, m), np.random.RandomState(self.seed)
        draws = Draws.of(source, most, self.k, self.settings, rng)
        found = fit(source, self.k, most, self.settings, draws).subspace
        return Subspace(orthonormalize(found.basis), found.center)

    def described(self) -> tuple[Subspace, Float64Array, float]:
        """The subspace with its principal axes, the variances along them, and what is left over.

        Variances are those of the rows that agree with it, about their mean.
        """
        assert self.point is not None
        W, c = self.point.basis, self.point.center
        fixed = None if isinstance(self.settings.center, str) else c
        F = self.near.about(fixed)
        mass = max(self.near.mass, np.finfo(np.float64).tiny)
        values, Y = np.linalg.eigh((F @ W).T @ (F @ W))
        left = max(float(np.vdot(F, F)) + self.near.rest - float(values.sum()), 0.0) / mass
        inflation = 1.0 if self.reach is None else self.reach.inflation
        variances = np.maximum(values[::-1], 0.0) / mass * inflation
        if self.settings.moves_center:
            c = c + W @ (W.T @ (self.near.mean - c))
        return Subspace(W @ Y[:, ::-1], c), variances, left
