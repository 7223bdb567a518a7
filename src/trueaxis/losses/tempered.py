"""Losses that grow more slowly than the square beyond a threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from trueaxis._typing import Array


@dataclass(frozen=True, slots=True)
class Huber:
    r"""Quadratic up to a threshold, linear beyond: ρ(t) = t/2 for √t ≤ δ, δ√t − δ²/2 above.

    δ = `threshold` · `scale`. By name (``loss="huber"``) the scale is the median residual norm at
    a high-breakdown start; an object keeps the scale it is given.

    Parameters
    ----------
    threshold : float > 0
        δ in units of the scale.
    scale : float > 0
        Size of a typical residual norm.

    Examples
    --------
    >>> import numpy as np
    >>> value, weight = Huber(threshold=1.0).value_and_weight(np.array([0.25, 9.0]))
    >>> value.tolist(), weight.round(3).tolist()
    ([0.125, 2.5], [1.0, 0.333])
    """

    threshold: float = 1.5
    scale: float = 1.0
    entrywise: ClassVar[bool] = False

    @property
    def degree(self) -> float | None:
        """None: the threshold is a size."""
        return None

    def value_and_weight(self, t: Array) -> tuple[Array, Array]:
        """ρ(t) and d = 2ρ′(t) = min(1, δ/√t)."""
        delta = self.threshold * self.scale
        r = np.sqrt(t)
        inside = r <= delta
        value = np.where(inside, t / 2, delta * r - delta * delta / 2)
        return value, np.where(inside, 1.0, delta / np.maximum(r, delta))

    def smoothed(self, epsilon: float) -> Huber:
        """The loss itself: its weight is bounded."""
        return self

    def scaled(self, scale: float) -> Huber:
        """The loss for residual norms of another typical size."""
        return replace(self, scale=float(scale))


@dataclass(frozen=True, slots=True)
class Cauchy:
    r"""Logarithmic growth: ρ(t) = δ²/2 · log(1 + t/δ²), so that a far row hardly counts.

    Parameters
    ----------
    threshold : float > 0
        δ in units of the scale.
    scale : float > 0
        Size of a typical residual norm; see `Huber`.

    Examples
    --------
    >>> import numpy as np
    >>> value, weight = Cauchy(threshold=1.0).value_and_weight(np.array([0.0, 1.0]))
    >>> weight.tolist()
    [1.0, 0.5]
    """

    threshold: float = 2.0
    scale: float = 1.0
    entrywise: ClassVar[bool] = False

    @property
    def degree(self) -> float | None:
        """None: the threshold is a size."""
        return None

    def value_and_weight(self, t: Array) -> tuple[Array, Array]:
        """ρ(t) and d = 2ρ′(t) = 1 / (1 + t/δ²)."""
        square = (self.threshold * self.scale) ** 2
        return square / 2 * np.log1p(t / square), 1.0 / (1.0 + t / square)

    def smoothed(self, epsilon: float) -> Cauchy:
        """The loss itself: its weight is bounded."""
        return self

    def scaled(self, scale: float) -> Cauchy:
        """The loss for residual norms of another typical size."""
        return replace(self, scale=float(scale))
