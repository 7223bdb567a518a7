"""Rows of Dask collections: the source, the graphs it makes, and what runs on the workers."""

from trueaxis.sources.dask.source import DaskSource

__all__ = ["DaskSource"]
