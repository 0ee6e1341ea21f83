"""What the Python programs share: the scenario, the command line, and telling of a step."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

PARTITIONS = range(4)
BATCH = 10
"""Records for each partition, the first time and the second."""
MIDDLE = 15
"""Where the members commit: in the middle of the second batch."""
SECONDS = 150.0
"""For anything that is waited for."""

BOOTSTRAP, TOPIC, GROUP = sys.argv[1:4]
PROTOCOL = "".join(sys.argv[4:]) or "classic"
"""Of the group: `classic`, or `consumer` (KIP-848)."""
EXPRESSION = f"^{TOPIC[:-2]}.*"
"""Matches the topic and no other."""

Row = tuple[int, int, str]
"""Partition, offset and value of a record that was read."""


class Member(Protocol):
    """A member of the group, as soon as it is made. It is called in threads, in one at a time."""

    def poll(self) -> list[Row]:
        """What comes within a moment."""

    def partitions(self) -> list[int]:
        """Those that it has at the moment, in order."""

    def commit_read(self) -> None:
        """Commit all that was polled."""

    def commit(self, offset: int) -> None:
        """Commit this offset in each of its partitions."""

    def leave(self) -> None:
        """Close it."""


Administration = Callable[[], None] | str
"""What does it, or why the client cannot."""


def play(
    produce: Callable[[int], dict[int, list[int]]],
    join: Callable[..., Member],
    delete_offset: Administration,
    delete_group: Administration,
) -> None:
    """Play the scenario with a client.

    Args:
        produce: a batch to each partition, from this number on; gives the offsets.
        join: a member of GROUP that subscribes to TOPIC; where the client speaks the consumer protocol it takes
            `subscription`, `group` and `instance` (a group instance id) in their places.
        delete_offset: the one committed in partition 0.
    """
    everything = BATCH * len(PARTITIONS)
    tell("produce", offsets=produce(0))

    first = join()
    (records,) = read([first], everything)
    first.commit_read()
    tell("consume", records=records)

    members = [first, join()]
    tell("rebalance", members=settled(members))
    produce(BATCH)
    tell("share", records=read(members, everything))
    for one in members:
        one.commit(MIDDLE)
    tell("commit", committed=dict.fromkeys(PARTITIONS, MIDDLE))
    for one in members:
        one.leave()
    tell("leave")

    again = join()
    (records,) = read([again], (2 * BATCH - MIDDLE) * len(PARTITIONS))
    again.commit_read()
    again.leave()
    tell("resume", records=records)

    if PROTOCOL == "consumer":
        produce(2 * BATCH)
        again = join(subscription=EXPRESSION)
        (records,) = read([again], everything)
        again.commit_read()
        tell("expression", records=records)
        again.leave()

    administer("delete_offsets", delete_offset)
    administer("delete_group", delete_group)
    if PROTOCOL == "consumer":
        play_static(join)


def play_static(join: Callable[..., Member]) -> None:
    """One of two members has a name, goes and comes back."""
    group = f"{GROUP}-static"
    members = [join(group=group, instance="named"), join(group=group)]

    def even() -> bool:
        poll_all(members)
        return shared([one.partitions() for one in members])

    until(even, "both have partitions")
    parts = [one.partitions() for one in members]
    members[0].leave()
    tell("static", members=parts)

    members[0] = join(group=group, instance="named")
    until(lambda: even() and [one.partitions() for one in members] == parts, "it has its partitions again")
    tell("return", members=parts)
    for one in members:
        one.leave()


def read(members: Sequence[Member], count: int) -> list[list[Row]]:
    """Poll all until they have so many records together."""
    found: list[list[Row]] = [[] for _ in members]

    def enough() -> bool:
        for rows, polled in zip(found, poll_all(members), strict=True):
            rows += polled
        return sum(map(len, found)) >= count

    until(enough, f"{count} records")
    return found


def settled(members: Sequence[Member]) -> list[list[int]]:
    """Poll all until each has partitions and together they have all."""

    def even() -> bool:
        if any(poll_all(members)):
            raise RuntimeError("a record was delivered again")
        return shared([one.partitions() for one in members])

    until(even, "both have partitions")
    return [one.partitions() for one in members]


def poll_all(members: Sequence[Member]) -> list[list[Row]]:
    """Each in a thread of its own: one's rebalance waits for the others."""
    with ThreadPoolExecutor(len(members)) as pool:
        return list(pool.map(lambda one: one.poll(), members))


def administer(step: str, action: Administration) -> None:
    if isinstance(action, str):
        tell(step, cannot=action)
    else:
        action()
        tell(step)


def value(partition: int, number: int) -> bytes:
    return f"{partition}-{number}".encode()


def shared(parts: list[list[int]]) -> bool:
    """Whether each member has partitions, and together they have all."""
    return all(parts) and sorted(partition for part in parts for partition in part) == list(PARTITIONS)


def until(done: Callable[[], bool], what: str) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + SECONDS
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {SECONDS:g} s: {what}")
        threading.Event().wait(0.005)


def tell(step: str, **seen: object) -> None:
    """Print a line, and wait until the runner has looked at the broker."""
    print(json.dumps({"step": step, **seen}), flush=True)
    if not sys.stdin.readline():
        sys.exit("the runner is gone")
