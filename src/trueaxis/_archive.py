"""The archive of a model: its stamp, and what is refused before anything in it is built."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

FORMAT = 1
STAMP, _KIND = "trueaxis.json", "trueaxis model"
_STAMP_BYTES = 1 << 16
_MOST_BYTES = 1 << 33  # that the parts of an archive may unpack to
_INFLATED = 200  # times its size that a packed part may have, where it is large
_LARGE = 1 << 24
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "skops")


@dataclass(frozen=True)
class Stamp:
    """What wrote a model.

    Parameters
    ----------
    format : int
        Version of the file's format.
    versions : dict of str to str
        Versions of trueaxis and of the libraries under it.
    created : str
        When, in ISO 8601.
    """

    format: int
    versions: dict[str, str]
    created: str


class NotAModelError(ValueError):
    """The file is no model of trueaxis, is damaged, or holds what is not to be trusted."""


def stamped(archive: bytes) -> memoryview:
    """An archive with a stamp of now and of what is installed here."""
    told = {
        "kind": _KIND,
        "format": FORMAT,
        "versions": {name: version(name) for name in ("trueaxis", *_LIBRARIES)},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    held = io.BytesIO(archive)
    with zipfile.ZipFile(held, "a") as opened:
        opened.writestr(STAMP, json.dumps(told, indent=1))
    return held.getbuffer()


def looks_like_a_model(path: str) -> bool:
    """Whether a file looks like a model of ours, be it damaged: told from its name and stamp.

    Parameters
    ----------
    path : path-like
        Any file.

    Returns
    -------
    bool
    """
    if Path(path).suffix.lower() == ".skops":
        return True
    try:
        with zipfile.ZipFile(path) as archive:
            return STAMP in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def checked(path: Any) -> tuple[bytes, Stamp]:
    """The bytes of a file whose stamp is ours and whose parts are whole."""
    if Path(path).is_dir():
        raise NotAModelError(f"{path} is a folder; give the name of a model in it.")
    held = Path(path).read_bytes()
    if not held.startswith(b"PK"):
        pickled = held.startswith((b"\x80", b"ccopy_reg", b"cos\n", b"(dp", b"(lp"))
        raise NotAModelError(
            f"{path} is not a model of trueaxis"
            + (
                ", but a pickle, which could run code: it is not opened."
                if pickled
                else "; `trueaxis fit ... --model` writes one."
            )
        )
    try:
        with zipfile.ZipFile(io.BytesIO(held)) as archive:
            found = _stamp(archive, path)
            _refuse_bombs(archive, path)
            broken = archive.testzip()
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise NotAModelError(
            f"{path} is damaged or was cut short ({error}). Copy it again, or fit the model anew."
        ) from error
    if broken is not None:
        raise NotAModelError(
            f"{path} is damaged: its part {broken} is not what was written. Copy it again, or fit "
            "the model anew."
        )
    return held, found


def _stamp(archive: zipfile.ZipFile, path: Any) -> Stamp:
    parts = {part.filename: part for part in archive.infolist()}
    if len(parts) != len(archive.infolist()):
        raise NotAModelError(f"{path} is refused: it holds two parts of one name.")
    if STAMP not in parts:
        what = "a model of skops" if "schema.json" in parts else "a zip archive"
        raise NotAModelError(
            f"{path} is {what}, but none that trueaxis wrote: its stamp {STAMP} is missing."
        )
    if parts[STAMP].file_size > _STAMP_BYTES:
        raise NotAModelError(f"{path} is refused: its stamp is no stamp of trueaxis.")
    try:
        read = json.loads(archive.read(STAMP))
        kind, number = read["kind"], read["format"]
        versions = {str(name): str(v) for name, v in read["versions"].items()}
        created = str(read["created"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotAModelError(f"{path} is damaged: its stamp cannot be read.") from error
    if kind != _KIND or not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise NotAModelError(f"{path} is not a model of trueaxis: its stamp says {kind!r}.")
    if number > FORMAT:
        raise NotAModelError(
            f"{path} was written by trueaxis {versions.get('trueaxis', '(unknown)')} in format "
            f"{number}, and this is trueaxis {version('trueaxis')}, which reads up to format "
            f"{FORMAT}. Install a newer trueaxis."
        )
    return Stamp(number, versions, created)


def _refuse_bombs(archive: zipfile.ZipFile, path: Any) -> None:
    """Refuse parts that unpack to much more than a model holds."""
    parts = archive.infolist()
    swollen = any(
        p.file_size > _LARGE and p.file_size > _INFLATED * max(p.compress_size, 1) for p in parts
    )
    if swollen or sum(p.file_size for p in parts) > _MOST_BYTES:
        raise NotAModelError(f"{path} is refused: it unpacks to more than a model can hold.")
