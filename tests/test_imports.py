"""The import rule of the design, read from the import statements themselves."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import trueaxis

PACKAGE = Path(trueaxis.__file__).parent
ROOT = "trueaxis"
TOP = "__init__"

# Lower layers first. A module may import its own layer and those before it, unless ONLY says less.
LAYERS = (
    {"_typing", "_kernels", "_arrow", "_device", "_gaps", "_files", "_archive", "_schema"},
    {"tables"},
    {"_subspace", "_moments", "_linalg", "losses", "_products", "_threads"},
    {"_univariate", "testing"},
    {"_mcd"},
    {"outliers"},
    {"_sweep", "_sweep_l1", "_curvature"},
    {"sources", "video"},
    {"solvers"},
    {"starts", "datasets"},
    {"weighers", "multistart"},
    {"estimators"},
    {"pursuit"},
    {TOP},
    {"outlier_map", "_drawing"},
    {"contributions"},
    {"preparation"},
    {"table_model", "comparison"},
    {"persistence"},
    {"plots", "demo", "report"},
    {"cli"},
)
ONLY = {
    # A source knows where rows live and nothing of the mathematics.
    "sources": {"_typing", "_threads", "_arrow", "_device", "_gaps"},
    # A table is read without any of it, and without waiting for it.
    "tables": {"_typing", "_arrow"},
    # A video is frames, light and outlines; it has its own losses and needs no estimator.
    "video": {"_typing", "_threads", "_files"},
    # A solver sees an `evaluate` function: no data, and no loss.
    "solvers": {"_typing", "_subspace", "_moments", "_linalg"},
}
COMPILED = {"_kernels"}
# Optional dependencies, the compiled part among them, and the one file or room that imports each.
SOLE_USER = {
    "matplotlib": "plots",
    "array_api_compat": "_device.py",
    "typer": "cli",
    "rich": "cli",
    "pyarrow": "_arrow.py",
    "openpyxl": "tables/excel.py",
    "skops": "persistence.py",
    "PIL": "video/_images.py",
    "imageio": "video/_movies.py",
    "av": "video/_movies.py",
    "dask": "sources/dask",
    "distributed": "sources/dask",
    f"{ROOT}._kernels": "_products/dense.py",
}
MOST_LINES = 320

SOURCES = sorted(PACKAGE.rglob("*.py"))
RANK = {unit: rank for rank, layer in enumerate(LAYERS) for unit in layer}


def unit_of(path: Path) -> str:
    """The entry of LAYERS that a file belongs to: a module or a folder next to __init__.py."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> list[tuple[int, str]]:
    """Line and absolute dotted name of all that a file imports, inside functions as well.

    ``from a.b import c`` counts as a.b.c, whether c is a module or a name in a.b.
    """
    package = (ROOT, *path.relative_to(PACKAGE).parent.parts)
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            found += [(node.lineno, ".".join([*base, alias.name])) for alias in node.names]
    return found


def imported_units(path: Path) -> list[tuple[int, str]]:
    """Line and entry of LAYERS of what a file imports from this package."""
    units = []
    for line, name in imports_of(path):
        parts = name.split(".")
        if parts[0] == ROOT:
            # A name that is no module, as in `from trueaxis import RobustPCA`, is the top's.
            is_module = len(parts) > 1 and parts[1] in RANK
            units.append((line, parts[1] if is_module else TOP))
    return units


def allowed(unit: str) -> set[str]:
    if unit in ONLY:
        return ONLY[unit] | {unit}
    return {other for other, rank in RANK.items() if rank <= RANK[unit]}


def where(path: Path, line: int) -> str:
    return f"{path.relative_to(PACKAGE)}:{line}"


def test_every_file_has_a_layer_and_every_layer_its_files() -> None:
    assert {unit_of(path) for path in SOURCES} == set(RANK) - COMPILED


def test_imports_point_down() -> None:
    wrong = [
        f"{where(path, line)}: {unit_of(path)} may not import {other}"
        for path in SOURCES
        for line, other in imported_units(path)
        if other not in allowed(unit_of(path))
    ]
    assert not wrong, "\n".join(wrong)


def test_an_optional_dependency_is_imported_in_one_place_only() -> None:
    wrong = [
        f"{where(path, line)}: {name} belongs in {user}"
        for path in SOURCES
        for line, name in imports_of(path)
        for dependency, user in SOLE_USER.items()
        if f"{name}.".startswith(f"{dependency}.") and PACKAGE / user not in (path, *path.parents)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_file_is_short() -> None:
    lengths = {
        path.relative_to(PACKAGE): len(path.read_text(encoding="utf-8").splitlines())
        for path in PACKAGE.rglob("*")
        if path.suffix in {".py", ".c", ".h"}
    }
    assert not {path: n for path, n in lengths.items() if n > MOST_LINES}


def test_the_import_reader_sees_every_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is only as good as the reader: each way to write an import is one it must see."""
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    path = tmp_path / "solvers" / "cheat.py"
    path.parent.mkdir()
    path.write_text(
        "import trueaxis.sources.dense\n"
        "from trueaxis import losses\n"
        "from trueaxis.starts import plain\n"
        "from ..estimators import RobustPCA\n"
        "from .. import _sweep\n"
        "from . import driver\n"
        "def later():\n"
        "    from trueaxis import RobustPCA\n"
        "    import numpy as np\n",
        encoding="utf-8",
    )
    assert unit_of(path) == "solvers"
    assert sorted(imported_units(path)) == [
        (1, "sources"),
        (2, "losses"),
        (3, "starts"),
        (4, "estimators"),
        (5, "_sweep"),
        (6, "solvers"),
        (8, TOP),
    ]
    assert [other for _, other in sorted(imported_units(path)) if other in allowed("solvers")] == [
        "solvers"
    ]


@pytest.mark.parametrize("name", trueaxis.__all__)
def test_a_public_name_exists_and_is_documented(name: str) -> None:
    thing = getattr(trueaxis, name)
    if isinstance(thing, str):
        return
    text = inspect.getdoc(thing)
    assert text, f"{name} has no docstring"
    if inspect.ismodule(thing):
        return
    assert "\nParameters\n----------" in text
    assert "\nExamples\n--------" in text
    assert ">>> " in text


def test_public_names_are_sorted_and_importable_by_star() -> None:
    assert sorted(trueaxis.__all__) == list(trueaxis.__all__)
    names: dict[str, object] = {}
    exec("from trueaxis import *", names)
    assert set(trueaxis.__all__) <= set(names)
