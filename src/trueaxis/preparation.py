"""From a table to the matrix that is fitted: its rows, in what units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trueaxis import starts
from trueaxis._typing import Float64Array
from trueaxis.outliers import columnwise
from trueaxis.tables import Table
from trueaxis.tables.selection import Rows, counted, names_of, take

SCALES = ("auto", "robust", "std", "none")
_SAMPLE = 20_000  # rows that a robust scale is taken from
_DOMINANT = 0.5  # share of all variance in one column, beyond which the units decide the axes
_LARGER = 10.0  # times the scale of the middle column, as columns of one unit seldom are


@dataclass(frozen=True)
class Preparation:
    """Columns and units: what a model needs to read the next table as it read the first.

    Parameters
    ----------
    columns : tuple of str
        The columns that are fitted, in order.
    named : bool
        Whether these names were in the file.
    id_column : str or None
        The column that names the rows.
    scale_name : {"robust", "std", "none"}
        How the columns were scaled.
    location, scale : ndarray of shape (m,)
        What is subtracted from each column, and what it is divided by.
    """

    columns: tuple[str, ...]
    named: bool = True
    id_column: str | None = None
    scale_name: str = "none"
    location: Float64Array = field(default_factory=lambda: np.zeros(0))
    scale: Float64Array = field(default_factory=lambda: np.ones(0))

    def rows(self, table: Table, *, missing: str = "error") -> Rows:
        """The rows of a table in the units of the model.

        Parameters
        ----------
        table : Table
            It must have the model's columns, in any order, and may have others.
        missing : {"error", "drop"}
            What becomes of rows with an empty entry.

        Returns
        -------
        Rows
        """
        rows = take(table, self._found_in(table), self._id_in(table), missing)
        if self.scale_name != "none":
            np.subtract(rows.X, self.location, out=rows.X)
            np.divide(rows.X, self.scale, out=rows.X)
        return rows

    def _found_in(self, table: Table) -> tuple[str, ...]:
        if not (self.named and table.named):
            # One of them has no names of its own: columns are told by their places.
            numbers = tuple(n for n in table.names if table.columns.kind(n) == "number")
            if len(numbers) != len(self.columns):
                raise ValueError(
                    f"{table.source} has {len(numbers)} columns of numbers, but the model was "
                    f"fitted to {len(self.columns)}."
                )
            return numbers
        absent = [name for name in self.columns if name not in table.names]
        if absent:
            raise ValueError(
                f"{table.source} lacks {counted(len(absent), 'column')} of the model: "
                f"{names_of(absent)}. It has {names_of(table.names)}."
            )
        return self.columns

    def _id_in(self, table: Table) -> str | None:
        return self.id_column if self.id_column in table.names else None


def choose_scale(
    X: Float64Array, names: Sequence[str], how: str, rng: np.random.RandomState
) -> tuple[str, Float64Array, Float64Array, str]:
    """How to scale columns, their location and scale, and a note on it.

    "robust" is the location and scale of `trueaxis.outliers.columnwise`, which a column most of
    whose entries are alike survives. A constant column is left as it is.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        The rows.
    names : sequence of str
        The columns.
    how : {"auto", "robust", "std", "none"}
        "auto" is "robust" where one column holds more than half of the robust variance of all
        and has ten times the scale of the middle column: then the axes would tell of its unit.
        Otherwise "none".
    rng : RandomState
        To draw the rows that a robust scale is taken from, where there are many.

    Returns
    -------
    how, location, scale, note

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((50, 3)) * [1.0, 1.0, 1000.0]
    >>> choose_scale(X, ["a", "b", "income"], "auto", np.random.RandomState(0))[0]
    'robust'
    """
    m = X.shape[1]
    if how == "none":
        return how, np.zeros(m), np.ones(m), ""
    with np.errstate(over="ignore", invalid="ignore"):
        if how == "std":
            location, scale = X.mean(axis=0), X.std(axis=0)
        else:
            drawn = starts.sample_rows(len(X), None, _SAMPLE, rng)
            location, scale = columnwise(X if drawn is None else X[drawn])
    beyond = np.flatnonzero(~np.isfinite(location + scale))
    if beyond.size:
        raise ValueError(
            f"Column {names[int(beyond[0])]!r} has entries so large that their squares are no "
            "numbers; mend them, divide the column by a constant, or leave it out (--drop)."
        )
    note = ""
    if how == "auto":
        variances = (scale / max(float(scale.max()), np.finfo(float).tiny)) ** 2
        share = float(variances.max() / max(float(variances.sum()), np.finfo(float).tiny))
        varying = np.sort(scale[scale > 0])
        middle = float(varying[(len(varying) - 1) // 2]) if len(varying) else 0.0
        if m == 1 or share <= _DOMINANT or scale.max() < _LARGER * middle:
            note = "The columns keep their own units; --scale robust gives each the same weight."
            return "none", np.zeros(m), np.ones(m), "" if m == 1 else note
        largest = names[int(np.argmax(variances))]
        note = (
            f"Each column is divided by its robust scale, since {largest!r} alone would make "
            f"{share:.0%} of the variance; --scale none leaves the units."
        )
        how = "robust"
    return how, location, np.where(scale > 0, scale, 1.0), note
