"""Which rows a fit looks at one by one, known before any is read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueaxis import starts
from trueaxis._typing import Array
from trueaxis.estimators import _newton
from trueaxis.estimators._settings import Settings
from trueaxis.sources import Source

_FEW = 100  # rows that tell the size of all
_MOST_AXES = 10  # that a scree has


@dataclass(frozen=True)
class Draws:
    """Numbers of rows.

    Attributes
    ----------
    start : ndarray or None
        The sample that the fit begins with; None is all rows, where they are few.
    size : ndarray
        Rows that tell how large entries are.
    seed : int
        For all random numbers that come after.
    """

    start: Array | None
    size: Array
    seed: int

    @classmethod
    def of(
        cls,
        source: Source,
        most: int,
        n_components: int | float | None,
        settings: Settings,
        rng: np.random.RandomState,
    ) -> Draws:
        """The draws for a source, which is told of them: where rows are read, once is enough."""
        n, m = source.shape
        k = n_components if isinstance(n_components, int) else min(most, _MOST_AXES)
        drawn = starts.sample_rows(n, source.weights, starts.sample_size(k, m), rng)
        draws = cls(drawn, np.arange(0, n, max(1, n // _FEW)), int(rng.randint(2**31 - 1)))
        rows = [draws.size, np.arange(n) if drawn is None else drawn]
        if settings.is_smooth_sum:
            later = _newton.draw(source, k, np.random.RandomState(draws.seed))
            rows.append(np.arange(n) if later is None else later)
        source.foresee(rows)
        return draws
