"""What one sweep over the rows returns: sums that add up, whatever the blocks were."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueaxis._typing import Float64Array


@dataclass(frozen=True, slots=True)
class Moments:
    """Weighted sums about a center c, for a probe V (m×q).

    With y_i = x_i − c, weights ω_i of the rows and d_i of the loss:

    ============  =======================  =================================
    objective     J = Σ ω_i ρ(t_i)         what is being minimized
    mass          s = Σ ω_i d_i            the weight that the rows carry
    first         f = Σ ω_i d_i y_i        shape (m,)
    product       AV = Σ ω_i d_i y_i y_iᵀV  shape (m, q)
    gram          VᵀAV                     shape (q, q), from the scores V ᵀy_i
                                           themselves, so that small directions
                                           keep their digits
    leftover      Σ ω_i d_i t_i, t_i = ‖r_i‖²: what the subspace leaves of tr A
    ============  =======================  =================================

    Examples
    --------
    >>> import numpy as np
    >>> one = Moments(1.0, 1.0, np.ones(1), np.ones((1, 1)), np.ones((1, 1)), 1.0)
    >>> (one + one).mass
    2.0
    """

    objective: float
    mass: float
    first: Float64Array
    product: Float64Array
    gram: Float64Array
    leftover: float

    def __add__(self, other: Moments) -> Moments:
        """The moments of two sets of rows taken together."""
        product = self.product + other.product
        # For V = I the two are one matrix.
        gram = product if self.gram is self.product else self.gram + other.gram
        return Moments(
            self.objective + other.objective,
            self.mass + other.mass,
            self.first + other.first,
            product,
            gram,
            self.leftover + other.leftover,
        )

    @property
    def shift(self) -> Float64Array:
        """From c to the weighted mean of the rows: Σ ω_i d_i y_i / Σ ω_i d_i."""
        return self.first / self.mass if self.mass > 0 else np.zeros_like(self.first)

    def recenter(self, probe: Float64Array | None) -> Moments:
        """The same sums about the weighted mean c + δ, δ = ``shift``.

        A' = Σ ω_i d_i (y_i − δ)(y_i − δ)ᵀ = A − s δδᵀ. Objective and leftover stay those of the
        point where the sweep was made. `probe` is the V of the sweep, None for the identity.
        """
        delta = self.shift
        seen = delta if probe is None else probe.T @ delta
        pull = self.mass * np.outer(delta, seen)
        return Moments(
            self.objective,
            self.mass,
            np.zeros_like(self.first),
            self.product - pull,
            self.gram - self.mass * np.outer(seen, seen),
            self.leftover,
        )


@dataclass(frozen=True, slots=True)
class Spread:
    """How some rows lie about a subspace, each counted ω_i times.

    ========  ==================  =====================
    mass      Σ ω_i
    first     Σ ω_i y_i           shape (m,)
    gram      Σ ω_i z_i z_iᵀ      shape (k, k)
    leftover  Σ ω_i ‖r_i‖²
    ========  ==================  =====================
    """

    mass: float
    first: Float64Array
    gram: Float64Array
    leftover: float

    def __add__(self, other: Spread) -> Spread:
        """Those of two sets of rows taken together."""
        return Spread(
            self.mass + other.mass,
            self.first + other.first,
            self.gram + other.gram,
            self.leftover + other.leftover,
        )

    @property
    def shift(self) -> Float64Array:
        """From c to the mean of the rows, δ."""
        return self.first / self.mass if self.mass > 0 else np.zeros_like(self.first)

    def about_mean(self, W: Float64Array) -> Spread:
        """The same about c + δ: gram − s Wᵀδδᵀ W and leftover − s‖(I − WWᵀ)δ‖²."""
        within = W.T @ self.shift
        away = self.shift - W @ within
        return Spread(
            self.mass,
            np.zeros_like(self.first),
            self.gram - self.mass * np.outer(within, within),
            self.leftover - self.mass * float(away @ away),
        )


@dataclass(frozen=True, slots=True)
class Slopes:
    """Values and slopes of an entrywise loss at a point (W, c), smoothed at the size μ.

    =========  ===============================  ===================================
    smooth     Σ ω_i Σ_j √(r_ij² + μ²)          what slopes belong to
    objective  Σ ω_i Σ_j |r_ij|                 what is being minimized
    entries    Σ ω_i m                          how many |r_ij| there are
    basis      ∂smooth/∂W                       shape (m, k)
    center     ∂smooth/∂c                       shape (m,)
    =========  ===============================  ===================================
    """

    smooth: float
    objective: float
    entries: float
    basis: Float64Array
    center: Float64Array

    def __add__(self, other: Slopes) -> Slopes:
        """Those of two sets of rows taken together."""
        return Slopes(
            self.smooth + other.smooth,
            self.objective + other.objective,
            self.entries + other.entries,
            self.basis + other.basis,
            self.center + other.center,
        )
