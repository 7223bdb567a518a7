"""Rows with entries that nobody observed, as a kind of block of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueaxis._typing import Array


@dataclass(frozen=True, slots=True)
class GappyBlock:
    """Some rows, in which NaN stands for an entry that was not observed.

    Examples
    --------
    >>> import numpy as np
    >>> block = GappyBlock(np.array([[1.0, np.nan], [-3.0, 2.0]]))
    >>> block.max(), block.min(), block.observed.sum(axis=1).tolist()
    (2.0, -3.0, [1, 2])
    """

    rows: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, m = self.rows.shape
        return n, m

    @property
    def observed(self) -> Array:
        """Whether each entry was observed."""
        return ~np.isnan(self.rows)

    def max(self) -> float:
        """The largest entry that was observed; 0 where none is larger."""
        return float(np.fmax.reduce(self.rows, axis=None, initial=0.0))

    def min(self) -> float:
        """The smallest entry that was observed; 0 where none is smaller."""
        return float(np.fmin.reduce(self.rows, axis=None, initial=0.0))
