"""Arrays of other libraries, on whatever device: what they are, and the way to the host and back.

All that this package knows of the Array API standard's libraries (PyTorch, CuPy, ...) is here, in
the source that hands out their blocks and in the products with these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from sklearn import get_config

from trueaxis._typing import Array


@dataclass(frozen=True, slots=True)
class DeviceBlock:
    """Some rows of an array that is not NumPy's, and the namespace of its functions."""

    array: Any
    xp: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, m = self.array.shape
        return n, m

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the rows, as NumPy has it."""
        return np.dtype(np.float32 if self.array.dtype == self.xp.float32 else np.float64)

    def max(self) -> Any:
        """The largest entry; NaN where one is."""
        return self.xp.max(self.array)

    def min(self) -> Any:
        """The smallest entry; NaN where one is."""
        return self.xp.min(self.array)


def is_dispatched(X: Any) -> bool:
    """Whether X stays where it lives: another library's, with scikit-learn's dispatch enabled.

    Dask's arrays and sparse ones follow the standard too, and are none of what is meant here.
    """
    if not get_config()["array_api_dispatch"] or not _has_namespace(X):
        return False
    compat = _compat()
    return bool(
        compat.is_array_api_obj(X)
        and not compat.is_dask_array(X)
        and not compat.is_pydata_sparse_array(X)
    )


def namespace(array: Any) -> Any:
    """The functions of the standard for an array."""
    return _compat().array_namespace(array)


def device(array: Any) -> Any:
    """Where an array lives."""
    return _compat().device(array)


def floats(array: Any) -> dict[str, Any]:
    """The real dtypes of the array's library that its device can hold, by name."""
    info = namespace(array).__array_namespace_info__()
    held = info.dtypes(kind="real floating", device=device(array))
    return {name: held[name] for name in ("float64", "float32") if name in held}


def to_host(array: Any) -> Array:
    """An array of any library as NumPy's; no copy where it lies in the memory of the host."""
    if not _has_namespace(array):
        return np.asarray(array)
    try:
        compat = _compat()
    except ImportError:  # it may lie in the memory of the host
        return np.asarray(array)
    if not compat.is_array_api_obj(array):
        return np.asarray(array)
    try:
        return np.asarray(compat.to_device(array, "cpu"))
    except ValueError:  # a library with a name of its own for the memory of the host
        own = namespace(array).__array_namespace_info__().default_device()
        return np.asarray(compat.to_device(array, own))


def like(reference: Any, results: Any) -> Any:
    """Results in NumPy as an array of the reference's library, where that lives.

    Where its device has no float64, such numbers become float32.
    """
    if isinstance(reference, np.ndarray):
        return results
    results, held = np.asarray(results), floats(reference)
    if results.dtype.name == "float64" and "float64" not in held:
        results = results.astype(np.float32)
    # Not every library takes an array that may not be written to, or one in another order.
    own = np.require(results, requirements=["C", "W"])
    return namespace(reference).asarray(own, device=device(reference))


def common_dtype(*arrays: Any) -> tuple[Any, ...]:
    """Arrays of one library in the dtype that they have in common."""
    if isinstance(arrays[0], np.ndarray):
        return arrays
    xp = namespace(arrays[0])
    common = xp.result_type(*arrays)
    return tuple(xp.astype(array, common, copy=False) for array in arrays)


def _has_namespace(X: Any) -> bool:
    # PyTorch's tensors have no __array_namespace__ of their own.
    return not isinstance(X, np.ndarray | np.generic) and (
        hasattr(X, "__array_namespace__") or hasattr(X, "__dlpack__")
    )


@cache
def _compat() -> ModuleType:
    try:
        import array_api_compat  # here, for it is optional
    except ImportError:
        raise ImportError(
            "Arrays of other libraries than NumPy are fitted by array-api-compat, which is not "
            "installed: pip install 'trueaxis[array-api]'"
        ) from None
    return array_api_compat
