"""Powers of the residual norm: the losses of the paper."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from trueaxis._typing import Array


@dataclass(frozen=True, slots=True)
class L2p:
    r"""The paper's ℓ2,p loss of a row, :math:`\rho(t) = (t + \varepsilon^2)^{p/2}`.

    At ε = 0 this is ‖r‖₂^p and its weight is the paper's D(i,i) = p‖r‖^{p−2} (theorem 3). A
    residual of zero would make that weight infinite; ε > 0 rounds value and weight off together.

    Parameters
    ----------
    p : float in (0, 2]
        The power of the residual norm; 2 is plain PCA, smaller is more robust.
    epsilon : float >= 0
        Size of residual below which the loss is rounded off. It has no meaning at p = 2.

    Examples
    --------
    >>> import numpy as np
    >>> value, weight = L2p(p=1.0).value_and_weight(np.array([4.0]))
    >>> float(value[0]), float(weight[0])
    (2.0, 0.5)
    """

    p: float = 1.0
    epsilon: float = 0.0
    entrywise: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0.0 < self.p <= 2.0:
            raise ValueError(f"p={self.p!r} is out of range; it must be a number in (0, 2].")

    @property
    def degree(self) -> float | None:
        """p; with ε > 0 the loss has a scale of its own."""
        return self.p if self.epsilon == 0.0 else None

    def value_and_weight(self, t: Array) -> tuple[Array, Array]:
        """ρ(t) = (t + ε²)^{p/2} and d = 2ρ′(t) = p (t + ε²)^{p/2 − 1}."""
        if self.p == 2.0:
            return t, np.full_like(t, 2.0)
        s = _positive(t, self.epsilon)
        value = np.sqrt(s) if self.p == 1.0 else s ** (self.p / 2)
        return value, self.p * value / s

    def smoothed(self, epsilon: float) -> L2p:
        """The loss with another ε."""
        return replace(self, epsilon=float(epsilon))


@dataclass(frozen=True, slots=True)
class L1:
    r"""The ℓ1 norm of a row's residual with the weight of the paper's theorem 1.

    Value ‖r‖₁, weight D(i,i) = ‖r‖₁ / ‖r‖₂², so that Σ D(i,i)‖r_i‖₂² = J at the current W. This
    is *not* a majorizer of J: the solvers that use it can raise the objective, and their fixed
    points need not be minima of it.

    Parameters
    ----------
    epsilon : float >= 0
        Size of residual below which the loss is rounded off.

    Examples
    --------
    >>> import numpy as np
    >>> value, weight = L1().value_and_weight(np.array([[3.0, -4.0]]))
    >>> float(value[0]), round(float(weight[0]), 6)
    (7.0, 0.28)
    """

    epsilon: float = 0.0
    entrywise: ClassVar[bool] = True

    @property
    def degree(self) -> float | None:
        """1; with ε > 0 the loss has a scale of its own."""
        return 1.0 if self.epsilon == 0.0 else None

    def value_and_weight(self, r: Array) -> tuple[Array, Array]:
        """‖r‖₁ and (‖r‖₁/‖r‖₂) / √(‖r‖₂² + ε²)."""
        norm1 = np.abs(r).sum(axis=1, dtype=np.float64)
        t = np.einsum("ij,ij->i", r, r, dtype=np.float64)
        s = _positive(t, self.epsilon)
        # ‖r‖₁/‖r‖₂ lies in [1, √m]; at r = 0 it has no limit, and 1 is as good as any.
        ratio = np.where(t > _TINY, norm1 / np.sqrt(np.maximum(t, _TINY)), 1.0)
        return norm1, ratio / np.sqrt(s)

    def smoothed(self, epsilon: float) -> L1:
        """The loss with another ε."""
        return replace(self, epsilon=float(epsilon))


_TINY = np.finfo(np.float64).tiny


def _positive(t: Array, epsilon: float) -> Array:
    """t + ε², kept above zero so that a vanishing residual has a finite weight."""
    return np.maximum(t + epsilon * epsilon, _TINY)
