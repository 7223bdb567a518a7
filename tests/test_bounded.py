import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import heavy_tailed
from trueaxis import RobustPCA
from trueaxis.losses import Bisquare, Cauchy, Huber, Trimmed, m_scale
from trueaxis.testing import check_loss
from trueaxis.weighers import BisquareWeigher, PowerWeigher, TrimmedWeigher


@given(
    seed=st.integers(0, 1000),
    b=st.sampled_from([0.1, 0.3, 0.5]),
    factor=st.sampled_from([1e-3, 1.0, 1e5]),
)
def test_m_scale_solves_its_equation_and_scales(seed, b, factor):
    t = np.random.default_rng(seed).chisquare(3, 50)
    scale = m_scale(t, None, b)
    value, _ = Bisquare(b, scale).value_and_weight(t)
    assert value.mean() == pytest.approx(b, abs=1e-9)
    assert m_scale(t * factor**2, None, b) == pytest.approx(factor * scale, rel=1e-9)


def test_m_scale_withstands_less_than_its_share_and_counts_weights():
    t = np.random.default_rng(0).chisquare(3, 100)
    bad = np.where(np.arange(100) < 45, 1e12, t)
    assert m_scale(bad, None, 0.5) < 10 * m_scale(t, None, 0.5)
    assert m_scale(np.where(np.arange(100) < 55, 1e12, t), None, 0.5) > 1e4
    times = np.random.default_rng(1).integers(0, 3, 100)
    assert m_scale(t, times.astype(float), 0.5) == pytest.approx(
        m_scale(np.repeat(t, times), None, 0.5)
    )
    assert m_scale(np.zeros(5), None, 0.5) == 0.0


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 10_000),
    loss=st.sampled_from(["bisquare", "trimmed", "huber", "cauchy"]),
    solver=st.sampled_from(["reweighted", "proximal", "orthogonal"]),
)
def test_what_is_minimized_never_rises(seed, loss, solver):
    X = heavy_tailed(40, 6, seed)
    J = RobustPCA(2, loss=loss, solver=solver, max_iter=12, tol=0, start="random",
                  random_state=seed).fit(X).history_.objective  # fmt: skip
    assert (np.diff(J) <= 1e-9 * np.abs(J[:-1])).all()


@pytest.mark.parametrize("loss", [Huber(1.5), Cauchy(2.0), Bisquare(), Trimmed(), Huber(0.3, 7.0)])
def test_the_packages_losses_pass_the_public_check(loss):
    check_loss(loss)


def test_a_loss_of_the_users_own_is_checked_and_fitted():
    class Charbonnier:
        entrywise = False
        degree = None

        def value_and_weight(self, t):
            root = np.sqrt(1.0 + t)
            return root - 1.0, 1.0 / root

        def smoothed(self, epsilon):
            return self

    check_loss(Charbonnier())
    X = heavy_tailed(60, 5, seed=1)
    pca = RobustPCA(2, loss=Charbonnier(), max_iter=300).fit(X)
    assert (np.diff(pca.history_.objective) <= 0).all()

    class Wrong(Charbonnier):
        def value_and_weight(self, t):
            return t**2, 4 * t

    with pytest.raises(AssertionError, match="concave"):
        check_loss(Wrong())

    class Off(Charbonnier):
        def value_and_weight(self, t):
            return np.sqrt(1.0 + t) - 1.0, np.full_like(t, 2.0)

    with pytest.raises(AssertionError, match="derivative"):
        check_loss(Off())


def test_batched_values_are_those_of_the_losses():
    T = np.random.default_rng(0).chisquare(4, (60, 3))
    omega = np.random.default_rng(1).integers(1, 4, 60).astype(float)
    for column in range(3):
        t = T[:, column]
        assert BisquareWeigher(0.5, omega).values(T)[column] == pytest.approx(
            m_scale(t, omega, 0.5), rel=1e-6
        )
        assert PowerWeigher(1.0, omega).values(T)[column] == pytest.approx(omega @ np.sqrt(t))
        trimmed = Trimmed(0.7).objective(t, omega)
        assert TrimmedWeigher(0.7, omega).values(T)[column] == pytest.approx(trimmed)
