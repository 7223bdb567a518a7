"""How a text file writes its table: delimiter, decimal mark, header, encoding.

Told from its first rows, and said in notes where a reader could have taken it otherwise.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from dataclasses import dataclass

from trueaxis.tables.table import EMPTY, each_once, numbered

DELIMITERS = (",", ";", "\t", "|", " ")
MISSING = (
    *("", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "NAN", "-NaN", "-nan"),
    *("NULL", "Null", "null", "None", "none", "NONE", "?", ".", "-", "missing"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "-1.#IND", "-1.#QNAN", "1.#IND", "1.#QNAN"),
)
_ROWS = 200  # rows that are looked at
_SPOKEN = {"\t": "tabs", " ": "spaces"}
_NUMBER = re.compile(r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?)\s*", re.I)
_WHOLE = re.compile(r"\s*[+-]?\d+\s*")
_COMMA_NUMBER = re.compile(r"\s*[+-]?(?:\d+,\d*|,\d+)(?:[eE][+-]?\d+)?\s*")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Dialect:
    """How to read a text file."""

    delimiter: str
    decimal: str
    encoding: str
    comments: int
    """Lines at the top that begin with #."""
    header: bool
    names: tuple[str, ...]
    newlines: bool
    """Whether a quoted entry holds a line break."""
    fractions: tuple[str, ...] = ()
    """Columns that hold numbers, and not only whole ones, as far as the first rows tell."""
    notes: tuple[str, ...] = ()


