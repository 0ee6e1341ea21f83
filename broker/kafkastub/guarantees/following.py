"""Following a journal while it is written: behind the requests, in steps, and before anything of it is forgotten."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from kafkastub.guarantees.checker import Checker
from kafkastub.guarantees.consumers import Look
from kafkastub.guarantees.events import Partition
from kafkastub.guarantees.reading import Reader
from kafkastub.guarantees.relations import Position
from kafkastub.guarantees.verdict import Verdict
from kafkastub.journal.extract import TopicName
from kafkastub.journal.ring import Outcome, Raw, Ring

_MOST_CONNECTIONS: Final = 10_000


class Follower:
    """Reads a ring's entries in the order in which they ended. Belongs to the thread that writes it."""

    def __init__(self, ring: Ring, topic_name: TopicName) -> None:
        self._ring = ring
        self._next = ring.first
        self._missed = ring.first
        """Entries that were gone before it came."""
        self._reader = Reader(topic_name)
        self._checker = Checker()
        self._late: list[tuple[int, Raw]] = []
        """Entries that have ended since it went past them."""
        self._connections: dict[int, Any] = {}
        self._failure: str | None = None
        ring.follow(self)

    def completed(self, sequence: int, raw: Raw) -> None:
        """The end of a pending entry has come."""
        if sequence < self._next:
            self._late.append((sequence, raw))

    def catch_up(self) -> None:
        """Read what has ended by now."""
        ended, self._late = self._late, []
        for sequence, raw in self._ring.walk(self._next):
            if raw.outcome is not Outcome.PENDING:
                ended.append((sequence, raw))
        self._next = self._ring.total
        ended.sort(key=lambda one: (one[1].ended or one[1].started, one[0]))
        try:
            for sequence, raw in ended:
                info = raw.connection
                if info is not None and info.id not in self._connections:
                    while len(self._connections) >= _MOST_CONNECTIONS:
                        self._reader.gone(next(iter(self._connections)))
                        del self._connections[next(iter(self._connections))]
                    self._connections[info.id] = info
                for event in self._reader.read(sequence, raw):
                    self._checker.feed(event)
        except Exception as error:  # whatever it is, the broker goes on
            self._failure = self._failure or f"the checker failed at entry {sequence}: {error!r}"

    def verdict(
        self, wanted: Collection[str] | None = None, ignoring: Collection[str] = (), look: Look | None = None
    ) -> Verdict:
        """What is true by now. Raises ValueError."""
        self.catch_up()
        undecided = [] if self._failure is None else [self._failure]
        if self._missed:
            undecided.append(f"the first {self._missed} entries of the journal were gone before the check began")
        return self._checker.verdict(
            wanted, ignoring=ignoring, look=look, gone=self._gone, requests=self._reader.requests,
            undecided=undecided,
        )  # fmt: skip

    def positions(self, topic: str, group: str | None) -> tuple[str | None, dict[Partition, Position]]:
        """How far a group is with a topic; of the only group that has committed something of it where none is named.

        Raises ValueError where there are several.
        """
        self.catch_up()
        return self._checker.positions(topic, group)

    def _gone(self, connection: int) -> bool | None:
        info = self._connections.get(connection)
        return None if info is None else bool(info.gone)


def follower_of(ring: Ring, topic_name: TopicName) -> Follower:
    """Whoever follows the ring, from now on where nobody did. In the thread that writes it."""
    found = ring.follower
    return found if isinstance(found, Follower) else Follower(ring, topic_name)
