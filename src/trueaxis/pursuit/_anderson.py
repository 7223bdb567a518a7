"""Anderson's acceleration of a fixed-point iteration, which its tail needs.

From the last inputs b and outputs g = G(b) of the map, with f = g − b, the next input is the
combination of the outputs whose combined f is least (Walker and Ni 2011). Near the solution G is
smooth, and the slow directions, which are few, are seen and left out.
"""

from __future__ import annotations

import numpy as np

from trueaxis._typing import Float64Array

_MOST = 20
# Of the Gram matrix of the differences of f: directions below are noise.
_RIDGE = 1e-12
# How much f may grow before the past is forgotten.
_GROWTH = 2.0
# An f that is rounding says nothing, and weights of this size rest on one.
_ROUNDING, _WEIGHTS = 1e-14, 1e4


class Anderson:
    """The mixing of outputs, with a memory of some of them."""

    def __init__(self, memory: int) -> None:
        self._memory = min(memory, _MOST)
        self.forget()

    def forget(self) -> None:
        """Begin anew: the map has changed."""
        self._fs: list[Float64Array] = []
        self._gs: list[Float64Array] = []
        self._gram = np.zeros((0, 0))
        self._last: tuple[Float64Array, Float64Array] | None = None
        self._input: Float64Array | None = None
        self._size = np.inf

    def mix(self, output: Float64Array) -> None:
        """Put the next input in the place of the output."""
        if self._input is not None:
            f = output - self._input
            size = float(np.linalg.norm(f))
            if self._last is not None and not size <= _GROWTH * self._size:
                output[...] = self._last[1]  # from where the map itself leads on
                self.forget()
            elif size > _ROUNDING * float(np.linalg.norm(output)):
                g = output.copy()
                if self._last is not None:
                    self._remember(f - self._last[0], g - self._last[1])
                self._last, self._size = (f, g), size
                weights = self._weights(f)
                if np.abs(weights).sum() <= _WEIGHTS:
                    for weight, difference in zip(weights, self._gs, strict=True):
                        output -= weight * difference
        self._input = output.copy()

    def _remember(self, f: Float64Array, g: Float64Array) -> None:
        """One more difference, the oldest left out."""
        if len(self._fs) == self._memory:
            del self._fs[0], self._gs[0]
            self._gram = self._gram[1:, 1:]
        self._fs.append(f)
        self._gs.append(g)
        row = np.array([np.vdot(f, other) for other in self._fs])
        self._gram = np.block([[self._gram, row[:-1, None]], [row]])

    def _weights(self, f: Float64Array) -> Float64Array:
        """What of each difference brings f nearest to 0."""
        if not self._fs:
            return np.zeros(0)
        ridge = _RIDGE * np.trace(self._gram) * np.eye(len(self._gram))
        share = np.array([np.vdot(other, f) for other in self._fs])
        return np.asarray(np.linalg.lstsq(self._gram + ridge, share, rcond=None)[0])
