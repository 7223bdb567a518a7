"""Where rows come from: each source hands out blocks of rows and merges what they yield.

Estimators take as X

- whatever scikit-learn takes for a matrix: an array, a data frame, a list of rows;
- a SciPy sparse matrix or array, which is never made dense;
- a `numpy.memmap` of real numbers of any type, converted a block at a time;
- the path of a ``.npy`` file, a Parquet file, or a folder of Parquet files, as a str or a Path;
  `ParquetSource` selects columns;
- anything else with ``shape``, ``dtype`` and slices, as a data set of h5py and an array of Zarr;
- an object that can be iterated over again and again and yields blocks of rows: arrays, data frames
  or sparse matrices. `RowBlocks` makes one of a generator function. A list or a tuple is one matrix
  written out and not blocks, and a generator, which can be read once only, is refused.

Files and blocks are read in order, a few blocks ahead of the computation, and what is in memory
does not grow with their number.
"""

from trueaxis.sources.array_api import ArrayApiSource
from trueaxis.sources.base import BlockSource, Source
from trueaxis.sources.blocks import RowBlocks
from trueaxis.sources.dense import DenseSource
from trueaxis.sources.missing import GappySource
from trueaxis.sources.opening import open_source
from trueaxis.sources.parquet import ParquetSource
from trueaxis.sources.sparse import SparseSource
from trueaxis.sources.stream import StreamSource

__all__ = [
    "ArrayApiSource",
    "BlockSource",
    "DenseSource",
    "GappySource",
    "ParquetSource",
    "RowBlocks",
    "Source",
    "SparseSource",
    "StreamSource",
    "open_source",
]
