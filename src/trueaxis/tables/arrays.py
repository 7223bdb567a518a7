"""NumPy's own files: .npy and .npz. Pickled objects in them are never loaded."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trueaxis._typing import Array, Float64Array
from trueaxis.tables.table import Kind, Table, numbered


@dataclass(frozen=True)
class ArrayColumns:
    """Columns of a matrix."""

    matrix: Array

    @property
    def names(self) -> tuple[str, ...]:
        """x1, x2, and so on."""
        return numbered(self.matrix.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.matrix)

    def kind(self, name: str) -> Kind:
        """Numbers, all of them."""
        return "number"

    def numbers(self, names: tuple[str, ...]) -> Float64Array:
        """Columns side by side as float64."""
        if names == self.names:
            return np.ascontiguousarray(self.matrix, dtype=np.float64)
        return np.ascontiguousarray(self.matrix[:, self._places(names)], dtype=np.float64)

    def labels(self, name: str) -> list[str]:
        """A column as text."""
        return [f"{entry:.15g}" for entry in self.matrix[:, self._places((name,))[0]]]

    def not_a_number(self, name: str) -> tuple[int, str, int] | None:
        """None: all are."""
        return None

    def _places(self, names: tuple[str, ...]) -> list[int]:
        place = {name: j for j, name in enumerate(self.names)}
        return [place[name] for name in names]


def read_npy(data: Path | bytes, source: str) -> Table:
    """A matrix in a .npy file, mapped rather than read where it is on disk."""
    try:
        if isinstance(data, bytes):
            array = np.load(io.BytesIO(data), allow_pickle=False)
        else:
            array = np.load(data, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{source} cannot be read: {_reason(error)}") from error
    return Table(source, ArrayColumns(_matrix(array, source)), named=False)


def read_npz(data: Path | bytes, source: str, key: str | None = None) -> Table:
    """A matrix in a .npz file: the one named, "X", or the only one."""
    try:
        # NumPy would leave a file open that is no archive.
        with (
            io.BytesIO(data) if isinstance(data, bytes) else open(data, "rb") as opened,
            np.load(opened, allow_pickle=False) as held,
        ):
            name = key if key is not None else _only_matrix(held, source)
            if name not in held.files:
                raise ValueError(
                    f"{source} has no array {name!r}; it holds {', '.join(map(repr, held.files))}."
                )
            try:
                array = held[name]
            except ValueError as error:
                raise ValueError(f"{source}: {name!r} cannot be read: {_reason(error)}") from error
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{source} is not a whole .npz file: {error}") from error
    notes = () if key is not None or name == "X" else (f"{source}: the array {name!r} is read.",)
    return Table(source, ArrayColumns(_matrix(array, f"{source}: {name!r}")), notes, named=False)


def _only_matrix(held: Any, source: str) -> str:
    if "X" in held.files:
        return "X"
    shapes = {}
    for name in held.files:
        try:
            array = held[name]
        except ValueError:
            continue  # pickled objects
        if array.ndim == 2 and array.dtype.kind in "biuf":
            shapes[name] = array.shape
    if len(shapes) == 1:
        return str(next(iter(shapes)))
    found = ", ".join(f"{name!r} {n} x {m}" for name, (n, m) in shapes.items())
    raise ValueError(
        f"{source} holds {'several matrices: ' + found if shapes else 'no matrix of numbers'}"
        + ("; name one with --table." if shapes else ".")
    )


def _matrix(array: Array, source: str) -> Array:
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{source} holds entries of type {array.dtype}; a matrix of real numbers is needed."
        )
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(
            f"{source} has {array.ndim} dimensions, {' x '.join(map(str, array.shape))}; a matrix "
            "of rows and columns is needed: reshape it to one row an observation."
        )
    return array


def _reason(error: Exception) -> str:
    text = str(error)
    if "pickle" in text or "Python objects" in text:
        return "it holds pickled Python objects, which could run code and are not loaded."
    return text or "it is damaged."
