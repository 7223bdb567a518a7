import numpy as np
import pytest

from helpers import heavy_tailed, projector, random_basis, source_of
from trueaxis import RobustPCA
from trueaxis._subspace import Subspace
from trueaxis._sweep_l1 import AbsoluteSums, SlopeSweep

PAPERS = ["proximal", "accelerated", "reweighted"]
COUNTEREXAMPLE = np.array([[-1.0, 3.0], [3.0, 2.0], [-3.0, 2.0], [-3.0, -1.0]])


def l1(X, W, c, omega=None):
    D = X - c
    rows = np.abs(D - D @ W @ W.T).sum(axis=1)
    return float(rows.sum() if omega is None else omega @ rows)


def fit(X, k, sample_weight=None, **options):
    return RobustPCA(k, loss="l1", check_breakdown=False, **options).fit(
        X, sample_weight=sample_weight
    )


@pytest.mark.parametrize(("n", "m", "k"), [(40, 6, 2), (9, 15, 3), (5, 4, 1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_slopes_are_those_of_finite_differences(n, m, k, weighted):
    X = heavy_tailed(n, m, seed=1)
    rng = np.random.default_rng(0)
    omega = rng.uniform(0.5, 2.0, n) if weighted else None
    source, W, c = source_of(X, weights=omega), random_basis(m, k), rng.standard_normal(m)
    mu, h = 0.3, 1e-6

    def smooth(W, c):
        # The slope with respect to W is that of the formula with WWᵀ, W orthonormal or not.
        D = X - c
        rows = np.sqrt((D - D @ W @ W.T) ** 2 + mu**2).sum(axis=1)
        return rows.sum() if omega is None else omega @ rows

    seen = source.reduce(SlopeSweep(Subspace(W, c), mu))
    assert seen.smooth == pytest.approx(smooth(W, c), rel=1e-13)
    assert seen.objective == pytest.approx(l1(X, W, c, omega), rel=1e-13)
    assert seen.entries == pytest.approx(m * (n if omega is None else omega.sum()))
    for _ in range(4):
        V, v = rng.standard_normal((m, k)), rng.standard_normal(m)
        in_basis = (smooth(W + h * V, c) - smooth(W - h * V, c)) / (2 * h)
        in_center = (smooth(W, c + h * v) - smooth(W, c - h * v)) / (2 * h)
        assert np.vdot(seen.basis, V) == pytest.approx(in_basis, rel=1e-6)
        assert seen.center @ v == pytest.approx(in_center, rel=1e-6)


def test_without_smoothing_a_zero_residual_has_no_slope():
    X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    seen = source_of(X).reduce(SlopeSweep(Subspace(np.eye(2)[:, :1], np.zeros(2)), 0.0))
    assert seen.smooth == seen.objective == 3.0
    np.testing.assert_array_equal(seen.center, [0.0, -1.0])
    assert np.isfinite(seen.basis).all()


def test_sums_of_columns_count_weights():
    X, omega = heavy_tailed(7, 3), np.arange(7.0)
    c = np.ones(3)
    sums = source_of(X, weights=omega).reduce(AbsoluteSums(c))
    np.testing.assert_allclose(sums, omega @ np.abs(X - c))
    np.testing.assert_allclose(source_of(X).reduce(AbsoluteSums(c)), np.abs(X - c).sum(axis=0))


def test_counterexample_of_the_papers_scheme():
    pca = fit(COUNTEREXAMPLE, 1, center=False, start=np.array([[0.0, 1.0]]))
    assert pca.objective_ == pytest.approx(8.0, rel=1e-12)
    np.testing.assert_allclose(np.abs(pca.components_), [[1.0, 0.0]], atol=1e-12)
    assert pca.solver_ == "true_l1"
    assert pca.converged_
    assert pca.history_.objective[0] == pytest.approx(10.0)


SHAPES = [
    (40, 6, 1), (60, 8, 2), (30, 12, 3), (100, 5, 2), (25, 4, 3),
    (10, 20, 1), (12, 30, 2), (15, 18, 3), (80, 3, 2), (20, 20, 2),
]  # fmt: skip


@pytest.mark.parametrize("center", [False, "optimal"])
@pytest.mark.parametrize(("n", "m", "k"), SHAPES)
def test_never_above_the_papers_solvers(n, m, k, center):
    X = heavy_tailed(n, m, seed=n + m, shift=1.0)
    start = random_basis(m, k, seed=k).T
    ours = fit(X, k, center=center, start=start)
    J = ours.history_.objective
    assert (np.diff(J) < 0).all()
    assert (np.diff(ours.history_.sweeps) >= 0).all()
    assert ours.objective_ == pytest.approx(J[-1], rel=1e-12)
    assert ours.objective_ == pytest.approx(l1(X, ours.components_.T, ours.mean_), rel=1e-12)
    for solver in PAPERS:
        theirs = RobustPCA(
            k, loss="l1", solver=solver, center=center, start=start, tol=0, max_iter=200,
            check_breakdown=False,
        ).fit(X)  # fmt: skip
        assert ours.objective_ <= theirs.objective_ * (1 + 1e-12)
        assert ours.objective_ <= theirs.history_.objective.min() * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("center", [False, "optimal"])
def test_lines_in_the_plane_are_as_good_as_an_exhaustive_search(seed, center):
    X = heavy_tailed(6 + 5 * seed, 2, seed=seed)
    angles = np.linspace(0, np.pi, 4001)
    # The objective has its minima at kinks: along the axes, or through rows.
    through = X if center is False else (X[:, None] - X[None]).reshape(-1, 2)
    angles = np.concatenate([angles, [0, np.pi / 2], np.arctan2(through[:, 1], through[:, 0])])
    normals = np.stack([-np.sin(angles), np.cos(angles)])
    offsets = X @ normals
    if center == "optimal":
        offsets = offsets - np.median(offsets, axis=0)
    best = (np.abs(normals).sum(axis=0) * np.abs(offsets).sum(axis=0)).min()
    assert fit(X, 1, center=center).objective_ == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-9, 3.7, 1e12])
def test_scales_with_the_data(scale):
    X = heavy_tailed(40, 5, seed=4, shift=2.0)
    one, other = fit(X, 2), fit(scale * X, 2)
    assert other.objective_ == pytest.approx(scale * one.objective_, rel=1e-6)
    apart = projector(one.components_.T) - projector(other.components_.T)
    np.testing.assert_allclose(apart, 0, atol=1e-4)


def test_a_weight_of_two_is_the_row_twice():
    X = heavy_tailed(30, 4, seed=5)
    counts = np.random.default_rng(0).integers(0, 3, 30)
    weighted, repeated = fit(X, 2, sample_weight=counts), fit(np.repeat(X, counts, axis=0), 2)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    expected = l1(X, weighted.components_.T, weighted.mean_, counts)
    assert weighted.objective_ == pytest.approx(expected, rel=1e-12)


def test_same_bits_every_time_and_on_any_number_of_threads():
    X = heavy_tailed(2200, 70, seed=6)
    options = {"random_state": 0, "tol": 0.1, "max_iter": 8, "start": "spherical"}
    fits = [fit(X, 1, n_jobs=jobs, **options) for jobs in (1, 1, 2)]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].components_, other.components_)
        np.testing.assert_array_equal(fits[0].mean_, other.mean_)
        np.testing.assert_array_equal(fits[0].history_.objective, other.history_.objective)


