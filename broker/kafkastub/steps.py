"""Work that is done piece by piece, so that others can be served between two of them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeVar

R = TypeVar("R")

Steps = Generator[int, None, R]
"""Such work; gives how much each piece was, in things of which whoever goes through it knows the worth."""


Pace = Callable[[int], None]
"""Is called by work that is no generator wherever a piece of it is done: with how much that was, in things of some
microseconds each. Others may be served before it returns.
"""


def no_pause(amount: int = 1) -> None:
    """The pace of work that is done at once."""


def at_once(steps: Steps[R]) -> R:
    """What comes of the work, which is done without a pause."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: R = end.value
            return found


def a_part(steps: Steps[R], limit: int) -> tuple[R] | None:
    """Work off so much; what came of it, if that was all."""
    try:
        while limit > 0:
            limit -= next(steps)
    except StopIteration as end:
        return (end.value,)
    return None
