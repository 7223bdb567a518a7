"""Memory that every block of rows on a thread is worked on in."""

from __future__ import annotations

import threading

import numpy as np

from trueaxis._products.base import aligned
from trueaxis._typing import Array

_scratch = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: np.dtype) -> Array:
    """A C-ordered array of this thread's own, reused from call to call.

    A fresh one of this size would come as untouched pages from the system for every block, which
    takes as long as the products do. The workers of a Dask cluster give such pages back at once.
    """
    rows, columns = shape
    kept = getattr(_scratch, name, None)
    if kept is None or kept.dtype != dtype or kept.size < rows * columns:
        kept = aligned(rows, columns, dtype)
        setattr(_scratch, name, kept)
    return np.asarray(kept.reshape(-1)[: rows * columns].reshape(shape))
