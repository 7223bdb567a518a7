"""StablePCP: low rank plus sparse plus noise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from trueaxis._typing import Float64Array
from trueaxis.estimators import _inputs
from trueaxis.pursuit._noise import typical_noise
from trueaxis.pursuit._problem import Problem
from trueaxis.pursuit._solve import Solution, solve
from trueaxis.pursuit.principal_component_pursuit import PrincipalComponentPursuit


class StablePCP(PrincipalComponentPursuit):
    r"""A matrix as the sum of one of low rank, a sparse one, and noise.

    Minimizes :math:`\|L\|_* + \lambda\|S\|_1` subject to :math:`\|X - L - S\|_F \le \delta` (Zhou,
    Li, Wright, Candès and Ma 2010): as `PrincipalComponentPursuit`, for data of which the good
    entries are not exact either.

    Parameters
    ----------
    n_components : int or None, default=None
        Most rows that `components_` shall have; None is the rank of L.
    delta : float >= 0 or "auto", default="auto"
        δ, the Frobenius norm of the noise. "auto" is √(N + √(8N))·σ for N entries, with σ estimated
        from the median residual; 0 is `PrincipalComponentPursuit`.
    lam : float or "auto", default="auto"
        λ. "auto" is 1/√max(n, m), and 1/√(p·max(n, m)) where only a share p of the entries is
        there.
    center : bool, default=False
        Whether to fit a mean along with L, which costs nothing.
    solver : {"auto", "admm"}, default="auto"
        The alternating direction method of multipliers, either way.
    tol : float, default=1e-6
        The fit stops once the objective is proved to be within this share of the optimum.
    max_iter : int, default=2000
        Most iterations.
    missing : {False, "nan"}, default=False
        Whether NaN stands for a missing entry.
    random_state : int, RandomState instance or None, default=None
        For the starting vectors of partial decompositions. None is a seed of its own.
    callback : callable, optional
        Called as ``callback(record)`` with every record of `history_`.
    verbose : int, default=0
        Print a line for every iteration.

    Attributes
    ----------
    delta_ : float
        The δ that was used.
    noise_level_ : float
        Residuals up to this size are noise: S is what exceeds it.
    low_rank_, sparse_, rank_, components_, singular_values_, mean_, n_components_, objective_, \
gap_, history_, n_iter_, converged_, solver_
        As in `PrincipalComponentPursuit`.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.pursuit import StablePCP
    >>> rng = np.random.default_rng(0)
    >>> L = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 40))
    >>> X = L + 10 * (rng.random((60, 40)) < 0.05) + 0.01 * rng.standard_normal((60, 40))
    >>> stable = StablePCP(delta=0.5).fit(X)
    >>> stable.rank_
    2
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        delta: Any = "auto",
        lam: Any = "auto",
        center: bool = False,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 2000,
        missing: Any = False,
        random_state: Any = None,
        callback: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.delta = delta
        self.lam = lam
        self.center = center
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.missing = missing
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    _SOLVERS = ("auto", "admm")

    def _solve(self, problem: Problem, unit: float, **settings: Any) -> Solution:
        if isinstance(self.delta, str):
            _inputs.choice("delta", self.delta, ("auto",), otherwise=", or pass a number >= 0")
            count = problem.M.size if problem.observed is None else int(problem.observed.sum())
            delta = np.sqrt(count + np.sqrt(8.0 * count)) * typical_noise(problem, settings["rng"])
        else:
            delta = _inputs.real_in("delta", self.delta, 0.0, np.inf, "[0, inf)") / unit
        self.delta_ = float(delta * unit)
        problem = replace(problem, delta=float(delta))
        found = solve(problem, report=self._report(unit), **settings)
        level = problem.noise_level(found.low) if delta else 0.0
        self.noise_level_ = float(level * unit)
        return found

    def _beyond(self, rest: Float64Array, rounding: Float64Array) -> Float64Array:
        """What exceeds the noise."""
        return super()._beyond(
            rest - np.clip(rest, -self.noise_level_, self.noise_level_), rounding
        )
