"""The products that a sweep makes with a block of rows, whatever kind of block it is.

Everything that costs time in a sweep is here: `project` before the loss is known, and what the
`Projection` adds up after it. One file a kind of block; the sweeps see the protocol alone.
"""

from trueaxis._products import array_api as _array_api  # registers its blocks with `project`
from trueaxis._products import sparse as _sparse  # and so does this
from trueaxis._products.base import (
    Block,
    Center,
    Projection,
    accumulate_twice,
    dense_rows,
    padded_columns,
    project,
    split_center,
    squared_norms,
)
from trueaxis._products.dense import DenseProjection, add_outer, times, transposed_times
from trueaxis._products.missing import complete_rows
from trueaxis._products.scratch import scratch

__all__ = [
    "Block",
    "Center",
    "DenseProjection",
    "Projection",
    "accumulate_twice",
    "add_outer",
    "complete_rows",
    "dense_rows",
    "padded_columns",
    "project",
    "scratch",
    "split_center",
    "squared_norms",
    "times",
    "transposed_times",
]

del _array_api, _sparse