def test_single_precision_rows():
    X = heavy_tailed(60, 6, seed=7).astype(np.float32)
    one = fit(X, 2)
    assert one.components_.dtype == np.float32
    assert one.objective_ == pytest.approx(fit(X.astype(np.float64), 2).objective_, rel=1e-5)


def test_a_subspace_that_most_rows_lie_in_is_recovered_exactly():
    rng = np.random.default_rng(8)
    W = random_basis(20, 2, seed=8)
    X = rng.standard_normal((200, 2)) @ W.T
    X[:20] = 5.0 * rng.standard_normal((20, 20))
    pca = fit(X, 2, center=False)
    assert np.abs(projector(pca.components_.T) - projector(W)).max() < 1e-5


def test_history_tells_the_callback_of_every_record():
    X, seen = heavy_tailed(30, 4, seed=9), []
    pca = fit(X, 1, callback=lambda subspace, record: seen.append((subspace, record.objective)))
    assert len(seen) == len(pca.history_) == pca.n_iter_ + 1
    for subspace, J in seen:
        assert pytest.approx(l1(X, subspace.basis, subspace.center), rel=1e-12) == J
    assert pca.history_.gap[-1] < pca.tol


def test_a_smaller_tolerance_comes_closer():
    X = heavy_tailed(80, 6, seed=10)
    loose, tight = fit(X, 2, tol=1e-3), fit(X, 2, tol=1e-10, max_iter=1000)
    assert tight.converged_
    assert tight.objective_ <= loose.objective_ <= tight.objective_ * (1 + 1e-3)


def test_by_name_with_an_l1_loss_only():
    X = heavy_tailed(20, 3)
    assert fit(X, 1, solver="true_l1").solver_ == "true_l1"
    with pytest.raises(ValueError, match=r"solver='true_l1'.*loss=L2p"):
        RobustPCA(1, solver="true_l1").fit(X)
