"""Scree, loadings and convergence."""

from __future__ import annotations

import numpy as np

from trueaxis._drawing import excess
from trueaxis._typing import Float64Array
from trueaxis.report._chart import BOTTOM, HEIGHT, Frame, place
from trueaxis.report._chart import svg as chart
from trueaxis.report._facts import Facts
from trueaxis.report._markup import Html, join, tag
from trueaxis.report._numbers import count, number, percent

MOST_BARS = 20
MOST_LOADINGS, MOST_LOADED_AXES = 30, 8
_MOST_PROFILES, _MOST_PLACES = 4, 500
MANY_COLUMNS = 40


def scree(facts: Facts) -> Html:
    """The robust variance along each axis, as a share of the whole."""
    shares = np.asarray(facts.axes.explained_variance_ratio_, dtype=np.float64)[:MOST_BARS]
    top = max(float(shares.max(initial=0.0)), 1e-12) * 100
    frame = Frame.of((0.4, len(shares) + 0.6), (0.0, 1.12 * top), ("axis", "% of the variance"))
    width = min(0.7 * float(frame.x(1.0) - frame.x(0.0 + 0.4)) / 0.6, 60.0)
    every = 1 if len(shares) <= 10 else 2
    bars = []
    for j, share in enumerate(shares, start=1):
        x, y = float(frame.x(float(j))), float(frame.y(100 * share))
        bars.append(
            tag(
                "rect",
                class_="bar",
                x=place(x - width / 2),
                y=place(y),
                width=place(width),
                height=place(HEIGHT - BOTTOM - y),
            )
        )
        if len(shares) <= 8:
            bars.append(
                tag(
                    "text",
                    percent(share).removesuffix(" %"),
                    x=place(x),
                    y=place(y - 7),
                    text_anchor="middle",
                )
            )
    ticks = [(float(j), str(j)) for j in range(1, len(shares) + 1, every)]
    label = "Scree: " + ", ".join(
        f"axis {j} {percent(share)}" for j, share in enumerate(shares, start=1)
    )
    return chart(frame.axes(ticks), bars, label=label)


def convergence(facts: Facts) -> Html:
    """How far the objective was above its minimum, before and after every update."""
    above = excess(facts.axes)
    updates = np.arange(len(above), dtype=np.float64)
    # Three powers of ten at the least: where nothing falls, the line shall look level.
    high = np.ceil(np.log10(above.max()))
    low = min(np.floor(np.log10(above.min())), high - 3)
    frame = Frame.of(
        (-0.02 * max(len(above) - 1, 1), 1.02 * max(len(above) - 1, 1)),
        (10.0**low, 10.0**high),
        ("updates", "excess over the minimum, log"),
        (False, True),
    )
    step = max(1, -(-len(above) // 6))
    ticks = [(float(j), f"{j:,}") for j in range(0, len(above), step)]
    dots = [
        tag("circle", cx=place(x), cy=place(y), r=3.2)
        for x, y in zip(frame.x(updates), frame.y(above), strict=True)
    ]
    return chart(
        frame.axes(ticks),
        frame.line(updates, above, "series0"),
        tag("g", dots if len(dots) <= 60 else [], class_="series0 solid"),
        label=f"The relative excess of the objective over {count(len(above) - 1, 'update')}, "
        f"from {number(above[0], 2)} to {number(above[-1], 2)}.",
    )


def profiles(facts: Facts) -> Html:
    """Loadings of the first axes over the columns in their order, where these are many."""
    W = np.asarray(facts.axes.components_[:_MOST_PROFILES], dtype=np.float64)
    size = float(np.abs(W).max()) * 1.08
    frame = Frame.of((0.0, W.shape[1] - 1.0), (-size, size), ("column, in order", "loading"))
    lines = [_profile(w, frame, f"series{j}") for j, w in enumerate(W)]
    keys = [
        tag(
            "li",
            tag(
                "svg",
                tag("path", class_=f"line series{j}", d="M0 7L26 7"),
                viewBox="0 0 26 14",
                class_="dash",
                aria_hidden="true",
            ),
            f"axis {j + 1}",
        )
        for j in range(len(W))
    ]
    picture = chart(
        frame.axes(), lines, label=f"Loadings of {len(W)} axes over {W.shape[1]} columns."
    )
    return join(picture, tag("ul", keys, class_="legend"))


def _profile(w: Float64Array, frame: Frame, class_: str) -> Html:
    """A line over the columns; where these are closer than the page can show, their extremes."""
    places = np.arange(len(w), dtype=np.float64)
    if len(w) > 2 * _MOST_PLACES:
        parts = np.array_split(np.arange(len(w)), _MOST_PLACES)
        kept = np.unique([i for p in parts for i in (p[w[p].argmin()], p[w[p].argmax()])])
        places, w = places[kept], w[kept]
    return frame.line(places, w, class_)


def loadings(facts: Facts) -> Html:
    """A table of the columns that the axes run along most."""
    W = np.asarray(facts.axes.components_[:MOST_LOADED_AXES], dtype=np.float64)
    if W.shape[1] <= MOST_LOADINGS:
        chosen = np.arange(W.shape[1])
    else:
        chosen = np.sort(np.argsort(-np.abs(W).max(axis=0), kind="stable")[:MOST_LOADINGS])
    size = float(np.abs(W).max()) or 1.0
    head = tag(
        "tr",
        tag("th", "column", scope="col"),
        [tag("th", f"axis {j + 1}", scope="col", class_="number") for j in range(len(W))],
    )
    body = [
        tag(
            "tr",
            tag("th", tag("bdi", facts.columns[j]), scope="row"),
            [
                tag(
                    "td",
                    number(w, 3) if abs(w) >= 5e-4 else "0",
                    class_=f"number heat {'up' if w > 0 else 'down'}",
                    style=f"--heat:{abs(w) / size:.2f}",
                )
                for w in W[:, j]
            ],
        )
        for j in chosen.tolist()
    ]
    table = tag("table", tag("thead", head), tag("tbody", body), class_="loadings")
    return tag(
        "div", table, class_="wide", tabindex="0", role="region", aria_label="Table of loadings"
    )
