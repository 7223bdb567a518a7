"""Pictures of fits, on matplotlib axes of yours or new ones. The only room that imports matplotlib.

Every function draws on `ax` and returns it; without one it makes a figure. The display classes
behind them keep what they show, in the manner of scikit-learn's.
"""

from __future__ import annotations

try:
    import matplotlib  # noqa: F401  # before all that would fail without it
except ImportError as error:
    raise ImportError(
        'trueaxis.plots needs matplotlib: pip install "trueaxis[plots]"', name=error.name
    ) from error

from trueaxis.plots._compare import CompareAxesDisplay, compare_axes
from trueaxis.plots._convergence import ConvergenceDisplay, convergence
from trueaxis.plots._outlier_map import OutlierMapDisplay, outlier_map
from trueaxis.plots._paper import descents, projection_axes
from trueaxis.plots._scores import ScoresDisplay, scores
from trueaxis.plots._scree import ScreeDisplay, scree

__all__ = [
    "CompareAxesDisplay",
    "ConvergenceDisplay",
    "OutlierMapDisplay",
    "ScoresDisplay",
    "ScreeDisplay",
    "compare_axes",
    "convergence",
    "descents",
    "outlier_map",
    "projection_axes",
    "scores",
    "scree",
]
