"""Plain and robust axes of the same rows: how far apart, and which rows drew them apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from trueaxis._subspace import Subspace
from trueaxis._typing import Array, Float64Array
from trueaxis.estimators import RobustPCA

_TOGETHER = 1 << 22  # entries whose residuals are computed at once


@dataclass(frozen=True)
class Comparison:
    """What plain PCA makes of rows that a robust fit is known of.

    Parameters
    ----------
    plain : sklearn.decomposition.PCA
        Fitted to the same rows, with as many axes.
    angles : ndarray of shape (k,)
        Principal angles between the two subspaces in degrees, largest first.
    axis_angles : ndarray of shape (k,)
        Angle between the axes of one number, in degrees.
    gain : ndarray of shape (n,)
        What each row gained by the plain axes; see `gains`.
    """

    plain: PCA
    angles: Float64Array
    axis_angles: Float64Array
    gain: Float64Array

    @property
    def gain_share(self) -> Float64Array:
        """The gain of each row as a share of all that rows gained; of those that lost, negative."""
        whole = float(self.gain[self.gain > 0].sum())
        return self.gain / whole if whole > 0 else np.zeros_like(self.gain)


def compare(robust: RobustPCA, X: Array) -> Comparison:
    """Fit plain PCA to the rows of a robust fit, and hold the two against each other.

    Parameters
    ----------
    robust : RobustPCA
        Fitted to `X`.
    X : ndarray of shape (n, m)
        The rows.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from trueaxis.datasets import make_contaminated
    >>> data = make_contaminated("scattered", random_state=0)
    >>> found = compare(RobustPCA(3).fit(data.X), data.X)
    >>> bool(found.angles[0] > 10)
    True
    >>> bool(data.is_outlier[np.argsort(-found.gain)[:20]].all())
    True
    """
    plain = PCA(robust.n_components_, random_state=0).fit(X)
    here = Subspace(plain.components_.T, plain.mean_)
    cosines = np.abs(np.sum(plain.components_ * robust.components_, axis=1))
    return Comparison(
        plain=plain,
        angles=np.degrees(robust.subspace_.angles(here)),
        axis_angles=np.degrees(np.arccos(np.minimum(cosines, 1.0))),
        gain=gains(robust.subspace_, here, X),
    )


def gains(robust: Subspace, plain: Subspace, X: Array) -> Float64Array:
    r"""What the plain axes save each row in squared distance, against the robust axes.

    .. math:: g_i = \|r_i^{robust}\|^2 - \|r_i^{plain}\|^2

    Plain PCA minimizes the sum of squares, so that :math:`\sum_i g_i \ge 0`: the rows with the
    largest gains are those that moved its axes, and the rows with losses paid for it.

    Parameters
    ----------
    robust, plain : Subspace
        The two fits.
    X : ndarray of shape (n, m)
        The rows.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> along, across = (Subspace(np.eye(2)[:, [j]], np.zeros(2)) for j in (0, 1))
    >>> gains(along, across, np.array([[0.0, 3.0], [2.0, 0.0]]))
    array([ 9., -4.])
    """
    step = max(1, _TOGETHER // X.shape[1])

    def squares(to: Subspace) -> Any:
        parts = [to.residuals(X[i : i + step]) for i in range(0, len(X), step)]
        return np.concatenate([np.einsum("ij,ij->i", r, r) for r in parts])

    return np.asarray(squares(robust) - squares(plain))
