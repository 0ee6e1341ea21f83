"""The scenario of share groups (KIP-932), for Python programs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from telling import BATCH, PARTITIONS, Administration, administer, tell, until

ACCEPT, RELEASE, REJECT, RENEW = "accept", "release", "reject", "renew"
EVERYTHING: Final = BATCH * len(PARTITIONS)
LOCK_SECONDS: Final = 2.0
"""For how long a member has a record."""
DELIVERIES: Final = 3
"""How often a record comes before the group gives it up."""
ALTERED: Final = 5


class Received(NamedTuple):
    """A record that a worker has got, and how often it was delivered by then."""

    partition: int
    offset: int
    value: str
    count: int


class Worker(Protocol):
    """A member of the share group, as soon as it is made."""

    renews: bool
    """Whether it can renew a lock."""

    def poll(self) -> list[Received]:
        """What comes within a moment."""

    def send(self, types: list[str]) -> dict[int, str]:
        """Send what is said of what was polled; gives the partitions where it is refused, and the errors' names."""

    def leave(self) -> None:
        """Close it."""


class Reader:
    """Reads with a worker, and remembers."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.rows: list[Received] = []
        self.late: set[str] = set()
        self._polled: list[Received] = []
        self._done: set[tuple[int, int]] = set()

    def poll(self) -> bool:
        self._polled = self.worker.poll()
        self.rows += self._polled
        return bool(self._polled)

    def say(self, judge: Callable[[Received], str] = lambda one: ACCEPT) -> int:
        """Of each record; gives how many are done with by now."""
        if self._polled:
            types = [judge(one) for one in self._polled]
            refused = self.worker.send(types)
            self.late |= set(refused.values())
            for one, said in zip(self._polled, types, strict=True):
                last = said == RELEASE and one.count == DELIVERIES
                if one.partition not in refused and (last or said in (ACCEPT, REJECT)):
                    self._done.add((one.partition, one.offset))
        return len(self._done)

    def read(self, count: int, judge: Callable[[Received], str] = lambda one: ACCEPT) -> list[Received]:
        def enough() -> bool:
            self.poll()
            return self.say(judge) >= count

        until(enough, f"{count} records")
        return self.take()

    def take(self) -> list[Received]:
        rows, self.rows, self._done = self.rows, [], set()
        return rows


def odd_once(one: Received) -> str:
    """Every other record is released when it comes for the first time."""
    return RELEASE if one.offset % 2 == 1 and one.count == 1 else ACCEPT


def play_share(
    produce: Callable[[int], dict[int, list[int]]],
    work: Callable[[], Worker],
    alter_offset: Callable[[int], None] | str,
    forget_topic: Administration,
    delete_group: Administration,
) -> None:
    """Play the scenario with a client; `work` makes a member, `alter_offset` is of partition 0."""
    tell("produce", offsets=produce(0))
    batches = iter(range(BATCH, 100 * BATCH, BATCH))
    first = Reader(work())
    tell("accept", records=first.read(EVERYTHING))

    second = Reader(work())
    first.poll()
    second.poll()
    tell("join")
    produce(next(batches))

    def both() -> bool:
        first.poll()
        second.poll()
        return first.say() + second.say() >= EVERYTHING

    until(both, "the second batch")
    tell("both", records=[first.take(), second.take()])
    second.worker.leave()

    produce(next(batches))
    tell("release", records=first.read(EVERYTHING, odd_once))
    produce(next(batches))
    tell("poison", records=first.read(EVERYTHING, lambda one: RELEASE if one.offset % 10 == 5 else ACCEPT))
    produce(next(batches))
    tell("reject", records=first.read(EVERYTHING, lambda one: REJECT if one.offset % 10 == 5 else ACCEPT))
    if first.worker.renews:
        raise NotImplementedError("no client of this language renews locks so far")
    tell("renew", cannot="it has no such acknowledgement")
    produce(next(batches))
    until(first.poll, "some records")
    threading.Event().wait(LOCK_SECONDS * 1.25)
    kept, first.rows, first.late = first.rows, [], set()
    first.say()
    late = sorted(first.late)
    tell("expire", kept=kept, late=late, records=first.read(EVERYTHING))

    produce(next(batches))
    until(first.poll, "some records")
    first.worker.leave()
    third = Reader(work())
    tell("close", records=[first.take(), third.read(EVERYTHING)])
    third.worker.leave()
    tell("leave")

    if isinstance(alter_offset, str):
        tell("alter_offsets", cannot=alter_offset)
        tell("again", cannot=alter_offset)
    else:
        alter_offset(ALTERED)
        tell("alter_offsets")
        again = Reader(work())
        tell("again", records=again.read(next(batches) - ALTERED))
        again.worker.leave()
    administer("delete_offsets", forget_topic)
    administer("delete_group", delete_group)
