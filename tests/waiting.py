"""Waiting for what comes in its own time: a broker that learns of something late, another process, another thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

SECONDS: Final = 60.0
"""More than anything takes, on a busy machine too."""


def until(condition: Callable[[], T], what: str | Callable[[], str], seconds: float = SECONDS) -> T:
    """What the condition gives, once it is true.

    Args:
        what: what is waited for, or a function that tells how far it is: it stands in the failure.
    """
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what if isinstance(what, str) else what()}"
        time.sleep(0.01)
    return found
