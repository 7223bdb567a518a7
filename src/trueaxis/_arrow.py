"""pyarrow, for tables and for rows of Parquet files. The only file that imports it."""

from __future__ import annotations

from typing import Any

import pyarrow
import pyarrow.csv

__all__ = ["compute", "parquet", "pyarrow"]


def compute() -> Any:
    """`pyarrow.compute`, which makes its functions on import: most files need none of them."""
    import pyarrow.compute

    return pyarrow.compute


def parquet() -> Any:
    """`pyarrow.parquet`, which brings file systems and their network with it."""
    import pyarrow.parquet

    return pyarrow.parquet
