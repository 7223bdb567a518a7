"""Columns of Arrow, which CSV, Parquet and workbooks are read into."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from trueaxis._arrow import compute, parquet, pyarrow
from trueaxis._typing import Float64Array
from trueaxis.tables.sniff import MISSING, is_number
from trueaxis.tables.table import Kind, Table, Written, each_once

_MOSTLY = 0.5  # share of numbers from which a text column deserves a word


@dataclass(frozen=True)
class ArrowColumns:
    """Columns of an Arrow table."""

    table: Any
    decimal: str = "."

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.table.column_names)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.table.num_rows)

    def kind(self, name: str) -> Kind:
        """What a column holds."""
        return _kind(self.table.schema.field(name).type)

    def numbers(self, names: tuple[str, ...]) -> Float64Array:
        """Columns side by side as float64, NaN where an entry is missing.

        Piece by piece, since rows of a piece are still in the cache when their last column comes.
        """
        X = np.empty((self.n_rows, len(names)))
        pieces = self._as_floats(names).to_batches()
        ends = np.cumsum([len(piece) for piece in pieces], dtype=np.intp)

        def fill(piece: Any, end: int) -> None:
            rows = X[end - len(piece) : end]
            for j, column in enumerate(piece.columns):
                rows[:, j] = _as_numpy(column)

        with ThreadPoolExecutor(pyarrow.cpu_count()) as threads:
            list(threads.map(fill, pieces, ends))
        return X

    def _as_floats(self, names: tuple[str, ...]) -> Any:
        chosen = self.table.select(list(names))
        for j, name in enumerate(names):
            column = chosen.column(j)
            if not _is_plain_number(column.type):
                chosen = chosen.set_column(j, name, _to_floats(column, self.decimal))
        return chosen

    def labels(self, name: str) -> list[str]:
        """A column as text, "" where an entry is missing."""
        column = self.table.column(name)
        try:
            column = column.cast(pyarrow.string())
        except pyarrow.ArrowException:
            return ["" if entry is None else str(entry) for entry in column.to_pylist()]
        return [entry or "" for entry in column.to_pylist()]

    def not_a_number(self, name: str) -> tuple[int, str, int] | None:
        """Index, text and count of the entries of a text column that are no numbers."""
        entries = self.labels(name)
        wrong = [
            i
            for i, entry in enumerate(entries)
            if entry.strip() not in MISSING and not is_number(entry, self.decimal)
        ]
        return (wrong[0], entries[wrong[0]], len(wrong)) if wrong else None


def _kind(dtype: Any) -> Kind:
    if pyarrow.types.is_dictionary(dtype):
        return _kind(dtype.value_type)
    if pyarrow.types.is_boolean(dtype):
        return "true/false"
    if (
        pyarrow.types.is_integer(dtype)
        or pyarrow.types.is_floating(dtype)
        or pyarrow.types.is_decimal(dtype)
    ):
        return "number"
    if (
        pyarrow.types.is_string(dtype)
        or pyarrow.types.is_large_string(dtype)
        or pyarrow.types.is_binary(dtype)
    ):
        return "text"
    if pyarrow.types.is_null(dtype):
        return "empty"
    return "date" if pyarrow.types.is_temporal(dtype) else "other"


def _is_plain_number(dtype: Any) -> bool:
    return bool(pyarrow.types.is_integer(dtype) or pyarrow.types.is_floating(dtype))


def _as_numpy(numbers: Any) -> Any:
    """The numbers of an Arrow array, NaN where one is missing, without a copy where none is.

    Arrow's own `to_numpy` imports pandas, which takes as long as it takes to parse 100 MB.
    """
    if numbers.null_count:
        numbers = numbers.cast(pyarrow.float64(), safe=False).fill_null(np.nan)
    return np.from_dlpack(numbers)


def _as_arrow(entries: Any) -> Any:
    """An array of numbers or a list of text; without pandas, as `_as_numpy` is."""
    if isinstance(entries, np.ndarray) and entries.dtype.kind in "iuf":
        held = pyarrow.py_buffer(np.ascontiguousarray(entries))
        dtype = pyarrow.from_numpy_dtype(entries.dtype)
        return pyarrow.Array.from_buffers(dtype, len(entries), [None, held])
    return pyarrow.array(entries)


def _to_floats(column: Any, decimal: str) -> Any:
    """Anything that is numbers or reads as such; refused by `not_a_number` before otherwise."""
    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _kind(column.type) != "text":
        return column.cast(pyarrow.float64())
    functions = compute()
    entries = functions.utf8_trim_whitespace(column.cast(pyarrow.string()))
    entries = functions.replace_substring_regex(entries, r"^\+", "")
    if decimal == ",":
        entries = functions.replace_substring(entries, ",", ".")
    known = functions.is_in(entries, value_set=pyarrow.array([*MISSING, ""]))
    return functions.if_else(known, pyarrow.scalar(None, pyarrow.string()), entries).cast(
        pyarrow.float64()
    )


def mended(columns: ArrowColumns, source: str) -> tuple[ArrowColumns, tuple[str, ...]]:
    """Text columns made numbers where all they hold is numbers such as +1.5; a note on others."""
    table, notes = columns.table, []
    for j, name in enumerate(columns.names):
        if columns.kind(name) != "text":
            continue
        some = [str(e).strip() for e in table.column(j).slice(0, 200).to_pylist() if e is not None]
        told = [entry for entry in some if entry not in MISSING]
        numbers = sum(is_number(entry, columns.decimal) for entry in told)
        if not told or numbers <= _MOSTLY * len(told):
            continue
        wrong = columns.not_a_number(name)
        if wrong is None:
            table = table.set_column(j, name, _to_floats(table.column(j), columns.decimal))
        else:
            index, text, count = wrong
            notes.append(
                f"{source}: column {name!r} is taken for text because of {text!r} in row "
                f"{index + 1} ({count} such entries of {columns.n_rows}); mend or empty them to "
                "have it counted."
            )
    return ArrowColumns(table, columns.decimal), tuple(notes)


def read_parquet(data: Path | bytes, source: str) -> Table:
    """A Parquet file."""
    try:
        table = parquet().read_table(
            pyarrow.BufferReader(data) if isinstance(data, bytes) else str(data)
        )
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{source} is not a whole Parquet file: {first_line(error)}") from error
    names, notes = each_once(table.column_names, source)
    return_memory()
    return Table(source, ArrowColumns(table.rename_columns(list(names))), notes)


def from_rows(rows: Sequence[Sequence[Any]], names: Sequence[str], source: str) -> Table:
    """A table from rows of Python objects, as a spreadsheet gives them."""
    unique, notes = each_once(list(names), source)
    held = {}
    for j, name in enumerate(unique):
        entries = [_cell(row[j]) if j < len(row) else None for row in rows]
        try:
            held[name] = pyarrow.array(entries)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
            mixed = [None if e is None else str(e) for e in entries]
            held[name] = pyarrow.array(mixed, pyarrow.string())
    columns, told = mended(ArrowColumns(pyarrow.table(held)), source)
    return Table(source, columns, (*notes, *told))


def _cell(entry: Any) -> Any:
    if isinstance(entry, str):
        return None if entry.strip() in MISSING else entry
    return float(entry) if isinstance(entry, int) and not isinstance(entry, bool) else entry


def write_parquet(columns: Written, to: BinaryIO) -> None:
    """Columns as Parquet."""
    parquet().write_table(as_table(columns), to)


def as_table(columns: Written) -> Any:
    """Columns to write as a table of Arrow."""
    return pyarrow.table({name: _as_arrow(entries) for name, entries in columns.items()})


def return_memory() -> None:
    """Give the system what reading took beside the table, which Arrow would keep.

    Others can use it, and memory at hand is quicker than any that the system has to find.
    """
    pyarrow.default_memory_pool().release_unused()


def first_line(error: Exception) -> str:
    """What an error of Arrow says, in short."""
    return re.sub(r"^CSV parse error: ", "", str(error).splitlines()[0])
