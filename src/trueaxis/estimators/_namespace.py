"""Arrays of other libraries in and out: what scikit-learn's array API dispatch asks for.

Estimators compute in NumPy, from what the products with X return. Here their answers and fitted
attributes are put where X lives; `trueaxis._device.to_host` brings them back where they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from trueaxis._device import device, floats, is_dispatched, like, namespace, to_host
from trueaxis.solvers.driver import HISTORY
from trueaxis.sources import ArrayApiSource

Method = TypeVar("Method", bound=Callable[..., Any])


def open_array(estimator: Any, X: Any, *, reset: bool) -> ArrayApiSource:
    """The rows of an array that stays where it lives."""
    _refuse_some(X)
    checked = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=list(floats(X).values()),
        ensure_all_finite=False,
        ensure_min_samples=1,
    )
    return ArrayApiSource(checked)


def check_scores(X: Any) -> Any:
    """Scores, checked, as an array of their own library where that is dispatched to."""
    dtypes: list[Any] = [np.float64, np.float32]
    if is_dispatched(X):
        _refuse_some(X)
        dtypes = list(floats(X).values())
    with readable(X):
        return check_array(X, dtype=dtypes, input_name="X")


@contextmanager
def readable(X: Any) -> Iterator[None]:
    """Say what to do about an array that NumPy cannot read, because it is on another device."""
    try:
        yield
    except (TypeError, RuntimeError) as error:
        if isinstance(X, np.ndarray) or not hasattr(X, "__dlpack__") or is_dispatched(X):
            raise
        raise TypeError(
            f"X, of type {type(X).__name__} on device {getattr(X, 'device', 'unknown')}, cannot be "
            f"read as a NumPy array ({error}). Enable scikit-learn's dispatch, "
            "sklearn.config_context(array_api_dispatch=True), to work where it is, or pass a "
            "copy in the memory of the host."
        ) from error


def settle(estimator: Any, X: Any) -> None:
    """Put the arrays that `fit` has set where X lives."""
    if is_dispatched(X):
        for name, value in list(vars(estimator).items()):
            if name.endswith("_") and isinstance(value, np.ndarray | np.floating):
                setattr(estimator, name, like(X, value))


def on_host(estimator: Any) -> Any:
    """The estimator itself, or a copy whose fitted arrays, put elsewhere, are NumPy's again."""
    away = {
        name: on_host(value) if hasattr(value, "components_") else to_host(value)
        for name, value in vars(estimator).items()
        if name.endswith("_") and (hasattr(value, "components_") or hasattr(value, "__dlpack__"))
    }
    if all(value is getattr(estimator, name) for name, value in away.items()):
        return estimator
    estimator = copy(estimator)
    for name, value in away.items():
        is_number = isinstance(value, np.ndarray) and not value.ndim
        setattr(estimator, name, value[()] if is_number else value)
    return estimator


def answers_like_X(method: Method) -> Method:
    """A method that answers in arrays like X, which must live where the fitted axes do."""

    @wraps(method)
    def answer(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if not get_config()["array_api_dispatch"]:
            return method(self, X, *args, **options)
        _check_home(self, X, method.__name__)
        result = method(self, X, *args, **options)
        numbers = isinstance(result, np.ndarray) and result.dtype.kind in "biuf"
        return like(X, result) if numbers and is_dispatched(X) else result

    return cast(Method, answer)


class Recorded:
    """An estimator's ``history_``: records, not numbers, which no other library has arrays for.

    They are kept as a tuple, so that every array among the attributes of a fit lives where X does.
    """

    @property
    def history_(self) -> np.recarray[Any, Any]:
        """One record before the first and after every update of the fit."""
        records = vars(self).get("history_")
        if records is None:
            raise AttributeError(
                f"This {type(self).__name__} has no history_: `fit` makes one, `partial_fit` none."
            )
        return np.array(list(records), dtype=HISTORY).view(np.recarray)

    @history_.setter
    def history_(self, records: np.recarray[Any, Any]) -> None:
        vars(self)["history_"] = tuple(records.tolist())

    @history_.deleter
    def history_(self) -> None:
        del vars(self)["history_"]


def _check_home(estimator: Any, X: Any, method: str) -> None:
    check_is_fitted(estimator)
    axes = getattr(estimator, "pca_", estimator).components_
    fitted, given = _residence(axes), _residence(X)
    if fitted == given:
        return
    names = [
        "NumPy or like it" if one is None else f"{one[0].__name__} on {one[1]}"
        for one in (fitted, given)
    ]
    raise ValueError(
        f"Inputs passed to {type(estimator).__name__}.{method}() must use the same namespace and "
        f"the same device as those passed to fit(): that was {names[0]}, and X is {names[1]}. "
        "Convert X, or fit to data that live where it does."
    )


def _residence(array: Any) -> tuple[Any, Any] | None:
    return (namespace(array), device(array)) if is_dispatched(array) else None


def _refuse_some(X: Any) -> None:
    if namespace(X).isdtype(X.dtype, "complex floating"):
        raise ValueError(f"Complex data not supported: X has dtype {X.dtype}.")
    if "sparse" in str(getattr(X, "layout", "")):  # only PyTorch's have one
        raise ValueError(
            "X is a sparse tensor, which has no blocks of rows; pass X.to_dense(), or a SciPy "
            "sparse array, which is never made dense."
        )
    if getattr(X, "requires_grad", False):
        raise ValueError("X requires a gradient, which no answer here has; pass X.detach().")
