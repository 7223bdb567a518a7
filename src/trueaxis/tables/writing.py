"""Columns to a file: the format is what the name ends in."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import numpy as np

from trueaxis.tables.table import Written

STDOUT = "-"
SUFFIXES = (".csv", ".tsv", ".parquet", ".npy")


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Refuse a name that says nothing of a format, before anything is computed.

    Examples
    --------
    >>> check_suffix("scores.doc")
    Traceback (most recent call last):
        ...
    ValueError: scores.doc: its name must end in .csv, .tsv, .parquet or .npy, or be - for CSV ...
    """
    if str(path) != STDOUT and _suffix(path) not in SUFFIXES and not _is_device(path):
        raise ValueError(
            f"{path}: its name must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, or be "
            "- for CSV on standard output."
        )


def write(columns: Written, path: str | os.PathLike[str], like: str | None = None) -> None:
    """Write columns as CSV, TSV, Parquet or .npy.

    Parameters
    ----------
    columns : mapping of str to array or list of str
        The columns by their names. A .npy file takes the numbers only.
    path : path-like
        Where to; "-" is CSV on standard output.
    like : str, optional
        The name whose end says the format, where `path` is a temporary one.

    Examples
    --------
    >>> write({"row": np.array([1, 2]), "pc1": np.array([0.5, -1.0])}, "-")
    row,pc1
    1,0.5
    2,-1
    """
    if str(path) == STDOUT:
        from trueaxis.tables.text import write_csv

        held = io.BytesIO()
        write_csv(columns, held, ",")
        # Bytes, so that names are UTF-8 whatever the terminal's encoding is.
        raw = getattr(sys.stdout, "buffer", None)
        if raw is None:
            sys.stdout.write(held.getvalue().decode("utf-8"))
        else:
            sys.stdout.flush()
            raw.write(held.getvalue())
        sys.stdout.flush()
        return
    suffix = _suffix(like if like is not None else path)
    target = Path(path)
    if suffix == ".npy":
        numbers = [np.asarray(c) for c in columns.values()]
        with open(target, "wb") as opened:
            np.save(opened, np.column_stack([c for c in numbers if c.dtype.kind == "f"]))
        return
    from trueaxis.tables import arrow, text

    with open(target, "wb") as opened:
        if suffix == ".parquet":
            arrow.write_parquet(columns, opened)
        else:
            text.write_csv(columns, opened, "\t" if suffix == ".tsv" else ",")


def _suffix(path: str | os.PathLike[str]) -> str:
    return Path(path).suffix.lower()


def _is_device(path: str | os.PathLike[str]) -> bool:
    return Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir()
