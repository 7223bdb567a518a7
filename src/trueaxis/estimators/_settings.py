"""The parameters of an estimator, checked."""

from __future__ import annotations

from dataclasses import dataclass

from trueaxis._typing import Float64Array
from trueaxis.losses import L1, L2p, Loss, ScaleMinimizer
from trueaxis.solvers import Callback, TrueL1


@dataclass(frozen=True)
class Settings:
    """The checked parameters of an estimator."""

    loss: Loss
    smoothing: float | None
    scaled_by_fit: bool
    solver: str
    center: str | Float64Array | None
    start: str | Float64Array
    n_starts: int | None
    check_breakdown: bool
    max_iter: int
    tol: float
    callback: Callback | None
    verbose: int

    def __post_init__(self) -> None:
        if self.solver == TrueL1.name and not isinstance(self.loss, L1):
            raise ValueError(
                f"solver={self.solver!r} minimizes the l1 objective and cannot minimize "
                f"loss={self.loss!r}; pass loss='l1', or solver='auto'."
            )

    @property
    def is_plain(self) -> bool:
        """Whether the loss is the square of the residual, and the fit plain PCA."""
        return isinstance(self.loss, L2p) and self.loss.p == 2.0

    @property
    def degree(self) -> float | None:
        """The power of the unit in the objective; None where a threshold is in units of its own."""
        degree = self.loss.degree
        return 2.0 if degree is None and self.scaled_by_fit else degree

    @property
    def moves_center(self) -> bool:
        """Whether the center is optimized along with the axes."""
        return isinstance(self.center, str) and self.center == "optimal"

    @property
    def is_smooth_sum(self) -> bool:
        """Whether J is a sum of ρ(t_i) with a fixed ρ that bends less than the square."""
        return not (self.loss.entrywise or self.is_plain or isinstance(self.loss, ScaleMinimizer))

    @property
    def has_many_minima(self) -> bool:
        """Whether the loss grows so slowly that J has minima far from one another."""
        slow = isinstance(self.loss, L2p) and self.loss.p < 1.0
        return slow or isinstance(self.loss, ScaleMinimizer)
