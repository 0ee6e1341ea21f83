"""Orders that a worker has to confirm, with the trouble of some seed or without."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Final, Protocol

from kafkastub import GroupTimeout, KafkaStub
from tests.conftest import CONFIG
from tests.waiting import SECONDS, until

LEVEL: Final = 2
GROUP: Final = "confirming"
PARTITIONS: Final = 2
COUNT: Final = 120
IMPATIENT: Final = 2.0
"""Seconds after which more orders come, if not all are committed."""
HEARTBEATS: Final[Mapping[str, object]] = {
    "group.consumer.heartbeat.interval.ms": 20,
    "group.consumer.min.heartbeat.interval.ms": 20,
}
"""For members of the consumer protocol; those of the classic one have it from their own configuration."""


class Working(Protocol):
    """Something that lets a worker work until the end of a context."""

    def __call__(self, worker: str, servers: str) -> AbstractContextManager[None]: ...


Front = Callable[..., AbstractContextManager[KafkaStub]]
"""Is given what `KafkaStub` is given."""


def lost_by(
    working: Working, worker: str, seed: int | None, grace: float = SECONDS, front: Front = KafkaStub
) -> set[bytes | None]:
    """The orders that are not confirmed when the worker has committed all of them: nobody will take those again.

    Args:
        grace: seconds in which it may confirm what it has committed and still has in hand.

    Raises GroupTimeout, with what was done to it, where it does not come to the end.
    """
    config = {**CONFIG, **HEARTBEATS}
    with front(topics={"orders": PARTITIONS, "confirmed": 1}, config=config, chaos=seed, chaos_level=LEVEL) as stub:
        order(stub, 0, COUNT)
        with working(worker, stub.bootstrap_servers):
            all_committed(stub)
            over = time.monotonic() + grace
            until(lambda: not left(stub) or time.monotonic() > over, "the end of the grace", 2 * SECONDS)
        return left(stub)


def order(stub: KafkaStub, first: int, count: int) -> None:
    """So many orders, from that number on."""
    for number in range(first, first + count):
        stub.produce("orders", str(number), partition=number % PARTITIONS)


def all_committed(stub: KafkaStub) -> None:
    """Where a worker rests before that, it gets more orders: with those it commits the ones that it has forgotten."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return stub.offsets.wait_lag(GROUP, "orders", timeout=IMPATIENT)
        except GroupTimeout as behind:
            if time.monotonic() > deadline:
                behind.add_note(stub.chaos.told())
                raise
            order(stub, len(stub.records("orders")), PARTITIONS)


def left(stub: KafkaStub) -> set[bytes | None]:
    """The orders that are not confirmed."""
    ordered, confirmed = ({record.value for record in stub.records(topic)} for topic in ("orders", "confirmed"))
    return ordered - confirmed
