"""Names for the models of a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def named(models: Any) -> dict[str, Any]:
    """Models by name: the class, and the parameters in which models of one class differ.

    Examples
    --------
    >>> from trueaxis import RobustPCA
    >>> list(named([RobustPCA(3, p=1.0), RobustPCA(3, p=0.5)]))
    ['RobustPCA(p=1.0)', 'RobustPCA(p=0.5)']
    """
    if isinstance(models, Mapping):
        return {str(name): model for name, model in models.items()}
    if not isinstance(models, Sequence):
        models = [models]
    found: dict[str, Any] = {}
    for i, model in enumerate(models, start=1):
        name = _name(model, [other for other in models if type(other) is type(model)])
        found[name if name not in found else f"{name}, number {i}"] = model
    return found


def _name(model: Any, siblings: Sequence[Any]) -> str:
    settings = [_settings(other) for other in siblings]
    mine = _settings(model)
    differing = [key for key in mine if len({other.get(key) for other in settings}) > 1]
    inside = ", ".join(f"{key}={mine[key]}" for key in differing)
    return type(model).__name__ + (f"({inside})" if inside else "")


def _settings(model: Any) -> dict[str, str]:
    held = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    return {key: repr(value) for key, value in held.items()}
