"""What the user passed to a decomposition, checked before any work is done."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from trueaxis._typing import Array, Float64Array
from trueaxis.sources import RowBlocks


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Array:
    """X as a two-dimensional float array, without a copy where it is one already."""
    if isinstance(X, str | os.PathLike | RowBlocks):
        raise TypeError(
            f"{type(estimator).__name__} decomposes a matrix in memory, and X is a "
            f"{type(X).__name__}. Pass an array, such as numpy.load(path) reads; RobustPCA takes "
            "files and blocks."
        )
    return np.asarray(
        validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=1,
        )
    )


def observed_entries(estimator: Any, X: Array, mask: Any) -> Array | None:
    """Which entries count; None where all do. Others that are no finite numbers are refused."""
    missing = estimator.missing
    if not (missing is False or (isinstance(missing, str) and missing == "nan")):
        raise ValueError(f"missing={missing!r} is unknown; choose False or 'nan'.")
    observed = np.ones(X.shape, dtype=bool)
    if mask is not None:
        hidden = np.asarray(mask)
        if hidden.dtype != bool or hidden.shape != X.shape:
            raise ValueError(
                f"mask has dtype {hidden.dtype} and shape {hidden.shape}; it must be bool and of "
                f"the shape of X, {X.shape}: True where an entry is missing."
            )
        observed &= ~hidden
    if missing == "nan":
        observed &= ~np.isnan(X)
    bad = observed & ~np.isfinite(X)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        names = getattr(estimator, "feature_names_in_", None)
        name = f" ({names[column]!r})" if names is not None else ""
        what, way = "infinity", "Remove such entries, or hide them with mask=."
        if np.isnan(X[row, column]):
            what, way = "NaN", "Set missing='nan' to treat NaN as missing entries, or pass mask=."
        raise ValueError(
            f"Input X contains {what}: first at row {row}, column {column}{name}, counted from 0. "
            f"{way}"
        )
    if not observed.any():
        raise ValueError("Every entry of X is missing: there is nothing to decompose.")
    return None if observed.all() else observed


def check_rank(n_components: Any, n: int, m: int) -> None:
    """None, or a whole number from 1 to min(n, m)."""
    if n_components is None:
        return
    whole = isinstance(n_components, Integral) and not isinstance(n_components, bool | np.bool_)
    if not whole or not 1 <= n_components <= min(n, m):
        raise ValueError(
            f"n_components={n_components!r} is out of range for data with n_samples={n} and "
            f"n_features={m}; it must be a whole number in [1, {min(n, m)}] (the smaller of the "
            "two), or None for the rank that the solution has."
        )


def boolean(name: str, value: Any) -> bool:
    """True or False, and nothing that merely counts as one."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r} is unknown; choose True or False.")
    return bool(value)


def typical_row(X: Array, observed: Array | None) -> Float64Array:
    """The median of each column; 0 for one without entries."""
    if observed is None:
        return np.median(X, axis=0).astype(np.float64)
    found = [
        np.median(x[seen]) if seen.any() else 0.0 for x, seen in zip(X.T, observed.T, strict=True)
    ]
    return np.array(found, dtype=np.float64)


def scaled(
    X: Array, observed: Array | None, shift: Float64Array | None = None
) -> tuple[Float64Array, float]:
    """X − shift over a power of two that brings its largest entry near 1, 0 at missing entries.

    Squares of entries then neither overflow nor vanish, and dividing loses no digit.
    """
    M = X.astype(np.float64)
    if shift is not None:
        M -= shift
    if observed is not None:
        M[~observed] = 0.0
    peak = float(max(M.max(), -M.min()))
    unit = float(2.0 ** np.clip(np.round(np.log2(peak)), -1000, 1000)) if peak > 0 else 1.0
    M /= unit
    return M, unit
