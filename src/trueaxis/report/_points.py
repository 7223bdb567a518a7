"""The two pictures with a point for every row shown: the outlier map, and pairs of scores."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from trueaxis._drawing import core_limits, floor_of, is_long
from trueaxis._typing import Array, Float64Array
from trueaxis.outliers import KINDS
from trueaxis.report._chart import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Frame, circles, place
from trueaxis.report._chart import svg as chart
from trueaxis.report._facts import Facts
from trueaxis.report._markup import Html, escaped, join, tag
from trueaxis.report._numbers import number

RADII = {"regular": 2.6, "good leverage": 4.2, "orthogonal outlier": 4.0, "bad leverage": 4.6}
_MOST_ARROWS = 8
_LETTER = 7.4  # width of a letter of a label, at most nearly


def outlier_map(facts: Facts) -> Html:
    """Score distance against orthogonal distance, with the cut-offs."""
    found = facts.map
    scales = [
        _distance_scale(distances, cutoff)
        for distances, cutoff in zip((found.score, found.orthogonal), found.cutoffs, strict=True)
    ]
    titles = [
        f"{name} distance{' (log scale)' if log else ''}"
        for name, (_, log) in zip(("score", "orthogonal"), scales, strict=True)
    ]
    frame = Frame.of(
        scales[0][0], scales[1][0], (titles[0], titles[1]), (scales[0][1], scales[1][1])
    )
    x, y = place(frame.x(found.score_cutoff)), place(frame.y(found.orthogonal_cutoff))
    cutoffs = [
        tag("line", class_="cutoff", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM),
        tag("line", class_="cutoff", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y),
    ]
    points = _points(
        facts, frame.x(found.score[facts.shown]), frame.y(found.orthogonal[facts.shown])
    )
    return chart(
        frame.axes(),
        cutoffs,
        points,
        class_="points",
        label=(
            f"Outlier map: score distance against orthogonal distance of {len(facts.shown)} rows. "
            "Arrow keys move from row to row, the most outlying first."
        ),
    )


def scores(facts: Facts) -> Html:
    """Scores along two axes, with arrows for the columns that run along them."""
    limits = score_limits(facts)
    Z = facts.scores
    if Z.shape[1] == 1:
        return _single_axis(facts, limits[0])
    pairs = list(combinations(range(Z.shape[1]), 2))
    frames = {
        (a, b): Frame.of(limits[a], limits[b], (_axis_title(facts, a), _axis_title(facts, b)))
        for a, b in pairs
    }
    first = frames[0, 1]
    below = [_of_pair(pair, frame.axes(), "frame") for pair, frame in frames.items()]
    above = [
        _of_pair(pair, _arrows(facts, *pair, frame), "arrows") for pair, frame in frames.items()
    ]
    return chart(
        below,
        _points(facts, first.x(Z[:, 0]), first.y(Z[:, 1])),
        above,
        class_="points scores",
        label=(
            f"Scores of {len(facts.shown)} rows along two axes. Arrow keys move from row to row, "
            "the most outlying first."
        ),
    )


def _of_pair(pair: tuple[int, int], content: Html, class_: str) -> Html:
    """A layer that is there for one pair of axes alone; the first pair is shown at first."""
    return tag(
        "g",
        content,
        class_=class_,
        data_pair=f"{pair[0]} {pair[1]}",
        style=None if pair == (0, 1) else "display:none",
    )


def score_limits(facts: Facts) -> list[tuple[float, float]]:
    """The range drawn of the scores along each axis."""
    regular = ~facts.map.flagged[facts.shown]
    return [core_limits(z, regular) for z in facts.scores.T]


def n_beyond_the_edge(facts: Facts) -> int:
    """How many of the rows shown lie outside the ranges of the first two axes."""
    outside = np.zeros(len(facts.shown), dtype=bool)
    for z, (low, high) in zip(facts.scores.T[:2], score_limits(facts)[:2], strict=True):
        outside |= (z < low) | (z > high)
    return int(outside.sum())


def point_data(facts: Facts) -> dict[str, Any]:
    """What the page's script says of the points, in the order of the circles."""
    found, shown = facts.map, facts.shown
    order = _drawn_order(facts)
    return {
        "ids": [facts.labels[i] for i in order],
        "row": [int(shown[i]) for i in order],
        "kind": [KINDS.index(kind) for kind in found.part(shown).kinds[order]],
        "sd": [number(d) for d in found.score[shown][order]],
        "od": [number(d) for d in found.orthogonal[shown][order]],
        "rank": order.tolist(),
        "z": [[float(f"{z:.5g}") for z in column[order]] for column in facts.scores.T],
        "limits": [[float(x) for x in pair] for pair in score_limits(facts)],
        "blame": {
            str(line.index): ", ".join(blame.column for blame in line.blames) for line in facts.top
        },
        "frame": {"x": [LEFT, WIDTH - RIGHT], "y": [HEIGHT - BOTTOM, TOP]},
        "cutoffs": [number(cutoff) for cutoff in found.cutoffs],
    }


