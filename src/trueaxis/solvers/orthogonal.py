"""Orthogonal iteration, the proximal step with an unbounded step size. Ours, not the paper's."""

from __future__ import annotations

from dataclasses import dataclass

from trueaxis._linalg import polar
from trueaxis._moments import Moments
from trueaxis._subspace import Subspace
from trueaxis._typing import Float64Array
from trueaxis.solvers.base import Apply


@dataclass(frozen=True, slots=True)
class Orthogonal:
    """W ← orth(AW) = polar(AW): the limit t → ∞ of the proximal step.

    As monotone as that for a concave row loss, 3 to 6 times faster, and in no need of ‖A‖₂.
    """

    name: str = "orthogonal"

    def start(self, point: Subspace) -> None:
        """Nothing is carried from step to step."""

    def probe(self, point: Subspace, state: None) -> Float64Array:
        """W itself."""
        return point.basis

    def step(
        self,
        point: Subspace,
        probe: Float64Array,
        moments: Moments,
        state: None,
        apply: Apply,
    ) -> tuple[Float64Array, None]:
        """One orthogonal iteration with the weights of the point."""
        return polar(moments.product), None
