"""How large the noise is, from data with a low-rank part and gross errors in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trueaxis.pursuit import _admm
from trueaxis.pursuit._exact import without_tail
from trueaxis.pursuit._problem import Problem
from trueaxis.pursuit._svt import Thresholding
from trueaxis.pursuit._tangent import typical_residual

# The median of |N(0, 1)|.
_MEDIAN = 0.6744897501960817
_STEPS = 20


def typical_noise(problem: Problem, rng: np.random.RandomState) -> float:
    """The standard deviation of the noise: that of a Gaussian with the same median residual.

    The residuals are those of the leading part of an L that a few steps find; its rank r takes
    r(n + m − r) of their nm degrees of freedom.
    """
    if not problem.M.any():
        return 0.0
    n, m = problem.shape
    plain = replace(problem, delta=0.0)
    walk = _admm.steps(plain, Thresholding(plain, rng))
    for _ in range(_STEPS):
        state = next(walk)
    low = without_tail(state.low, 0.01 / state.rho)
    share = 1.0 - low.rank * (n + m - low.rank) / (n * m)
    return float(typical_residual(plain, low) / (_MEDIAN * np.sqrt(max(share, 0.1))))
