"""trueaxis: principal axes that outliers cannot tilt."""

from importlib.metadata import version

from trueaxis import datasets, losses
from trueaxis._subspace import Subspace
from trueaxis.estimators import RobustPCA

__version__ = version("trueaxis")

__all__ = ["RobustPCA", "Subspace", "__version__", "datasets", "losses"]
