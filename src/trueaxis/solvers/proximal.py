"""The paper's proximal gradient step: algorithms 1 (ℓ1) and 4 (ℓ2,p)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueaxis._linalg import polar
from trueaxis._moments import Moments
from trueaxis._subspace import Subspace
from trueaxis._typing import Float64Array
from trueaxis.solvers.base import Apply
from trueaxis.solvers.norms import extend, first_guess, spectral_norm


@dataclass(frozen=True, slots=True)
class Proximal:
    """W ← polar(W + t·AW) with t = 1/‖A‖₂.

    The paper derives it from the proximal step of J with its Lipschitz constant. For a concave
    row loss it decreases J: with A ⪰ 0 the majorizer −tr(WᵀAW) is concave in W, so that its
    linearization, which the polar factor minimizes, lies above it for *every* t > 0. With the
    ℓ1 weights there is no such guarantee, and the objective can rise.

    The state is the leading eigenvectors of the last two A: the search for ‖A‖₂ starts from them.
    """

    name: str = "proximal"

    def start(self, point: Subspace) -> Float64Array:
        """A first guess of the leading eigenvector."""
        return first_guess(len(point.center))

    def probe(self, point: Subspace, state: Float64Array) -> Float64Array:
        """[W, u, u_old]: W for the step, the others for the norm."""
        return extend(point.basis, state)

    def step(
        self,
        point: Subspace,
        probe: Float64Array,
        moments: Moments,
        state: Float64Array,
        apply: Apply,
    ) -> tuple[Float64Array, Float64Array]:
        """One iteration of the paper's algorithm 1 or 4."""
        W, k = point.basis, point.n_components
        norm, u = spectral_norm(apply, probe, moments.product)
        AW = moments.product[:, :k]
        R = W + AW / norm if norm > 0 else np.array(W)
        return polar(R), np.hstack([u, state[:, :1]])
