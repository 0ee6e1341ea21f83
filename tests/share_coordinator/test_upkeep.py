"""The share coordinator's rounds: what has not changed for long is written again, what is not needed goes."""

from __future__ import annotations

import pytest

from kafkastub.metadata import SHARE_GROUP_STATE
from kafkastub.share_coordinator.coordinator import last_redundant
from kafkastub.share_coordinator.records import (
    SharePartitionKey,
    ShareRecord,
    ShareSnapshot,
    ShareTombstone,
    ShareUpdate,
)
from kafkastub.share_coordinator.state_batches import StateBatch
from kafkastub.state.share_coordinator import topic as share_topic
from kafkastub.state.share_coordinator.runtime import ShareRuntime
from kafkastub.state.topics import auto_create
from kafkastub.storage import PartitionLog
from tests.handlers.desk import Desk

MINUTES = 60_000


class Coordinator(Desk):
    """Its rounds are made when time is let pass."""

    def __init__(self, partitions: int = 3, **config: object) -> None:
        super().__init__(
            {"share.coordinator.state.topic.num.partitions": 1}
            | {name.replace("_", "."): value for name, value in config.items()}
        )
        self.topic_id = self.topic("orders", partitions).topic_id
        auto_create(self.state, SHARE_GROUP_STATE)
        self.state.start_sweeping(self.timer_ms)

    @property
    def shares(self) -> ShareRuntime:
        return self.state.share_partitions.coordinator

    def initialize(self, *partitions: int, group: str = "g") -> None:
        for partition in partitions:
            self.state.share_partitions.persister.initialize(group, self.topic_id, partition, 1, 0, self.broker_ms)

    def write(self, partition: int, offset: int, group: str = "g") -> None:
        batches = [StateBatch(offset, offset, 2, 1)]
        key = SharePartitionKey(group, self.topic_id, partition)
        self.state.share_partitions.persister.write(key, 1, 0, 0, 0, batches, self.broker_ms)

    def passes(self, minutes: int) -> None:
        """Whatever falls due on the way happens."""
        end = self.timer_ms + minutes * MINUTES
        while True:
            deadline = self.state.next_deadline()
            at = end if deadline is None else min(max(deadline, self.timer_ms), end)
            self.broker_ms += at - self.timer_ms
            self.timer_ms = at
            if deadline is None or deadline > end:
                return
            self.state.expire(self.broker_ms, self.timer_ms)

    @property
    def log(self) -> PartitionLog:
        return self.shares.topic.logs[0]

    def records(self) -> list[ShareRecord]:
        """Those that are there, in order."""
        return [record for _, record in self.shares.topic.kept(self.shares.topic.logs[0])]


def kinds(records: list[ShareRecord]) -> list[tuple[str, int]]:
    return [(type(one).__name__, one.key.partition) for one in records]


def test_what_has_not_changed_for_long_is_written_again() -> None:
    on = Coordinator()
    on.initialize(0, 1)
    on.write(0, 7)
    on.passes(4)
    assert len(on.records()) == 3
    on.passes(1)
    written = on.records()
    assert kinds(written)[-2:] == [("ShareSnapshot", 0), ("ShareSnapshot", 1)]
    last = written[-2]
    assert isinstance(last, ShareSnapshot)
    assert (last.batches, last.snapshot_epoch) == ((StateBatch(7, 7, 2, 1),), 1)
    assert last.write_timestamp - last.create_timestamp == 5 * MINUTES


def test_a_coordinator_with_nothing_to_do_writes_nothing() -> None:
    on = Coordinator()
    on.initialize(0, 1)
    on.passes(6)
    end = on.log.log_end_offset
    on.passes(60)
    assert on.log.log_end_offset == end
    on.initialize(2)
    on.passes(6)
    assert on.log.log_end_offset > end + 1, "those beside it are in its way"


def test_what_is_not_needed_any_more_goes() -> None:
    on = Coordinator(share_coordinator_snapshot_update_records_per_snapshot=2)
    on.initialize(0, 1)
    for offset in range(20):
        on.write(0, offset)
    assert on.log.log_start_offset == 0
    on.passes(11)
    known = on.shares.coordinator.states
    before = {key: list(one.batches) for key, one in known.items()}
    assert on.log.log_start_offset > 10
    assert on.log.read(on.log.log_start_offset, 1 << 20, at_least_one=True).size > 0
    on.shares.topic.reload(on.broker_ms, on.timer_ms)
    assert {key: list(one.batches) for key, one in on.shares.coordinator.states.items()} == before


@pytest.mark.parametrize("groups", [1, 30])
def test_however_much_is_written_at_once_little_is_kept(monkeypatch: pytest.MonkeyPatch, groups: int) -> None:
    monkeypatch.setattr(share_topic, "_HISTORY", 50)
    on = Coordinator()
    names = [f"g{number}" for number in range(groups)]
    for name in names:
        on.initialize(0, 1, group=name)
    most = 0
    for offset in range(2_000):
        on.write(offset % 2, offset, group=names[offset % groups])
        on.state.expire(on.broker_ms, on.timer_ms)
        most = max(most, on.shares.topic.records)
    assert most < 4 * (2 * groups) + 150
    assert on.log.log_end_offset > 2_000
    on.shares.topic.reload(on.broker_ms, on.timer_ms)
    assert sum(len(one.batches) for one in on.shares.coordinator.states.values()) > 2 * groups - 1


def test_many_share_partitions_are_written_again_part_by_part() -> None:
    on = Coordinator(partitions=1_000)
    on.initialize(*range(1_000))
    on.broker_ms += 5 * MINUTES
    on.timer_ms += 5 * MINUTES
    end, parts = on.log.log_end_offset, 0
    while on.log.log_end_offset < end + 1_000:
        before = on.log.log_end_offset
        on.state.expire(on.broker_ms, on.timer_ms)
        assert on.log.log_end_offset - before <= 100
        parts += 1
    assert parts == 10


def test_the_share_partitions_of_a_deleted_topic_are_forgotten_part_by_part() -> None:
    on = Coordinator(partitions=1_000)
    on.initialize(*range(1_000))
    end = on.log.log_end_offset
    on.delete("orders")
    assert on.log.log_end_offset == end + 100
    on.passes(0)
    assert on.log.log_end_offset == end + 1_000
    assert not on.shares.coordinator.states


G, H = (SharePartitionKey(name, b"t" * 16, 0) for name in "gh")


def snapshot(key: SharePartitionKey) -> ShareSnapshot:
    return ShareSnapshot(key, 0, 0, 0, 0, 0, (), 0, 0)


def update(key: SharePartitionKey) -> ShareUpdate:
    return ShareUpdate(key, 0, 0, 0, 0, ())


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([], None),
        ([snapshot(G)], None),
        ([snapshot(G), update(G), snapshot(G), update(G)], 2),
        ([snapshot(G), snapshot(H), update(H), snapshot(G)], 1),
        ([snapshot(G), snapshot(H), ShareTombstone(G)], 1),
        ([snapshot(G), ShareTombstone(G), snapshot(H)], 2),
        ([snapshot(G), update(G), ShareTombstone(G)], 2),
        ([snapshot(G), snapshot(H), ShareTombstone(H), update(G)], None),
        ([snapshot(H), snapshot(G), ShareTombstone(G), snapshot(H)], 3),
    ],
)
def test_what_is_redundant_ends_where_the_oldest_last_snapshot_is(
    records: list[ShareRecord], expected: int | None
) -> None:
    assert last_redundant(enumerate(records)) == expected
