"""What the second part of a decomposition costs: sums over entries, or over whole rows.

A penalty g is a norm that is a sum over rows, so each function takes any block of rows. Its dual
norm bounds the multiplier: ‖S‖₁ ↔ max |Y_ij|, and Σᵢ‖S_i‖₂ ↔ max ‖Y_i‖₂.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from trueaxis._typing import Array, Float64Array


class Penalty(Protocol):
    """A norm g, by its value, its dual ball and its subgradient."""

    def value(self, S: Array) -> float:
        """g(S)."""
        ...

    def dual_norm(self, Y: Array) -> float:
        """max ⟨Y, S⟩ over g(S) ≤ 1."""
        ...

    def project(self, B: Float64Array, level: float) -> Float64Array:
        """The matrix nearest to B of dual norm at most `level`. B less it is the prox."""
        ...

    def magnitude(self, S: Array) -> Float64Array:
        """The size that g gives to each entry: an array of the shape of S."""
        ...

    def subgradient(self, S: Array) -> Float64Array:
        """∂g(S)/∂S on the support, 0 elsewhere."""
        ...


class Entrywise:
    """g(S) = Σ |S_ij|."""

    def value(self, S: Array) -> float:
        """g(S)."""
        return float(np.abs(S).sum())

    def dual_norm(self, Y: Array) -> float:
        """max |Y_ij|."""
        return float(max(Y.max(initial=0.0), -Y.min(initial=0.0)))

    def project(self, B: Float64Array, level: float) -> Float64Array:
        """B with its entries clipped to [−level, level]."""
        return np.clip(B, -level, level)

    def magnitude(self, S: Array) -> Float64Array:
        """|S_ij|."""
        return np.abs(S)

    def subgradient(self, S: Array) -> Float64Array:
        """sign(S)."""
        return np.sign(S)


class Rowwise:
    """g(S) = Σ ‖S_i‖₂ over rows."""

    def value(self, S: Array) -> float:
        """g(S)."""
        return float(np.linalg.norm(S, axis=1).sum())

    def dual_norm(self, Y: Array) -> float:
        """max ‖Y_i‖₂."""
        return float(np.linalg.norm(Y, axis=1).max(initial=0.0))

    def project(self, B: Float64Array, level: float) -> Float64Array:
        """B with rows longer than `level` shortened to it."""
        norms = np.linalg.norm(B, axis=1, keepdims=True)
        return np.asarray(B * (level / np.maximum(norms, level)))

    def magnitude(self, S: Array) -> Float64Array:
        """‖S_i‖₂, for each entry of the row."""
        return np.repeat(np.linalg.norm(S, axis=1, keepdims=True), S.shape[1], axis=1)

    def subgradient(self, S: Array) -> Float64Array:
        """S_i / ‖S_i‖₂."""
        norms = np.linalg.norm(S, axis=1, keepdims=True)
        return np.asarray(S / np.where(norms > 0, norms, 1.0))
