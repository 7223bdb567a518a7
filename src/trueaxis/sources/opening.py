"""Which source a thing that holds rows is read by, for kinds that are not arrays in memory."""

from __future__ import annotations

from typing import Any

from trueaxis.sources.base import Source


def open_source(X: Any) -> Source | None:
    """The source for X; None where it is an array in memory, or like one."""
    if isinstance(X, Source):
        return X
    if type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "to_delayed"):
        # What is Dask's is there only where Dask is.
        from trueaxis.sources.dask import DaskSource

        return DaskSource(X)
    return None
