"""The products that a sweep makes with a block of rows, whatever kind of block it is.

Everything that costs time in a sweep is here: `project` before the loss is known, and what the
`Projection` adds up after it. One file a kind of block; the sweeps see the protocol alone.
"""

from trueaxis._products import sparse as _sparse  # registers its blocks with `project`
from trueaxis._products.base import (
    Block,
    Center,
    Projection,
    dense_rows,
    padded_columns,
    project,
    split_center,
    squared_norms,
)
from trueaxis._products.dense import DenseProjection

__all__ = [
    "Block",
    "Center",
    "DenseProjection",
    "Projection",
    "dense_rows",
    "padded_columns",
    "project",
    "split_center",
    "squared_norms",
]

del _sparse
