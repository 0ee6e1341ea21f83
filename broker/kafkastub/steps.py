"""Work that is done piece by piece, so that others can be served between two of them."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

R = TypeVar("R")

Steps = Generator[int, None, R]
"""Such work; gives how much each piece was, in things of which whoever goes through it knows the worth."""


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
