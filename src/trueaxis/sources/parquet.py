"""Rows of Parquet files, read by pyarrow."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trueaxis._typing import Array
from trueaxis.sources.base import partition
from trueaxis.sources.sliced import rows_at_once
from trueaxis.sources.stream import StreamSource

_SUFFIXES = (".parquet", ".pq")


class ParquetSource(StreamSource):
    """Rows of a Parquet file, or of all Parquet files in a folder, in the order of their names.

    Row groups are read one after another, large ones in parts. A folder may be nested; names that
    begin with a dot or an underscore are left out, as others do. The columns' names become the
    estimator's ``feature_names_in_``.

    Parameters
    ----------
    path : str or Path
        A file or a folder.
    columns : sequence of str, optional
        Names of the columns to be used, in this order; all of them by default, in the order of the
        first file. Each must hold numbers.

    Examples
    --------
    >>> import tempfile, pathlib, pandas as pd
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.sources import ParquetSource
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "rows.parquet"
    ...     frame = pd.DataFrame({"key": list("abcd"), "x": [0.0, 1, 2, 3], "y": [0.0, 2, 4, 6]})
    ...     frame.to_parquet(path)
    ...     pca = RobustPCA(1).fit(ParquetSource(path, columns=["x", "y"]))
    >>> pca.feature_names_in_.tolist()
    ['x', 'y']
    """

    def __init__(self, path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> None:
        self.place = repr(os.fspath(path))
        files = _files_in(Path(path))
        if isinstance(columns, str):
            raise TypeError(f"columns={columns!r} is one name; pass a list of names.")
        if columns is not None and len(set(columns)) < len(list(columns)):
            raise ValueError(f"columns={list(columns)!r} holds a name twice.")
        first = _open(files[0])
        with first:
            wanted = list(first.schema_arrow.names if columns is None else columns)
        self._parts: list[tuple[Path, int, slice]] = []
        pa = _arrow()
        types: list[Any] = []
        for file in files:
            with _open(file) as opened:
                types += _types_of(file, opened.schema_arrow, wanted, files[0], columns is None)
                for group in range(opened.num_row_groups):
                    size = opened.metadata.row_group(group).num_rows
                    step = rows_at_once(8 * len(wanted))
                    self._parts += [(file, group, part) for part in partition(size, step)]
        self._files, self._wanted = files, wanted
        self._schema = pa.schema([pa.field(name, pa.float64()) for name in wanted])
        self.names = np.asarray(wanted, dtype=object)
        single = all(kind == pa.float32() for kind in types)
        sizes = [part.stop - part.start for _, _, part in self._parts]
        super().__init__(sizes, len(wanted), np.dtype(np.float32 if single else np.float64))

    @property
    def header(self) -> Any:
        """An empty table with the names of the columns."""
        return self._schema.empty_table()

    def block_name(self, number: int) -> str:
        """The file, the row group and its rows."""
        file, group, part = self._parts[number]
        rows = f"rows {part.start} to {part.stop - 1} of row group {group}"
        return f"{rows} of {file.name!r} (block {number})"

    def _read(self) -> Generator[Any, None, None]:
        pa, remaining = _arrow(), iter(self._parts)
        for file in self._files:
            number_of = sum(1 for part in self._parts if part[0] == file)
            try:
                with _open(file) as opened:
                    yield from self._blocks_of(opened, [next(remaining) for _ in range(number_of)])
            except (pa.ArrowException, OSError) as error:
                raise OSError(
                    f"{str(file)!r} cannot be read: {_first_line(error)}. It may be truncated or "
                    "damaged, or have changed during the fit."
                ) from error

    def _blocks_of(self, opened: Any, parts: list[tuple[Path, int, slice]]) -> Iterator[Array]:
        """The parts of one file, each as an array."""
        groups: dict[int, list[slice]] = {}
        for _, group, part in parts:
            groups.setdefault(group, []).append(part)
        for group, slices in groups.items():
            # Batches end where their group does, or what holds a column does.
            batches = opened.iter_batches(
                slices[0].stop, row_groups=[group], columns=self._wanted, use_threads=False
            )
            yield from _regrouped((self._array(batch) for batch in batches), slices)

    def _array(self, batch: Any) -> Array:
        """The columns side by side in rows; where there is no value, NaN."""
        pa, rows = _arrow(), np.empty((batch.num_rows, len(self._wanted)), self.dtype)
        for j, name in enumerate(self._wanted):
            values = batch.column(name)
            if values.null_count:
                values = values.cast(pa.float64())
            rows[:, j] = values.to_numpy(zero_copy_only=False)
        return rows


def _regrouped(arrays: Iterable[Array], slices: list[slice]) -> Iterator[Array]:
    """The same rows in pieces of these sizes."""
    held: list[Array] = []
    count, wanted = 0, iter(slices)
    size = _size(next(wanted))
    for array in arrays:
        rest = array
        while len(rest):
            piece, rest = rest[: size - count], rest[size - count :]
            held.append(piece)
            count += len(piece)
            if count == size:
                yield held[0] if len(held) == 1 else np.concatenate(held)
                held, count = [], 0
                size = _size(next(wanted, slice(0, 1 << 62)))
    if held:
        yield np.concatenate(held)


def _size(part: slice) -> int:
    return int(part.stop - part.start)


def _arrow() -> Any:
    """The library, which takes a while to import."""
    try:
        from trueaxis._arrow import pyarrow
    except ImportError as error:
        raise ImportError(
            "Reading Parquet needs pyarrow; install it with: pip install 'trueaxis[parquet]'"
        ) from error
    return pyarrow


def _files_in(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    inside = sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() in _SUFFIXES
        and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
    )
    if not inside:
        raise FileNotFoundError(f"The folder {str(path)!r} holds no .parquet files.")
    return inside


def _open(file: Path) -> Any:
    pa = _arrow()
    from trueaxis._arrow import parquet

    try:
        return parquet().ParquetFile(file, memory_map=False, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(
            f"{str(file)!r} is no Parquet file, or truncated: {_first_line(error)}. "
            "Write it again, or take it out of its folder."
        ) from error


def _types_of(file: Path, schema: Any, wanted: list[str], first: Path, every: bool) -> list[Any]:
    """The types of the columns in one file, if they are there and hold numbers."""
    absent = [name for name in wanted if name not in schema.names]
    if absent:
        which = ", ".join(repr(name) for name in absent)
        other = f", which {first.name!r} has" if every else ""
        raise ValueError(
            f"{str(file)!r} has no column {which}{other}; it has "
            f"{', '.join(map(repr, schema.names[:20]))}. Write that file again, or name the "
            "columns to be used: ParquetSource(path, columns=[...])."
        )
    further = [name for name in schema.names if name not in wanted]
    if every and further:
        which = ", ".join(repr(name) for name in further)
        raise ValueError(
            f"{str(file)!r} has a column {which}, which {first.name!r} has not. Name the columns "
            "to be used: ParquetSource(path, columns=[...])."
        )
    pa = _arrow()
    for name in wanted:
        kind = schema.field(name).type
        if not (
            pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
            or pa.types.is_boolean(kind)
            or pa.types.is_decimal(kind)
        ):
            raise ValueError(
                f"Column {name!r} of {str(file)!r} holds {kind}, not numbers. Name the columns to "
                "be used: ParquetSource(path, columns=[...])."
            )
    return [schema.field(name).type for name in wanted]


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
