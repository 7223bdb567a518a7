"""The data and the fits behind ``trueaxis demo``: everything but the printing and the drawing."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from trueaxis._linalg import orthonormalize
from trueaxis._subspace import Subspace
from trueaxis._typing import Float64Array
from trueaxis.datasets import Contaminated, Kind, make_contaminated
from trueaxis.estimators import BreakdownWarning, PCAOutlierDetector, RobustPCA

PLAIN = "PCA"
ROBUST = "RobustPCA p=1"
BOUNDED = "bisquare"
ORACLE = "PCA of inliers"
METHODS = (PLAIN, ROBUST, BOUNDED, ORACLE)

LOSSES = {
    "l2p": r"$\ell_{2,p}$ loss at $p=1$: algorithms 4, 5, 6",
    "l1": r"$\ell_1$ loss: algorithms 1, 2, 3",
}
SOLVERS = ("proximal", "accelerated", "reweighted")

_SHARES = (0.1, 0.2)
_AXES = 3  # the dimension of the true subspace of make_contaminated
_DIGIT_AXES, _DIGIT_QUANTILE = 2, 0.99
DIGIT_OPTIONS = f"-k {_DIGIT_AXES} --loss bisquare --quantile {_DIGIT_QUANTILE}"
TILTED = 10.0
"""Degrees beyond which a fit has found another subspace, not the true one with some noise."""


@dataclass(frozen=True)
class Row:
    """One line of the table: a data set, and how far each method ends from its true subspace."""

    outliers: str
    share: float
    degrees: Mapping[str, float]
    """Largest principal angle to the true subspace, by method."""
    objective: float
    """Σ‖r_i‖ at the subspace that RobustPCA found with p = 1."""
    objective_at_truth: float
    """Σ‖r_i‖ at the true subspace."""
    warned: bool
    """Whether the fit with p = 1 warned that it may have broken down."""

    @property
    def misled(self) -> bool:
        """Whether p = 1 missed the subspace because a wrong one has the lower objective."""
        return self.degrees[ROBUST] > TILTED and self.objective < self.objective_at_truth


@dataclass(frozen=True)
class Plane:
    """Points in the plane, which of them are outliers, and the first axis by each method."""

    X: Float64Array
    is_outlier: np.ndarray
    axes: Mapping[str, Subspace]


@dataclass(frozen=True)
class Descent:
    """The objective before and after every update, of three solvers from one start."""

    title: str
    objectives: Mapping[str, Float64Array]
    best: float
    """The lowest objective that any of them reaches when it is left to run on."""


@dataclass(frozen=True)
class Digits:
    """Handwritten zeros, with some threes among them, and what became of each method's axes."""

    X: Float64Array
    """Gray values of 8 x 8 pixels, a row an image."""
    columns: tuple[str, ...]
    ids: tuple[str, ...]
    """What each image shows."""
    is_outlier: np.ndarray
    degrees: Mapping[str, float]
    """Largest principal angle to the axes of the zeros alone, by method."""
    detector: PCAOutlierDetector

    @property
    def flagged(self) -> np.ndarray:
        """Which images the detector flags."""
        return np.asarray(self.detector.predict(self.X) < 0)


@dataclass(frozen=True)
class Demo:
    """All that the demonstration shows."""

    digits: Digits
    table: tuple[Row, ...]
    plane: Plane
    descents: Mapping[str, Descent]


def run() -> Demo:
    """Make the data, all from fixed seeds, and fit it.

    Returns
    -------
    Demo
        The rows of the table, the data and axes of the first picture, and the objectives of the
        second by loss.

    Examples
    --------
    >>> shown = run()
    >>> clean = shown.table[0]
    >>> clean.outliers, clean.degrees["RobustPCA p=1"] < 1
    ('none', True)
    """
    return Demo(
        digits=digits(),
        table=angles(),
        plane=plane(),
        descents={loss: descent(loss) for loss in LOSSES},
    )


