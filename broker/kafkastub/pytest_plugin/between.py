"""What is between two tests that share a broker: what one leaves behind, and how it is not there for the next."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from kafkastub.stub.errors import StubError
from kafkawire.errors import KafkaError

if TYPE_CHECKING:
    from kafkastub import KafkaStub

_MOST_TOLD: Final = 20
"""Leftovers in a report."""


class Thing(NamedTuple):
    """Something on a broker that another test may come upon."""

    kind: str
    name: str


def things(stub: KafkaStub) -> set[Thing]:
    """What is there: topics, groups, faults."""
    broker = stub._running()

    def look() -> set[Thing]:
        state = broker.state
        topics = (Thing("topic", topic.name) for topic in state.cluster.topics.values() if not topic.internal)
        return {*topics, *(Thing("group", name) for name in state.coordinator.groups)}

    return stub._call(look) | {Thing("fault", fault.id) for fault in stub.faults}


def remove(stub: KafkaStub, prefix: str) -> None:
    """Delete topics and groups whose names begin like that; a group stays whose members are still there."""
    broker = stub._running()

    def act() -> None:
        from kafkastub.state.topics import delete_topics

        state, now = broker.state, broker.clock.broker_ms()
        delete_topics(state, [name for name in state.cluster.topics if name.startswith(prefix)], now)
        for group_id in [name for name in state.coordinator.groups if name.startswith(prefix)]:
            with suppress(KafkaError):
                state.settle(state.coordinator.delete_group(group_id, now))

    stub._call(act)


class Seeded:
    """A broker that tests share, each of which begins with what a seed has filled it with."""

    def __init__(self, stub: KafkaStub, seed: Any) -> None:
        """Raises pytest.UsageError for what is no seed, and whatever filling the stub does.

        Args:
            seed: a function that is given the stub, a snapshot, or the path of a file of one.
        """
        from kafkastub import Snapshot

        self.stub = stub
        self._seed = seed
        if callable(seed):
            seed(stub)
            self._saved = stub.snapshot()
        elif isinstance(seed, Snapshot | str | os.PathLike):
            self._saved = seed if isinstance(seed, Snapshot) else Snapshot.load(seed)
        else:
            raise pytest.UsageError(
                f"kafka_stub_seed returns {seed!r:.100}: expected a function that receives the stub and fills it, "
                "a Snapshot, or the path of a snapshot file"
            )

    def begin(self, seed: Any) -> KafkaStub:
        """The broker for the next test. Raises pytest.UsageError where that has another seed."""
        if seed is not self._seed:
            raise pytest.UsageError(
                "this kafka_stub_seed is not the one that filled the broker of kafka_stub_seeded: "
                "define it once for the session, in conftest.py"
            )
        self.stub.faults.clear()
        self.stub.restore(self._saved)
        return self.stub


class Leftovers:
    """What tests have left on a broker that they share."""

    def __init__(self) -> None:
        self._left: dict[Thing, str] = {}

    def note(self, test: str, before: set[Thing], stub: KafkaStub, known: Mapping[str, str]) -> None:
        """A test has ended; `known` are names that are its own, and in nobody's way."""
        with suppress(StubError):  # the test has closed it
            now = things(stub)
            self._left = {one: who for one, who in self._left.items() if one in now}
            self._left |= {one: test for one in sorted(now - before) if one.name not in known}

    def describe(self) -> str:
        """What is there now, and whose it was; empty where nothing is."""
        lines = [f"{one.kind} {one.name!r} of {test}" for one, test in self._left.items()]
        more = [f"and {len(lines) - _MOST_TOLD} more"] if len(lines) > _MOST_TOLD else []
        return "\n".join([*lines[:_MOST_TOLD], *more])
