"""Which source a thing that holds rows is read by, for kinds that are not arrays in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from trueaxis.sources.base import Source
from trueaxis.sources.blocks import BlocksSource
from trueaxis.sources.mapped import MappedSource
from trueaxis.sources.npy import open_npy
from trueaxis.sources.parquet import ParquetSource
from trueaxis.sources.sliced import SlicedSource
from trueaxis.sources.stream import checked_dtype

_PARQUET = (".parquet", ".pq")
# What arrays in memory or on a device have, lazy arrays, and frames: none of them is a file.
_ELSEWHERE = (
    "__array_namespace__",
    "__array_interface__",
    "__cuda_array_interface__",
    "__dlpack__",
    "__dask_graph__",
    "__dataframe__",
)


def open_source(X: Any) -> Source | None:
    """The source for X; None where it is an array in memory, or like one."""
    if isinstance(X, Source):
        return X
    if type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "to_delayed"):
        # What is Dask's is there only where Dask is.
        from trueaxis.sources.dask import DaskSource

        return DaskSource(X)
    if isinstance(X, str | os.PathLike):
        return open_path(Path(X))
    if isinstance(X, np.memmap):
        if getattr(X, "_mmap", None) is None:  # a copy, or the result of a computation
            return None
        checked_dtype(X.dtype, f"The memory map of {str(X.filename)!r}")
        return MappedSource(X) if X.ndim == 2 and X.size else None
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return None
    if any(hasattr(X, name) for name in _ELSEWHERE):
        return None
    if all(hasattr(X, name) for name in ("shape", "dtype", "__getitem__")):
        return SlicedSource(X)
    return BlocksSource(X) if _is_of_blocks(X) else None


def open_path(path: Path) -> Source:
    """The rows of a file, or of a folder of Parquet files."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {str(path)!r}.")
    suffix = path.suffix.lower()
    if suffix == ".npy" and path.is_file():
        return open_npy(path)
    if suffix in _PARQUET or path.is_dir():
        return ParquetSource(path)
    raise ValueError(
        f"X is the path {str(path)!r}, of a kind that is not read by its name: those are .npy, "
        ".parquet and folders of Parquet files. Pass other data opened: np.memmap for raw numbers, "
        "a data set of h5py or Zarr, a data frame of pandas, or "
        "trueaxis.sources.RowBlocks for anything that is read in parts."
    )


def _is_of_blocks(X: Any) -> bool:
    """Whether X hands out blocks of rows; a list or a tuple is a matrix written out."""
    known = (Sequence, Mapping, Set, bytes)
    return isinstance(X, Iterable) and not isinstance(X, known) and not hasattr(X, "__array__")
