import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from sklearn.decomposition import PCA

from helpers import heavy_tailed
from trueaxis import PCAOutlierDetector, RobustPCA, Subspace, plots
from trueaxis._drawing import core_limits, excess, thin
from trueaxis.datasets import make_contaminated
from trueaxis.outlier_map import OutlierMap

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    return make_contaminated("scattered", random_state=0)


@pytest.fixture(scope="module", params=["pca", "detector"])
def model(request, data):
    return RobustPCA(3).fit(data.X) if request.param == "pca" else PCAOutlierDetector(3).fit(data.X)


def points(ax):
    return np.vstack([drawn.get_offsets() for drawn in ax.collections])


DRAWN = {
    "outlier_map": (plots.OutlierMapDisplay, lambda model, X: (model, X)),
    "scores": (plots.ScoresDisplay, lambda model, X: (model, X)),
    "scree": (plots.ScreeDisplay, lambda model, X: (model,)),
    "convergence": (plots.ConvergenceDisplay, lambda model, X: (model,)),
    "compare_axes": (plots.CompareAxesDisplay, lambda model, X: (model, PCA(2).fit(X))),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_function_draws_on_the_axes_given_or_makes_them(name, model, data):
    function, (display, arguments) = getattr(plots, name), DRAWN[name]
    arguments = arguments(model, data.X)
    figure, ax = plt.subplots(layout="constrained")
    assert function(*arguments, ax=ax) is ax
    made = function(*arguments)
    assert isinstance(made, Axes)
    assert made.figure is not figure
    assert made.get_xlabel()
    assert made.get_ylabel()
    assert made.get_title(loc="left")
    shown = display.from_estimator(*arguments, ax=ax)
    assert isinstance(shown, display)
    assert (shown.ax_, shown.figure_) == (ax, figure)
    again = shown.plot()
    assert again is shown
    assert shown.ax_ is not ax
    made.figure.canvas.draw()


def test_the_outlier_map_has_every_row_at_its_distances(model, data):
    ax = plots.outlier_map(model, data.X)
    found = OutlierMap.of(model, data.X)
    drawn = points(ax)
    assert len(drawn) == len(data.X)
    expected = np.column_stack([found.score, found.orthogonal])
    # A logarithmic axis has a floor; it is below half of the cut-off.
    flagged = drawn[drawn[:, 1] > found.orthogonal_cutoff]
    kept = expected[found.orthogonal > found.orthogonal_cutoff]
    np.testing.assert_allclose(np.sort(flagged, axis=0), np.sort(kept, axis=0))
    assert drawn[:, 1].min() <= found.orthogonal_cutoff
    vertical, horizontal = ax.lines
    assert vertical.get_xdata()[0] == found.score_cutoff
    assert horizontal.get_ydata()[0] == found.orthogonal_cutoff
    counts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert counts == [f"{kind} ({n})" for kind, n in found.counts.items() if n]


def test_the_worst_rows_are_named_as_their_user_names_them(data):
    model = RobustPCA(3).fit(data.X)
    excesses = OutlierMap.of(model, data.X).excess
    frame = pd.DataFrame(data.X, index=[f"${i}$_^" for i in range(len(data.X))])
    frame.columns = frame.columns.astype(str)
    ax = plots.outlier_map(RobustPCA(3).fit(frame), frame, n_labels=3)
    names = [text.get_text() for text in ax.texts]
    worst = np.argsort(-excesses)[:3]
    assert names
    assert set(names) <= {f"${i}$_^" for i in worst}
    assert names[0] == f"${worst[0]}$_^"
    ax.figure.canvas.draw()  # a dollar sign in a name is no mathematics
    named = plots.outlier_map(model, data.X, ids=[f"id{i}" for i in range(500)], n_labels=1)
    assert [text.get_text() for text in named.texts] == [f"id{worst[0]}"]
    with pytest.raises(ValueError, match="ids has 2 entries, but X has 500 rows"):
        plots.outlier_map(model, data.X, ids=["a", "b"])


def test_of_very_many_rows_the_regular_are_thinned_and_the_legend_says_so():
    X = np.random.default_rng(0).standard_normal((60_000, 4)) * [5, 1, 1, 1]
    model = RobustPCA(1).fit(X)
    ax = plots.outlier_map(model, X)
    found = OutlierMap.of(model, X)
    n_regular = found.counts["regular"]
    assert len(points(ax)) == 20_000 + len(X) - n_regular
    text = ax.get_legend().get_texts()[0].get_text()
    assert text == f"regular (20,000 of {n_regular:,} shown)"


def test_scores_are_the_scores(data):
    model = RobustPCA(3).fit(data.X)
    Z = model.transform(data.X)
    ax = plots.scores(model, data.X, axes=(2, 0))
    np.testing.assert_allclose(
        np.sort(points(ax), axis=0), np.sort(Z[:, [2, 0]], axis=0), atol=1e-9
    )
    assert ax.get_xlabel().startswith("axis 3 ")
    whitened = RobustPCA(3, whiten=True).fit(data.X)
    both = [points(plots.scores(fit, data.X)) for fit in (model, whitened)]
    np.testing.assert_allclose(both[0], both[1], atol=1e-9)
    with pytest.raises(ValueError, match=r"axes=\(0, 3\) are not among the 3"):
        plots.scores(model, data.X, axes=(0, 3))


def test_with_one_axis_the_second_is_the_orthogonal_distance(data):
    model = RobustPCA(1, check_breakdown=False).fit(data.X)
    ax = plots.scores(model, data.X)
    assert ax.get_ylabel() == "orthogonal distance"
    expected = np.sort(model.orthogonal_distance(data.X))
    np.testing.assert_allclose(np.sort(points(ax)[:, 1]), expected)


def test_the_scree_is_the_variances(model):
    ax = plots.scree(model)
    shares = getattr(model, "pca_", model).explained_variance_ratio_
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(list(100 * shares))


def test_convergence_falls_and_ends_at_the_gap_that_is_left():
    X = heavy_tailed(200, 8, 1)
    fits = [
        RobustPCA(3, solver=s, start="random", check_breakdown=False).fit(X)
        for s in ("reweighted", "orthogonal")
    ]
    ax = plots.convergence(fits)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["RobustPCA(solver='reweighted')", "RobustPCA(solver='orthogonal')"]
    for fit, line in zip(fits, ax.lines, strict=True):
        assert len(line.get_ydata()) == fit.n_iter_ + 1
        assert (np.diff(line.get_ydata()) <= 0).all()
        assert line.get_ydata()[-1] == pytest.approx(fit.history_.gap[-1], rel=1e-6)
    assert ax.get_yscale() == "log"
    same = plots.ConvergenceDisplay.from_estimator([fits[0], fits[0]])
    assert len(same.excesses) == 2


def test_axes_are_compared_by_principal_angles(data):
    robust, plain = RobustPCA(3).fit(data.X), PCA(3).fit(data.X)
    models = {"truth": data.truth, "robust": robust, "PCA": plain}
    shown = plots.CompareAxesDisplay.from_estimator(models)
    assert shown.first == "truth"
    np.testing.assert_allclose(
        shown.degrees["robust"], np.degrees(robust.subspace_.angles(data.truth))
    )
    assert len(shown.ax_.patches) == 6
    same = plots.CompareAxesDisplay.from_estimator(robust, robust)
    assert max(same.degrees["RobustPCA, number 2"]) < 1e-6
    with pytest.raises(ValueError, match="two models or more"):
        plots.compare_axes(robust)
    with pytest.raises(ValueError, match="compare models of the same columns"):
        plots.compare_axes(robust, Subspace(np.eye(4, 2), np.zeros(4)))


def test_a_title_of_the_users_stays():
    _, ax = plt.subplots()
    ax.set_title("mine")
    plots.scree(RobustPCA(2).fit(heavy_tailed(50, 4)), ax=ax)
    assert ax.get_title() == "mine"
    assert ax.get_title(loc="left") == ""


def test_the_legend_stays_inside_where_no_layout_makes_room(model, data):
    figure, ax = plt.subplots()
    plots.outlier_map(model, data.X, ax=ax)
    figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1


def test_drawing_leaves_the_users_style_alone(model, data):
    before = dict(mpl.rcParams)
    plots.outlier_map(model, data.X)
    assert dict(mpl.rcParams) == before


# What pictures need to know about data.


def test_thinning_keeps_lonely_points_and_no_more_than_asked():
    rng = np.random.default_rng(0)
    x = np.r_[rng.standard_normal(50_000), np.linspace(50, 100, 30)]
    y = np.r_[rng.standard_normal(50_000), np.linspace(50, 100, 30)]
    kept = thin(x, y, 2000)
    assert len(kept) == len(np.unique(kept)) == 2000
    assert set(range(50_000, 50_030)) <= set(kept.tolist())
    assert (thin(x, y, 2000) == kept).all()
    assert len(thin(x, y, 3)) == 3
    assert (thin(x[:10], y[:10], 10) == np.arange(10)).all()
    assert len(thin(np.zeros(100), np.zeros(100), 7)) == 7


def test_limits_hold_the_regular_rows_and_all_where_these_stay_visible():
    z = np.r_[np.linspace(-1, 1, 50), 40.0]
    regular = np.arange(51) < 50
    low, high = core_limits(z, regular)
    assert low < -1
    assert high > 40
    z[-1] = 1e6
    low, high = core_limits(z, regular)
    assert low < -1
    assert 1 < high < 100
    assert core_limits(np.zeros(3), np.ones(3, dtype=bool)) == (-1.0, 1.0)


def test_the_excess_of_a_fit_without_residuals_is_rounding():
    X = heavy_tailed(40, 3) @ np.ones((3, 4))
    assert (excess(RobustPCA(1).fit(X)) > 0).all()
