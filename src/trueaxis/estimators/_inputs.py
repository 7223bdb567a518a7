"""What the user passed in, checked before any work is done. Every message names a way out."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.linalg
from scipy import sparse
from sklearn.utils.validation import validate_data

from trueaxis._device import is_dispatched, to_host
from trueaxis._linalg import polar
from trueaxis._products import Block, dense_rows
from trueaxis._sweep import pieces
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators._missing import with_gaps
from trueaxis.estimators._namespace import open_array, readable
from trueaxis.losses import L1, Bisquare, Cauchy, Huber, L2p, Loss, Trimmed
from trueaxis.sources import DenseSource, Source, SparseSource, open_source
from trueaxis.starts import STARTS

LOSSES = ("l2p", "l1", "huber", "cauchy", "bisquare", "trimmed")
SOLVERS = ("auto", "proximal", "accelerated", "reweighted", "orthogonal", "true_l1")
CENTERS = ("optimal", "mean", "median")
START_NAMES = ("auto", *STARTS, "random")

# Squares of entries beyond these overflow or lose digits in denormal numbers.
_SAFE_RANGE = {np.dtype(np.float64): (1e-100, 1e100), np.dtype(np.float32): (1e-12, 1e12)}


_LARGE = 1 << 22  # entries of data that are large

_VARIANCE_RANGE = {
    np.dtype(np.float64): (1e-153, 1e153),
    np.dtype(np.float32): (1e-18, 1e18),
}


def choice(name: str, value: Any, choices: tuple[str, ...], otherwise: str = "") -> None:
    """Refuse a name that is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        options = ", ".join(repr(c) for c in choices)
        raise ValueError(f"{name}={value!r} is unknown; choose one of {options}{otherwise}.")


def real_in(name: str, value: Any, low: float, high: float, interval: str) -> float:
    """A finite number in an interval that is open, closed or half open, as `interval` writes it."""
    ok = _is_number(value, Real) and bool(np.isfinite(float(value)))
    if ok:
        number = float(value)
        above = number > low if interval[0] == "(" else number >= low
        below = number < high if interval[-1] == ")" else number <= high
        ok = above and below
    if not ok:
        raise ValueError(f"{name}={value!r} is out of range; it must be a number in {interval}.")
    return float(value)


def integer_at_least(name: str, value: Any, low: int) -> int:
    """A whole number not below `low`."""
    if not _is_number(value, Integral) or value < low:
        raise ValueError(f"{name}={value!r} is out of range; it must be a whole number >= {low}.")
    return int(value)


def _is_number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def check_loss(loss: Any, p: Any, breakdown: Any, support_fraction: Any) -> Loss:
    """The loss object that the parameters stand for."""
    if isinstance(loss, str):
        choice("loss", loss, LOSSES, otherwise=", or pass a loss object from trueaxis.losses")
        power = real_in("p", p, 0.0, 2.0, "(0, 2]")
        share = real_in("breakdown", breakdown, 0.0, 0.5, "(0, 0.5]")
        support = real_in("support_fraction", support_fraction, 0.5, 1.0, "[0.5, 1]")
        named: dict[str, Loss] = {
            "l2p": L2p(power),
            "l1": L1(),
            "huber": Huber(),
            "cauchy": Cauchy(),
            "bisquare": Bisquare(share),
            "trimmed": Trimmed(support),
        }
        return named[loss]
    if not isinstance(loss, Loss) or isinstance(loss, type):
        options = ", ".join(repr(c) for c in LOSSES)
        raise ValueError(
            f"loss={loss!r} is not a loss; choose one of {options}, or pass an object with "
            "`entrywise`, `value_and_weight` and `smoothed` (see trueaxis.losses.Loss)."
        )
    return loss


def check_n_components(n_components: Any, limit: int, n: int, m: int) -> int | float | None:
    """An int in [1, limit], a float in (0, 1), or None; limit is min(n, m) but for weights."""
    if n_components is None:
        return None
    if _is_number(n_components, Integral):
        if 1 <= n_components <= limit:
            return int(n_components)
    elif _is_number(n_components, Real) and 0 < float(n_components) < 1:
        return float(n_components)
    raise ValueError(
        f"n_components={n_components!r} is out of range for data with n_samples={n} and "
        f"n_features={m}; it must be a whole number in [1, {limit}] (the smaller of the two), "
        "a share of variance in (0, 1), or None for all components."
    )


@with_gaps
def open_rows(estimator: Any, X: Any, *, reset: bool) -> Source:
    """The rows of X as a source, without a copy where they are numbers already."""
    source = open_source(X)
    if source is not None:
        validate_data(estimator, source.header, reset=reset, skip_check_array=True)
        return source
    if is_dispatched(X):
        return open_array(estimator, X, reset=reset)
    with readable(X):
        checked = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=1,
        )
    return SparseSource(checked) if sparse.issparse(checked) else DenseSource(np.asarray(checked))


def check_sample_weight(sample_weight: Any, n: int) -> Float64Array | None:
    """Finite weights >= 0, one a row and not all zero; None where they are all 1."""
    if sample_weight is None:
        return None
    weights = to_host(sample_weight)
    if weights.dtype.kind not in "biuf":
        raise ValueError(f"sample_weight has dtype {weights.dtype}; it must be real numbers.")
    weights = weights.astype(np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; it must be ({n},), one weight a row of X."
        )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weights[bad[0]]}; weights must be finite and >= 0. "
            "Negative weights have no meaning here."
        )
    if not np.isfinite(weights.sum()):
        raise ValueError("The sum of sample_weight overflows; divide the weights by a constant.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row: there is nothing left to fit.")
    return None if (weights == 1.0).all() else weights


