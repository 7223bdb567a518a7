"""Where rows come from: each source hands out blocks of rows and merges what they yield."""

from trueaxis.sources.array_api import ArrayApiSource
from trueaxis.sources.base import BlockSource, Source
from trueaxis.sources.dense import DenseSource
from trueaxis.sources.missing import GappySource
from trueaxis.sources.opening import open_source
from trueaxis.sources.sparse import SparseSource

__all__ = [
    "ArrayApiSource",
    "BlockSource",
    "DenseSource",
    "GappySource",
    "Source",
    "SparseSource",
    "open_source",
]
