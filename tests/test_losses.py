import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueaxis.losses import L1, L2p, Loss

powers = st.floats(0.05, 2.0)
smoothings = st.sampled_from([0.0, 1e-3, 1.0])


@given(p=powers, epsilon=smoothings, t=st.floats(1e-3, 1e3))
def test_weight_is_twice_the_derivative_of_the_value(p, epsilon, t):
    loss = L2p(p, epsilon)
    h = 1e-5 * t
    up, down = (loss.value_and_weight(np.array([x]))[0][0] for x in (t + h, t - h))
    weight = loss.value_and_weight(np.array([t]))[1][0]
    assert weight == pytest.approx(2 * (up - down) / (2 * h), rel=1e-6)


@given(p=powers, epsilon=smoothings, t=st.floats(0, 1e6), s=st.floats(0, 1e6))
def test_tangent_majorizes_because_the_loss_is_concave(p, epsilon, t, s):
    loss = L2p(p, epsilon)
    value, weight = loss.value_and_weight(np.array([t, s]))
    tangent = value[0] + weight[0] / 2 * (s - t)
    assert value[1] <= tangent * (1 + 1e-9) + 1e-9


def test_formulas_of_the_paper():
    r = np.array([3.0, -4.0, 0.0])
    value, weight = L2p(0.5).value_and_weight(np.array([25.0]))
    assert value[0] == pytest.approx(5**0.5)
    assert weight[0] == pytest.approx(0.5 * 5.0 ** (0.5 - 2))
    value, weight = L1().value_and_weight(r[None])
    assert (value[0], weight[0]) == (7.0, pytest.approx(7 / 25))


def test_theorem_1_norm_equals_trace():
    X = np.random.default_rng(0).standard_normal((7, 5))
    value, weight = L1().value_and_weight(X)
    assert np.abs(X).sum() == pytest.approx(np.trace(X.T @ np.diag(weight) @ X))
    assert value.sum() == pytest.approx(np.abs(X).sum())


@pytest.mark.parametrize("loss", [L2p(0.3), L2p(1.0), L2p(2.0), L1()])
def test_zero_residuals_have_finite_weights(loss):
    zeros = np.zeros((2, 3)) if loss.entrywise else np.zeros(2)
    for smoothed in (loss, loss.smoothed(1e-3)):
        value, weight = smoothed.value_and_weight(zeros)
        assert np.isfinite(value).all()
        assert np.isfinite(weight).all()
        assert (weight > 0).all()


def test_smoothing_leaves_large_residuals_alone_and_bounds_the_weight():
    t = np.array([0.0, 1e6])
    value, weight = L2p(1.0, epsilon=1e-3).value_and_weight(t)
    assert weight[0] == pytest.approx(1e3)
    assert value[1] == pytest.approx(1e3, rel=1e-12)


def test_losses_satisfy_the_protocol_and_are_frozen():
    for loss in (L2p(), L1()):
        assert isinstance(loss, Loss)
        with pytest.raises(AttributeError):
            loss.epsilon = 1.0
