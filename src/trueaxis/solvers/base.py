"""What a solver is: a pure step from one point to the next, told only what a sweep returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from trueaxis._moments import Moments
from trueaxis._subspace import Subspace
from trueaxis._typing import Float64Array

Evaluate: TypeAlias = Callable[[Subspace, Float64Array | None], Moments]
"""(point, probe V) → the moments at the point; V = None asks for A itself (V = I)."""

Apply: TypeAlias = Callable[[Float64Array], Float64Array]
"""V → AV at the point where the last sweep was made."""


class Solver(Protocol):
    """One algorithm. `state` is whatever it carries from step to step; it is never shared."""

    name: str

    def start(self, point: Subspace) -> Any:
        """The state before the first step."""
        ...

    def probe(self, point: Subspace, state: Any) -> Float64Array | None:
        """The V that the sweep at `point` shall multiply A with; None for A itself."""
        ...

    def step(
        self,
        point: Subspace,
        probe: Float64Array | None,
        moments: Moments,
        state: Any,
        apply: Apply,
    ) -> tuple[Float64Array, Any]:
        """The next basis W and state.

        `moments` are those of the sweep at `point` for the `probe` asked for, about the center
        that the next point will have; `apply` costs one more sweep a call.
        """
        ...
