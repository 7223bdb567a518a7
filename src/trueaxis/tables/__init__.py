"""Tables in files: CSV, TSV, Parquet, NumPy's and Excel's; what they hold, and how to write them.

A reader gives a `Table`, whatever the format. `read` finds the format, `write` takes it from the
name of the file.
"""

from trueaxis.tables.reading import read
from trueaxis.tables.table import Table
from trueaxis.tables.writing import write

__all__ = ["Table", "read", "write"]
