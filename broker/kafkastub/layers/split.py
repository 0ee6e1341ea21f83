"""What of a request goes on, and what is refused. The request stays as it is: an error may be about all of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from copy import copy
from typing import Any, TypeVar

from kafkastub.state.pace import Pace, paced

T = TypeVar("T")
R = TypeVar("R")


def split(items: Iterable[T], goes_on: Callable[[T], bool], pace: Pace) -> tuple[list[T], list[T]]:
    """(those that go on, the others), both in their order; with pauses between them."""
    mine: list[T] = []
    refused: list[T] = []
    for item in paced(items, pace):
        (mine if goes_on(item) else refused).append(item)
    return mine, refused


def about(request: R, **fields: Any) -> R:
    """The same request, about these things only."""
    asked = copy(request)
    for name, value in fields.items():
        setattr(asked, name, value)
    return asked


def once_each(topics: Iterable[Any], key: Callable[[Any], Hashable]) -> list[Any]:
    """What is told of a topic that was named several times, together, where Kafka's builders of answers do so."""
    found: dict[Hashable, Any] = {}
    together: dict[Hashable, list[Any]] = {}
    for topic in topics:
        name = key(topic)
        before = found.setdefault(name, topic)
        if before is topic:
            continue
        if name not in together:  # what was told first may be kept by others: it stays as it is
            together[name] = partitions = [*before.partitions]
            found[name] = about(before, partitions=partitions)
        together[name] += topic.partitions
    return list(found.values())
