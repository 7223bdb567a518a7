"""Which columns and rows of a table are worked on."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueaxis._typing import Array, Float64Array
from trueaxis.tables.table import Table

MISSING = ("error", "drop")
_MOST_NAMED = 8  # columns that a note names


@dataclass(frozen=True)
class Rows:
    """The rows of a table that are worked on.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        The numbers.
    at : ndarray of shape (n,)
        Which rows of the table they are, counted from 0.
    ids : list of str or None
        Their names, where a column holds them.
    """

    X: Float64Array
    at: Array
    ids: list[str] | None = None

    def labels(self, rows: Array) -> list[str]:
        """Names of some of the rows; their numbers, counted from 1, where they have none."""
        return [str(self.at[i] + 1) if self.ids is None else self.ids[i] for i in rows]


def choose_columns(
    table: Table,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    id_column: str | None = None,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns to fit, and a note on those that are left out.

    Parameters
    ----------
    table : Table
        Where they are.
    columns, drop : sequence of str
        Names, lists of names with commas between, or patterns such as "V*". Without `columns`
        it is all columns of numbers.
    id_column : str, optional
        A column that names the rows.

    Returns
    -------
    names, notes : tuple of str
    """
    _check_rows(table)
    if id_column is not None:
        _known(id_column, table)
    dropped = {name for given in drop for name in _matching(given, table)}
    if columns:
        wanted = dict.fromkeys(name for given in columns for name in _matching(given, table))
        names = tuple(n for n in wanted if n not in dropped and n != id_column)
        for name in names:
            _check_numbers(name, table)
        left_out = []
    else:
        of_numbers = [n for n in table.names if table.columns.kind(n) == "number"]
        names = tuple(n for n in of_numbers if n not in dropped and n != id_column)
        left_out = [
            name
            for name in table.names
            if name not in of_numbers and name not in dropped and name != id_column
        ]
    if not names and (columns or of_numbers):
        raise ValueError(
            f"{table.source} has no column of numbers to fit: --drop and --id leave none."
        )
    if not names:
        raise ValueError(
            f"{table.source} has no column of numbers to fit. It has {_kinds(table)}. If its "
            "columns were not told apart, name the delimiter (--delimiter)."
        )
    notes = []
    if left_out:
        each = ", ".join(f"{n} ({table.columns.kind(n)})" for n in left_out[:_MOST_NAMED])
        more = len(left_out) - _MOST_NAMED
        notes.append(f"Left out, as no numbers: {each}{f' and {more} more' if more > 0 else ''}.")
    return names, tuple(notes)


def take(table: Table, names: tuple[str, ...], id_column: str | None, missing: str) -> Rows:
    """The entries of some columns, all of them finite.

    Parameters
    ----------
    table : Table
        Where they are.
    names : tuple of str
        The columns.
    id_column : str or None
        A column that names the rows.
    missing : {"error", "drop"}
        Whether a row with an empty entry is refused or left out.

    Returns
    -------
    Rows
    """
    _check_rows(table)
    for name in names:
        _check_numbers(name, table)
    X = table.columns.numbers(names)
    if not X.flags.writeable or isinstance(X.base, np.memmap):
        X = np.array(X)
    at = np.arange(len(X))
    # A sum is finite only where all entries are, and needs no array of its own.
    with np.errstate(all="ignore"):
        suspect = not np.isfinite(X.sum(axis=0)).all()
    if suspect:
        bad = ~np.isfinite(X)
        if missing == "drop":
            empty = np.isnan(X).any(axis=1)
            bad[empty] = False
            X, at = X[~empty], at[~empty]
        if bad.any():
            raise ValueError(_told(table, names, bad))
        if len(X) == 0:
            raise ValueError(
                f"{table.source} has an empty entry in every row, so that nothing is left with "
                "--missing drop. Leave out the columns with many such entries (--drop)."
            )
    ids = None
    if id_column is not None:
        every = table.columns.labels(id_column)
        ids = every if len(at) == len(every) else [every[i] for i in at]
    return Rows(X, at, ids)


def counting_column(table: Table, names: Sequence[str], X: Float64Array) -> str:
    """A note where a column does nothing but count the rows."""
    n = len(X)
    if n < 3:
        return ""
    steps = X[[1, n // 2, n - 1]] - X[0]
    for j in np.flatnonzero((steps == [[1], [n // 2], [n - 1]]).all(axis=0)):
        if np.array_equal(X[:, j], X[0, j] + np.arange(n)):
            name = repr(names[int(j)])
            return (
                f"{name} counts the rows, and is fitted as if it were a measurement; --id {name} "
                f"takes it for their names, --drop {name} leaves it out."
            )
    return ""


def _check_rows(table: Table) -> None:
    if len(table) == 0:
        below = " below its header" if table.named else ""
        raise ValueError(f"{table.source} has no rows{below}: there is nothing to read.")


def _check_numbers(name: str, table: Table) -> None:
    kind = table.columns.kind(name)
    if kind in {"number", "true/false"}:
        return
    if kind == "empty":
        raise ValueError(f"{table.source}: column {name!r} is empty; leave it out (--drop).")
    wrong = table.columns.not_a_number(name) if kind == "text" else None
    if kind == "text" and wrong is None:
        return
    told = f": {wrong[1]!r} in row {wrong[0] + 1} is no number" if wrong else f", but of {kind}s"
    raise ValueError(
        f"{table.source}: column {name!r} is not of numbers{told}. Mend it, or leave it out "
        "(--drop)."
    )


def _told(table: Table, names: Sequence[str], bad: Array) -> str:
    """Where the first entry stands that is no finite number, and what to do."""
    row, column = (int(i) for i in np.argwhere(bad)[0])
    entries, rows = int(bad.sum()), int(bad.any(axis=1).sum())
    value = table.columns.numbers((names[column],))[row, 0]
    more = f" ({entries} such entries in {counted(rows, 'row')})" if entries > 1 else ""
    where = f"{table.source}: column {names[column]!r}, row {row + 1}"
    if np.isnan(value):
        return (
            f"{where} has no value{more}. --missing drop leaves such rows out, --drop "
            f"{names[column]!r} the column."
        )
    return f"{where} is infinite{more}; mend it, or leave out the column (--drop)."


def _matching(given: str, table: Table) -> list[str]:
    """Names that a user's word stands for: itself, a pattern, or a list with commas."""
    if given in table.names:
        return [given]
    if "," in given:
        return [name for part in given.split(",") for name in _matching(part.strip(), table)]
    found = [name for name in table.names if fnmatch.fnmatchcase(name, given)]
    if not found:
        _known(given, table)
    return found


def _known(name: str, table: Table) -> None:
    if name in table.names:
        return
    near = difflib.get_close_matches(name, table.names, 1)
    near = near or [other for other in table.names if other.lower() == name.lower()]
    raise ValueError(
        f"{table.source} has no column {name!r}"
        + (f"; did you mean {near[0]!r}?" if near else f". It has {names_of(table.names)}.")
    )


def names_of(names: Sequence[str]) -> str:
    """Names for a message, not too many."""
    more = len(names) - _MOST_NAMED
    return ", ".join(map(repr, names[:_MOST_NAMED])) + (f" and {more} more" if more > 0 else "")


def _kinds(table: Table) -> str:
    if not table.names:
        return "no columns at all"
    named: list[Any] = [f"{n!r} ({table.columns.kind(n)})" for n in table.names[:_MOST_NAMED]]
    more = len(table.names) - _MOST_NAMED
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def counted(number: int, thing: str) -> str:
    """A number and its thing, or things."""
    return f"{number} {thing}" + ("s" if number != 1 else "")
