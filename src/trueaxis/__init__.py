"""trueaxis: principal axes that outliers cannot tilt."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueaxis import datasets, losses, pursuit, video
    from trueaxis._subspace import Subspace
    from trueaxis.estimators import BreakdownWarning, PCAOutlierDetector, RobustPCA

__all__ = [
    "BreakdownWarning",
    "PCAOutlierDetector",
    "RobustPCA",
    "Subspace",
    "__version__",
    "datasets",
    "losses",
    "pursuit",
    "video",
]

_HOMES = {
    "BreakdownWarning": "trueaxis.estimators",
    "PCAOutlierDetector": "trueaxis.estimators",
    "RobustPCA": "trueaxis.estimators",
    "Subspace": "trueaxis._subspace",
}
_MODULES = ("datasets", "losses", "plots", "pursuit", "report", "video")


def __getattr__(name: str) -> Any:
    # Public names are imported when they are asked for: `trueaxis --help` needs none of them, and
    # scikit-learn alone takes a second.
    if name == "__version__":
        from importlib.metadata import version

        return version("trueaxis")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(f"trueaxis.{name}")
    raise AttributeError(f"module 'trueaxis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
