"""The order of a map that `HashMap.computeIfAbsent` filled: it puts what is new before what is in its bucket."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from kafkastub.coordinator.modern.partition_sets import power_of_two
from kafkawire.java_order import spread

T = TypeVar("T")


def computed_order(asked: Iterable[tuple[int, T]], capacity: int = 16, there: Iterable[tuple[int, T]] = ()) -> list[T]:
    """Keys in the order in which the map iterates.

    Args:
        asked: what the map was asked for, one after the other, with the unsigned hash code of each; the same may come
            again. It makes room with the next question after it is full, be that for a key that is there.
        capacity: for so many the map was made.
        there: what was put there before, by `HashMap.put`, in the order in which it iterates.
    """
    before = [(key, spread(code)) for code, key in there]
    put = dict(reversed(before))
    table = power_of_two(capacity)
    while len(put) > table * 3 // 4:
        table *= 2
    for code, key in asked:
        if len(put) > table * 3 // 4:
            table *= 2
        if key not in put:
            put[key] = spread(code)
    order = list(put)
    order.reverse()
    order.sort(key=lambda key: put[key] & table - 1)
    return order
