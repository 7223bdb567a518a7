"""The tables: the most outlying rows, and the settings and versions."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from trueaxis.outliers import KINDS
from trueaxis.report import _words
from trueaxis.report._facts import Facts, OutlyingRow
from trueaxis.report._markup import Html, join, tag
from trueaxis.report._numbers import count, number, percent

_PACKAGES = ("trueaxis", "numpy", "scipy", "scikit-learn")
_LONGEST_VALUE = 300


def rows(facts: Facts) -> Html:
    """The most outlying rows, with the columns responsible; a click on a heading sorts."""
    name = "row" if facts.has_ids else "row, from 0"
    heads = [
        (name, "text"),
        ("times the cut-off", "number"),
        ("columns responsible", None),
        ("kind", "text"),
        ("score distance", "number"),
        ("orthogonal distance", "number"),
    ]
    head = [
        tag(
            "th",
            tag("button", text, type="button") if sort else text,
            scope="col",
            class_="number" if sort == "number" else None,
            data_sort=sort,
            aria_sort=None if not sort else "descending" if text.startswith("times") else "none",
        )
        for text, sort in heads
    ]
    table = tag(
        "table",
        tag("thead", tag("tr", head)),
        tag("tbody", [_line(row) for row in facts.top]),
        class_="outliers",
        id="outliers",
    )
    region = tag(
        "div",
        table,
        class_="wide tall",
        tabindex="0",
        role="region",
        aria_label="Table of the most outlying rows",
    )
    return join(tag("p", _rows_caption(facts)), region)


def _rows_caption(facts: Facts) -> str:
    n, listed = facts.n_flagged, len(facts.top)
    if n > listed:
        text = f"The {listed} rows farthest beyond the cut-offs, of {n:,} beyond one."
    elif n == 0:
        text = f"No row is beyond a cut-off; these {listed} come nearest."
    else:
        text = f"The {count(n, 'row')} beyond a cut-off"
        text += f", and the {listed - n} that come nearest." if listed > n else "."
    return (
        f"{text} Sort by a click on a heading. For each row the columns with the largest share of "
        "the distance that is the larger multiple of its cut-off, with the value found and the one "
        "that the axes expect."
    )


def _line(row: OutlyingRow) -> Html:
    blames = [
        tag(
            "li",
            tag("bdi", blame.column, class_="column"),
            " ",
            tag("span", percent(blame.share), class_="share", style=f"--share:{blame.share:.3f}"),
            " ",
            tag("span", _words.blamed(blame), class_="found"),
        )
        for blame in row.blames
    ]
    chip = tag("span", row.kind, class_=f"chip chip{KINDS.index(row.kind)}")
    cells = [
        tag("th", tag("bdi", row.label), scope="row", data_value=row.label),
        _measured(row.excess),
        tag("td", tag("ul", blames, class_="blames")),
        tag("td", chip, data_value=row.kind),
        _measured(row.score),
        _measured(row.orthogonal),
    ]
    return tag("tr", cells, data_row=row.index)


def _measured(value: float) -> Html:
    return tag("td", number(value), class_="number", data_value=repr(float(value)))


def settings(facts: Facts, source: str | None, command: str | Sequence[str] | None) -> Html:
    """What it takes to repeat the fit."""
    parts: list[Html] = []
    if command is not None:
        text = command if isinstance(command, str) else shlex.join(command)
        parts += [tag("p", "The command:"), tag("pre", tag("code", text), tabindex="0")]
    name = type(facts.model).__name__
    parts += [
        tag("p", "The model in Python:"),
        tag(
            "pre",
            tag("code", f"from trueaxis import {name}\nmodel = {_call(facts.model)}.fit(X)"),
            tabindex="0",
        ),
    ]
    lines = [("rows", f"{facts.n:,}"), ("columns", f"{facts.m:,}")]
    if source:
        lines.insert(0, ("source", source))
    lines += [(key, _value(value)) for key, value in facts.model.get_params(deep=False).items()]
    versions = [(package, version(package)) for package in _PACKAGES]
    versions += [("Python", platform.python_version()), ("platform", platform.platform())]
    return join(
        parts,
        tag(
            "div",
            _definitions("All settings", lines),
            _definitions("Versions", versions),
            class_="columns",
        ),
    )


def _definitions(title: str, lines: Sequence[tuple[str, str]]) -> Html:
    rows = [
        tag("tr", tag("th", key, scope="row"), tag("td", tag("bdi", value))) for key, value in lines
    ]
    return tag("table", tag("caption", title), tag("tbody", rows), class_="settings")


def _value(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _call(model: Any) -> str:
    defaults = type(model)().get_params(deep=False)
    changed = [
        f"{key}={_value(value)}"
        for key, value in model.get_params(deep=False).items()
        if isinstance(value, np.ndarray) or repr(value) != repr(defaults[key])
    ]
    return f"{type(model).__name__}({', '.join(changed)})"