def check_finite(source: Source, columns: Any = None) -> float:
    """The largest absolute entry; NaN and infinity are refused with the first place they stand."""
    peak = source.reduce(_Peak.of).value
    if np.isfinite(peak):
        # Variances of larger entries overflow, and of smaller ones vanish.
        low, high = _VARIANCE_RANGE[source.answers]
        if peak > high or 0 < peak < low:
            raise ValueError(
                f"The largest entry of X is {peak:.3g} in size, whose square {source.answers} "
                "cannot hold; multiply X by a constant that brings it between "
                f"{low:.0e} and {high:.0e}."
            )
        return peak
    place = source.reduce(_FirstBad.of).place
    assert place is not None  # the peak told of it
    row, column, value = place
    columns = source.names if columns is None else columns
    name = f" ({columns[column]!r})" if columns is not None else ""
    what = "NaN" if np.isnan(value) else "infinity"
    unobserved = ", or pass missing='nan' where NaN stands for an entry that was not observed"
    raise ValueError(
        f"Input X contains {what}: first at {source.locate(row)}, column {column}{name}, counted "
        "from 0. Remove or impute such entries before the fit, for example with "
        f"sklearn.impute.SimpleImputer{unobserved if np.isnan(value) else ''}."
    )


def peak_of_some(source: Source, rows: Array) -> float | None:
    """The largest absolute entry of these few rows; None where all entries should be looked at."""
    n, m = source.shape
    if n < m or n * m < _LARGE:
        return None
    few, _ = source.take(rows)
    peak = float(np.abs(few).max())
    low, high = _SAFE_RANGE[source.answers]
    return peak if low < peak < high else None


@dataclass(frozen=True, slots=True)
class _Peak:
    """The largest absolute entry; not finite where one is not."""

    value: float

    @classmethod
    def of(cls, block: Block, _: object) -> _Peak:
        # A NaN makes both extremes NaN, an infinity one of them infinite.
        if not block.shape[0]:
            return cls(0.0)
        return cls(max(abs(float(block.max())), abs(float(block.min()))))

    def __add__(self, other: _Peak) -> _Peak:
        return _Peak(float(np.maximum(self.value, other.value)))


@dataclass(frozen=True, slots=True)
class _FirstBad:
    """Where the first entry stands that is no finite number, in a number of rows."""

    rows: int
    place: tuple[int, int, float] | None

    @classmethod
    def of(cls, block: Block, _: object) -> _FirstBad:
        n, m = block.shape
        for rows in pieces(n, m):
            entries = dense_rows(block, rows)
            bad = ~np.isfinite(entries)
            if bad.any():
                row, column = np.unravel_index(int(np.argmax(bad)), bad.shape)
                value = float(entries[row, column])
                return cls(n, (rows.start + int(row), int(column), value))
        return cls(n, None)

    def __add__(self, other: _FirstBad) -> _FirstBad:
        place = self.place
        if place is None and other.place is not None:
            row, column, value = other.place
            place = (self.rows + row, column, value)
        return _FirstBad(self.rows + other.rows, place)


def safe_unit(peak: float, dtype: np.dtype) -> float:
    """1.0, or the power of two that brings entries of extreme size near 1."""
    low, high = _SAFE_RANGE[dtype]
    return 1.0 if peak == 0 or low < peak < high else float(2.0 ** np.round(np.log2(peak)))


def check_start(start: Any, k: int, m: int) -> str | Float64Array:
    """One of the names, or an array of k independent rows as an orthonormal basis (m, k)."""
    if isinstance(start, str):
        choice("start", start, START_NAMES, otherwise=", or pass an array of shape (k, m)")
        return start
    if start is None:
        choice("start", start, START_NAMES, otherwise=", or pass an array of shape (k, m)")
    rows = _real_array("start", start)
    if rows.shape != (k, m):
        raise ValueError(
            f"start has shape {rows.shape}; it must be (n_components, n_features) = ({k}, {m}), "
            "as components_ is."
        )
    singular = scipy.linalg.svdvals(rows / max(np.abs(rows).max(), np.finfo(float).tiny))
    rank = int(np.count_nonzero(singular > 1e-10 * max(singular[0], 1e-300)))
    if rank < k:
        raise ValueError(
            f"start is not of full rank: its {k} rows span {rank} dimension(s). "
            "Pass linearly independent rows."
        )
    return polar(rows.T)


def check_center(center: Any, m: int) -> str | Float64Array | None:
    """One of the names, None for no centering, or a point."""
    if isinstance(center, bool | np.bool_) and not center:
        return None
    if isinstance(center, str):
        choice("center", center, CENTERS, otherwise=", an array of shape (n_features,), or False")
        return center
    if isinstance(center, bool | np.bool_) or center is None:
        raise ValueError(
            f"center={center!r} is unknown; choose one of 'optimal', 'mean', 'median', an array "
            "of shape (n_features,), or False."
        )
    point = _real_array("center", center)
    if point.shape != (m,):
        raise ValueError(f"center has shape {point.shape}; it must be (n_features,) = ({m},).")
    return point


def _real_array(name: str, value: Any) -> Float64Array:
    try:
        array = to_host(value)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"dtype {array.dtype}")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a name or an array of real numbers: {error}.") from None
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity; every entry must be finite.")
    return array
