import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import chdtrc
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import check_estimator

from helpers import random_basis
from trueaxis import PCAOutlierDetector, RobustPCA, _mcd
from trueaxis._univariate import _least_variance, _least_variances, _odd, nearest
from trueaxis.datasets import make_contaminated
from trueaxis.losses import Cauchy
from trueaxis.outliers import (
    KINDS,
    columnwise,
    kinds,
    orthogonal_cutoff,
    robust_scatter,
    score_cutoff,
    score_distances,
    univariate_mcd,
)

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the labelled data are not there")


def gaussian(n, k, seed=0):
    return np.random.default_rng(seed).standard_normal((n, k)) * np.arange(k, 0, -1.0)


def whitened_eigenvalues(S, C):
    """Eigenvalues of C^{-1/2} S C^{-1/2}: all 1 where S = C."""
    L = np.linalg.inv(np.linalg.cholesky(C))
    return np.linalg.eigvalsh(L @ S @ L.T)


# The univariate estimate.


def test_variance_is_consistent_at_the_gaussian():
    rng = np.random.default_rng(0)
    for n, slack in ((10, 0.07), (40, 0.05), (1000, 0.02)):
        found = [univariate_mcd(rng.standard_normal(n))[1] ** 2 for _ in range(400)]
        assert np.mean(found) == pytest.approx(1.0, abs=slack)


def test_clean_numbers_give_nearly_the_mean_and_standard_deviation():
    for seed in range(20):
        x = 3 + 2 * gaussian(1000, 1, seed)[:, 0]
        location, scale = univariate_mcd(x)
        assert location == pytest.approx(x.mean(), abs=0.05)
        assert scale == pytest.approx(x.std(ddof=1), rel=0.03)


@pytest.mark.parametrize("bad", [1e-3, 10.0, -50.0, 1e12])
def test_nearly_half_of_the_numbers_may_be_anything(bad):
    x = np.random.default_rng(1).standard_normal(1001)
    x[:450] = bad if bad != 1e-3 else np.random.default_rng(2).standard_normal(450) * 1e9
    location, scale = univariate_mcd(x)
    assert abs(location) < 0.35
    assert 0.6 < scale < 1.5


def test_the_interval_is_that_of_brute_force():
    rng = np.random.default_rng(3)
    for n in (5, 9, 21):
        x = np.sort(rng.standard_t(1, n))
        h = (n + 1) // 2
        best = min((x[i : i + h].var(), x[i : i + h].mean()) for i in range(n - h + 1))
        location, variance = _least_variance(x, np.ones(n), float(h))
        assert (variance, location) == pytest.approx(best, rel=1e-9)
        locations, variances = _least_variances(np.stack([x, -x[::-1]]), float(h))
        assert variances == pytest.approx([variance] * 2, rel=1e-9)
        assert locations == pytest.approx([location, -location], rel=1e-9)


