"""Data whose true subspace is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from trueaxis._linalg import orthonormalize
from trueaxis._subspace import Subspace
from trueaxis._typing import Float64Array

Kind = Literal["scattered", "clustered", "leverage"]


@dataclass(frozen=True)
class Contaminated:
    """Rows, which of them are bad, and the subspace of the others."""

    X: Float64Array
    is_outlier: np.ndarray
    truth: Subspace


def make_contaminated(
    kind: Kind = "scattered",
    *,
    n_samples: int = 500,
    n_features: int = 20,
    outlier_share: float = 0.2,
    random_state: int | None = None,
) -> Contaminated:
    """Rows near a 3-dimensional subspace, some of them replaced by outliers.

    With V a random orthogonal matrix and W its first three columns, the inliers are
    N(0,1)·diag(5,4,3)·Wᵀ + 0.1·N(0,I) about a center 5·N(0,I). The bad rows, about the same
    center, are

    - ``"scattered"``: 20·N(0,I), in every direction;
    - ``"clustered"``: 30·v₄ + 20·v₅ + 0.5·N(0,I), one far cluster;
    - ``"leverage"``: 60·N(0,1)·v₄ + 0.1·N(0,I), one far line.

    Parameters
    ----------
    kind : {"scattered", "clustered", "leverage"}
        What the bad rows are like.
    n_samples, n_features : int
        Shape of the data; n_features >= 5.
    outlier_share : float in [0, 1)
        Share of the rows that are bad; they come first.
    random_state : int, optional
        Seed.

    Returns
    -------
    Contaminated
        ``X``, ``is_outlier`` (bool per row) and ``truth`` (a `Subspace`).

    Examples
    --------
    >>> data = make_contaminated("clustered", random_state=0)
    >>> data.X.shape, int(data.is_outlier.sum())
    ((500, 20), 100)
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind={kind!r} is unknown; choose one of {list(get_args(Kind))}.")
    if n_features < 5:
        raise ValueError(f"n_features={n_features} is too small: the construction needs 5.")
    rng = np.random.default_rng(random_state)
    n, m = n_samples, n_features
    V = orthonormalize(rng.standard_normal((m, m)))
    W, v4, v5 = V[:, :3], V[:, 3], V[:, 4]
    center = 5 * rng.standard_normal(m)
    X = (rng.standard_normal((n, 3)) * [5, 4, 3]) @ W.T + 0.1 * rng.standard_normal((n, m))
    bad = round(outlier_share * n)
    if kind == "scattered":
        X[:bad] = 20 * rng.standard_normal((bad, m))
    elif kind == "clustered":
        X[:bad] = 30 * v4 + 20 * v5 + 0.5 * rng.standard_normal((bad, m))
    else:
        X[:bad] = 60 * rng.standard_normal((bad, 1)) * v4 + 0.1 * rng.standard_normal((bad, m))
    is_outlier = np.arange(n) < bad
    return Contaminated(X + center, is_outlier, Subspace(W, center))
