"""Which partitions one task reads: those that lie on one worker, as long as they are small.

A task costs its scheduler about a millisecond, in which a core reads some MB of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Placement:
    """Where the partitions lie.

    Parameters
    ----------
    homes : sequence of str or None
        The worker that holds each of them; None where it is still to be made, or nobody knows.
    threads : mapping
        How many tasks a worker runs at once.

    Examples
    --------
    >>> placement = Placement(["a", "b", "a", None, "a", "b"], {"a": 1, "b": 2})
    >>> placement.groups(range(6), size=1.0, most=2.0)
    [[0, 2], [1], [3], [4], [5]]
    """

    homes: Sequence[str | None]
    threads: Mapping[str, int] = field(default_factory=dict)

    def groups(self, numbers: Sequence[int], size: float, most: float) -> list[list[int]]:
        """These partitions, each of about `size` bytes, in groups of no more than `most` bytes.

        There are enough of them for every thread of a worker, and what has to be made yet is read
        one by one.
        """
        at: dict[str, list[int]] = {}
        for i in numbers:
            home = self.homes[i]
            at.setdefault(f"partition {i}" if home is None else home, []).append(i)
        found: list[list[int]] = []
        for home, some in at.items():
            threads = self.threads.get(home, 1)
            rounds = max(1, int(np.ceil(len(some) * size / (most * threads))))
            parts = np.array_split(some, min(len(some), rounds * threads))
            found += [part.tolist() for part in parts]
        return sorted(found)
