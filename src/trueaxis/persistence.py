"""Models on disk, without pickle: a file from a stranger cannot run code.

A file is an archive of skops with a stamp in it: what wrote it, and in which version of the
format. The stamp is read first. Then only types on a list of ours are built, whatever the file
asks for. The only file that imports skops, and only to read.
"""

from __future__ import annotations

import os
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trueaxis._archive import NotAModelError, Stamp, checked, stamped
from trueaxis._files import replacing
from trueaxis._schema import ForeignError, dumps
from trueaxis.estimators import PCAOutlierDetector, RobustPCA
from trueaxis.estimators._namespace import on_host
from trueaxis.outlier_map import axes_of
from trueaxis.preparation import SCALES, Preparation
from trueaxis.table_model import TableModel

TRUSTED = (
    "trueaxis.estimators.outlier_detector.PCAOutlierDetector",
    "trueaxis.estimators.robust_pca.RobustPCA",
    "trueaxis.losses.bounded.Bisquare",
    "trueaxis.losses.bounded.Trimmed",
    "trueaxis.losses.power.L1",
    "trueaxis.losses.power.L2p",
    "trueaxis.losses.tempered.Cauchy",
    "trueaxis.losses.tempered.Huber",
)
"""The types beside NumPy's and Python's plain ones that a model may hold."""

Model = TableModel | PCAOutlierDetector | RobustPCA


def save(model: Model, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a fitted model, whole or not at all.

    Parameters
    ----------
    model : RobustPCA, PCAOutlierDetector or TableModel
        A fitted model. Arrays of another library than NumPy are written as NumPy's. What
        `partial_fit` keeps of a stream is not: after `load` it begins a new one.
    path : path-like
        Where to.
    force : bool, default=False
        Whether a file that is there may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> from trueaxis.datasets import make_contaminated
    >>> X = make_contaminated(random_state=0).X
    >>> path = Path(tempfile.mkdtemp()) / "model.skops"
    >>> save(RobustPCA(2).fit(X), path)
    >>> load(path).components_.shape
    (2, 20)
    """
    with replacing(path, force=force) as beside:
        write(model, beside)


def write(model: Model, to: Path) -> None:
    """Write a fitted model to a file that nobody else looks at yet.

    Parameters
    ----------
    model : RobustPCA, PCAOutlierDetector or TableModel
        A fitted model.
    to : pathlib.Path
        Where to.
    """
    if not isinstance(model, Model):
        raise TypeError(
            f"{type(model).__name__} cannot be saved; it must be a RobustPCA, a "
            "PCAOutlierDetector or a TableModel."
        )
    try:
        held = dumps(_plain(model), TRUSTED)
    except ForeignError as error:
        raise TypeError(
            f"The model holds {error}, which could not be loaded again. Only losses and settings "
            "of trueaxis itself can be saved."
        ) from None
    to.write_bytes(stamped(held))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model; no file can run code by it.

    Parameters
    ----------
    path : path-like
        What `save` wrote.

    Returns
    -------
    RobustPCA, PCAOutlierDetector or TableModel
    """
    import skops.io  # 2 s, which whoever writes a model need not wait for

    held = checked(path)[0]
    try:
        unknown = set(skops.io.get_untrusted_types(data=held)) - set(TRUSTED)
        if unknown:
            raise NotAModelError(
                f"{path} is refused: it holds {', '.join(sorted(unknown))}, which no model of "
                "trueaxis does. Do not use this file."
            )
        content = skops.io.loads(held, trusted=list(TRUSTED))
        return _model(content)
    except NotAModelError:
        raise
    except Exception as error:
        # Whatever a broken description of objects leads to.
        raise NotAModelError(
            f"{path} is damaged: what it describes cannot be built "
            f"({type(error).__name__}: {str(error)[:200]}). Fit the model anew."
        ) from error


def stamp(path: str | os.PathLike[str]) -> Stamp:
    """What wrote a model, read without building it.

    Parameters
    ----------
    path : path-like
        What `save` wrote.

    Returns
    -------
    Stamp
    """
    return checked(path)[1]


def load_table_model(path: str | os.PathLike[str]) -> TableModel:
    """A model that knows how to read tables, as ``trueaxis fit --model`` writes it.

    Parameters
    ----------
    path : path-like
        What `save` wrote.

    Returns
    -------
    TableModel
    """
    model = load(path)
    if not isinstance(model, TableModel):
        raise NotAModelError(
            f"{path} holds a {type(model).__name__} without the columns and units of a table; "
            "`trueaxis fit ... --model` writes one with them."
        )
    return model


def _plain(model: Model) -> dict[str, Any]:
    """A model in types of Python and NumPy, but for the estimator."""
    if not isinstance(model, TableModel):
        return _without_history(model)
    held = model.preparation
    return _without_history(model.detector) | {
        "source": model.source,
        "warned": list(model.warned),
        "preparation": {
            "columns": list(held.columns),
            "named": held.named,
            "id_column": held.id_column,
            "scale_name": held.scale_name,
            "location": np.asarray(held.location),
            "scale": np.asarray(held.scale),
        },
    }


def _without_history(estimator: Any) -> dict[str, Any]:
    """An estimator, and its history as plain columns: skops has no records."""
    check_is_fitted(estimator)
    estimator = copy(on_host(estimator))
    if isinstance(estimator, PCAOutlierDetector):
        estimator.pca_ = copy(estimator.pca_)
    axes = axes_of(estimator)
    if hasattr(axes, "_stream"):
        del axes._stream
    history = {}
    if hasattr(axes, "history_"):
        history = {name: np.array(axes.history_[name]) for name in axes.history_.dtype.names}
        del axes.history_
    return {"estimator": estimator, "history": history}


def _model(content: Any) -> Any:
    """The model that plain types describe, each of the kind that it must be."""
    estimator = content["estimator"]
    if not isinstance(estimator, (RobustPCA, PCAOutlierDetector)):
        raise TypeError(f"its estimator is a {type(estimator).__name__}")
    axes: Any = axes_of(estimator)
    m = np.asarray(axes.components_).shape[1]
    columns = content["history"]
    if columns:
        kinds = np.dtype([(name, column.dtype) for name, column in columns.items()])
        axes.history_ = np.rec.fromarrays(list(columns.values()), dtype=kinds)
    if "preparation" not in content:
        return estimator
    held = content["preparation"]
    location, scale = (np.asarray(held[n], dtype=np.float64) for n in ("location", "scale"))
    if not (len(held["columns"]) == m == len(location) == len(scale)):
        raise ValueError("its columns are not as many as those of its axes")
    if held["scale_name"] not in SCALES or not isinstance(estimator, PCAOutlierDetector):
        raise ValueError("its preparation is none of trueaxis")
    preparation = Preparation(
        columns=tuple(map(str, held["columns"])),
        named=bool(held["named"]),
        id_column=None if held["id_column"] is None else str(held["id_column"]),
        scale_name=str(held["scale_name"]),
        location=location,
        scale=scale,
    )
    warned = tuple(map(str, content["warned"]))
    return TableModel(preparation, estimator, str(content["source"]), warned)
