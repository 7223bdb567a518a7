"""Bounded losses, whose scale is part of what is minimized."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.optimize

from trueaxis._typing import Array


@dataclass(frozen=True, slots=True)
class Bisquare:
    r"""Tukey's bounded loss, ρ(t) = 1 − (1 − t/σ²)³ up to t = σ² and 1 beyond (Maronna 2005).

    What is minimized is the M-scale σ of the residual norms, the σ at which the mean of ρ is
    `breakdown`: less than that share of the rows, wherever they lie, cannot carry it away.

    Parameters
    ----------
    breakdown : float in (0, 0.5]
        Share of bad rows to withstand.
    scale : float > 0
        σ.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Bisquare()
    >>> t = np.array([1.0, 2.0, 3.0, 1e9])
    >>> sigma = loss.scale_of(t)
    >>> float(loss.scaled(sigma).value_and_weight(t)[0].mean().round(9))
    0.5
    """

    breakdown: float = 0.5
    scale: float = 1.0
    entrywise: ClassVar[bool] = False

    @property
    def degree(self) -> float | None:
        """1: what is minimized, σ, is a length."""
        return 1.0

    def value_and_weight(self, t: Array) -> tuple[Array, Array]:
        """ρ(t) and d = 2ρ′(t) = 6(1 − t/σ²)²/σ², 0 beyond σ."""
        square = self.scale * self.scale
        left = np.maximum(1.0 - t / square, 0.0)
        return 1.0 - left**3, 6.0 / square * left**2

    def smoothed(self, epsilon: float) -> Bisquare:
        """The loss itself: its weight is bounded."""
        return self

    def scaled(self, scale: float) -> Bisquare:
        """The loss at another σ."""
        return replace(self, scale=float(scale))

    def scale_of(self, t: Array, omega: Array | None = None) -> float:
        """The M-scale: σ with Σω_iρ(t_i/σ²) = breakdown · Σω_i; 0 where enough of t is 0."""
        return m_scale(t, omega, self.breakdown)

    def objective(self, t: Array, omega: Array | None = None) -> float:
        """What is minimized: σ."""
        return self.scale_of(t, omega)


@dataclass(frozen=True, slots=True)
class Trimmed:
    r"""Least squares of the best rows: Σ over the `support_fraction` of the rows with least t.

    Parameters
    ----------
    support_fraction : float in [0.5, 1]
        Share of the rows that count.
    scale : float > 0
        The residual norm of the last row that counts.

    Examples
    --------
    >>> import numpy as np
    >>> loss, t = Trimmed(support_fraction=0.5), np.array([1.0, 2.0, 3.0, 1e9])
    >>> loss.objective(t)
    3.0
    """

    support_fraction: float = 0.75
    scale: float = 1.0
    entrywise: ClassVar[bool] = False

    @property
    def degree(self) -> float | None:
        """2: what is minimized is a sum of squares."""
        return 2.0

    def value_and_weight(self, t: Array) -> tuple[Array, Array]:
        """ρ(t) = min(t, q²), and d = 2 for the rows that count, q = `scale`."""
        square = self.scale * self.scale
        return np.minimum(t, square), np.where(t <= square, 2.0, 0.0)

    def smoothed(self, epsilon: float) -> Trimmed:
        """The loss itself: its weight is bounded."""
        return self

    def scaled(self, scale: float) -> Trimmed:
        """The loss with another last row."""
        return replace(self, scale=float(scale))

    def scale_of(self, t: Array, omega: Array | None = None) -> float:
        """The residual norm of the last row that counts, a hair above it."""
        order = np.argsort(t, kind="stable")
        mass = np.arange(1.0, len(t) + 1) if omega is None else np.cumsum(omega[order])
        last = int(np.searchsorted(mass, self.support_fraction * mass[-1] * (1 - 1e-12)))
        return float(np.sqrt(t[order[last]])) * (1 + 1e-12)

    def objective(self, t: Array, omega: Array | None = None) -> float:
        """Σ ω_i t_i over the rows that count."""
        counted = t <= self.scale_of(t, omega) ** 2
        return float(np.sum(t[counted] if omega is None else (t * omega)[counted]))


def m_scale(t: Array, omega: Array | None, breakdown: float) -> float:
    """The σ at which the weighted mean of Tukey's ρ(t/σ²) is `breakdown`.

    The mean falls as σ rises; the root is bracketed and found in log σ².
    """
    weights = np.ones_like(t) if omega is None else omega
    total = float(weights.sum())
    if float(weights[t > 0].sum()) <= breakdown * total:
        return 0.0

    def excess(log_square: float) -> float:
        left = np.maximum(1.0 - t * np.exp(-log_square), 0.0)
        return float(weights @ (1.0 - left**3)) / total - breakdown

    largest = float(t.max())
    # Below this share of the largest a t is rounding, and the quotient would overflow.
    least = max(float(t[t > 0].min()), 1e-60 * largest, np.finfo(np.float64).tiny)
    low, high = np.log(least) - 1.0, np.log(largest) + np.log(3.0 / breakdown) + 1.0
    if excess(low) <= 0:
        return float(np.exp(low / 2))
    return float(np.exp(scipy.optimize.brentq(excess, low, high, xtol=1e-13, rtol=1e-13) / 2))
