"""What a loss is asked for."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from trueaxis._typing import Array


@runtime_checkable
class Loss(Protocol):
    """What a sweep asks of a loss.

    ``entrywise`` says what `value_and_weight` is given: the squared norms t = ‖r_i‖² of a block
    of rows, shape (n,), when False; the residuals themselves, shape (n, m), when True. It returns
    the value and the weight of each row, both of shape (n,).
    """

    entrywise: ClassVar[bool]

    @property
    def degree(self) -> float | None:
        """The power of c by which ρ grows when residuals grow by c; None where it has a scale."""
        ...

    def value_and_weight(self, r: Array) -> tuple[Array, Array]:
        """Value ρ and weight d = 2ρ′ of each row."""
        ...

    def smoothed(self, epsilon: float) -> Loss:
        """The same loss, rounded off below residuals of size `epsilon`."""
        ...


@runtime_checkable
class ScaledLoss(Loss, Protocol):
    """A loss with thresholds in units of a residual scale."""

    def scaled(self, scale: float) -> ScaledLoss:
        """The same loss at another scale."""
        ...


@runtime_checkable
class ScaleMinimizer(ScaledLoss, Protocol):
    """A bounded loss whose scale is set by the residuals at hand, and falls with them."""

    def scale_of(self, t: Array, omega: Array | None = None) -> float:
        """The scale that the squared residual norms `t` determine."""
        ...

    def objective(self, t: Array, omega: Array | None = None) -> float:
        """What is minimized."""
        ...
