"""What a solver is: a pure step from one point to the next, told only what a sweep returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, TypeVar

from trueaxis._moments import Moments
from trueaxis._subspace import Subspace
from trueaxis._typing import Float64Array

Evaluate: TypeAlias = Callable[[Subspace, Float64Array | None], Moments]
"""(point, probe V) → the moments at the point; V = None asks for A itself (V = I)."""

Apply: TypeAlias = Callable[[Float64Array], Float64Array]
"""V → AV at the point where the last sweep was made."""


V = TypeVar("V")
S = TypeVar("S")


class Solver(Protocol[V, S]):
    """One algorithm, with probes of type V and a state S that it carries from step to step."""

    @property
    def name(self) -> str:
        """What the user calls it."""
        ...

    def start(self, point: Subspace) -> S:
        """The state before the first step."""
        ...

    def probe(self, point: Subspace, state: S) -> V:
        """The V that the sweep at `point` shall multiply A with; None for A itself."""
        ...

    def step(
        self,
        point: Subspace,
        probe: V,
        moments: Moments,
        state: S,
        apply: Apply,
    ) -> tuple[Float64Array, S]:
        """The next basis W and state.

        `moments` are those of the sweep at `point` for the `probe` asked for, about the center
        that the next point will have; `apply` costs one more sweep a call.
        """
        ...
