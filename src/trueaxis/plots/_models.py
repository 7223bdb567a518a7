"""Names for the models of a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trueaxis._subspace import Subspace

_LONGEST_NAME = 40


def named(models: Any) -> dict[str, Any]:
    """Models by name; without one, by what tells them from a default model."""
    if isinstance(models, Mapping):
        return {str(name): model for name, model in models.items()}
    if not isinstance(models, Sequence):
        return {_name(models): models}
    found: dict[str, Any] = {}
    for i, model in enumerate(models, start=1):
        name = _name(model)
        found[name if name not in found else f"{name}, number {i}"] = model
    return found


def _name(model: Any) -> str:
    if isinstance(model, Subspace):
        return "Subspace"
    text = " ".join(repr(model).split())
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
