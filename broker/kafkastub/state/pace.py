"""How long a request may keep the others waiting.

A large request is served a slice at a time. A handler that works through many things calls `ctx.pace(amount)` between
two of them, where the state is whole: others may be served there. While no large request is served, the call does
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

from kafkastub.steps import Pace, no_pause
from kafkawire.java_order import hash_map_order, hash_map_size, spread

__all__ = ["Pace", "no_pause", "paced", "paced_map_order"]

T = TypeVar("T")

_EVERY: Final = 64
_PARTS: Final = 1024
"""Of a large map that is put in order one after the other."""


def paced(things: Iterable[T], pace: Pace) -> Iterator[T]:
    """The same things, with a pause where one is due.

    The things must be the request's or the answer's own: what belongs to the state may change meanwhile.
    """
    if pace is no_pause:
        return iter(things)
    return _paced(things, pace)


def paced_map_order(keys: Iterable[tuple[int, T]], pace: Pace, capacity: int = 16) -> list[T]:
    """As `hash_map_order`, with pauses."""
    if pace is no_pause:
        return hash_map_order(keys, capacity)
    items = list(paced(keys, pace))
    size = hash_map_size(len(items), capacity)
    mask, width = size - 1, max(1, size // _PARTS)
    parts: list[list[tuple[int, T]]] = [[] for _ in range(0, size, width)]
    for pair in paced(items, pace):
        parts[(spread(pair[0]) & mask) // width].append(pair)
    found: list[T] = []
    for part in parts:
        part.sort(key=lambda pair: spread(pair[0]) & mask)
        found += [item for _, item in part]
        pace(len(part))
    return found


def _paced(things: Iterable[T], pace: Pace) -> Iterator[T]:
    left = iter(things)
    while some := tuple(islice(left, _EVERY)):
        yield from some
        pace(len(some))
