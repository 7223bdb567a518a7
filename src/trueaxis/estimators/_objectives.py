"""What a solver evaluates: a loss over a source, with whatever of the loss depends on the point."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from trueaxis._moments import Moments
from trueaxis._subspace import Subspace
from trueaxis._sweep import Closing, ClosingSweep, Keep, KeptSweep, Look, Sweep, row_squares
from trueaxis._typing import Float64Array
from trueaxis.losses import L1, L2p, Loss, ScaleMinimizer
from trueaxis.sources import Source

# The largest weight that smoothing leaves a row, beside a typical one: beyond it the scatter
# matrix is dominated by the rounding of the few rows that the subspace passes through.
_LARGEST_WEIGHT = 1e7
# Where more rows than an axis each could explain are nearer than this share of the median residual,
# they lie in the subspace exactly, and shall outweigh all others.
_EXACT = 1e-3
_LARGEST_WEIGHT_EXACT = 1e11
_NOTHING = 1e-12  # of the rows' size: a residual that may be rounding
_NEARLY = 0.03  # and nearer than this they may be about to


class Objective(Protocol):
    """(point, probe) → moments, with the loss that belongs to the point."""

    def __call__(self, point: Subspace, probe: Float64Array | None) -> Moments:
        """One evaluation."""
        ...

    def loss_at(self, point: Subspace) -> Loss:
        """The loss that the evaluation at this point uses."""
        ...

    @property
    def bare(self) -> Loss:
        """The loss without smoothing."""
        ...

    def is_settled(self) -> bool:
        """Whether the objective will change no more from point to point."""
        ...

    def exact(self, closing: Closing) -> float | None:
        """The objective without smoothing at the point last asked for; None where t cannot tell."""
        ...


class NotFiniteError(ArithmeticError):
    """A sum over the rows is no number: the rows hold NaN, infinity, or numbers too large."""


def finite(moments: Moments) -> Moments:
    """The moments, if they are numbers."""
    if not np.isfinite(moments.objective + moments.leftover):
        raise NotFiniteError
    return moments


def close(
    source: Source,
    point: Subspace,
    loss: Loss,
    bare: Loss,
    keep: Keep,
) -> Closing:
    """One last sweep at a point: the weights of all rows, and how those that agree lie."""
    sweep = Sweep.at(point, point.basis, loss, source.dtype)
    return source.reduce(ClosingSweep(sweep, keep, bare, each=source.has_rows))


@dataclass
class FixedObjective:
    """One loss, the same at every point; `bare` is it without smoothing."""

    source: Source
    loss: Loss
    bare: Loss
    omega: Float64Array | None

    def __call__(self, point: Subspace, probe: Float64Array | None) -> Moments:
        sweep = Sweep.at(point, probe, self.loss_at(point), self.source.dtype)
        return finite(self.source.reduce(sweep))

    def loss_at(self, point: Subspace) -> Loss:
        """The loss."""
        return self.loss

    def is_settled(self) -> bool:
        """Always: there is but one."""
        return True

    def exact(self, closing: Closing) -> float | None:
        """Σ ω_i ρ(t_i) of the bare loss."""
        return None if self.bare.entrywise else closing.bare


@dataclass
class AnnealedObjective(FixedObjective):
    """The ℓ2,p loss with an ε that shrinks as the fit settles, so that J_ε falls all the way.

    ε starts at a share of the median residual norm, and shrinks with every point down to the one
    at which the largest weight is 1e7 times a typical row's, or 1e11 where more rows than the axes
    could explain lie in the subspace exactly.
    """

    loss: L2p
    distinct: Float64Array
    scale: float
    _point: Subspace | None = field(default=None, repr=False)
    _epsilon: float = field(default=np.inf, repr=False)
    _least: float = field(default=0.0, repr=False)

    def loss_at(self, point: Subspace) -> Loss:
        """The loss with the ε of this point."""
        if point is not self._point:
            self._point, self._epsilon = point, self._next(point)
        return self.loss.smoothed(self._epsilon)

    def resume(self, other: Objective) -> None:
        """Go on from the ε that the same loss came to on other rows."""
        if isinstance(other, AnnealedObjective):
            self._epsilon = other._epsilon

    def settled(self, point: Subspace) -> Loss | None:
        """The loss that ε ends at near `point`; None where rows are all but in the subspace."""
        median, low = self._sizes(point)
        nearly = max(_NEARLY * median, _NOTHING * self.scale)
        return None if low < nearly else self.loss.smoothed(self._floor(median, low))

    def is_settled(self) -> bool:
        """Whether ε has ended; above p = 1 the last of it changes little."""
        return self.loss.p >= 1.0 or self._epsilon <= self._least

    def _next(self, point: Subspace) -> float:
        if self.loss.p >= 2.0:
            return 0.0
        median, low = self._sizes(point)
        share, shrink = (1.0, 0.5) if self.loss.p < 1.0 else (0.1, 0.1)
        # The floor moves with the median residual: where it rises, neither ε nor J_ε shall.
        self._least = self._floor(median, low)
        wanted = max(self._least, min(self._epsilon * shrink, share * median))
        return min(self._epsilon, wanted)

    def _sizes(self, point: Subspace) -> tuple[float, float]:
        """The median residual norm, and the first that no choice of axes brings to 0."""
        R = point.residuals(self.distinct)
        t = np.sort(np.einsum("ij,ij->i", R, R))
        more = 2 * (point.n_components + 1)
        return math.sqrt(t[len(t) // 2]), math.sqrt(t[min(more, len(t) - 1)])

    def _floor(self, median: float, low: float) -> float:
        largest = _LARGEST_WEIGHT_EXACT if low < _EXACT * median else _LARGEST_WEIGHT
        # Few rows may have half of them in the subspace, as any k + 1 rows can be.
        return max(smoothing_share(self.loss, largest) * max(median, low), 1e-15 * self.scale)


@dataclass
class ScaledObjective:
    """A bounded loss whose scale is that of the residuals at the point: a pass more each."""

    source: Source
    loss: ScaleMinimizer
    omega: Float64Array | None
    floor: float
    _point: Subspace | None = field(default=None, repr=False)
    _scaled: Loss | None = field(default=None, repr=False)
    _value: float = field(default=np.inf, repr=False)

    def __call__(self, point: Subspace, probe: Float64Array | None) -> Moments:
        sweep = Sweep.at(point, probe, self.loss_at(point), self.source.dtype)
        return replace(self.source.reduce(sweep), objective=self._value)

    def loss_at(self, point: Subspace) -> Loss:
        """The loss at the scale of the residuals that the point leaves."""
        if self._scaled is None or point is not self._point:
            t = np.asarray(self.source.collect(row_squares(point, self.source.dtype)))
            scale = max(self.loss.scale_of(t, self.omega), self.floor)
            self._point, self._scaled = point, self.loss.scaled(scale)
            self._value = self.loss.objective(t, self.omega)
        return self._scaled

    @property
    def bare(self) -> Loss:
        """The loss, which has nothing to smooth."""
        return self.loss

    def is_settled(self) -> bool:
        """Always: the scale is that of the point."""
        return True

    def exact(self, closing: Closing) -> float | None:
        """What the loss minimizes."""
        return self._value


@dataclass(frozen=True)
class KeptObjective:
    """Plain least squares of those rows that `keep` is true for as they lie about a point."""

    source: Source
    about: Subspace
    keep: Keep

    def __call__(self, point: Subspace, probe: Float64Array | None) -> Moments:
        """One evaluation."""
        squares, dtype = L2p(2.0), self.source.dtype
        sweep = Sweep.at(point, probe, squares, dtype)
        return self.source.reduce(KeptSweep(Look(self.about, squares, dtype), self.keep, sweep))


def smoothing_share(loss: Loss, largest: float = _LARGEST_WEIGHT) -> float:
    """ε as a share of a typical residual: where the weight is `largest` times a typical row's."""
    power = loss.p if isinstance(loss, L2p) else 1.0
    return float(largest ** (-1.0 / (2.0 - min(power, 1.0)))) if power < 2.0 else 0.0


def make_objective(
    source: Source,
    loss: Loss,
    omega: Float64Array | None,
    smoothing: float | None,
    distinct: Float64Array,
    scale: float,
) -> Objective:
    """The objective for a loss; `smoothing` is None for the one chosen by the fit itself.

    `distinct` are rows of a sample of which none repeats another, and `scale` their size.
    """
    if isinstance(loss, ScaleMinimizer):
        return ScaledObjective(source, loss, omega, floor=1e-12 * scale)
    own = isinstance(loss, L2p | L1) and loss.epsilon > 0.0
    if isinstance(loss, L2p) and loss.p < 2.0 and smoothing is None and not own:
        return AnnealedObjective(source, loss, loss, omega, distinct, scale)
    smoothed = loss
    if isinstance(loss, L2p | L1) and not own:
        share = smoothing_share(loss) if smoothing is None else smoothing
        smoothed = loss.smoothed(share * scale)
    return FixedObjective(source, smoothed, loss, omega)
