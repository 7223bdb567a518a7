"""Numbers as people read them."""

from __future__ import annotations

import numpy as np

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 4) -> str:
    """A measured number with `digits` digits that count.

    Examples
    --------
    >>> number(12.34567), number(0.00012345), number(1234567.0), number(float("inf"))
    ('12.35', '0.0001234', '1.235×10⁶', '∞')
    """
    value = float(value)
    if not np.isfinite(value):
        return "not a number" if np.isnan(value) else ("∞" if value > 0 else "−∞")
    if value == 0:
        return "0"
    power = int(f"{abs(value):.{digits - 1}e}".partition("e")[2])
    if -5 < power < max(digits, 6):
        text = f"{value:.{max(digits - 1 - power, 0)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return grouped(text)
    factor = f"{value / 10.0**power:.{digits - 1}f}".rstrip("0").rstrip(".")
    text = f"{factor}×{ten_to(power)}".replace("-", "−")
    return text.removeprefix("1×") if factor == "1" else text


def ten_to(power: int) -> str:
    """10 to a power, with a superscript."""
    return "10" + str(power).translate(_SUPERSCRIPTS)


def grouped(text: str) -> str:
    """Thousands apart, and a minus that is one."""
    whole, point, rest = text.partition(".")
    return (
        f"{int(whole):,}".replace("-", "−") + point + rest
        if abs(int(whole)) > 9999
        else (text.replace("-", "−"))
    )


def count(n: float, one: str, many: str | None = None) -> str:
    """How many of something: '1 row', '1,200 rows'."""
    noun = one if n == 1 else (many or f"{one}s")
    return f"{n:,g} {noun}" if n != int(n) else f"{int(n):,} {noun}"


def percent(share: float) -> str:
    """A share; never 0 % or 100 % where it is not exactly that.

    Examples
    --------
    >>> percent(0.5), percent(0.00001), percent(0.9999999), percent(1.0)
    ('50 %', '<0.1 %', '>99.9 %', '100 %')
    """
    hundredth = 100.0 * float(share)
    if 0 < hundredth < 0.1:
        return "<0.1 %"
    if 99.9 < hundredth < 100 - 1e-9:
        return ">99.9 %"
    return f"{hundredth:.1f}".removesuffix(".0") + " %"


def linear_ticks(low: float, high: float, about: int = 5) -> list[tuple[float, str]]:
    """Round numbers within a range, and their labels."""
    raw = (high - low) / about
    if not np.isfinite(raw) or raw <= 0:
        return [(low, number(low, 3))]
    power = 10.0 ** np.floor(np.log10(raw))
    step = float(min(s for s in (1, 2, 5, 10) if s * power >= 0.7 * raw) * power)
    first = int(np.ceil(low / step - 1e-9))
    last = int(np.floor(high / step + 1e-9))
    decimals = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    places = [i * step for i in range(first, last + 1)]
    if decimals > 4 or max(abs(low), abs(high)) >= 1e6:
        return [(x, number(x, 4)) for x in places]
    return [(x, grouped(f"{x:.{decimals}f}")) for x in places]


def log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Powers of ten within a range; with their threefold where these are few."""
    if high <= 10 * low:
        return linear_ticks(low, high)
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    between = (1,) if np.log10(high / low) > 2.5 else (1, 3)
    step = max(1, int(np.ceil(np.log10(high / low) / 6)))
    ticks = []
    for power in powers:
        for b in between if power % step == 0 else ():
            x = b * 10.0**power
            label = ten_to(power) if b == 1 else f"{b}×{ten_to(power)}"
            if low * (1 - 1e-9) <= x <= high * (1 + 1e-9):
                ticks.append((x, number(x, 1) if 1e-3 <= x < 1e5 else label))
    return ticks
