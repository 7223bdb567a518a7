"""Text files with a row a line, such as CSV and TSV, by way of Arrow."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from trueaxis._arrow import pyarrow
from trueaxis.tables.arrow import ArrowColumns, as_table, first_line, mended, return_memory
from trueaxis.tables.sniff import MISSING, Dialect, sniff
from trueaxis.tables.table import Table, Written

_HEAD = 1 << 18  # bytes that a dialect is told from, more where they hold too few lines
_LINES = 3
_TOGETHER = 1 << 16  # rows that a thread writes as text at a time
_BLOCK = 1 << 22  # bytes that a thread parses at a time: with fewer, the tables' pieces cost more


def read_csv(
    data: Path | bytes,
    source: str,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Table:
    """A text file with a row a line, its dialect told from its beginning."""
    try:
        return _read(data, source, delimiter, header)
    except (OSError, UnicodeError) as error:
        if getattr(error, "filename", None) is not None:
            raise
        # Of a packed file, or a character: Arrow does not name the file.
        raise ValueError(f"{source} cannot be read: {first_line(error)}") from error


def _read(data: Path | bytes, source: str, delimiter: str | None, header: bool | None) -> Table:
    head, whole = _head(data)
    dialect = sniff(head, source, whole=whole, delimiter=delimiter, header=header)
    # Python alone knows UTF-16; a file of its size is small.
    if dialect.encoding == "utf-16":
        raw = data if isinstance(data, bytes) else data.read_bytes()
        data = raw.decode("utf-16").encode("utf-8")
    longest = max((len(line) for line in head.split(b"\n")), default=0)
    block = max(_BLOCK, 4 * longest)
    table = _parse(data, source, dialect, block=block)
    if any(pyarrow.types.is_binary(column.type) for column in table.columns):
        # The first byte that is no UTF-8 stands far down.
        table = _parse(data, source, replace(dialect, encoding="cp1252"), block=block)
    columns, notes = mended(ArrowColumns(table, dialect.decimal), source)
    return_memory()
    return Table(source, columns, (*dialect.notes, *notes), named=dialect.header)


def _head(data: Path | bytes) -> tuple[bytes, bool]:
    """The beginning of a file, unpacked, and whether it is all of it."""
    stream = pyarrow.input_stream(
        pyarrow.BufferReader(data) if isinstance(data, bytes) else str(data)
    )
    with stream:
        head = bytes(stream.read(_HEAD))
        while head.count(b"\n") < _LINES:
            more = bytes(stream.read(len(head) or 1))
            if not more:
                return head, True
            head += more
        return head, not stream.read(1)


def _parse(data: Path | bytes, source: str, dialect: Dialect, *, block: int) -> Any:
    encoding = {"utf-8-sig": "utf8", "utf-16": "utf8", "utf-8": "utf8"}
    bad: list[Any] = []

    def keep(row: Any) -> str:
        bad.append(row)
        return "error"

    def parse(threads: bool, typed: Sequence[str] = ()) -> Any:
        return pyarrow.csv.read_csv(
            pyarrow.BufferReader(data) if isinstance(data, bytes) else str(data),
            read_options=pyarrow.csv.ReadOptions(
                use_threads=threads,
                block_size=block,
                skip_rows=dialect.comments,
                skip_rows_after_names=int(dialect.header),
                column_names=list(dialect.names),
                encoding=encoding.get(dialect.encoding, dialect.encoding),
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=dialect.delimiter,
                newlines_in_values=dialect.newlines,
                invalid_row_handler=keep,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                null_values=list(MISSING),
                decimal_point=dialect.decimal,
                column_types=dict.fromkeys(typed, pyarrow.float64()),
            ),
        )

    # While Arrow is not sure what a column is, it keeps the text of all its entries.
    with suppress(pyarrow.ArrowInvalid):
        return parse(threads=True, typed=dialect.fractions)
    bad.clear()
    try:
        return parse(threads=True)
    except pyarrow.ArrowInvalid as error:
        if not bad:
            raise ValueError(f"{source} cannot be read as a table: {first_line(error)}") from error
    # Several threads do not know which row they are at.
    bad.clear()
    try:
        return parse(threads=False)
    except pyarrow.ArrowInvalid as error:
        row = bad[0]
        text = row.text if len(row.text) <= 60 else f"{row.text[:57]}..."
        where = f"line {row.number + dialect.comments}" if row.number else "a line"
        raise ValueError(
            f"{source}: {where} has {row.actual_columns} column(s) where {row.expected_columns} "
            f"are expected: {text!r}. Mend the line, or name the delimiter (--delimiter)."
        ) from error


def write_csv(columns: Written, to: BinaryIO, delimiter: str) -> None:
    """Columns as text, the shortest digits that give every number back."""
    names = io.StringIO()
    csv.writer(names, delimiter=delimiter, lineterminator="\n").writerow(columns)
    to.write(names.getvalue().encode("utf-8"))
    options = pyarrow.csv.WriteOptions(
        include_header=False, delimiter=delimiter, quoting_style="needed"
    )
    table = as_table(columns)

    def text(first: int) -> Any:
        held = pyarrow.BufferOutputStream()
        pyarrow.csv.write_csv(table.slice(first, _TOGETHER), held, options)
        return held.getvalue()

    with ThreadPoolExecutor(pyarrow.cpu_count()) as threads:
        for part in threads.map(text, range(0, len(table), _TOGETHER)):
            to.write(part)
