"""pyarrow, for tables and for rows of Parquet files. The only file that imports it."""

from __future__ import annotations

import pyarrow
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

__all__ = ["pyarrow"]
