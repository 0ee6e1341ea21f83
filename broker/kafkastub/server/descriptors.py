"""How many files and sockets the process may have open at once (`ulimit -n`)."""

from __future__ import annotations

import sys
from typing import Final

_KEPT: Final = 64
"""Descriptors that connections leave to files, or an eighth of all where that is less."""
_MOST: Final = 1 << 20
"""What we ask for at most: some systems say "unlimited" and mean less."""


def raise_limit() -> None:
    """Raise the process's own limit as far as it may by itself. For a process that is a broker and nothing else."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):  # what there is has to do
        return


def usable_by_connections() -> int:
    """The descriptor from which on new connections wait, so that files can be opened still."""
    limit = _limit()
    return limit - min(_KEPT, limit // 8)


def limit_in_words() -> str:
    """The limit, for a log line."""
    limit = _limit()
    return "none" if limit == sys.maxsize else str(limit)


def _limit() -> int:
    try:
        import resource
    except ImportError:
        return sys.maxsize
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft
