"""A broker on which the same things are done again and again: nothing is left of them but what is bounded."""

from __future__ import annotations

import functools
import gc
import itertools
import sys
import weakref
from collections import Counter
from typing import Any, Final

import pytest

from kafkastub import KafkaStub, deadlines
from kafkastub.coordinator import expiry
from kafkastub.deadlines import Deadline, Deadlines
from kafkastub.layers.fast_paths import (
    add_partitions_to_txn,
    api_versions,
    end_txn,
    heartbeats,
    list_offsets,
    offset_commit,
    produce,
    remembered,
    share_acknowledge,
    share_fetch,
    share_requests,
)
from kafkastub.state.internal_topics import topic_logs
from kafkastub.state.share_coordinator import topic as share_topic
from kafkastub.state.transaction_coordinator import topic as transactions_topic
from tests.hostile.rounds import QUICK, Rounds
from tests.hostile.test_hostile import linux, memory_mb
from tests.process.serving import Serving

OURS: Final = ("kafkastub.", "kafkawire.")
WARM, SEEN = 2, 4
"""Rounds before anything is counted, and rounds after each of which it is."""
HISTORY: Final = 5
BOUNDS: Final = [
    (topic_logs, "_SLACK", 1), (share_topic, "_HISTORY", HISTORY), (transactions_topic, "_HISTORY", HISTORY),
    (list_offsets, "_MOST_BYTES", 1), (remembered, "_MOST_BYTES", 1), (api_versions, "_MOST", 1),
    (heartbeats, "_MOST", 1),
    (add_partitions_to_txn, "_MOST_PLANS", 1), (offset_commit, "_MOST_PLANS", 1), (produce, "_MOST_PLANS", 1),
    (end_txn, "_MOST_NAMES", 1), (share_acknowledge, "_MOST", 1), (share_fetch, "_MOST", 1),
    (share_requests, "_MOST", 1), (expiry, "_PRUNE_FROM", 1), (deadlines, "_FEW", 1),
]  # fmt: skip
"""What is kept on purpose, up to so much: more than these tests would ever fill."""


def objects() -> Counter[str]:
    """How many there are of each of our types."""
    for name in [name for name in sys.modules if name.startswith(OURS)]:
        for one in vars(sys.modules[name]).values():
            if isinstance(one, functools._lru_cache_wrapper):
                one.cache_clear()  # each has its bound
    gc.collect()
    kinds = Counter(f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())
    return Counter({kind: count for kind, count in kinds.items() if kind.startswith(OURS)})


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, bound in BOUNDS:
        monkeypatch.setattr(module, name, bound)


@pytest.mark.usefixtures("bounded")
def test_rounds_of_all_kinds_of_clients_leave_nothing_behind():
    config = {**QUICK, "kafkastub.offsets.history.records": HISTORY}
    with KafkaStub(config=config, journal_entries=1) as stub, Rounds(stub.bootstrap_servers) as rounds:
        for _ in range(WARM):
            rounds.once()
        objects()
        there: list[Any] = [one for one in gc.get_objects() if type(one) in (dict, list, set)]
        kinds, lengths = [], []
        for _ in range(SEEN):
            rounds.once()
            kinds.append(objects())
            lengths.append([len(one) for one in there])
    growing = {kind: [one[kind] for one in kinds] for kind in kinds[-1]}
    assert {kind: seen for kind, seen in growing.items() if _grows(seen)} == {}
    assert [(seen, str(one)[:200]) for one, *seen in zip(there, *lengths, strict=True) if _grows(seen)] == []


def _grows(seen: list[int]) -> bool:
    """Whether it does so with each round."""
    return all(before < after for before, after in itertools.pairwise(seen))


def test_members_that_have_come_and_gone_are_not_kept_for_their_deadlines():
    """A cancelled deadline stays in the heap for a while: it has the member, and the member's group."""

    class Member:
        def fire(self, timer_ms: int) -> None:
            raise AssertionError("it has gone")

    kept: weakref.WeakSet[Member] = weakref.WeakSet()
    heap: Deadlines[int] = Deadlines()
    for number in range(900):
        member = Member()
        kept.add(member)
        deadline = Deadline(("session", str(number)), member.fire)
        heap.arm(deadline, 1_000_000 + number)
        deadline.cancel()
    assert sum(1 for _ in kept) < 100


@linux
@pytest.mark.soak
def test_a_process_does_not_grow_when_the_same_is_done_for_minutes():
    """With what it keeps on purpose at a bound that is reached soon."""
    bounds = ["kafkastub.offsets.history.records=500", *(f"{name}={value}" for name, value in QUICK.items())]
    options = ("--journal-entries", "200", "--control-port", "0", "--config", *bounds)
    with Serving(*options) as serving, Rounds(serving.servers) as rounds:
        for _ in range(100):
            rounds.once()
        before = memory_mb(serving)
        for _ in range(200):
            rounds.once()
        assert memory_mb(serving) - before < 8
