"""The parameters of an estimator, checked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from trueaxis._typing import Float64Array
from trueaxis.estimators import _inputs, _missing
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
    missing: bool = False

    def __post_init__(self) -> None:
        if self.solver == TrueL1.name and not isinstance(self.loss, L1):
            raise ValueError(
                f"solver={self.solver!r} minimizes the l1 objective and cannot minimize "
                f"loss={self.loss!r}; pass loss='l1', or solver='auto'."
            )
        if self.missing and self.loss.entrywise:
            raise ValueError(
                f"missing='nan' needs a loss of residual norms, and loss={self.loss!r} is one of "
                "their entries; pass loss='l2p' or another of residual norms, or missing=None."
            )

    @classmethod
    def of(cls, estimator: Any, n_components: int | float | None, m: int) -> Settings:
        """The parameters of an estimator, for data of m columns."""
        _inputs.choice("solver", estimator.solver, _inputs.SOLVERS)
        smoothing = estimator.smoothing
        if isinstance(smoothing, str):
            _inputs.choice("smoothing", smoothing, ("auto",), otherwise=", or pass a number >= 0")
        if not isinstance(estimator.start, str) and not isinstance(n_components, int):
            raise ValueError(
                f"start is an array but n_components={estimator.n_components!r}; pass the number "
                "of rows of start as n_components."
            )
        if estimator.callback is not None and not callable(estimator.callback):
            raise ValueError(f"callback={estimator.callback!r} is not callable.")
        known = n_components if isinstance(n_components, int) else 0
        return cls(
            loss=_inputs.check_loss(
                estimator.loss, estimator.p, estimator.breakdown, estimator.support_fraction
            ),
            smoothing=None
            if isinstance(smoothing, str)
            else _inputs.real_in("smoothing", smoothing, 0.0, np.inf, "[0, inf)"),
            scaled_by_fit=isinstance(estimator.loss, str),
            solver=estimator.solver,
            center=_inputs.check_center(estimator.center, m),
            start=_inputs.check_start(estimator.start, known, m),
            n_starts=None
            if estimator.n_starts is None
            else _inputs.integer_at_least("n_starts", estimator.n_starts, 1),
            check_breakdown=bool(estimator.check_breakdown),
            max_iter=_inputs.integer_at_least("max_iter", estimator.max_iter, 1),
            tol=_inputs.real_in("tol", estimator.tol, 0.0, np.inf, "[0, inf)"),
            callback=estimator.callback,
            verbose=_inputs.integer_at_least(
                "verbose",
                int(estimator.verbose)
                if isinstance(estimator.verbose, bool)
                else estimator.verbose,
                0,
            ),
            missing=_missing.wants_gaps(estimator),
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

    @cached_property
    def has_own_scale(self) -> bool:
        """Whether the loss is bounded, with a scale that the residuals at hand determine."""
        return isinstance(self.loss, ScaleMinimizer)

    @property
    def is_smooth_sum(self) -> bool:
        """Whether J is a sum of ρ(t_i) with a fixed ρ that bends less than the square."""
        return not (self.loss.entrywise or self.is_plain or self.has_own_scale)

    @property
    def has_many_minima(self) -> bool:
        """Whether the loss grows so slowly that J has minima far from one another."""
        slow = isinstance(self.loss, L2p) and self.loss.p < 1.0
        return slow or self.has_own_scale
