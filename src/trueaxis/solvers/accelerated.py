"""The paper's momentum step: algorithms 2 (ℓ1) and 5 (ℓ2,p), "Faster …"."""

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
class Momentum:
    """What the accelerated step carries: the W before this one, s, and the guesses for ‖A‖₂."""

    W_old: Float64Array
    s: int
    u: Float64Array


@dataclass(frozen=True, slots=True)
class Accelerated:
    """V = W + (s−2)/(s+1)·(W − W_old); W ← polar(V + t·AV), t = 1/‖A‖₂; s ← s+1, from s = 1.

    The weights in A are those of W. W_old is W itself before the first step. Neither the
    objective nor the constraint is convex, and the scheme is not monotone: it is offered as the
    paper has it.
    """

    name: str = "accelerated"

    def start(self, point: Subspace) -> Momentum:
        """No momentum before the first step."""
        return Momentum(W_old=point.basis, s=1, u=first_guess(len(point.center)))

    def probe(self, point: Subspace, state: Momentum) -> Float64Array:
        """[V, u, u_old]; the singular values of V = (1+β)W − βW_old are at least 1."""
        W, s = point.basis, state.s
        V = W + (s - 2) / (s + 1) * (W - state.W_old)
        return extend(V, state.u)

    def step(
        self,
        point: Subspace,
        probe: Float64Array,
        moments: Moments,
        state: Momentum,
        apply: Apply,
    ) -> tuple[Float64Array, Momentum]:
        """One iteration of the paper's algorithm 2 or 5."""
        k = point.n_components
        norm, u = spectral_norm(apply, probe, moments.product)
        V, AV = probe[:, :k], moments.product[:, :k]
        R = V + AV / norm if norm > 0 else V
        return polar(R), Momentum(
            W_old=point.basis, s=state.s + 1, u=np.hstack([u, state.u[:, :1]])
        )
