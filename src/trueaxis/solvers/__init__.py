"""One algorithm a file, each a pure step; `driver` runs them all."""

from trueaxis.solvers.accelerated import Accelerated
from trueaxis.solvers.base import Apply, Evaluate, Solver
from trueaxis.solvers.driver import Callback, Result, location, run
from trueaxis.solvers.orthogonal import Orthogonal
from trueaxis.solvers.proximal import Proximal
from trueaxis.solvers.reweighted import Reweighted
from trueaxis.solvers.true_l1 import TrueL1

__all__ = [
    "Accelerated",
    "Apply",
    "Callback",
    "Evaluate",
    "Orthogonal",
    "Proximal",
    "Result",
    "Reweighted",
    "Solver",
    "TrueL1",
    "location",
    "run",
]