def sniff(
    head: bytes,
    source: str,
    *,
    whole: bool = True,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Dialect:
    r"""The dialect of a text file, from its beginning.

    Parameters
    ----------
    head : bytes
        The first rows.
    source : str
        Its name, for messages.
    whole : bool, default=True
        Whether this is all of the file; otherwise the last line is not looked at.
    delimiter : str, optional
        What the user said it is.
    header : bool, optional
        What the user said of the first row.

    Returns
    -------
    Dialect

    Examples
    --------
    >>> found = sniff(b"width;height\n1,5;2\n3,5;4\n", "t.csv")
    >>> found.delimiter, found.decimal, found.names
    (';', ',', ('width', 'height'))
    """
    if b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError(
            f"{source} is not a table that trueaxis reads: it holds binary data. CSV, TSV, "
            "Parquet, .npy, .npz and .xlsx are read."
        )
    text, encoding = _decoded(head, whole)
    lines = text.splitlines(keepends=True)
    comments = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    lines = lines[comments:]
    if not any(line.strip() for line in lines):
        raise ValueError(EMPTY.format(source))
    if delimiter is None:
        delimiter = _delimiter(lines)
    elif len(delimiter) != 1:
        raise ValueError(f"--delimiter {delimiter!r} must be one character, such as ';'.")
    rows = _parsed(lines, delimiter)
    first, body = rows[0], rows[1:]
    decimal = _decimal(body or rows, delimiter)
    has_header = _has_header(first, body, decimal) if header is None else header
    notes: list[str] = []
    if has_header:
        names = list(first)
        widths = Counter(len(row) for row in body)
        width = widths.most_common(1)[0][0] if widths else len(first)
        if width == len(first) + 1:
            # Either each row ends in a delimiter, or the first column, of row names, has none.
            ends = all(row[-1].strip() == "" for row in body if len(row) == width)
            names = [*names, ""] if ends else ["row name", *names]
        unique, told = each_once(names, source)
        notes += told
    else:
        unique = numbered(len(first))
        if header is None:
            notes.append(
                f"{source} has no header that could be told from its rows; the columns are called "
                f"x1 to x{len(first)} (--header takes the first row for names)."
            )
    if delimiter != "," or decimal != ".":
        spoken = _SPOKEN.get(delimiter, repr(delimiter))
        mark = " and decimal commas" if decimal == "," else ""
        notes.insert(0, f"{source} is read with {spoken} between columns{mark}.")
    return Dialect(
        delimiter=delimiter,
        decimal=decimal,
        encoding=encoding,
        comments=comments,
        header=has_header,
        names=unique,
        newlines=any("\n" in cell or "\r" in cell for row in rows for cell in row),
        fractions=_fractions(unique, body if has_header else rows, decimal),
        notes=tuple(notes),
    )


def _fractions(names: tuple[str, ...], rows: list[list[str]], decimal: str) -> tuple[str, ...]:
    whole = [row for row in rows if len(row) == len(names)]
    found = []
    for j, name in enumerate(names):
        told = [row[j] for row in whole if row[j].strip() not in MISSING]
        numbers = all(is_number(cell, decimal) for cell in told)
        if numbers and any(not _WHOLE.fullmatch(cell) for cell in told):
            found.append(name)
    return tuple(found)


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell holds a number.

    Examples
    --------
    >>> is_number("-1.5e3"), is_number("1,5"), is_number("1,5", decimal=",")
    (True, False, True)
    """
    if decimal == "," and _COMMA_NUMBER.fullmatch(cell):
        return True
    return _NUMBER.fullmatch(cell) is not None


def _decoded(head: bytes, whole: bool) -> tuple[str, str]:
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return head.decode(encoding, errors="ignore"), encoding
    if not whole:
        head = head[: head.rfind(b"\n") + 1] or head
    try:
        return head.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return head.decode("cp1252", errors="replace"), "cp1252"


def _parsed(lines: list[str], delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter == " "):
            if row:
                rows.append(row)
            if len(rows) > _ROWS:
                break
    except csv.Error:
        pass  # a cell longer than any that a table of numbers has
    return rows or [[""]]


def _delimiter(lines: list[str]) -> str:
    """The candidate that cuts most rows into equally many clean cells."""
    best, found = (0.0, 0), ","
    for candidate in DELIMITERS:
        rows = _parsed(lines, candidate)
        widths = Counter(len(row) for row in rows)
        width, times = widths.most_common(1)[0]
        if width < 2:
            continue
        cells = [cell for row in rows for cell in row]
        clean = sum(_is_clean(cell, candidate) for cell in cells) / len(cells)
        # Spaces stand in text as well: they delimit numbers only.
        if candidate == " " and not all(is_number(cell) for row in rows[1:] for cell in row):
            continue
        score = (round(times / len(rows) * clean, 3), width)
        if score > best:
            best, found = score, candidate
    return found


def _is_clean(cell: str, delimiter: str) -> bool:
    others = [d for d in ",;\t|" if d != delimiter and d in cell]
    return not others or (others == [","] and is_number(cell, ","))


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    """A comma, where cells are numbers with commas and none is one with a point."""
    cells = [cell for row in rows for cell in row]
    commas = any(_COMMA_NUMBER.fullmatch(cell) for cell in cells)
    points = any("." in cell and _NUMBER.fullmatch(cell) for cell in cells)
    # 1,234 between quotes in a file with commas is more likely a thousand than a fraction.
    if delimiter == "," and all(
        re.fullmatch(r"\s*[+-]?\d{1,3}(,\d{3})+\s*", c) for c in cells if _COMMA_NUMBER.fullmatch(c)
    ):
        commas = False
    return "," if commas and not points else "."


def _has_header(first: list[str], body: list[list[str]], decimal: str) -> bool:
    """Whether a column of numbers begins with a text, or nothing in the first row is a number."""

    def told(cell: str) -> bool:
        return cell.strip() not in MISSING and not is_number(cell, decimal)

    if not any(is_number(cell, decimal) for cell in first):
        return any(told(cell) for cell in first)
    below = [row for row in body if len(row) == len(first)]
    for j, cell in enumerate(first):
        column = [row[j] for row in below]
        numbers = sum(is_number(entry, decimal) for entry in column)
        if told(cell) and numbers > len(column) / 2:
            return True
    return False
