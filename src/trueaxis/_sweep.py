"""The mathematics of one sweep, written once, on one block of rows.

A source of data calls these kernels on its blocks and merges what they return; nothing here
knows where the rows live, and nothing there what is being minimized.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from trueaxis import _products
from trueaxis._moments import Moments, Spread
from trueaxis._products import Block, Projection, accumulate_twice, squared_norms
from trueaxis._subspace import Subspace
from trueaxis._typing import Array, Float64Array
from trueaxis.losses import L2p, Loss

# ‖b‖² − ‖z‖² carries a relative error of about eps·‖b‖²/t. Where t is below these shares of
# ‖b‖² the residual is formed explicitly: beyond them the difference has 11 (4) digits.
_CANCELLATION = {np.dtype(np.float64): 1e-4, np.dtype(np.float32): 3e-2}
_PIECE = 1 << 20  # entries of residuals that are formed at once


def pieces(n: int, m: int) -> Iterator[slice]:
    """Parts of n rows of m columns that are small enough to be formed."""
    step = max(1, _PIECE // max(1, m))
    return (slice(i, min(i + step, n)) for i in range(0, n, step))


@dataclass(frozen=True, slots=True)
class Terms:
    """What one block of rows shows at a point, before any sum is made."""

    rows: Projection
    t: Float64Array
    value: Float64Array
    weight: Float64Array

    def totals(self, omega: Float64Array | None) -> tuple[float, float, float, Float64Array]:
        """Σ ω_i ρ(t_i), Σ ω_i d_i, Σ ω_i d_i t_i, and the ω_i d_i."""
        value, d = self.value, self.weight
        if omega is not None:
            value, d = value * omega, d * omega
        return float(np.sum(value)), float(np.sum(d)), float(d @ self.t), d


@dataclass(frozen=True)
class Look:
    """b_i = x_i − c, z_i = Pᵀb_i, ρ(t_i) and d_i of a block, at the point (W, c).

    P = [W, V] holds the basis and the further columns `extra` that the rows are to be multiplied
    with. Where t_i is below the share `lost` of ‖b_i‖² its residual is formed; None is the share
    that leaves the sums of a sweep their digits.
    """

    point: Subspace
    loss: Loss
    dtype: np.dtype
    extra: Float64Array | None = None
    lost: float | None = None
    _columns: Array = field(init=False, repr=False)
    _center: _products.Center = field(init=False, repr=False)

    def __post_init__(self) -> None:
        W = self.point.basis
        P = W if self.extra is None else np.hstack([W, self.extra])
        object.__setattr__(self, "_columns", _products.padded_columns(P, self.dtype))
        object.__setattr__(self, "_center", _products.split_center(self.point.center, self.dtype))

    def __call__(self, block: Block) -> Terms:
        rows = _products.project(block, self._center, self._columns, self.point.n_components)
        # t_i = ‖b_i‖² − ‖z_i‖², and ‖b_i − W z_i‖² where that difference has lost its digits.
        t = rows.squares - rows.inside
        if self.loss.entrywise:
            terms = [
                (squared_norms(R), *self.loss.value_and_weight(R))
                for _, R in self._residuals(rows, None)
            ]
            return Terms(rows, *(np.concatenate(column) for column in zip(*terms, strict=True)))
        share = _CANCELLATION[self.dtype] if self.lost is None else self.lost
        lost = np.flatnonzero(t < share * rows.squares)
        if lost.size:
            for some, R in self._residuals(rows, lost):
                t[some] = squared_norms(R)
        return Terms(rows, t, *self.loss.value_and_weight(t))

    def _residuals(
        self, rows: Projection, which: Array | None
    ) -> Iterator[tuple[Array | slice, Array]]:
        """r_i = b_i − W z_i of all rows or of those with these numbers, a few at a time."""
        k = self.point.n_components
        for piece in pieces(len(rows.Z) if which is None else len(which), len(self._columns)):
            some = piece if which is None else which[piece]
            yield some, rows.deviations(some) - rows.Z[some, :k] @ self._columns[:, :k].T


@dataclass(frozen=True)
class Sweep:
    """One evaluation: a block of rows in, its `Moments` about c out.

    At the point (W, c), and for a probe V of shape (m, q), or None for V = I:

        r_i = (I − WWᵀ)(x_i − c),  t_i = ‖r_i‖²,  d_i = weight of the loss,
        J = Σ ω_i ρ(t_i),  AV = Σ ω_i d_i (x_i − c)(x_i − c)ᵀV.

    4nmk operations where V begins with the columns of W, 2nmk + 4nmq where it does not, and
    no array of the size of X.
    """

    look: Look
    probe: Float64Array | None
    shared: int

    @classmethod
    def at(cls, point: Subspace, probe: Float64Array | None, loss: Loss, dtype: np.dtype) -> Sweep:
        """The sweep at `point`; columns of W that the probe begins with are multiplied once."""
        W = point.basis
        if probe is None:
            return cls(Look(point, loss, dtype), None, 0)
        k = point.n_components
        shared = k if probe.shape[1] >= k and np.array_equal(probe[:, :k], W) else 0
        extra = probe[:, shared:]
        return cls(Look(point, loss, dtype, extra if extra.shape[1] else None), probe, shared)

    def __call__(self, block: Block, omega: Float64Array | None) -> Moments:
        """Moments of the rows of `block`, which carry the sample weights `omega`."""
        # A sum that is no number tells of rows that are none; nobody needs a warning besides.
        with np.errstate(invalid="ignore", over="ignore"):
            return self.moments(self.look(block), omega)

    def moments(self, terms: Terms, omega: Float64Array | None) -> Moments:
        """The sums over a block whose terms are known; its deviations are overwritten."""
        objective, mass, leftover, d = terms.totals(omega)
        k = self.look.point.n_components
        if self.probe is None:
            _, first, _ = terms.rows.accumulate(0, 0, d)
            A = terms.rows.gram(d)
            return Moments(objective, mass, first, A, A, leftover)
        start, q = k - self.shared, self.probe.shape[1]
        product, first, gram = terms.rows.accumulate(start, q, d)
        return Moments(objective, mass, first, product, gram, leftover)


@dataclass(frozen=True, slots=True)
class Closing:
    """What a last sweep tells besides its moments.

    ========  ================================================
    kept      how the rows that are kept lie
    farthest  max t_i
    bare      Σ ω_i ρ(t_i) of the loss without smoothing
    weights   d_i of every row, a block each; none where they
              are not asked for
    ========  ================================================
    """

    moments: Moments
    kept: Spread
    farthest: float
    bare: float
    weights: tuple[Float64Array, ...]

    def __add__(self, other: Closing) -> Closing:
        """The two sets of rows, one after the other."""
        return Closing(
            self.moments + other.moments,
            self.kept + other.kept,
            max(self.farthest, other.farthest),
            self.bare + other.bare,
            self.weights + other.weights,
        )


Keep: TypeAlias = Callable[[Float64Array, Array], Array]
"""(t_i, z_i) of a block → whether each row is kept, as bool or as 0.0 and 1.0."""


@dataclass(frozen=True)
class ClosingSweep:
    """A `Sweep` that looks besides at the rows for which ``keep`` is true.

    Its probe is W. `bare` is the loss without smoothing; `each` asks for the weight of every row.
    """

    sweep: Sweep
    keep: Keep
    bare: Loss
    each: bool

    def __call__(self, block: Block, omega: Float64Array | None) -> Closing:
        with np.errstate(invalid="ignore", over="ignore"):
            terms = self.sweep.look(block)
            k = self.sweep.look.point.n_components
            t, Z = terms.t, terms.rows.Z[:, :k]
            kept = self.keep(t, Z)
            count = kept.astype(np.float64, copy=False)
            count = count if omega is None else count * omega
            objective, mass, leftover, d = terms.totals(omega)
            product, first, gram, mean, near = accumulate_twice(terms.rows, 0, k, d, count)
            moments = Moments(objective, mass, first, product, gram, leftover)
            spread = Spread(float(count.sum()), mean, near, float(count @ t))
            bare = np.nan
            if not self.bare.entrywise:
                value, _ = self.bare.value_and_weight(t)
                bare = float(value.sum() if omega is None else omega @ value)
        weights = (terms.weight,) if self.each else ()
        return Closing(moments, spread, float(t.max(initial=0.0)), bare, weights)


@dataclass(frozen=True)
class KeptSweep:
    """A `Sweep` over those rows alone that ``keep`` is true for as they lie about another point."""

    look: Look
    keep: Keep
    sweep: Sweep

    def __call__(self, block: Block, omega: Float64Array | None) -> Moments:
        """Moments of the rows that are kept."""
        terms = self.look(block)
        Z = terms.rows.Z[:, : self.look.point.n_components]
        kept = self.keep(terms.t, Z).astype(np.float64, copy=False)
        return self.sweep(block, kept if omega is None else kept * omega)


def row_terms(point: Subspace, dtype: np.dtype) -> Callable[[Block], Array]:
    """A kernel that yields, for each row of a block, t_i in the first column and z_i after it."""
    look = Look(point, L2p(2.0), dtype)

    def rows(block: Block) -> Array:
        with np.errstate(invalid="ignore", over="ignore"):
            terms = look(block)
        return np.column_stack([terms.t, terms.rows.Z[:, : point.n_components]])

    return rows


def row_squares(point: Subspace, dtype: np.dtype) -> Callable[[Block], Float64Array]:
    """A kernel that yields t_i for each row of a block."""
    look = Look(point, L2p(2.0), dtype)
    return lambda block: look(block).t