def _drawn_order(facts: Facts) -> Array:
    """The order of the circles: one kind after the other, the worst last and so on top."""
    kinds = facts.map.part(facts.shown).kinds
    return np.concatenate([np.flatnonzero(kinds == kind)[::-1] for kind in KINDS])


def _points(facts: Facts, x: Float64Array, y: Float64Array) -> Html:
    kinds = facts.map.part(facts.shown).kinds
    groups = []
    for code, kind in enumerate(KINDS):
        chosen = np.flatnonzero(kinds == kind)[::-1]
        groups.append(circles(x[chosen], y[chosen], RADII[kind], f"kind{code}"))
    return tag("g", groups, class_="dots")


def _distance_scale(distances: Float64Array, cutoff: float) -> tuple[tuple[float, float], bool]:
    finite = distances[np.isfinite(distances)]
    most = max(float(finite.max(initial=0.0)), 1.15 * cutoff) or 1.0
    if is_long(finite, cutoff):
        return (floor_of(finite, cutoff), 1.25 * most), True
    return (0.0, 1.05 * most), False


def _axis_title(facts: Facts, axis: int) -> str:
    share = float(facts.axes.explained_variance_ratio_[axis])
    return f"axis {axis + 1} ({100 * share:.3g} % of variance)"


def _single_axis(facts: Facts, limits: tuple[float, float]) -> Html:
    """With one axis there is no second score: the orthogonal distance takes its place."""
    span, log = _distance_scale(facts.map.orthogonal, facts.map.orthogonal_cutoff)
    frame = Frame.of(limits, span, (_axis_title(facts, 0), "orthogonal distance"), (False, log))
    orthogonal = facts.map.orthogonal[facts.shown]
    return chart(
        frame.axes(),
        _points(facts, frame.x(facts.scores[:, 0]), frame.y(orthogonal)),
        class_="points",
        label=f"Score along the only axis against orthogonal distance of {len(orthogonal)} rows.",
    )


def _arrows(facts: Facts, a: int, b: int, frame: Frame) -> Html:
    """Columns as arrows √λ_a w_ja, √λ_b w_jb, to one scale; labels that would collide are left out.

    An arrow points where the column grows, and is the longer the more of the column the two axes
    hold.
    """
    pair = [a, b]
    arrows = facts.axes.components_[pair].T * np.sqrt(facts.axes.explained_variance_[pair])
    lengths = np.linalg.norm(arrows, axis=1)
    longest = np.argsort(-lengths, kind="stable")[:_MOST_ARROWS]
    longest = longest[lengths[longest] > 0.1 * lengths.max(initial=0.0)]
    if not longest.size:
        return Html()
    x0, y0 = float(frame.x(0.0)), float(frame.y(0.0))
    reach = 0.38 * (HEIGHT - TOP - BOTTOM) / lengths.max()
    drawn: list[Html] = []
    taken: list[tuple[float, float, float, float]] = []
    for j in longest:
        x, y = x0 + reach * arrows[j, 0], y0 - reach * arrows[j, 1]
        x, y = float(np.clip(x, LEFT, WIDTH - RIGHT)), float(np.clip(y, TOP, HEIGHT - BOTTOM))
        drawn += [_arrow(x0, y0, x, y), _label(facts.columns[j], x, y, x0, taken)]
    return join(drawn)


def _arrow(x0: float, y0: float, x: float, y: float) -> Html:
    """A line from (x0, y0) to (x, y), with a head."""
    along = np.array([x - x0, y - y0])
    back = 7 * along / (np.linalg.norm(along) or 1.0)
    across = 0.45 * np.array([-back[1], back[0]])
    tip = np.array([x, y])
    (ax, ay), (bx, by) = tip - back + across, tip - back - across
    head = f"M{place(ax)} {place(ay)}L{place(x)} {place(y)}L{place(bx)} {place(by)}"
    return tag("path", class_="arrow", d=f"M{place(x0)} {place(y0)}L{place(x)} {place(y)}{head}")


def _label(
    name: str, x: float, y: float, x0: float, taken: list[tuple[float, float, float, float]]
) -> Html:
    text = name if len(name) <= 16 else name[:15] + "…"
    width = _LETTER * len(text)
    rightward = x >= x0
    left = x + 5 if rightward else x - 5 - width
    left = float(np.clip(left, LEFT, WIDTH - RIGHT - width))
    box = (left, y - 9, left + width, y + 9)
    overlaps = any(
        box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
        for other in taken
    )
    if overlaps:
        return Html()
    taken.append(box)
    return tag("text", escaped(text), x=place(left), y=place(y), dominant_baseline="central")


def legend(facts: Facts) -> Html:
    """What the marks mean, and how many rows there are of each kind."""
    entries = [
        tag(
            "li",
            tag(
                "svg",
                tag(
                    "g",
                    tag("circle", cx=7, cy=7, r=RADII[kind]),
                    class_=f"kind{code}",
                ),
                viewBox="0 0 14 14",
                class_="mark",
                aria_hidden="true",
            ),
            f"{kind}: {n:,}",
        )
        for code, (kind, n) in enumerate(facts.map.counts.items())
    ]
    return tag("ul", join(entries), class_="legend")