def digits() -> Digits:
    """Slip threes among the handwritten zeros that scikit-learn ships, one in twenty."""
    held = load_digits()
    zeros = held.data[held.target == 0]
    threes = held.data[held.target == 3][: round(len(zeros) / 20)]
    X = np.vstack([zeros, threes])
    ids = [f"zero {i + 1}" for i in range(len(zeros))]
    ids += [f"three {i + 1}" for i in range(len(threes))]
    clean = _subspace(PCA(_DIGIT_AXES).fit(zeros))
    detector = PCAOutlierDetector(_DIGIT_AXES, quantile=_DIGIT_QUANTILE).fit(X)
    found = {
        PLAIN: _subspace(PCA(_DIGIT_AXES).fit(X)),
        ROBUST: RobustPCA(_DIGIT_AXES).fit(X).subspace_,
        BOUNDED: detector.pca_.subspace_,
    }
    return Digits(
        X=X,
        columns=tuple(f"r{row}c{column}" for row in range(1, 9) for column in range(1, 9)),
        ids=tuple(ids),
        is_outlier=np.arange(len(X)) >= len(zeros),
        degrees={name: _degrees(fitted, clean) for name, fitted in found.items()},
        detector=detector,
    )


def angles() -> tuple[Row, ...]:
    """Compute the table: clean data first, then each kind and share of outliers."""
    # Without outliers the kinds are one: a seed draws the same inliers for each.
    clean = _row("none", make_contaminated(outlier_share=0.0, random_state=0))
    bad = [
        _row(kind, make_contaminated(kind, outlier_share=share, random_state=0))
        for kind in get_args(Kind)
        for share in _SHARES
    ]
    return (clean, *bad)


def _row(outliers: str, data: Contaminated) -> Row:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robust = RobustPCA(_AXES, p=1.0, random_state=0).fit(data.X)
    bounded = RobustPCA(_AXES, loss="bisquare", random_state=0).fit(data.X)
    found = {
        PLAIN: _subspace(PCA(_AXES).fit(data.X)),
        ROBUST: robust.subspace_,
        BOUNDED: bounded.subspace_,
        ORACLE: _subspace(PCA(_AXES).fit(data.X[~data.is_outlier])),
    }
    return Row(
        outliers=outliers,
        share=float(data.is_outlier.mean()),
        degrees={name: _degrees(fitted, data.truth) for name, fitted in found.items()},
        objective=robust.objective_,
        objective_at_truth=float(np.linalg.norm(data.truth.residuals(data.X), axis=1).sum()),
        warned=any(w.category is BreakdownWarning for w in caught),
    )


def plane() -> Plane:
    """Fit a cloud along a line in the plane, and one point in eight far off it."""
    rng = np.random.default_rng(0)
    good, bad, tilt = 140, 20, np.deg2rad(25.0)
    along = np.array([np.cos(tilt), np.sin(tilt)])
    across = np.array([-along[1], along[0]])
    inliers = rng.standard_normal((good, 2)) * [3.0, 0.5] @ [along, across]
    outliers = [-2.5, 8.5] + rng.standard_normal((bad, 2)) * [1.6, 1.3]
    X = np.vstack([inliers, outliers])
    axes = {
        "PCA, without the outliers": _subspace(PCA(1).fit(inliers)),
        "PCA, with the outliers": _subspace(PCA(1).fit(X)),
        "RobustPCA, with the outliers": RobustPCA(1, random_state=0).fit(X).subspace_,
    }
    return Plane(X, np.arange(good + bad) >= good, axes)


def descent(loss: str, *, updates: int = 30) -> Descent:
    """Run the paper's three algorithms for `loss` from one random start, about the mean."""
    data = make_contaminated("scattered", n_samples=300, random_state=0)
    start = orthonormalize(np.random.default_rng(0).standard_normal((data.X.shape[1], _AXES))).T
    long = {
        solver: RobustPCA(
            _AXES,
            loss=loss,
            solver=solver,
            center="mean",
            start=start,
            tol=0,
            max_iter=10 * updates,
        )
        .fit(data.X)
        .history_.objective
        for solver in SOLVERS
    }
    best = min(float(objective.min()) for objective in long.values())
    shown = {solver: objective[: updates + 1] for solver, objective in long.items()}
    return Descent(LOSSES[loss], shown, best)


def _subspace(pca: PCA) -> Subspace:
    return Subspace(pca.components_.T, pca.mean_)


def _degrees(found: Subspace, truth: Subspace) -> float:
    return float(np.rad2deg(found.angles(truth)[0]))
