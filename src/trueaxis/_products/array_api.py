"""The products of a sweep with a block of rows on a device, made there by its own library.

Numbers a row and sums leave the device; rows do only where a residual is formed for its entries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trueaxis._device import DeviceBlock, floats, like, to_host
from trueaxis._products.base import Center, dense_rows, project
from trueaxis._typing import Array, Float64Array

_EVERY = slice(None)
_ROWS = 1 << 8  # rows whose float32 products are added up in that precision


@dataclass(slots=True)
class DeviceProjection:
    """The `Projection` of a block on a device; B and Z stay there, Z is fetched when asked for."""

    xp: Any
    dtype: np.dtype
    B: Any
    scores: Any
    squares: Float64Array
    inside: Float64Array
    _Z: Array | None = field(default=None, init=False, repr=False)

    @property
    def Z(self) -> Array:
        """BP."""
        if self._Z is None:
            self._Z = to_host(self.scores)
        return self._Z

    def deviations(self, rows: slice | Array = _EVERY) -> Array:
        """B, or some rows of it, on the host."""
        if isinstance(rows, slice):
            return to_host(self.B[rows, :])
        return to_host(self.xp.take(self.B, like(self.B, rows), axis=0))

    def accumulate(
        self, first: int, q: int, d: Float64Array
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Σ d_i b_i z_iᵀ, Σ d_i b_i and Σ d_i z_i z_iᵀ."""
        Z, weights = self.scores[:, first : first + q], self._column(d)
        Q = self.xp.concat([Z * weights, weights], axis=1)
        sums = _product(self.xp, self.B, Q)
        return sums[:, :q], sums[:, q], _product(self.xp, Z, Q[:, :q])

    def gram(self, d: Float64Array) -> Float64Array:
        """Σ d_i b_i b_iᵀ."""
        B = self.B * self._column(np.sqrt(d))
        return _product(self.xp, B, B)

    def _column(self, numbers: Float64Array) -> Any:
        return like(self.B, numbers.astype(self.dtype, copy=False))[:, None]


@project.register
def _(block: DeviceBlock, center: Center, P: Array, inner: int) -> DeviceProjection:
    xp, X = block.xp, block.array
    hi, lo = center.parts(block.dtype)
    columns = like(X, P)
    B = X - like(X, hi)
    if lo is not None:
        B = B - like(X, lo)
    B = xp.astype(B, columns.dtype, copy=False)
    Z = B @ columns
    return DeviceProjection(xp, P.dtype, B, Z, _squares(xp, B), _squares(xp, Z[:, :inner]))


@dense_rows.register
def _(block: DeviceBlock, rows: slice) -> Array:
    return to_host(block.array[rows, :])


def _squares(xp: Any, R: Any) -> Float64Array:
    """‖r_i‖² of the rows."""
    return to_host(xp.vecdot(R, R, axis=-1)).astype(np.float64, copy=False)


def _product(xp: Any, B: Any, Q: Any) -> Float64Array:
    """BᵀQ: float32 products of a few hundred rows each are added up in float64.

    They are so on the device where it has float64, and in float32 where it has not.
    """
    (n, m), q = B.shape, Q.shape[1]
    rows = max(_ROWS, q)  # the products are no larger than B
    whole = n - n % rows
    if B.dtype == xp.float64 or not whole or not q:
        return to_host(xp.matrix_transpose(B) @ Q).astype(np.float64, copy=False)
    dealt = (
        xp.reshape(B[:whole, :], (whole // rows, rows, m)),
        xp.reshape(Q[:whole, :], (whole // rows, rows, q)),
    )
    products = xp.matrix_transpose(dealt[0]) @ dealt[1]
    total = to_host(xp.sum(products, axis=0, dtype=floats(B).get("float64")))
    rest = to_host(xp.matrix_transpose(B[whole:, :]) @ Q[whole:, :])
    return np.add(total, rest, dtype=np.float64)
