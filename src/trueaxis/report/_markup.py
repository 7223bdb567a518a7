"""HTML in which text cannot become markup: what is not `Html` is escaped."""

from __future__ import annotations

import html
import json
import re
from typing import Any

__all__ = ["Html", "escaped", "join", "json_script", "tag"]

_VOID = {"meta", "link", "br", "input", "line", "rect", "circle", "path", "col"}
# A parser drops or replaces these, a lone surrogate cannot be written at all, and the last ones
# would turn the text around them.
_NO_TEXT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)
# In a script element these end it, open a comment, or are line breaks to old parsers.
_IN_SCRIPT = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class Html(str):
    """Markup, as opposed to text that is still to be escaped."""

    __slots__ = ()


def clean(text: Any) -> str:
    """Text with what HTML cannot hold replaced by U+FFFD."""
    return _NO_TEXT.sub("\ufffd", str(text))


def escaped(value: Any) -> Html:
    """Markup that shows a value as it is."""
    return value if isinstance(value, Html) else Html(html.escape(clean(value), quote=True))


def join(*parts: Any) -> Html:
    """Parts one after the other; None is left out, lists are unpacked."""
    out: list[str] = []
    for part in parts:
        if isinstance(part, list | tuple):
            out.append(join(*part))
        elif part is not None:
            out.append(escaped(part))
    return Html("".join(out))


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """An element; attribute names lose a last underscore, and others become hyphens.

    Examples
    --------
    >>> tag("p", "a < b", class_="note", hidden=True)
    '<p class="note" hidden>a &lt; b</p>'
    """
    written = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = key.rstrip("_").replace("_", "-")
        written.append(f" {label}" if value is True else f' {label}="{escaped(value)}"')
    opened = f"<{name}{''.join(written)}"
    if name in _VOID and not children:
        return Html(f"{opened}/>" if name in {"line", "rect", "circle", "path"} else f"{opened}>")
    return Html(f"{opened}>{join(*children)}</{name}>")


def json_script(identifier: str, value: Any) -> Html:
    r"""Data for the page's script, which no text in it can leave.

    Examples
    --------
    >>> json_script("data", ["</script>"])
    '<script type="application/json" id="data">["\\u003c/script\\u003e"]</script>'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    safe = Html(clean(text).translate(_IN_SCRIPT))
    return tag("script", safe, type="application/json", id=identifier)
