"""What a command does about memory: as long as it runs, it keeps what it once had."""

from __future__ import annotations

from contextlib import suppress

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
_LARGE = 32 << 20  # bytes from which an array has pages of its own: the most that glibc allows
_KEPT = 512 << 20


def keep_what_is_freed() -> None:
    """Have the C library use freed memory again, and not return it to the system at once.

    A block of rows needs arrays of some 100 kB again and again. By default glibc asks the system
    for each, which clears its pages anew: a third of the time of a pass. Where the C library is
    another one, nothing is done.
    """
    import ctypes

    with suppress(AttributeError, OSError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE)
        library.mallopt(_M_TRIM_THRESHOLD, _KEPT)
