"""Medians of interleaved arms: noise that comes and goes meets every arm alike."""

from __future__ import annotations

import time
from statistics import median


def interleaved(arms, repeats=5, warm=True):
    """Median seconds of each named function, the functions taking turns."""
    seconds = {name: [] for name in arms}
    if warm:
        for run in arms.values():
            run()
    for _ in range(repeats):
        for name, run in arms.items():
            # BLAS threads of the arm before go on spinning for some 25 ms; none shall pay for them.
            time.sleep(0.1)
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: median(times) for name, times in seconds.items()}


def machine():
    """The size of the machine, for the head of a table."""
    import os

    import joblib

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{joblib.cpu_count()} cores, {memory:.0f} GiB"
