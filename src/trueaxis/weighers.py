"""The losses, for many starts at once: weights while they are refined, values to compare them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from trueaxis._typing import Float64Array
from trueaxis.starts import weighted_median

_TINY = np.finfo(np.float64).tiny
_SHRINK = 0.6  # of the rounding-off from step to step
_ROUGHLY, _EXACTLY = 2, 40  # Newton's steps at most: while starts are refined, to compare them
_LONGEST = 2.0  # step in log σ²
_SETTLED = 1e-10


@dataclass(frozen=True)
class PowerWeigher:
    """Σ ω_i‖r_i‖^p, rounded off less from step to step: d = (t + ε²)^{p/2 − 1}.

    ε begins at the median residual norm, so that no start is drawn at once through the few rows
    that it happened to be made of.
    """

    p: float
    omega: Float64Array | None = None

    def weights(self, T: Float64Array, step: int) -> Float64Array:
        """The weights of the smoothed loss."""
        # A start may pass through half of the rows, where they repeat one another.
        typical = np.maximum(weighted_median(T, self.omega), 1e-6 * T.max(axis=0)) + _TINY
        return np.asarray((T + typical * _SHRINK ** (2 * step)) ** (self.p / 2 - 1))

    def values(self, T: Float64Array) -> Float64Array:
        """Σ ω_i t_i^{p/2}."""
        values = T ** (self.p / 2)
        return np.asarray(values.sum(axis=0) if self.omega is None else self.omega @ values)


@dataclass
class BisquareWeigher:
    """The M-scale of the residual norms under Tukey's loss, and its weights (1 − t/σ²)²."""

    breakdown: float
    omega: Float64Array | None = None
    _squares: Float64Array | None = field(default=None, repr=False)

    def weights(self, T: Float64Array, step: int) -> Float64Array:
        """The weights at each start's own M-scale."""
        self._squares = self._scales(T, self._squares, rounds=_ROUGHLY)
        return np.asarray(np.maximum(1.0 - T / self._squares, 0.0) ** 2)

    def values(self, T: Float64Array) -> Float64Array:
        """The M-scale σ of each start."""
        return np.asarray(np.sqrt(self._scales(T, None, rounds=_EXACTLY)))

    def _scales(self, T: Float64Array, guess: Float64Array | None, rounds: int) -> Float64Array:
        """σ² with mean ρ(t/σ²) = breakdown, by Newton's steps in log σ².

        With u = t/σ² and w = max(1 − u, 0) that mean is of 1 − w³, and falls by the mean of 3w²u
        as log σ² rises by one.
        """
        squares = weighted_median(T, self.omega) * 3.0 if guess is None else guess
        floor = 1e-24 * T.max(axis=0) + _TINY
        squares = np.asarray(np.maximum(squares, floor))
        omega = np.ones(len(T)) if self.omega is None else self.omega
        share = omega / omega.sum()
        for _ in range(rounds):
            w = np.maximum(1.0 - T / squares, 0.0)
            w2 = w * w
            w3 = share @ (w2 * w)
            slope = 3.0 * (share @ w2 - w3)
            step = (1.0 - w3 - self.breakdown) / np.maximum(slope, _TINY)
            step = np.clip(step, -_LONGEST, _LONGEST)
            squares = np.asarray(np.maximum(squares * np.exp(step), floor))
            if np.abs(step).max() < _SETTLED:
                break
        return squares


@dataclass(frozen=True)
class TrimmedWeigher:
    """Least squares of the best rows: d is 1 for the share of rows with least t."""

    support_fraction: float
    omega: Float64Array | None = None

    def weights(self, T: Float64Array, step: int) -> Float64Array:
        """1 for the rows that count."""
        order = np.argsort(T, axis=0, kind="stable")
        mass = np.cumsum(np.ones_like(T) if self.omega is None else self.omega[order], axis=0)
        last = np.argmax(mass >= self.support_fraction * mass[-1] * (1 - 1e-12), axis=0)
        ordered = np.take_along_axis(T, order, axis=0)
        reach = np.take_along_axis(ordered, last[None], axis=0)
        return np.asarray(reach >= T, dtype=np.float64)

    def values(self, T: Float64Array) -> Float64Array:
        """Σ t_i over the rows that count."""
        counted = T * self.weights(T, 0)
        return np.asarray(counted.sum(axis=0) if self.omega is None else self.omega @ counted)