@pytest.mark.parametrize("shape", [(31, 700), (3001, 7), (40000, 2)])
def test_columns_together_are_the_columns_one_by_one(shape):
    X = np.random.default_rng(0).standard_t(2, shape)
    X[: shape[0] // 2 + 1, 1] = 4.0
    center, scale = columnwise(X)
    for j in (0, 1, shape[1] - 1):
        assert (center[j], scale[j] * (j != 1)) == pytest.approx(univariate_mcd(X[:, j]))


@pytest.mark.parametrize("k", [1, 4])
def test_as_many_are_odd_as_the_rule_says(k):
    rng = np.random.default_rng(k)
    d = rng.chisquare(k, (6, 200))
    for line, far in zip(d, (0, 1, 5, 20, 60, 90), strict=True):
        line[:far] = rng.uniform(8, 40, far)
    for ω in (None, rng.integers(1, 4, 200).astype(float)):
        counts = np.ones(200) if ω is None else ω
        for line, found in zip(d, _odd(d, ω, k, True), strict=True):
            beyond = np.array([counts[line >= x].sum() for x in line])
            odd = beyond[chdtrc(k, line) * counts.sum() <= 0.1 * beyond]
            assert found == odd.max(initial=1.0)


def test_rows_equally_far_share_what_is_left():
    d = np.array([3.0, 1.0, 2.0, 2.0, 0.5])
    assert nearest(d, None, 2.5)[0].tolist() == [0.0, 1.0, 0.25, 0.25, 1.0]
    taken, reach = nearest(d, np.array([1.0, 1.0, 3.0, 1.0, 1.0]), 4.0)
    assert taken.tolist() == [0.0, 1.0, 1.5, 0.5, 1.0]
    assert reach == 2.0


@given(st.integers(0, 10**6), st.integers(2, 40))
def test_a_whole_weight_is_a_repeated_number(seed, n):
    rng = np.random.default_rng(seed)
    x, counts = rng.standard_t(2, n), rng.integers(0, 4, n)
    counts[0] = 1
    assert univariate_mcd(x, counts) == pytest.approx(univariate_mcd(np.repeat(x, counts)))


@given(st.integers(0, 10**6), st.floats(-1e3, 1e3), st.sampled_from([-1e6, -1.0, 1e-6, 3.0]))
def test_location_and_scale_shift_and_scale(seed, shift, factor):
    x = np.random.default_rng(seed).standard_t(2, 25)
    location, scale = univariate_mcd(x)
    moved = univariate_mcd(factor * x + shift)
    size = abs(factor) + abs(shift)
    assert moved[0] == pytest.approx(factor * location + shift, abs=1e-9 * size)
    assert moved[1] == pytest.approx(abs(factor) * scale, rel=1e-6, abs=1e-9 * size)


def test_the_scale_is_zero_where_most_numbers_agree_and_columnwise_still_tells_one():
    x = np.r_[np.zeros(60), np.random.default_rng(0).standard_normal(40)]
    assert univariate_mcd(x) == (0.0, 0.0)
    center, scale = columnwise(np.column_stack([x, np.full(100, 7.0)]))
    assert center.tolist() == [0.0, 7.0]
    assert 0.3 < scale[0] < 1.0
    assert scale[1] == 0.0


# Location and scatter.


@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_scatter_is_nearly_the_covariance_of_gaussian_rows(k):
    for seed in range(8):
        Z = gaussian(1000, k, seed)
        location, S = robust_scatter(Z)
        ratios = whitened_eigenvalues(S, np.cov(Z.T).reshape(k, k))
        assert np.abs(ratios - 1).max() < 0.05
        assert np.abs((location - Z.mean(axis=0)) / np.arange(k, 0, -1.0)).max() < 0.05


def test_scatter_of_few_rows_is_not_too_small_on_average():
    for n, k in ((20, 2), (30, 3), (60, 5)):
        traces = [
            np.trace(robust_scatter(g)[1])
            for g in np.random.default_rng(0).standard_normal((200, n, k))
        ]
        assert np.mean(traces) / k == pytest.approx(1.0, abs=0.08)


BAD = {
    "far": lambda b, rng: 1000 * rng.standard_normal((b, 3)),
    "cluster": lambda b, rng: [60.0, 40.0, 0.0] + 0.5 * rng.standard_normal((b, 3)),
    "point": lambda b, rng: np.full((b, 3), 1e9),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("share", [0.2, 0.4, 0.45])
def test_bad_rows_do_not_move_the_scatter(bad, share):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        Z = rng.standard_normal((500, 3)) * [5.0, 4.0, 3.0]
        b = int(share * 500)
        clean = np.cov(Z[b:].T)
        Z[:b] = BAD[bad](b, rng)
        location, S = robust_scatter(Z)
        ratios = whitened_eigenvalues(S, clean)
        assert 0.85 < ratios.min() <= ratios.max() < 1.15
        assert np.abs(location / [5.0, 4.0, 3.0]).max() < 0.3


def plain_search(Y, share, starts=60):
    """The least log-determinant that random starts lead to, every one followed to its end."""
    n, k = Y.shape
    rng = np.random.default_rng(0)
    h = share * n
    least = np.inf
    for _ in range(starts):
        rows = Y[rng.choice(n, k + 1, replace=False)]
        location, S, before = rows.mean(axis=0), np.cov(rows.T) + 1e-9 * np.eye(k), np.inf
        while True:
            d = np.sum((Y - location) * np.linalg.solve(S, (Y - location).T).T, axis=1)
            half = np.zeros(n)
            half[np.argsort(d)] = np.clip(h - np.arange(n), 0.0, 1.0)
            location = half @ Y / h
            S = ((Y - location).T * half) @ (Y - location) / h
            size = np.linalg.slogdet(S)[1]
            if not size < before - 1e-9:
                break
            before = size
        least = min(least, size)
    return least


@pytest.mark.parametrize("shape", [(150, 2), (300, 5), (1200, 8), (4000, 3)], ids=str)
@pytest.mark.parametrize("bad", ["none", "scattered", "shifted", "near", "flat", "heavy"])
def test_the_half_is_nearly_as_small_as_a_plain_search_finds(bad, shape, monkeypatch):
    halves = []
    search = _mcd._search

    def recorded(parts, share):
        found = search(parts, share)
        halves.append((parts[-1].Y.T, share, found[1]))
        return found

    monkeypatch.setattr(_mcd, "_search", recorded)
    n, k = shape
    rng = np.random.default_rng(n)
    Z = rng.standard_normal(shape) @ rng.standard_normal((k, k))
    b = int(0.45 * n)
    if bad == "scattered":
        Z[:b] = 50 * rng.standard_normal((b, k))
    elif bad == "shifted":
        Z[:b] += 30 * rng.standard_normal(k)
    elif bad == "near":
        Z[:b] += 8 * rng.standard_normal(k)
    elif bad == "flat":
        Z[:b, 0] = 40 * rng.standard_normal(b)
    elif bad == "heavy":
        Z /= np.sqrt(rng.chisquare(1, n))[:, None]
    robust_scatter(rng.permutation(Z))
    ((Y, share, S),) = halves
    assert np.linalg.slogdet(S)[1] < plain_search(Y, share) + 0.05


def test_scatter_turns_scales_and_shifts_with_the_rows():
    Z = gaussian(300, 3, 5)
    Z[:90] += [30.0, 10.0, 0.0]
    location, S = robust_scatter(Z)
    Q = random_basis(3, 3, seed=1) * 1e4
    turned, S_turned = robust_scatter(Z @ Q + 1e5)
    np.testing.assert_allclose(turned, location @ Q + 1e5, rtol=1e-7)
    np.testing.assert_allclose(S_turned, Q.T @ S @ Q, rtol=1e-6, atol=1e-6 * np.abs(S_turned).max())
    again, S_again = robust_scatter(Z)
    assert (again == location).all()
    assert (S_again == S).all()


@pytest.mark.parametrize("n", [12, 200, 2500])
def test_whole_weights_are_repeated_rows(n):
    rng = np.random.default_rng(n)
    Z, counts = rng.standard_t(3, (n, 3)), rng.integers(0, 4, n)
    location, S = robust_scatter(Z, counts)
    repeated, S_repeated = robust_scatter(np.repeat(Z, counts, axis=0))
    np.testing.assert_allclose(location, repeated, atol=1e-8)
    np.testing.assert_allclose(S, S_repeated, atol=1e-8)


@pytest.mark.parametrize(
    "Z",
    [
        np.zeros((30, 2)),
        np.zeros((1, 3)),
        np.column_stack([gaussian(100, 1)[:, 0], np.zeros(100)]),
        np.column_stack([gaussian(100, 1)[:, 0]] * 2),
        np.repeat(gaussian(40, 3), 3, axis=0),
        np.column_stack([gaussian(100, 2), np.arange(100) >= 70]),
        gaussian(6, 4),
        np.round(gaussian(200, 3)),
        np.zeros((10, 0)),
    ],
    ids=["equal", "one", "constant", "line", "repeated", "zero_mad", "few", "grid", "no_columns"],
)
def test_degenerate_scores_have_a_finite_scatter(Z):
    location, S = robust_scatter(Z)
    assert location.shape == (Z.shape[1],)
    assert np.isfinite(S).all()
    assert (np.diag(S) >= 0).all()
    # No variance only where there is none at all.
    assert ((np.diag(S) > 0) == (Z.std(axis=0) > 0)).all()
    assert np.isfinite(score_distances(Z, location, S)).all()


# Cut-offs.


@pytest.mark.parametrize("dimensions", [1, 2, 20])
@pytest.mark.parametrize("quantile", [0.9, 0.975, 0.99])
def test_the_orthogonal_cutoff_is_the_quantile_of_gaussian_residuals(dimensions, quantile):
    R = np.random.default_rng(0).standard_normal((20000, dimensions))
    od = np.linalg.norm(R, axis=1)
    assert np.mean(od > orthogonal_cutoff(od, quantile)) == pytest.approx(1 - quantile, rel=0.7)


def test_the_orthogonal_cutoff_withstands_nearly_half():
    od = np.linalg.norm(np.random.default_rng(0).standard_normal((1000, 10)), axis=1)
    clean = orthogonal_cutoff(od[480:])
    for bad in (1e9, 12.0, 1e-9):
        spoiled = np.r_[np.full(480, bad), od[480:]]
        assert orthogonal_cutoff(spoiled) == pytest.approx(clean, rel=0.35)


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_equal_distances_and_rounding_are_never_beyond(size):
    rng = np.random.default_rng(0)
    equal = size * (1 + 1e-15 * rng.standard_normal(100))
    assert not (equal > orthogonal_cutoff(equal)).any()
    exact = np.r_[np.zeros(60), np.full(40, size)]
    assert 0 < orthogonal_cutoff(exact) < size
    noise = np.r_[1e-15 * size * rng.random(60), np.full(40, size)]
    assert noise[:60].max() < orthogonal_cutoff(noise, floor=1e-7 * size) < size
    assert orthogonal_cutoff(np.zeros(5)) == 0.0


def test_weights_of_distances_count_rows():
    rng = np.random.default_rng(0)
    od, counts = rng.random(60), rng.integers(0, 4, 60)
    assert orthogonal_cutoff(od, 0.9, counts) == pytest.approx(
        orthogonal_cutoff(np.repeat(od, counts), 0.9)
    )


def test_score_cutoff_and_kinds():
    d = score_distances(gaussian(20000, 3), np.zeros(3), np.diag([9.0, 4.0, 1.0]))
    assert np.mean(d > score_cutoff(3)) == pytest.approx(0.025, abs=0.004)
    assert kinds(np.array([0, 2, 0, 2]), np.array([0, 0, 2, 2]), 1, 1).tolist() == list(KINDS)


# The estimators.


def test_distances_of_robust_pca_are_the_formulas():
    X = make_contaminated("scattered", random_state=0).X
    pca = RobustPCA(3, loss="bisquare").fit(X)
    Z = pca.transform(X)
    rest = X - pca.inverse_transform(Z)
    np.testing.assert_allclose(pca.orthogonal_distance(X), np.linalg.norm(rest, axis=1), rtol=1e-9)
    expected = np.sqrt((Z**2 / pca.explained_variance_).sum(axis=1))
    np.testing.assert_allclose(pca.score_distance(X), expected, rtol=1e-9)
    single = X.astype(np.float32)
    np.testing.assert_allclose(
        pca.orthogonal_distance(single), pca.orthogonal_distance(X), atol=1e-4
    )


@pytest.mark.parametrize(
    "detector", [PCAOutlierDetector(), PCAOutlierDetector(1, contamination=0.1)], ids=str
)
def test_detector_checks_pass_without_exception(detector):
    with warnings.catch_warnings():
        # The checks warn about themselves where an optional dependency of theirs is absent.
        warnings.simplefilter("ignore")
        results = check_estimator(detector, on_fail=None, on_skip=None)
    assert not [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert not any(r["expected_to_fail"] for r in results)


@pytest.mark.parametrize("kind", ["scattered", "clustered", "leverage"])
@pytest.mark.parametrize("share", [0.2, 0.4])
def test_bad_rows_are_flagged_and_few_others(kind, share):
    data = make_contaminated(kind, outlier_share=share, random_state=1)
    detector = PCAOutlierDetector(3).fit(data.X)
    od = detector.orthogonal_distance(data.X)
    # A row of a line through the center is not far from it everywhere.
    away = data.is_outlier & (np.linalg.norm(data.truth.residuals(data.X), axis=1) > 1.0)
    assert (od[away] > detector.orthogonal_cutoff_).all()
    assert (detector.predict(data.X[~data.is_outlier]) < 0).mean() < 0.06
    assert (detector.fit_predict(data.X) == detector.predict(data.X)).all()


def test_the_share_of_regular_rows_flagged_is_the_one_asked_for():
    X = np.random.default_rng(0).standard_normal((20000, 6)) * [5, 4, 1, 1, 1, 1]
    for quantile in (0.9, 0.975):
        flagged = PCAOutlierDetector(2, quantile=quantile).fit_predict(X) < 0
        assert flagged.mean() == pytest.approx(1 - quantile, rel=0.15)
    assert (PCAOutlierDetector(2, contamination=0.2).fit_predict(X) < 0).mean() == 0.2


def test_the_four_kinds_are_told_apart():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5)) * [5.0, 3.0, 0.1, 0.1, 0.1]
    X[0], X[1], X[2] = [60, 0, 0, 0, 0], [0, 0, 4, 0, 0], [60, 0, 0, 9, 0]
    detector = PCAOutlierDetector(2).fit(X)
    assert detector.classify(X[[3, 0, 1, 2]]).tolist() == list(KINDS)
    assert detector.predict(X[[3, 0, 1, 2]]).tolist() == [1, -1, -1, -1]
    assert (detector.decision_function(X) == detector.score_samples(X) - detector.offset_).all()


def test_cutoffs_are_frozen_at_fit():
    X = make_contaminated("scattered", random_state=0).X
    detector = PCAOutlierDetector(3).fit(X)
    before = vars(detector).copy()
    alone = np.concatenate([detector.decision_function(X[i : i + 1]) for i in range(50)])
    together = detector.decision_function(np.vstack([X[:50], 1e6 * np.ones((500, 20))]))[:50]
    np.testing.assert_allclose(alone, together, rtol=1e-6)
    assert vars(detector) == before


def test_rows_of_an_exact_subspace_are_regular_and_all_others_are_not():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 12)) + 5.0
    X[:80] += rng.standard_normal((80, 12))
    with warnings.catch_warnings():
        # A scale that falls to 0 has no relative gap to close.
        warnings.simplefilter("ignore", ConvergenceWarning)
        detector = PCAOutlierDetector(3).fit(X)
    assert (detector.orthogonal_distance(X) > detector.orthogonal_cutoff_).tolist() == [
        True
    ] * 80 + [False] * 120


