"""What a broker process asks of the C library's allocator. Only `kafkastub serve` does: it is alone in its process."""

from __future__ import annotations

import contextlib
from typing import Final

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
"""The names of mallopt(3) in glibc."""
_KEPT: Final = 512 << 20
_STEP: Final = 16 << 20
_LARGEST: Final = 32 << 20
"""The most that glibc allows."""


def keep_freed_memory() -> None:
    """Have up to 512 MB that were in use once stay with the process, for the next records.

    Left alone, glibc gives what is freed back to the system at once, and every batch of 100 KB is written to pages that
    the system has to find and clear first: 40 us, as much as all the rest of its Produce. The most that the process
    ever holds does not grow by it. Costs 6 ms, once. Other C libraries are left as they are.
    """
    import ctypes

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(_TRIM_THRESHOLD, _KEPT)
    mallopt(_TOP_PAD, _STEP)
    mallopt(_MMAP_THRESHOLD, _LARGEST)


def give_back() -> None:
    """Let the system have all that was freed, once: 20 ms for half a gigabyte, in which nothing else is done.

    For after an attack: what it took lies between what lives on, where `_KEPT` does not count.
    """
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
