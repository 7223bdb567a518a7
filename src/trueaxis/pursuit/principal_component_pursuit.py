"""PrincipalComponentPursuit: low rank plus sparse, Candès' robust PCA."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueaxis.estimators import _inputs
from trueaxis.pursuit._estimator import Pursuit
from trueaxis.pursuit._penalties import Entrywise


class PrincipalComponentPursuit(Pursuit):
    r"""A matrix as the sum of one of low rank and a sparse one.

    Minimizes :math:`\|L\|_* + \lambda\|S\|_1` over L + S = X (Candès, Li, Ma and Wright 2011): for
    data of which single entries are wrong, rather than whole rows.

    Parameters
    ----------
    n_components : int or None, default=None
        The rank of L, where it is known: ``solver="altproj"`` begins with it, and `components_`
        has at most as many rows. The rank of the solution is what minimizes, all the same.
    lam : float or "auto", default="auto"
        λ. "auto" is 1/√max(n, m), and 1/√(p·max(n, m)) where only a share p of the entries is
        there.
    center : bool, default=False
        Whether to fit a mean along with L, which costs nothing: L + 1μᵀ + S = X.
    solver : {"auto", "altproj", "admm"}, default="auto"
        "admm" is the alternating direction method of multipliers, on the convex problem. "altproj"
        fits an L of one rank, `n_components` or what a few steps of "admm" suggest, alternating
        with the choice of the entries that it shall meet. That is faster and exact to the last
        digit, but not convex: its result is used only where a dual point proves it within `tol` of
        the optimum, and "admm" goes on otherwise. "auto" is "altproj".
    tol : float, default=1e-6
        The fit stops once the objective of a feasible pair is proved to be within this share of
        the optimum, by a feasible point of the dual problem.
    max_iter : int, default=2000
        Most iterations.
    missing : {False, "nan"}, default=False
        Whether NaN stands for a missing entry, which `low_rank_` then fills in.
    random_state : int, RandomState instance or None, default=None
        For the starting vectors of partial decompositions. None is a seed of its own: the same
        data give the same answer.
    callback : callable, optional
        Called as ``callback(record)`` with every record of `history_`.
    verbose : int, default=0
        Print a line for every iteration.

    Attributes
    ----------
    low_rank_, sparse_ : ndarray of shape (n_samples, n_features)
        L, with its mean where `center` is set, and S, exactly 0 in most places.
    rank_ : int
        Rank of L (without its mean).
    components_ : ndarray of shape (n_components_, n_features)
        Orthonormal rows that span the row space of L, by falling singular value.
    singular_values_ : ndarray of shape (n_components_,)
        Singular values of L.
    mean_ : ndarray of shape (n_features,)
        μ; zeros without `center`.
    n_components_, n_features_in_ : int
        Number of components (`rank_`, or `n_components` where that is less), and of columns.
    objective_, gap_ : float
        ‖L‖_* + λ‖X − L‖₁, and the share of the optimum that it can be above it at most.
    history_ : numpy.recarray
        One record an iteration: ``iteration``, ``objective``, ``feasibility`` (‖X − L − S‖/‖X‖),
        ``gap``, ``rank``, ``seconds``.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the gap came below `tol`.
    solver_ : str
        "altproj" or "admm": which one the result is from.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.pursuit import PrincipalComponentPursuit
    >>> rng = np.random.default_rng(0)
    >>> L = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 40))
    >>> X = L + 10 * (rng.random((60, 40)) < 0.05)
    >>> pcp = PrincipalComponentPursuit().fit(X)
    >>> pcp.rank_
    2
    >>> bool(np.abs(pcp.low_rank_ - L).max() < 1e-3)
    True
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

    def _penalty(self) -> Entrywise:
        return Entrywise()

    def _lam(self, n: int, m: int, share: float) -> float:
        if isinstance(self.lam, str):
            _inputs.choice("lam", self.lam, ("auto",), otherwise=", or pass a number > 0")
            return float(1.0 / np.sqrt(share * max(n, m)))
        return _inputs.real_in("lam", self.lam, 0.0, np.inf, "(0, inf)")