def test_float32_rows_and_data_frames():
    X = make_contaminated("scattered", random_state=0).X
    detector = PCAOutlierDetector(3).fit(X)
    assert (
        PCAOutlierDetector(3).fit_predict(X.astype(np.float32)) == detector.predict(X)
    ).mean() > 0.98
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(20)])
    assert (PCAOutlierDetector(3).fit(frame).predict(frame) == detector.predict(X)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantile": 1.0}, "quantile"),
        ({"contamination": 0.6}, "contamination"),
        ({"contamination": 0}, "contamination"),
        ({"n_components": "all"}, "scree"),
    ],
)
def test_unfit_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        PCAOutlierDetector(**options).fit(gaussian(50, 4))


# Real data.


def classic(name, columns):
    return np.genfromtxt(DATA / "robust_classics" / name, delimiter=",", skip_header=1)[:, columns]


@needs_data
@pytest.mark.parametrize("seed", [None, 0, 1])
def test_octane_has_six_orthogonal_outliers(seed):
    X = classic("rrcov_octane.csv", slice(1, None))
    assert X.shape == (39, 226)
    detector = PCAOutlierDetector(2, random_state=seed).fit(X)
    beyond = detector.orthogonal_distance(X) > detector.orthogonal_cutoff_
    assert (np.flatnonzero(beyond) + 1).tolist() == [25, 26, 36, 37, 38, 39]


