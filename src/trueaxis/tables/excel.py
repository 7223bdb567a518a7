"""Excel workbooks. The only file that imports openpyxl."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.utils.exceptions import InvalidFileException

from trueaxis.tables.arrow import from_rows
from trueaxis.tables.table import EMPTY, Table, numbered


def read_excel(
    data: Path | bytes, source: str, sheet: str | None = None, header: bool | None = None
) -> Table:
    """One sheet of a workbook: the one named, or the first that is not empty."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions, which hold no numbers
            book = openpyxl.load_workbook(
                io.BytesIO(data) if isinstance(data, bytes) else data,
                read_only=True,
                data_only=True,
            )
    except (InvalidFileException, zipfile.BadZipFile, KeyError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{source} is not a whole .xlsx workbook: {error}") from error
    try:
        names = book.sheetnames
        if sheet is not None and sheet not in names:
            raise ValueError(
                f"{source} has no sheet {sheet!r}; it has {', '.join(map(repr, names))}."
            )
        for name in names if sheet is None else [sheet]:
            rows = [row for row in book[name].iter_rows(values_only=True) if _holds_any(row)]
            if rows:
                break
        else:
            raise ValueError(EMPTY.format(source))
    finally:
        book.close()
    notes = () if len(names) == 1 or sheet is not None else (f"{source}: sheet {name!r} is read.",)
    width = max(len(row) for row in rows)
    if _is_header(rows[0]) if header is None else header:
        titles = ["" if cell is None else str(cell) for cell in rows[0]]
        table = from_rows(rows[1:], titles + [""] * (width - len(titles)), source)
        return Table(source, table.columns, (*notes, *table.notes))
    table = from_rows(rows, numbered(width), source)
    return Table(source, table.columns, (*notes, *table.notes), named=False)


def _holds_any(row: Sequence[Any]) -> bool:
    return any(cell is not None and str(cell).strip() for cell in row)


def _is_header(row: Sequence[Any]) -> bool:
    return not any(isinstance(cell, int | float) for cell in row)
