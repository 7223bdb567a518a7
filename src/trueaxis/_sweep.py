"""The mathematics of one sweep, written once, on one block of rows.

A source of data calls these kernels on its blocks and merges what they return; nothing here
knows where the rows live, and nothing there what is being minimized.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from trueaxis import _products
from trueaxis._moments import Moments, Spread
from trueaxis._products import Projection, squared_norms
from trueaxis._subspace import Subspace
from trueaxis._typing import Array, Float64Array
from trueaxis.losses import L2p, Loss

# ‖b‖² − ‖z‖² carries a relative error of about eps·‖b‖²/t. Where t is below these shares of
# ‖b‖² the residual is formed explicitly: beyond them the difference has 11 (4) digits.
_CANCELLATION = {np.dtype(np.float64): 1e-4, np.dtype(np.float32): 3e-2}


@dataclass(frozen=True, slots=True)
class Terms:
    """What one block of rows shows at a point, before any sum is made."""

    rows: Projection
    t: Float64Array
    value: Float64Array
    weight: Float64Array


@dataclass(frozen=True)
class Look:
    """b_i = x_i − c, z_i = Pᵀb_i, ρ(t_i) and d_i of a block, at the point (W, c).

    P = [W, V] holds the basis and the further columns `extra` that the rows are to be multiplied
    with.
    """

    point: Subspace
    loss: Loss
    dtype: np.dtype
    extra: Float64Array | None = None
    _columns: Array = field(init=False, repr=False)
    _center: _products.Center = field(init=False, repr=False)

    def __post_init__(self) -> None:
        W = self.point.basis
        P = W if self.extra is None else np.hstack([W, self.extra])
        object.__setattr__(self, "_columns", _products.padded_columns(P, self.dtype))
        object.__setattr__(self, "_center", _products.split_center(self.point.center, self.dtype))

    def __call__(self, block: Array) -> Terms:
        k = self.point.n_components
        rows = _products.project(block, self._center, self._columns, k)
        Z, W = rows.Z[:, :k], self._columns[:, :k]
        if self.loss.entrywise:
            R = rows.deviations() - Z @ W.T
            return Terms(rows, squared_norms(R), *self.loss.value_and_weight(R))
        # t_i = ‖b_i‖² − ‖z_i‖², and ‖b_i − W z_i‖² where that difference has lost its digits.
        t = rows.squares - rows.inside
        lost = np.flatnonzero(t < _CANCELLATION[self.dtype] * rows.squares)
        if lost.size:
            t[lost] = squared_norms(rows.deviations()[lost] - Z[lost] @ W.T)
        return Terms(rows, t, *self.loss.value_and_weight(t))


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

    def __call__(self, block: Array, omega: Float64Array | None) -> Moments:
        """Moments of the rows of `block`, which carry the sample weights `omega`."""
        # A sum that is no number tells of rows that are none; nobody needs a warning besides.
        with np.errstate(invalid="ignore", over="ignore"):
            return self.moments(self.look(block), omega)

    def moments(self, terms: Terms, omega: Float64Array | None) -> Moments:
        """The sums over a block whose terms are known; its deviations are overwritten."""
        value, d = terms.value, terms.weight
        if omega is not None:
            value, d = value * omega, d * omega
        k = self.look.point.n_components
        objective, mass = float(np.sum(value)), float(np.sum(d))
        leftover = float(d @ terms.t)
        if self.probe is None:
            _, first, _ = _products.accumulate(terms.rows, 0, 0, d)
            A = _products.accumulate_gram(terms.rows, d)
            return Moments(objective, mass, first, A, A, leftover)
        start, q = k - self.shared, self.probe.shape[1]
        product, first, gram = _products.accumulate(terms.rows, start, q, d)
        return Moments(objective, mass, first, product, gram, leftover)


@dataclass(frozen=True, slots=True)
class Closing:
    """What a last sweep tells besides: how the rows that are kept lie, and a line for every row.

    The lines, one array a block, are t_i, d_i and 1.0 where the row is kept, 0.0 where not.
    """

    moments: Moments
    kept: Spread
    blocks: tuple[Array, ...]

    def __add__(self, other: Closing) -> Closing:
        """The two sets of rows, one after the other."""
        return Closing(
            self.moments + other.moments, self.kept + other.kept, self.blocks + other.blocks
        )

    @property
    def rows(self) -> Array:
        """The lines of all rows."""
        return np.concatenate(self.blocks)


@dataclass(frozen=True)
class ClosingSweep:
    """A `Sweep` that looks at the rows, too, for which ``keep(t_i, z_i)`` is true.

    `keep` sees the squared residual norms and the scores of a block.
    """

    sweep: Sweep
    keep: Callable[[Float64Array, Array], Array]

    def __call__(self, block: Array, omega: Float64Array | None) -> Closing:
        with np.errstate(invalid="ignore", over="ignore"):
            terms = self.sweep.look(block)
            Z = terms.rows.Z[:, : self.sweep.look.point.n_components]
            kept = self.keep(terms.t, Z).astype(np.float64)
            lines = np.column_stack([terms.t, terms.weight, kept])
            count = kept if omega is None else kept * omega
            _, first, _ = _products.accumulate(terms.rows, 0, 0, count)
            gram = ((Z.T * count) @ Z).astype(np.float64, copy=False)
            spread = Spread(float(count.sum()), first, gram, float(count @ terms.t))
            return Closing(self.sweep.moments(terms, omega), spread, (lines,))


def row_terms(point: Subspace, dtype: np.dtype) -> Callable[[Array], Array]:
    """A kernel that yields, for each row of a block, t_i in the first column and z_i after it."""
    look = Look(point, L2p(2.0), dtype)

    def rows(block: Array) -> Array:
        terms = look(block)
        return np.column_stack([terms.t, terms.rows.Z[:, : point.n_components]])

    return rows