@needs_data
@pytest.mark.parametrize("seed", [None, 0, 1])
def test_hbk_has_fourteen_outliers(seed):
    X = classic("robustbase_hbk.csv", slice(0, 3))
    flagged = PCAOutlierDetector(2, random_state=seed).fit_predict(X) < 0
    assert (np.flatnonzero(flagged) + 1).tolist() == list(range(1, 15))


@needs_data
@pytest.mark.parametrize("frame", ["kitti_29_071_0221", "kitti_29_071_0328"])
def test_road_planes_are_told_from_what_stands_on_them(frame):
    with np.load(DATA / "kitti_roadplane" / f"{frame}.npz") as data:
        X = np.column_stack([data["X"], np.ones(len(data["X"]))]).astype(np.float64)
        off_road = data["outlier"] > 0
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    # Directions to the road stay within about a milliradian of its plane.
    detector = PCAOutlierDetector(3, loss=Cauchy(threshold=1e-3), center=False).fit(X)
    assert roc_auc_score(off_road, detector.orthogonal_distance(X)) >= 0.99


@needs_data
@pytest.mark.parametrize("name", ["25_musk", "6_cardio", "26_optdigits"])
def test_columns_without_spread_do_not_break_the_detector(name):
    with np.load(DATA / "adbench" / f"{name}.npz") as data:
        X = data["X"].astype(np.float64)
    center, scale = columnwise(X)
    X = (X - center) / np.where(scale > 0, scale, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = PCAOutlierDetector().fit(X)
    assert np.isfinite(detector.score_samples(X)).all()
    assert detector.score_cutoff_ > 0 < detector.orthogonal_cutoff_
