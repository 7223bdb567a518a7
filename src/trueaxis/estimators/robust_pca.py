"""RobustPCA: principal axes by minimizing a robust reconstruction error."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from trueaxis._threads import Workers
from trueaxis.estimators import _breakdown, _inputs, _missing
from trueaxis.estimators._breakdown import Contradiction
from trueaxis.estimators._draws import Draws
from trueaxis.estimators._fit import Fit, fit
from trueaxis.estimators._namespace import Recorded, settle
from trueaxis.estimators._objectives import NotFiniteError
from trueaxis.estimators._partial_fit import StreamFitter, forget
from trueaxis.estimators._settings import Settings
from trueaxis.estimators._transform import unchanged_on_error
from trueaxis.sources import Source


class RobustPCA(Recorded, StreamFitter):
    r"""Principal component analysis that outliers cannot tilt.

    Finds the center c and the k orthonormal axes W that minimize the reconstruction error
    :math:`\sum_i \omega_i\,\rho(\|x_i - c - WW^T(x_i - c)\|)`: with ``loss="l2p"`` the p-th power
    of the residual norm, which at ``p=2`` is plain PCA and below weighs a far row less; with
    ``loss="l1"`` the sum of its absolute entries. A drop-in for
    :class:`sklearn.decomposition.PCA`.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of axes; a float in (0, 1) takes as many as explain more than that share of the
        variance; None takes ``min(n_samples, n_features)``.
    loss : {"l2p", "l1", "huber", "cauchy", "bisquare", "trimmed"} or object, default="l2p"
        What a residual costs. "bisquare" minimizes an M-scale of the residual norms and withstands
        a share `breakdown` of bad rows wherever they lie; "trimmed" the squares of the best
        `support_fraction`; both end with the principal axes of the rows that agree. "huber" and
        "cauchy" take their threshold from the residuals of the start. An object is one of
        `trueaxis.losses` or satisfies `trueaxis.losses.Loss`; it keeps its own scale.
    p : float in (0, 2], default=1.0
        The power of ``loss="l2p"``. Other losses have no use for it.
    solver : str, default="auto"
        "auto", "proximal", "accelerated", "reweighted", "orthogonal" or "true_l1". The first three
        after "auto" are those of the paper, two losses each: algorithms 1 and 4, 2 and 5, 3 and 6.
        "orthogonal" is W ← orth(AW). With a loss of the residual norms,
        "proximal", "reweighted" and "orthogonal" never raise the objective. With ``loss="l1"``
        the paper's weights do not majorize it: its solvers can raise the objective and end above
        its minimum. "true_l1", which "auto" then is, minimizes Σω_i‖r_i‖₁ itself, smoothed ever
        less, from several starts, and is never above what those reach from the same start (it
        runs them); `max_iter` bounds its updates at one smoothing, and `history_` has a record
        for every point that lowered the objective.
    center : {"optimal", "mean", "median"}, array or False, default="optimal"
        "optimal" minimizes over the center too; "mean" is the paper's; "median" is the spatial
        median; an array of shape (n_features,) is a point of the user's; False leaves the data as
        they are.
    start : {"auto", "spherical", "pca", "random"} or array, default="auto"
        Where to begin. An array has shape (n_components, n_features), as `components_` has, and
        k independent rows. "auto" refines spherical PCA, plain PCA and `n_starts` - 2 random
        subsets on a sample of the rows, and takes the best.
    n_starts : int or None, default=None
        Starts that "auto" tries; None is 10 for a mild loss and up to 100 for p < 1 and bounded
        ones, fewer where they would be costly.
    breakdown : float in (0, 0.5], default=0.5
        Share of bad rows that ``loss="bisquare"`` withstands.
    support_fraction : float in [0.5, 1], default=0.75
        Share of the rows that count for ``loss="trimmed"``.
    check_breakdown : bool, default=True
        Whether to compare the result with a fit of high breakdown point to a few rows, and warn
        (`BreakdownWarning`) where that contradicts it. Not done at p=2 and for bounded losses.
    missing : {"nan", None}, default=None
        "nan" treats NaN as an entry that was not observed: residuals, weights and distances are
        those of the observed entries, and the others are filled by the axes as they are found.
        None makes NaN an error, as infinity always is.
    smoothing : "auto" or float >= 0, default="auto"
        Residuals below this share of the rows' median distance from the center are rounded off,
        so that a row in the subspace has a finite weight. "auto" shrinks it as the fit settles,
        down to where that weight is 1e7 times a typical row's; 0 is the bare formula, whose
        weights can exceed what floating point resolves: the objective may then rise by rounding.
    whiten : bool, default=False
        Whether `transform` scales every score to unit variance.
    max_iter : int, default=200
        Most updates of the axes.
    tol : float, default=1e-6
        The fit stops once its estimate of the relative gap (J − J*)/J* is below `tol`. With 0
        exactly `max_iter` updates are made.
    random_state : int, RandomState instance or None, default=None
        For the sample of rows (of more than 2000), the random subsets and ``start="random"``.
        None is a seed of its own: the same data give the same answer.
    n_jobs : int or None, default=None
        Threads; None is every core allowed to the process. Results do not depend on it. Rows in
        Dask are worked on by the workers of its scheduler, however many these are.
    callback : callable, optional
        Called as ``callback(subspace, record)`` before the first and after every update, with a
        `Subspace` and one record of `history_`.
    verbose : int, default=0
        Print a line for every update.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features_in_)
        The axes, orthonormal rows, by falling variance.
    mean_ : ndarray of shape (n_features_in_,)
        The center c; zeros with ``center=False``.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components_,)
        Variance along the axes of the rows that agree with the fit (those within the cut-offs
        of both distances, made up for what these cut off a Gaussian), and its share of the whole.
        At p=2 of all rows, as in plain PCA.
    singular_values_ : ndarray of shape (n_components_,)
        ``sqrt(explained_variance_ * (n_samples_ - 1))``.
    noise_variance_ : float
        Mean variance along the axes left out.
    n_samples_seen_ : int
        Number of rows that `partial_fit` was given; not there after `fit`.
    n_components_, n_samples_, n_features_in_ : int
        Numbers of axes found, of rows (by weight, where `sample_weight` was given) and columns.
    weights_ : ndarray of shape (n_samples,) or None
        d_i = 2ρ′, what each row counted in the last scatter matrix; 0 for a row left out by
        ``sample_weight=0``. None where the rows are not in memory, as in files, blocks and Dask: a
        number for every row would have no bounds.
    objective_ : float
        J at the result, without smoothing.
    history_ : numpy.recarray
        One record before the first and after every update: ``iteration``, ``objective`` (with
        smoothing), ``change``, ``gap``, ``sweeps``, ``seconds``.
    n_iter_, n_sweeps_ : int
        Numbers of updates, and of all passes over the rows: those that the updates took, and where
        rows are read from files or blocks those that count them and read the sample.
    converged_ : bool
        Whether the gap came below `tol`.
    solver_ : str
        The solver that ran.

    Examples
    --------
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.datasets import make_contaminated
    >>> data = make_contaminated("scattered", random_state=0)
    >>> pca = RobustPCA(n_components=3).fit(data.X)
    >>> pca.transform(data.X).shape
    (500, 3)
    >>> found = pca.subspace_.angles(data.truth)
    >>> bool(found.max() < 0.05)
    True
    """

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        loss: Any = "l2p",
        p: float = 1.0,
        solver: str = "auto",
        center: Any = "optimal",
        start: Any = "auto",
        n_starts: int | None = None,
        breakdown: float = 0.5,
        support_fraction: float = 0.75,
        check_breakdown: bool = True,
        missing: str | None = None,
        smoothing: Any = "auto",
        whiten: bool = False,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.p = p
        self.solver = solver
        self.center = center
        self.start = start
        self.n_starts = n_starts
        self.breakdown = breakdown
        self.support_fraction = support_fraction
        self.check_breakdown = check_breakdown
        self.missing = missing
        self.smoothing = smoothing
        self.whiten = whiten
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> RobustPCA:
        """Find the axes.

        Parameters
        ----------
        X : array-like, sparse matrix, path, or blocks, of shape (n_samples, n_features)
            The rows, wherever they live: `trueaxis.sources` names the kinds. Where scikit-learn's
            ``array_api_dispatch`` is enabled, an array of PyTorch, CuPy, ... stays where it lives,
            and the fitted arrays are of its kind.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 counts as the row twice, of 0 as the row left out.

        Returns
        -------
        RobustPCA
            The fitted estimator.
        """
        with unchanged_on_error(self):
            source = _inputs.open_rows(self, X, reset=True)
            forget(self)
            against = self._fit(source, sample_weight)
            settle(self, X)
        if not self.converged_ and self.tol > 0:
            warnings.warn(
                f"RobustPCA stopped after max_iter={self.max_iter} updates at an estimated "
                f"relative gap of {self.history_[-1].gap:.1e}, above tol={self.tol:.1e}. "
                "Raise max_iter or tol, or try another solver.",
                ConvergenceWarning,
                stacklevel=2,
            )
        _breakdown.warn(self, against)
        return self

    def _fit(self, X: Source, sample_weight: Any) -> Contradiction | None:
        n, m = X.shape
        weights = _inputs.check_sample_weight(sample_weight, n)
        names = getattr(self, "feature_names_in_", None)
        X, weights = _missing.settle(X, weights, self.n_components, names)
        present = slice(None) if weights is None or (weights > 0).all() else weights > 0
        held = None if weights is None else weights[present]
        total = float(n if weights is None else weights.sum())
        # Whole weights stand for repeated rows, and may allow as many more components.
        counts = weights is None or not np.any(weights % 1.0)
        most = min(int(total) if counts else n if held is None else len(held), m)
        n_components = _inputs.check_n_components(self.n_components, most, n, m)
        settings = Settings.of(self, n_components, m)
        X = X.entries() if settings.loss.entrywise else X
        rows = X if isinstance(present, slice) else X.where(present)
        power = settings.degree
        rng = check_random_state(0 if self.random_state is None else self.random_state)
        with Workers.start(self.n_jobs) as workers:
            drawn_from = rows.posed(workers, weights=held)
            draws = Draws.of(drawn_from, most, n_components, settings, rng)
            attempts: list[Source] = []

            def attempt(peak: float) -> tuple[Fit, Source]:
                # Thresholds of the user's are sizes in the data's own units.
                unit = 1.0 if power is None else _inputs.safe_unit(peak, X.answers)
                source = drawn_from.posed(workers, weights=held, unit=unit)
                attempts.append(source)
                return fit(source, n_components, most, settings, draws), source

            source = X.posed(workers)
            some = settings.is_smooth_sum and held is None
            peak = _inputs.peak_of_some(drawn_from, draws.size) if some else None
            try:
                found, posed = attempt(
                    _inputs.check_finite(source, names) if peak is None else peak
                )
            except NotFiniteError:
                # Large data are checked by the sweeps themselves: a pass over them for nothing
                # else would cost as much as one of these.
                found, posed = attempt(_inputs.check_finite(source, names))
        self._take(found, total, posed.unit, power or 0.0, X.answers, most)
        self.n_sweeps_ = sum(read.passes for read in (X, drawn_from, source, *attempts))
        self.weights_ = None
        if found.weights is not None:
            self.weights_ = found.weights * posed.unit ** ((power or 2.0) - 2.0)
            if not isinstance(present, slice):
                held, self.weights_ = self.weights_, np.zeros(n)
                self.weights_[present] = held
        return found.against

    def _take(
        self, found: Fit, total: float, unit: float, power: float, dtype: np.dtype, most: int
    ) -> None:
        """Set the fitted attributes, in the dtype and units of the data."""
        self._set_axes(
            found.subspace, found.scatter, found.leftover, found.mass, total, unit, dtype, most
        )
        self.objective_ = float(found.objective * unit**power)
        history = found.result.history.copy()
        history["objective"] *= unit**power
        self.history_ = history
        self.n_iter_ = found.result.n_iter
        self.converged_ = found.result.converged
        self.solver_ = found.solver
