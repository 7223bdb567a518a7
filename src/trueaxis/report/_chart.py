"""A frame to draw in: places in units of the page for values, axes with ticks, and lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueaxis._typing import Array, Float64Array
from trueaxis.report._markup import Html, join, tag
from trueaxis.report._numbers import linear_ticks, log_ticks

WIDTH, HEIGHT = 560, 400
LEFT, RIGHT, TOP, BOTTOM = 86, 16, 18, 64


@dataclass(frozen=True)
class Scale:
    """From values to places; what lies outside is drawn at the end."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def __call__(self, values: Array | float) -> Float64Array:
        x = np.clip(np.asarray(values, dtype=np.float64), self.low, self.high)
        low, high = self.low, self.high
        if self.log:
            x, low, high = np.log(x), np.log(low), np.log(high)
        share = (x - low) / ((high - low) or 1.0)
        return np.asarray(self.start + share * (self.stop - self.start))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Round values within, and their labels."""
        if self.log:
            return log_ticks(self.low, self.high)
        return linear_ticks(self.low, self.high)


@dataclass(frozen=True)
class Frame:
    """The two scales of a chart, and the titles of its axes."""

    x: Scale
    y: Scale
    x_title: str
    y_title: str

    @classmethod
    def of(
        cls,
        x: tuple[float, float],
        y: tuple[float, float],
        titles: tuple[str, str],
        log: tuple[bool, bool] = (False, False),
    ) -> Frame:
        """A frame of the usual size."""
        return cls(
            Scale(*x, LEFT, WIDTH - RIGHT, log[0]),
            Scale(*y, HEIGHT - BOTTOM, TOP, log[1]),
            *titles,
        )

    def axes(self, x_ticks: list[tuple[float, str]] | None = None) -> Html:
        """Grid, ticks and titles."""
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        parts = []
        for value, label in self.x.ticks if x_ticks is None else x_ticks:
            x = place(self.x(value))
            if x_ticks is None:
                parts.append(tag("line", class_="grid", x1=x, x2=x, y1=TOP, y2=bottom))
            parts.append(tag("text", label, x=x, y=bottom + 27, text_anchor="middle"))
        for value, label in self.y.ticks:
            y = place(self.y(value))
            parts.append(tag("line", class_="grid", x1=LEFT, x2=right, y1=y, y2=y))
            parts.append(
                tag("text", label, x=LEFT - 8, y=y, dominant_baseline="central", text_anchor="end")
            )
        middle = (TOP + bottom) / 2
        parts += [
            tag("line", class_="axis", x1=LEFT, x2=right, y1=bottom, y2=bottom),
            tag(
                "text",
                self.x_title,
                class_="title",
                x=(LEFT + right) / 2,
                y=HEIGHT - 8,
                text_anchor="middle",
            ),
            tag(
                "text",
                self.y_title,
                class_="title",
                transform=f"translate(16 {middle:g}) rotate(-90)",
                text_anchor="middle",
            ),
        ]
        return join(parts)

    def line(self, x: Array, y: Array, class_: str) -> Html:
        """A curve through values."""
        places = zip(self.x(x), self.y(y), strict=True)
        d = "M" + "L".join(f"{place(a)} {place(b)}" for a, b in places)
        return tag("path", class_=f"line {class_}", d=d)


def place(value: Float64Array | float) -> str:
    """A coordinate, to a tenth of a unit."""
    return f"{float(value):.1f}".removesuffix(".0")


def circles(x: Float64Array, y: Float64Array, radius: float, class_: str) -> Html:
    """Points of one kind."""
    # Thousands of them: written at once, from numbers alone.
    points = "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius:g}"/>'
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    )
    return Html(f'<g class="{class_}">{points}</g>')


def svg(*children: object, label: str, class_: str = "") -> Html:
    """A chart as wide as its column."""
    return tag(
        "svg",
        *children,
        class_=class_ or None,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="group" if "points" in class_ else "img",
        aria_label=label,
    )
