import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from helpers import heavy_tailed, random_basis
from trueaxis import PCAOutlierDetector, RobustPCA
from trueaxis.contributions import contributions
from trueaxis.datasets import make_contaminated
from trueaxis.outlier_map import OutlierMap
from trueaxis.outliers import KINDS


def models(X, k=2):
    # A slow descent on random heavy tails is none of this file's business.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return RobustPCA(k, check_breakdown=False).fit(X), PCAOutlierDetector(k).fit(X)


@given(st.integers(0, 10**6))
def test_shares_are_shares(seed):
    X = heavy_tailed(40, 5, seed)
    for model in models(X):
        shares = contributions(model, X)
        assert shares.shape == X.shape
        assert (shares >= 0).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_shares_are_the_formulas():
    X = heavy_tailed(60, 6, 3, shift=5.0)
    for model in models(X):
        axes = getattr(model, "pca_", model)
        W, Z = axes.components_.T, axes.transform(X)
        R = X - axes.inverse_transform(Z)
        μ = getattr(model, "score_location_", np.zeros(2))
        S = getattr(model, "score_scatter_", np.diag(axes.explained_variance_))
        values, V = np.linalg.eigh(S)
        H = (Z - μ) @ (V / np.sqrt(values)) @ V.T @ W.T
        # The lengths of both vectors are the distances, so nothing is left unexplained.
        np.testing.assert_allclose(np.linalg.norm(R, axis=1), model.orthogonal_distance(X))
        np.testing.assert_allclose(np.linalg.norm(H, axis=1), model.score_distance(X))
        of_residual = R**2 / (R**2).sum(axis=1, keepdims=True)
        of_score = H**2 / (H**2).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(contributions(model, X, cutoffs=(1e9, 1e-9)), of_residual)
        np.testing.assert_allclose(contributions(model, X, cutoffs=(1e-9, 1e9)), of_score)
        found = OutlierMap.of(model, X)
        by_score = found.score / found.score_cutoff > found.orthogonal / found.orthogonal_cutoff
        assert 0 < by_score.sum() < len(X)
        np.testing.assert_allclose(
            contributions(model, X), np.where(by_score[:, None], of_score, of_residual)
        )


@pytest.mark.parametrize("column", range(6))
def test_a_spoiled_entry_is_found(column):
    rng = np.random.default_rng(column)
    X = rng.standard_normal((300, 2)) @ random_basis(6, 2, 1).T * 5
    X += 0.1 * rng.standard_normal(X.shape)
    X[7, column] += 40.0
    for model in models(X):
        assert contributions(model, X)[7].argmax() == column


def test_a_part_of_the_rows_has_the_shares_it_has_among_all():
    X = make_contaminated("leverage", random_state=0).X
    for model in models(X, 3):
        found = OutlierMap.of(model, X)
        some = np.flatnonzero(found.flagged)[::7]
        np.testing.assert_allclose(
            contributions(model, X[some], cutoffs=found.cutoffs),
            contributions(model, X)[some],
        )


def test_shares_shift_and_scale_with_the_data():
    X = heavy_tailed(80, 4, 5)
    shares = contributions(PCAOutlierDetector(1).fit(X), X)
    for factor in (1e-5, 1e6):
        moved = factor * (X + 3.0)
        again = contributions(PCAOutlierDetector(1).fit(moved), moved)
        np.testing.assert_allclose(again, shares, atol=1e-5)


def test_without_residuals_the_scores_count_and_the_center_blames_nobody():
    X = heavy_tailed(50, 3, 1)
    pca = RobustPCA(3).fit(X)
    found = OutlierMap.of(pca, X)
    assert not (found.orthogonal > found.orthogonal_cutoff).any()
    np.testing.assert_allclose(contributions(pca, X).sum(axis=1), 1.0)
    rows = np.vstack([X, pca.mean_])
    assert (contributions(pca, rows, cutoffs=found.cutoffs)[-1] == 0.0).all()
    flat = np.outer(np.arange(-20.0, 21.0), [1.0, 2.0, 2.0])
    assert np.isfinite(contributions(PCAOutlierDetector(1).fit(flat), flat)).all()


def test_the_map_of_a_detector_is_what_the_detector_says():
    X = make_contaminated("scattered", random_state=2).X
    detector = PCAOutlierDetector(3).fit(X)
    found = OutlierMap.of(detector, X)
    assert (found.kinds == detector.classify(X)).all()
    assert (found.flagged == (detector.predict(X) < 0)).all()
    np.testing.assert_allclose(found.excess, -detector.score_samples(X))
    assert tuple(found.counts) == KINDS
    assert sum(found.counts.values()) == len(X)


def test_regular_rows_of_robust_pca_are_flagged_as_rarely_as_the_detector_flags_them():
    X = np.random.default_rng(0).standard_normal((20000, 6)) * [5, 4, 1, 1, 1, 1]
    share = OutlierMap.of(RobustPCA(2).fit(X), X).flagged.mean()
    assert share == pytest.approx(0.025, rel=0.2)


def test_sparse_rows_have_the_shares_of_dense_ones():
    X = heavy_tailed(60, 5, 7) * (np.random.default_rng(0).random((60, 5)) < 0.6)
    for model in models(X):
        for kind in (sparse.csr_array, sparse.csr_matrix):
            np.testing.assert_allclose(
                contributions(model, kind(X)), contributions(model, X), atol=1e-8
            )
