"""What a failing test's report says of its brokers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Self

from kafkastub import StubError

if TYPE_CHECKING:
    from kafkastub import KafkaStub


class Watched(NamedTuple):
    """A stub that a test uses."""

    stub: KafkaStub
    fixture: str
    since: int
    """The number of the first entry of its journal that is this test's."""

    @classmethod
    def from_now_on(cls, stub: KafkaStub, fixture: str) -> Self:
        try:
            return cls(stub, fixture, stub.journal.total)
        except StubError:  # it keeps none
            return cls(stub, fixture, 0)


def last_requests(watched: Iterable[Watched], count: int) -> list[tuple[str, str]]:
    """A section a stub, with its last `count` requests of this test."""
    sections = []
    for stub, fixture, since in watched:
        try:
            entries = stub.journal.tail(count, since) if count > 0 else []
        except StubError:
            continue
        if entries:
            sections.append((f"last requests of {fixture}", "\n".join(map(str, entries))))
    return sections
