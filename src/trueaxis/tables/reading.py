"""Which reader a file needs: told from what it begins with, or its name."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from trueaxis.tables.table import EMPTY, Table

STDIN = "-"
_PARQUET, _NPY, _ZIP, _OLE = b"PAR1", b"\x93NUMPY", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"


def read(
    path: str | os.PathLike[str],
    *,
    part: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Table:
    r"""Read a table, whatever its format.

    Parameters
    ----------
    path : path-like
        The file; "-" is standard input.
    part : str, optional
        The sheet of a workbook or the array of a .npz file; by default the only one.
    delimiter : str, optional
        What stands between the columns of a text file; by default it is told from the first rows.
    header : bool, optional
        Whether the first row of a text file or sheet is names; by default that is told too.

    Returns
    -------
    Table

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = path.write_text("name,width,height\nann,1,2\nbob,3,4\n", encoding="utf-8")
    >>> table = read(path)
    >>> len(table), table.names
    (2, ('name', 'width', 'height'))
    >>> table.columns.numbers(("height", "width"))
    array([[2., 1.],
           [4., 3.]])
    """
    if not str(path):
        raise ValueError("The name of the table is empty.")
    source = "standard input" if str(path) == STDIN else str(path)
    data: Path | bytes
    if str(path) == STDIN:
        data = sys.stdin.buffer.read()
        first, suffix = data[:8], ""
    else:
        data = Path(path)
        if data.is_dir():
            raise ValueError(f"{source} is a folder; give the name of one file.")
        once = not data.is_file()  # a pipe, such as a shell's <(...)
        with open(data, "rb") as opened:
            first = opened.read(-1 if once else 8)
        if once:
            data, first = first, first[:8]
        suffix = Path(path).suffix.lower()
    if not first:
        raise ValueError(EMPTY.format(source))
    if first.startswith(_OLE) or suffix in {".xls", ".xlsb", ".ods"}:
        raise ValueError(f"{source} is of a kind that is not read; save it as .xlsx or CSV.")
    if part is not None and not first.startswith(_ZIP):
        raise ValueError(f"{source} holds one table only, and no {part!r}: leave out --table.")
    if first.startswith(_NPY):
        from trueaxis.tables.arrays import read_npy

        return read_npy(data, source)
    if first.startswith(_ZIP):
        if suffix == ".npz" or (suffix not in {".xlsx", ".xlsm"} and not _is_workbook(data)):
            from trueaxis.tables.arrays import read_npz

            return read_npz(data, source, part)
        from trueaxis.tables.excel import read_excel

        return read_excel(data, source, part, header)
    if suffix in {".npy", ".npz", ".xlsx", ".xlsm"}:
        raise ValueError(f"{source} is not a {suffix} file, whatever its name says.")
    if first.startswith(_PARQUET) or suffix in {".parquet", ".pq"}:
        from trueaxis.tables.arrow import read_parquet

        return read_parquet(data, source)
    from trueaxis.tables.text import read_csv

    return read_csv(data, source, delimiter=delimiter, header=header)


def _is_workbook(data: Path | bytes) -> bool:
    import io
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data) if isinstance(data, bytes) else data) as archive:
            return "[Content_Types].xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False
