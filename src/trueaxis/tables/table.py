"""What every format is read into: named columns, of which some are numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from trueaxis._typing import Float64Array

EMPTY = "{} is empty; a table needs a row of names and rows of numbers."

Kind = Literal["number", "text", "date", "true/false", "empty", "other"]


Written = Mapping[str, Sequence[str] | Any]
"""Columns to write, arrays or lists of text, by their names."""


class Columns(Protocol):
    """The entries of a table, in whatever way its format keeps them."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, each once."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    def kind(self, name: str) -> Kind:
        """What a column holds."""
        ...

    def numbers(self, names: tuple[str, ...]) -> Float64Array:
        """Columns side by side as float64, NaN where an entry is missing."""
        ...

    def labels(self, name: str) -> list[str]:
        """A column as text, "" where an entry is missing."""
        ...

    def not_a_number(self, name: str) -> tuple[int, str, int] | None:
        """Index, text and count of the entries of a text column that are no numbers."""
        ...


@dataclass(frozen=True)
class Table:
    """A table that was read, and what is to be said about the reading.

    Parameters
    ----------
    source : str
        The file, as the user named it.
    columns : Columns
        The entries.
    notes : tuple of str
        What was assumed or mended on the way.
    named : bool
        Whether the names are the file's own; otherwise they are x1, x2, and so on.
    """

    source: str
    columns: Columns
    notes: tuple[str, ...] = ()
    named: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, each once."""
        return self.columns.names

    def __len__(self) -> int:
        return self.columns.n_rows


def numbered(m: int) -> tuple[str, ...]:
    """Names for m columns that have none.

    Examples
    --------
    >>> numbered(3)
    ('x1', 'x2', 'x3')
    """
    return tuple(f"x{j + 1}" for j in range(m))


def each_once(names: list[str], source: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names without repetition and without gaps, and a note on each change.

    Examples
    --------
    >>> names, notes = each_once(["a", "b", "a", " "], "t.csv")
    >>> names
    ('a', 'b', 'a (2)', 'column 4')
    >>> len(notes)
    2
    """
    seen: dict[str, None] = {}
    notes = []
    for j, given in enumerate(names):
        name = given.strip() or f"column {j + 1}"
        wanted, times = name, 1
        while name in seen:
            times += 1
            name = f"{wanted} ({times})"
        seen[name] = None
        if times > 1:
            notes.append(
                f"{source}: {wanted!r} names two columns; column {j + 1} is called {name!r} here."
            )
        elif not given.strip():
            notes.append(f"{source}: column {j + 1} has no name; it is called {name!r} here.")
    return tuple(seen), tuple(notes)
