"""Where rows come from: each source hands out blocks of rows and merges what they yield."""

from trueaxis.sources.base import Source
from trueaxis.sources.dense import DenseSource

__all__ = ["DenseSource", "Source"]
