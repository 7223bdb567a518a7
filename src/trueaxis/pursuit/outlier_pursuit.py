"""OutlierPursuit: low rank plus whole rows that do not belong."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trueaxis._typing import Array, Float64Array
from trueaxis.estimators import _inputs
from trueaxis.pursuit._estimator import Pursuit
from trueaxis.pursuit._penalties import Rowwise
from trueaxis.pursuit._regression import least_squares


class OutlierPursuit(Pursuit):
    r"""A matrix as the sum of one of low rank and one of few rows.

    Minimizes :math:`\|L\|_* + \lambda\sum_i\|S_i\|_2` over L + S = X, with S_i the rows of S (Xu,
    Caramanis and Sanghavi 2012): for data of which whole rows are wrong.

    Parameters
    ----------
    n_components : int or None, default=None
        Most rows that `components_` shall have; None is the rank of L.
    lam : float or "auto", default="auto"
        λ. At 1/√n or less every row is bad, from 1 on none that stands alone is, and c bad rows
        that agree with one another are seen below 1/√c only, while L of rank r needs √(r/n) or
        more. "auto" is between, 1.5·n^(-1/4) but 0.9 at most.
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
    outliers_ : ndarray of bool of shape (n_samples,)
        The rows of S that are not 0.
    low_rank_, sparse_, rank_, components_, singular_values_, mean_, n_components_, objective_, \
gap_, history_, n_iter_, converged_, solver_
        As in `PrincipalComponentPursuit`.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.pursuit import OutlierPursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 40))
    >>> X[:5] = 3 * rng.standard_normal((5, 40))
    >>> pursuit = OutlierPursuit().fit(X)
    >>> pursuit.rank_, np.flatnonzero(pursuit.outliers_).tolist()
    (2, [0, 1, 2, 3, 4])
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
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
        self.lam = lam
        self.center = center
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.missing = missing
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    _SOLVERS = ("auto", "admm")  # a row of S may hold part of L: that L is not unique

    def _penalty(self) -> Rowwise:
        return Rowwise()

    def _lam(self, n: int, m: int, share: float) -> float:
        if isinstance(self.lam, str):
            _inputs.choice("lam", self.lam, ("auto",), otherwise=", or pass a number > 0")
            return float(min(1.5 * n**-0.25, 0.9))
        return _inputs.real_in("lam", self.lam, 0.0, np.inf, "(0, inf)")

    @property
    def outliers_(self) -> Array:
        """The rows of S that are not 0."""
        check_is_fitted(self)
        return np.asarray(self.sparse_.any(axis=1))

    def _regress(
        self, deviations: Float64Array, V: Float64Array, observed: Array | None
    ) -> Float64Array:
        # A row is good or bad as a whole: ‖x − Vz‖₂ is least at its projection.
        return least_squares(deviations, V, observed)

    def _beyond(self, rest: Float64Array, rounding: Float64Array) -> Float64Array:
        """Rows that leave the row space; √m roundings of an entry are one of a row."""
        size = np.linalg.norm(rest, axis=1, keepdims=True)
        return np.where(size > rounding * np.sqrt(rest.shape[1]), rest, 0.0)
