"""Checks for what users write themselves."""

from __future__ import annotations

import numpy as np

from trueaxis.losses import Loss, ScaleMinimizer


def check_loss(loss: Loss, *, low: float = 1e-4, high: float = 1e4) -> None:
    """Check that an object can be the `loss` of `RobustPCA`.

    A loss of row norms must have a value that rises with t = ‖r‖² and is concave in it, a weight
    that is twice its derivative, and both finite and without a loop over rows; this is what makes
    every step lower the objective.

    Parameters
    ----------
    loss : Loss
        An object with ``entrywise``, ``degree``, ``value_and_weight`` and ``smoothed``.
    low, high : float
        Range of t that is tried.

    Raises
    ------
    AssertionError
        Names the first requirement that is not met, and where.

    Examples
    --------
    >>> from trueaxis.losses import Huber
    >>> from trueaxis.testing import check_loss
    >>> check_loss(Huber(threshold=2.0))
    """
    assert not isinstance(loss, type), f"pass an instance of {loss.__name__}, not the class"
    for name in ("entrywise", "degree", "value_and_weight", "smoothed"):
        assert hasattr(loss, name), f"the loss has no `{name}` (see trueaxis.losses.Loss)"
    assert isinstance(loss, Loss), "the loss does not satisfy trueaxis.losses.Loss"
    rows = np.random.default_rng(0).standard_normal((5, 3))
    given = rows if loss.entrywise else np.sum(rows**2, axis=1)
    value, weight = (np.asarray(part) for part in loss.value_and_weight(given))
    for name, part in (("value", value), ("weight", weight)):
        assert part.shape == (5,), f"the {name} has shape {part.shape} for 5 rows, not (5,)"
        assert np.isfinite(part).all(), f"the {name} is not finite for ordinary residuals"
        assert (part >= 0).all(), f"the {name} is negative for ordinary residuals"
    zeros = np.zeros_like(given)
    for name, part in zip(
        ("value", "weight"), loss.smoothed(1e-3).value_and_weight(zeros), strict=True
    ):
        assert np.isfinite(part).all(), f"the smoothed {name} is not finite at a residual of 0"
    if loss.entrywise:
        return
    t = np.geomspace(low, high, 400)
    value, weight = (np.asarray(part) for part in loss.value_and_weight(t))
    rise, slope = np.diff(value), np.diff(value) / np.diff(t)
    tol = 1e-9 * np.abs(value).max()
    assert (rise >= -tol).all(), f"the value falls near t = {t[int(np.argmin(rise))]:.3g}"
    bend = np.diff(slope)
    worst = int(np.argmax(bend))
    assert (bend <= 1e-6 * np.abs(slope).max()).all(), (
        f"the value is not concave in t = ‖r‖² near t = {t[worst]:.3g}: a step could raise the sum"
    )
    # Between two points the mean slope of a concave function lies between its end slopes.
    upper, lower = weight[:-1] / 2, weight[1:] / 2
    wrong = (slope > upper * (1 + 1e-6) + tol) | (slope < lower * (1 - 1e-6) - tol)
    if isinstance(loss, ScaleMinimizer):
        wrong &= slope > tol  # a bounded loss may have a corner where it ends
    assert not wrong.any(), (
        f"the weight is not twice the derivative of the value near t = "
        f"{t[int(np.argmax(wrong))]:.3g}"
    )
