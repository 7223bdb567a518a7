"""A model of a table: what was fitted, and how to read the next table for it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from trueaxis._typing import Array, Float64Array
from trueaxis.contributions import contributions
from trueaxis.estimators import PCAOutlierDetector
from trueaxis.outlier_map import OutlierMap
from trueaxis.preparation import Preparation, choose_scale
from trueaxis.tables import Table
from trueaxis.tables.selection import Rows, choose_columns, counting_column, take

_BLAMED = 3  # columns that a flagged row names
_TOGETHER = 1 << 22  # entries whose contributions are computed at once
_AT_ONCE = 1 << 16  # entries that are compared at once


@dataclass(frozen=True)
class Settings:
    """What to fit to which part of a table; the words are those of the command line.

    Parameters
    ----------
    k : int or None
        Number of axes; None takes it from a robust scree.
    columns, drop : sequence of str
        Columns to take and to leave out; without `columns` all those of numbers.
    id_column : str or None
        The column that names the rows.
    scale : {"auto", "robust", "std", "none"}
        How columns of different units are made comparable.
    missing : {"error", "drop"}
        What becomes of rows with an empty entry.
    loss, p, solver, quantile, contamination
        Parameters of `PCAOutlierDetector`.
    seed : int or None
        Its `random_state`.
    """

    k: int | None = None
    columns: Sequence[str] = ()
    drop: Sequence[str] = ()
    id_column: str | None = None
    scale: str = "auto"
    missing: str = "error"
    loss: str = "l2p"
    p: float = 1.0
    solver: str = "auto"
    quantile: float = 0.975
    contamination: float | None = None
    seed: int | None = None


@dataclass(frozen=True)
class TableModel:
    """Fitted axes and cut-offs, and the preparation that tables need for them.

    Parameters
    ----------
    preparation : Preparation
        Columns, units and the column that names the rows.
    detector : PCAOutlierDetector
        Fitted to the prepared rows; ``detector.pca_`` is the `RobustPCA`.
    source : str
        The table that it was fitted to.
    warned : tuple of str
        What the fit warned of.
    """

    preparation: Preparation
    detector: PCAOutlierDetector
    source: str = ""
    warned: tuple[str, ...] = field(default=())

    @property
    def pca(self) -> Any:
        """The fitted `RobustPCA`."""
        return self.detector.pca_

    def scores(self, rows: Rows) -> dict[str, Any]:
        """Coordinates of rows along the axes, a column each, with the names of the rows."""
        Z = self.pca.transform(rows.X)
        return self._named(rows, slice(None)) | {f"pc{j + 1}": z for j, z in enumerate(Z.T)}

    def map(self, rows: Rows) -> OutlierMap:
        """Both distances of rows, and the cut-offs of the model."""
        return OutlierMap.of(self.detector, rows.X)

    def counts(self, rows: Rows) -> dict[str, int]:
        """Number of rows of each kind, in one pass over them."""
        return self.map(rows).counts

    def flags(self, rows: Rows, found: OutlierMap, shown: Array) -> dict[str, Any]:
        """For some rows: what they are, why, and which columns contribute most to that.

        Parameters
        ----------
        rows : Rows
            All of them.
        found : OutlierMap
            Their distances.
        shown : ndarray of int
            Those to tell about.

        Returns
        -------
        dict
            Columns: the row's number (and name), its kind, both distances and cut-offs, and for
            each of up to three columns its name and its share of the distance that counts.
        """
        shares = self._shares(rows.X[shown])
        few = min(_BLAMED, shares.shape[1])
        order = np.argsort(-shares, axis=1, kind="stable")[:, :few]
        names = np.asarray(self.preparation.columns, dtype=object)
        told: dict[str, Any] = {
            "kind": found.part(shown).kinds.tolist(),
            "score_distance": found.score[shown],
            "score_cutoff": np.full(len(shown), found.score_cutoff),
            "orthogonal_distance": found.orthogonal[shown],
            "orthogonal_cutoff": np.full(len(shown), found.orthogonal_cutoff),
        }
        for j in range(few):
            told[f"column_{j + 1}"] = names[order[:, j]].tolist()
            told[f"share_{j + 1}"] = np.take_along_axis(shares, order[:, j : j + 1], axis=1)[:, 0]
        return self._named(rows, shown) | told

    def _named(self, rows: Rows, shown: Any) -> dict[str, Any]:
        told: dict[str, Any] = {"row": rows.at[shown] + 1}
        if rows.ids is not None:
            which = range(len(rows.ids))[shown] if isinstance(shown, slice) else shown
            told[str(self.preparation.id_column)] = [rows.ids[i] for i in which]
        return told

    def _shares(self, X: Float64Array) -> Float64Array:
        if not len(X):
            return np.zeros(X.shape)
        step = max(1, _TOGETHER // X.shape[1])
        parts = [contributions(self.detector, X[i : i + step]) for i in range(0, len(X), step)]
        return np.concatenate(parts)


@dataclass(frozen=True)
class Fitted:
    """A model, the rows that it was fitted to, and what is to be said about the choices made."""

    model: TableModel
    rows: Rows
    notes: tuple[str, ...]


def prepare(table: Table, settings: Settings) -> tuple[Preparation, Rows, tuple[str, ...]]:
    """Choose the columns, rows and units of a table.

    Parameters
    ----------
    table : Table
        What was read.
    settings : Settings
        What was asked for.

    Returns
    -------
    preparation, rows, notes
    """
    names, notes = choose_columns(table, settings.columns, settings.drop, settings.id_column)
    rows = take(table, names, settings.id_column, settings.missing)
    left_out = len(table) - len(rows.X)
    if left_out:
        notes += (f"{left_out} of {len(table)} rows have an empty entry and are left out.",)
    if not _differ(rows.X):
        found = f"{len(rows.X)} rows that are all alike" if len(rows.X) > 1 else "one row only"
        raise ValueError(f"{table.source} has {found}: axes need rows that differ.")
    most = min(rows.X.shape)
    if settings.k is not None and settings.k > most:
        n, m = rows.X.shape
        raise ValueError(
            f"-k {settings.k} is too many for {table.source}: {n} rows in {m} columns have at most "
            f"{most} axes."
        )
    counting = counting_column(table, names, rows.X)
    scale, location, unit, note = choose_scale(
        rows.X, names, settings.scale, check_random_state(settings.seed or 0)
    )
    if scale != "none":
        np.subtract(rows.X, location, out=rows.X)
        np.divide(rows.X, unit, out=rows.X)
    preparation = Preparation(names, table.named, settings.id_column, scale, location, unit)
    return preparation, rows, (*notes, *(n for n in (counting, note) if n))


def _differ(X: Float64Array) -> bool:
    """Whether any row differs from the first: the first few tell, mostly."""
    few = max(1, _AT_ONCE // X.shape[1])
    return any((X[i : i + few] != X[0]).any() for i in range(0, len(X), few))


def fit(table: Table, settings: Settings, callback: Any = None) -> Fitted:
    """Fit axes and cut-offs to a table.

    Parameters
    ----------
    table : Table
        What was read.
    settings : Settings
        What to fit.
    callback : callable, optional
        As that of `RobustPCA`.

    Returns
    -------
    Fitted

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from trueaxis.tables import read
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "t.csv"
    >>> X = np.random.default_rng(0).standard_normal((60, 3)) * [5.0, 4.0, 3.0]
    >>> np.savetxt(path, X, delimiter=",", header="a,b,c", comments="")
    >>> fitted = fit(read(path), Settings(k=1))
    >>> fitted.model.preparation.columns
    ('a', 'b', 'c')
    """
    preparation, rows, notes = prepare(table, settings)
    detector = PCAOutlierDetector(
        "scree" if settings.k is None else settings.k,
        loss=settings.loss,
        p=settings.p,
        solver=settings.solver,
        quantile=settings.quantile,
        contamination=settings.contamination,
        random_state=settings.seed,
        callback=callback,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        detector.fit(rows.X)
    # A model on disk holds no function, and what was called belongs to the fit that is over.
    detector.set_params(callback=None)
    detector.pca_.set_params(callback=None)
    k = detector.pca_.n_components_
    if settings.k is None:
        notes += (
            f"k = {k}, from a robust scree: axes up to 80 % of the variance, at most half as many "
            "as columns, one for ten rows, and 10; -k takes another number.",
        )
    warned = tuple(dict.fromkeys(_in_options(str(w.message)) for w in caught))
    return Fitted(TableModel(preparation, detector, table.source, warned), rows, notes)


def _in_options(message: str) -> str:
    """A warning of the estimator in the words of the command line."""
    for python, option in (
        ("loss='bisquare'", "--loss bisquare"),
        ("Raise max_iter or tol, or try another solver.", "Another --solver may be faster."),
        ("; check_breakdown=False turns the comparison off", ""),
    ):
        message = message.replace(python, option)
    return message
