"""The page: sections in order, with style and script inside."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.resources import files
from itertools import combinations
from typing import Any

from trueaxis.outliers import KINDS
from trueaxis.report import _curves, _points, _tables, _words
from trueaxis.report._facts import Facts
from trueaxis.report._markup import Html, join, json_script, tag


def page(
    facts: Facts,
    title: str | None,
    source: str | None,
    command: str | Sequence[str] | None,
    warnings: Iterable[Any],
) -> Html:
    """The whole document."""
    heading = title or (f"Robust PCA of {source}" if source else "Robust PCA report")
    style, script = _resource("page.css"), _resource("page.js")
    sections = [
        ("summary", "In short", _summary(facts, source)),
        ("warnings", "Warnings", _warnings(warnings)),
        ("map", "Outlier map", _map(facts)),
        ("rows", "Most outlying rows", _tables.rows(facts)),
        ("scores", "Scores", _scores(facts)),
        (
            "scree",
            "Variance along the axes",
            _figure(_curves.scree(facts), _words.scree_caption(facts)),
        ),
        ("loadings", "Loadings", _loadings(facts)),
        ("convergence", "Convergence", _convergence(facts)),
        ("settings", "Settings and versions", _tables.settings(facts, source, command)),
    ]
    links = [tag("li", tag("a", name, href=f"#{key}")) for key, name, _ in sections]
    body = [tag("section", tag("h2", name), content, id=key) for key, name, content in sections]
    document = tag(
        "html",
        tag(
            "head",
            tag("meta", charset="utf-8"),
            _policy(script),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("meta", name="generator", content=f"trueaxis {version('trueaxis')}"),
            tag("link", rel="icon", href="data:,"),
            tag("title", heading),
            tag("style", Html(style)),
        ),
        tag(
            "body",
            tag("a", "Skip to the report", href="#summary", class_="skip"),
            tag("header", tag("h1", heading), tag("nav", tag("ul", links), aria_label="Sections")),
            tag("main", body),
            tag("footer", tag("p", f"Made by trueaxis {version('trueaxis')}.")),
            json_script("points", _points.point_data(facts) | {"kinds": list(KINDS)}),
            tag("script", Html(script)),
        ),
        lang="en",
    )
    return Html("<!DOCTYPE html>\n" + document + "\n")


def _resource(name: str) -> str:
    return files("trueaxis.report").joinpath(name).read_text(encoding="utf-8")


def _policy(script: str) -> Html:
    # Nothing but our own script may run, even if markup from the data ever got through.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return tag("meta", http_equiv="Content-Security-Policy", content=policy)


def _summary(facts: Facts, source: str | None) -> Html:
    short = [tag("p", text, class_="lead") for text in _words.in_short(facts)]
    fitted = [tag("p", text) for text in _words.what_was_fitted(facts)]
    from_where = tag("p", "The rows come from ", tag("bdi", source), ".") if source else None
    return join(short, from_where, fitted)


def _warnings(warnings: Iterable[Any]) -> Html:
    texts = [str(getattr(warning, "message", warning)) for warning in warnings]
    if not texts:
        return tag("p", "The fit gave no warning.")
    return tag("ul", [tag("li", text) for text in texts], class_="warnings")


def _figure(picture: Html, caption: str, *more: Any) -> Html:
    return tag("figure", picture, *more, tag("figcaption", caption))


def _map(facts: Facts) -> Html:
    return join(
        _figure(_points.outlier_map(facts), _words.map_caption(facts), _points.legend(facts)),
        tag("p", _words.shown(facts), class_="note"),
    )


def _scores(facts: Facts) -> Html:
    choice = None
    if facts.scores.shape[1] > 2:
        pairs = combinations(range(facts.scores.shape[1]), 2)
        options = [tag("option", f"axes {a + 1} and {b + 1}", value=f"{a} {b}") for a, b in pairs]
        choice = tag(
            "p", tag("label", "Show ", tag("select", options, id="pair")), class_="control"
        )
    return join(
        choice,
        _figure(_points.scores(facts), _words.scores_caption(facts), _points.legend(facts)),
    )


def _convergence(facts: Facts) -> Html:
    if not hasattr(facts.axes, "history_"):
        return tag("p", _words.convergence(facts.axes))
    return _figure(_curves.convergence(facts), _words.convergence(facts.axes))


def _loadings(facts: Facts) -> Html:
    many = facts.m > _curves.MANY_COLUMNS
    caption = "How much of each column an axis takes: the entries of a direction of length 1. "
    if facts.m > _curves.MOST_LOADINGS:
        caption += (
            f"The table has the {_curves.MOST_LOADINGS} columns with the largest entries of "
            f"{facts.m:,}"
        )
        caption += (
            f", along the first {_curves.MOST_LOADED_AXES} axes."
            if facts.k > _curves.MOST_LOADED_AXES
            else "."
        )
    return join(
        tag("p", caption),
        tag("figure", _curves.profiles(facts)) if many else None,
        _curves.loadings(facts),
    )
