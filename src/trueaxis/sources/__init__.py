"""Where rows come from: each source hands out blocks of rows and merges what they yield."""

from trueaxis.sources.base import BlockSource, Source
from trueaxis.sources.dense import DenseSource
from trueaxis.sources.sparse import SparseSource

__all__ = ["BlockSource", "DenseSource", "Source", "SparseSource"]
