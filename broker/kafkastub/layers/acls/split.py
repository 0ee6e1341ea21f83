"""What of a request is allowed, and what is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def split(items: Iterable[T], allowed: Callable[[T], bool]) -> tuple[list[T], list[T]]:
    """(the allowed ones, the others), both in their order."""
    mine: list[T] = []
    refused: list[T] = []
    for item in items:
        (mine if allowed(item) else refused).append(item)
    return mine, refused
