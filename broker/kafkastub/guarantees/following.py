"""Following a journal while it is written: what passes is set aside at once, and read when there is time.

To set an entry aside costs a reference. A large answer to Fetch is set aside without its records. An entry is read by
whoever asks for the verdict, in their own thread. Only if more than `MOST_BYTES` wait, it is read between requests.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection
from typing import Any, Final

from kafkastub.guarantees.checker import Checker
from kafkastub.guarantees.consumers import Look
from kafkastub.guarantees.events import Partition
from kafkastub.guarantees.reading import READ, Reader
from kafkastub.guarantees.reading_fetches import Sparse, without_payloads
from kafkastub.guarantees.relations import Position
from kafkastub.guarantees.shares import Limit, nobody_knows_the_limit
from kafkastub.guarantees.verdict import Verdict
from kafkastub.journal.extract import TopicName
from kafkastub.journal.ring import Outcome, Raw, Ring, Run, reply_size
from kafkawire.api import ApiKey

MOST_BYTES: Final = 32 << 20
"""Of requests and answers that wait to be read; beyond that they are read while others are served."""
_MOST_CONNECTIONS: Final = 10_000
"""Of which it is known whether they have gone."""
_FEW_CONNECTIONS: Final = 100
"""With so many nobody looks which of them have gone."""
_LEAST_OF_AN_ENTRY: Final = 256
"""Bytes that an entry counts for at least: what Python needs for it."""
_ASKED_FOR: Final = frozenset(key.to_bytes(2) for key in READ if key not in (ApiKey.METADATA, ApiKey.CREATE_TOPICS))
"""APIs, as requests begin; names of topics are known without these."""
_METADATA: Final = ApiKey.METADATA.to_bytes(2)
_LARGE: Final = 4 << 10
"""Bytes of an answer to Metadata that is not read for its replicas: it names more than one client writes to."""
_LARGE_ANSWER: Final = 16 << 10
"""Bytes of requests and answers behind which it pays to look for records that nobody needs."""
_REPLY: Final = Raw._fields.index("reply")
_REPLIES: Final = Run._fields.index("replies")
"""Where a unit has its answers: a tuple is one in pieces, as those with records are sent."""
_FETCH: Final = ApiKey.FETCH.to_bytes(2)
Unit = tuple[int, Any]
"""A sequence number, and a list like `Raw` or a tuple like `Run`."""


class Follower:
    """Reads a ring's entries in the order in which they ended.

    `completed` and `catch_up` belong to the thread that writes the ring; the rest may be called in any thread.
    """

    def __init__(self, ring: Ring, topic_name: TopicName) -> None:
        self._ring = ring
        self._next = ring.first
        self._missed = ring.first
        """Entries that were gone before it came."""
        self._reader = Reader(topic_name)
        self._checker = Checker(partial=self._missed > 0)
        self._late: list[Unit] = []
        """Entries that have ended since it went past them."""
        self._waiting: deque[tuple[list[Unit], int]] = deque()
        """What is set aside, with its bytes: all of one list has ended before anything of the next."""
        self._held = 0
        self._connections: dict[int, Any] = {}
        """By their ids: those that were there when they were looked at last."""
        self._look_at = _FEW_CONNECTIONS
        """With so many they are looked at anew."""
        self._ended: dict[int, None] = {}
        """Ids of those that have gone."""
        self._failure: str | None = None
        self._reading = threading.Lock()
        ring.follow(self)

    # --- in the thread that writes

    def completed(self, sequence: int, raw: Raw) -> None:
        """The end of a pending entry has come."""
        if sequence < self._next:
            self._late += _without_payloads(sequence, list(raw))

    def catch_up(self) -> None:
        """Set aside what has ended by now."""
        found, self._late = self._late, []
        for one in self._ring.units(self._next):
            unit = one[1]
            if type(unit) is list:
                if unit[8] is Outcome.PENDING:
                    continue
                answers = unit[_REPLY]
            elif (
                unit[8] > 1
                or (key := unit[0][unit[1] + 4 : unit[1] + 6]) in _ASKED_FOR
                or (key == _METADATA and _size(unit) < _LARGE)
            ):
                answers = unit[_REPLIES]
            else:
                continue
            if type(answers) is tuple and _size(unit) > _LARGE_ANSWER:
                found += _without_payloads(*one)
            else:
                found.append(one)
        self._next = self._ring.total
        if not found:
            return
        size = sum(_size(unit) for _, unit in found)
        self._waiting.append((found, size))
        self._held += size
        while self._held > MOST_BYTES and self._reading.acquire(blocking=False):
            try:
                self._read_some()
            finally:
                self._reading.release()

    # --- in any thread

    def settle(self) -> None:
        """Read what is set aside."""
        with self._reading:
            while self._waiting:
                self._read_some()

    def verdict(
        self,
        wanted: Collection[str] | None = None,
        ignoring: Collection[str] = (),
        look: Look | None = None,
        limit: Limit = nobody_knows_the_limit,
    ) -> Verdict:
        """What is true by now, of what was set aside. Raises ValueError."""
        self.settle()
        with self._reading:
            undecided = [] if self._failure is None else [self._failure]
            if self._missed:
                undecided.append(f"the first {self._missed} entries of the journal were gone before the check began")
            return self._checker.verdict(
                wanted, ignoring=ignoring, look=look, gone=self._gone, limit=limit,
                requests=self._reader.requests, undecided=undecided,
            )  # fmt: skip

    def positions(self, topic: str, group: str | None) -> tuple[str | None, dict[Partition, Position]]:
        """How far a group is with a topic; of the only group that has committed something of it where none is named.

        Raises ValueError where there are several.
        """
        self.settle()
        with self._reading:
            return self._checker.positions(topic, group)

    def _gone(self, connection: int) -> bool | None:
        if connection in self._ended:
            return True
        info = self._connections.get(connection)
        return None if info is None else bool(info.gone)

    # --- reading

    def _read_some(self) -> None:
        """The oldest list of what waits."""
        units, size = self._waiting.popleft()
        self._held -= size
        units.sort(key=_ended)
        for sequence, unit in units:
            try:
                self._read(sequence, unit)
            except Exception as error:  # whatever it is, the broker goes on
                self._failure = self._failure or f"the checker failed at entry {sequence}: {error!r}"

    def _read(self, sequence: int, unit: Any) -> None:
        for number, raw in enumerate([Raw(*unit)] if type(unit) is list else Run(*unit).entries(), sequence):
            self._read_one(number, raw)

    def _read_one(self, sequence: int, raw: Raw) -> None:
        info = raw.connection
        if info is not None and self._connections.get(info.id) is not info:
            self._meet(info)
        for event in self._reader.read(sequence, raw):
            self._checker.feed(event)

    def _meet(self, info: Any) -> None:
        """A connection that was not there before. A stub that starts again gives the same ids once more."""
        if info.gone:
            self._end(info.id)
            return
        self._ended.pop(info.id, None)
        if len(self._connections) >= self._look_at:
            self._let_go()
        self._connections[info.id] = info

    def _let_go(self) -> None:
        """Keep only the ids of connections that have gone. What is kept for long keeps the memory around it, too."""
        for connection in [one for one, info in self._connections.items() if info.gone]:
            del self._connections[connection]
            self._end(connection)
        while len(self._connections) >= _MOST_CONNECTIONS:
            del self._connections[next(iter(self._connections))]
        self._look_at = max(_FEW_CONNECTIONS, 2 * len(self._connections))

    def _end(self, connection: int) -> None:
        self._ended[connection] = None
        if len(self._ended) > _MOST_CONNECTIONS:
            del self._ended[next(iter(self._ended))]


def follower_of(ring: Ring, topic_name: TopicName) -> Follower:
    """Whoever follows the ring, from now on where nobody did. In the thread that writes it."""
    found = ring.follower
    return found if isinstance(found, Follower) else Follower(ring, topic_name)


def _ended(one: Unit) -> tuple[int, int]:
    unit = one[1]
    ended = unit[7]
    return (unit[6] if ended is None else ended), one[0]


def _without_payloads(sequence: int, unit: Any) -> list[Unit]:
    """The entries of a unit one by one, without the records that answers to Fetch have given."""
    entries = [list(unit)] if type(unit) is list else [list(one) for one in Run(*unit).entries()]
    for entry in entries:
        data, start, reply = entry[0], entry[1], entry[_REPLY]
        if type(reply) is tuple and data[start : start + 2] == _FETCH:
            entry[_REPLY] = without_payloads(reply)
    return list(enumerate(entries, sequence))


def _size(unit: Any) -> int:
    if type(unit) is list:
        reply = unit[_REPLY]
        size = int(unit[2]) - int(unit[1]) + (reply.kept if type(reply) is Sparse else reply_size(reply))
    else:
        size = int(unit[9])
    return max(_LEAST_OF_AN_ENTRY, size)
