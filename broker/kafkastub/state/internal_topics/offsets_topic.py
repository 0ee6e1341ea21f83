"""The coordinator's records on their way to `__consumer_offsets` and back.

Live, every turn of the coordinator is written to the logs of the groups' partitions: one batch a turn and partition,
as Kafka's coordinator runtime writes one a request. At load, what the logs hold is applied to the coordinator.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kafkastub.config import BrokerConfig
from kafkastub.coordinator import (
    GroupCoordinator,
    GroupMetadata,
    GroupTombstone,
    OffsetCommit,
    OffsetTombstone,
    Record,
    Turn,
    partition_for,
)
from kafkastub.coordinator.hard_state import HardState
from kafkastub.coordinator.records import NO_TIMESTAMP
from kafkastub.coordinator.topic_offsets import TopicOffsets
from kafkastub.state.internal_topics.offsets_records import from_log, group_record
from kafkastub.storage import LogSettings
from kafkastub.storage.state_log import StateLog
from kafkastub.storage.state_log_items import EncodedBatches
from kafkawire.errors import MalformedMessage
from kafkawire.offsets_topic import offset_key, offset_value
from kafkawire.records import NewRecord
from kafkawire.records import Record as LogRecord

_SLACK: Final = 1000
"""So many records more than wanted are kept before the oldest are let go, all at once."""

EXPIRING_VALUE: Final = 1
"""The only value version that can tell an expire timestamp."""


class Place(NamedTuple):
    """Where the record of a generation stood that is compacted now."""

    offset: int
    timestamp: int
    record: GroupMetadata


class OffsetsTopic:
    """The logs of `__consumer_offsets`, and what is only known about them together.

    A turn of the coordinator leaves no more behind than its record; which offsets its records have is worked out when
    somebody looks at a log (`catch_up`), or when they are compacted. All partitions together remember so many of the
    newest records (`kafkastub.offsets.history.records`), whatever the clock says.

    Args:
        config: the broker's.
        coordinator: writes here; what is left of compacted records is read off its hard state.
        log: is told of records that cannot be read.
        partitions: how many the topic has, once it is there.

    Attributes:
        logs: by partition; empty while there is no such topic.
        watched: somebody may wait for a log to grow.
    """

    def __init__(
        self, config: BrokerConfig, coordinator: GroupCoordinator, log: Any, partitions: Callable[[], int]
    ) -> None:
        self._config = config
        self.logs: list[StateLog] = []
        self.watched = False
        self._coordinator = coordinator
        self._log = log
        self._partitions_now = partitions
        self._version: int = config["kafkastub.offset.commit.value.version"]
        self._limit: int = config["kafkastub.offsets.history.records"]
        self._trigger = self._limit + min(self._limit, _SLACK)
        self._compression: int = config["offsets.topic.compression.codec"]
        self._encoded = EncodedBatches()
        self._count = 0
        """Of the records that are remembered: those in tails, then those in `_fresh`."""
        self._order: deque[StateLog] = deque()
        """Whose tail has the oldest item, and so on: an entry an item."""
        self._fresh: deque[OffsetCommit | tuple[int, list[Record]]] = deque()
        """What the logs do not know of yet: turns of one commit, and others with their time."""
        self._of_group: dict[str, StateLog] = {}
        self._generations: dict[str, Place] = {}
        """Where the compacted record of a group's generation stood."""
        self._partitions = 0
        self._left: HardState | None = None
        """While the coordinator is loading: the state that it had before."""

    @property
    def hard(self) -> HardState:
        """The state that all records on the logs have led to."""
        return self._coordinator.hard if self._left is None else self._left

    def create_log(self, name: str, settings: LogSettings, leader_epoch: int = 0) -> StateLog:
        """The log of the next partition."""
        log = StateLog(
            name,
            settings,
            leader_epoch,
            partition=len(self.logs),
            writer=self,
            encoded=self._encoded,
            compression=self._compression,
        )
        self.logs.append(log)
        return log

    def clear(self) -> None:
        """The topic was deleted."""
        fresh = OffsetsTopic(self._config, self._coordinator, self._log, self._partitions_now)
        self.__dict__.update(fresh.__dict__)

    def log_of(self, group_id: str) -> StateLog:
        """The log that holds a group. The number of partitions counts that there was when the first group came."""
        log = self._of_group.get(group_id)
        if log is None:
            if not self._partitions:
                self._partitions = self._partitions_now()
            log = self._of_group[group_id] = self.logs[partition_for(group_id, self._partitions)]
        return log

    # -- writing -------------------------------------------------------------------------------------------------

    def write(self, turn: Turn, batch_per_group: bool = False) -> None:
        """Append a turn's records, which are applied: a batch in each partition that it concerns.

        `batch_per_group`: it was several things that happened to several groups.
        """
        records = turn.records
        first = records[0]
        if type(first) is OffsetCommit and len(records) == 1:
            self.write_commit(first, len(first.partitions))
            return
        self._count += sum(map(_size, records))
        if batch_per_group:
            batches: dict[str, list[Record]] = {}
            for record in records:
                batches.setdefault(record.group_id, []).append(record)
            self._fresh.extend((turn.broker_ms, batch) for batch in batches.values())
        else:
            self._fresh.append((turn.broker_ms, records))
        if self._count > self._trigger:
            self._trim()

    def write_commit(self, commit: OffsetCommit, records: int) -> None:
        """Append a turn of one commit, which is applied and stands for so many records."""
        self._fresh.append(commit)
        self._count = count = self._count + records
        if count > self._trigger:
            self._trim()

    def catch_up(self) -> None:
        """Give everything that was written its place in a log (`Writer`)."""
        fresh = self._fresh
        while fresh:
            written = fresh.popleft()
            if isinstance(written, OffsetCommit):
                log = self._of_group.get(written.group_id) or self.log_of(written.group_id)
                log.append_item(log.end, len(written.partitions), written.commit_timestamp, written)
                continue
            batches: dict[StateLog, int] = {}
            timestamp, records = written
            for record in records:
                log = self.log_of(record.group_id)
                log.append_item(batches.setdefault(log, log.end), _size(record), timestamp, record)

    def appended(self, log: StateLog) -> None:
        """An item was appended to a tail (`Writer`)."""
        self._order.append(log)

    def grow(self, partitions: Sequence[int]) -> list[int]:
        """Catch up; those of the partitions that have become longer."""
        ends = [self.logs[partition].end for partition in partitions]
        self.catch_up()
        return [partition for partition, end in zip(partitions, ends, strict=True) if self.logs[partition].end > end]

    # -- compaction ----------------------------------------------------------------------------------------------

    def _trim(self) -> None:
        """Let the oldest records go."""
        order, fresh, limit = self._order, self._fresh, self._limit
        while self._count > limit and order:
            log = order.popleft()
            item = log.take_oldest()
            self._count -= item.records
            if type(item.content) is not bytes:
                self._compact(log, item.content, item.offset, item.timestamp)
        # nobody has looked at these, so that they never got places in a tail
        topic_of, of_group, count = self.hard.offsets.topic, self._of_group, self._count
        while count > limit and fresh:
            written = fresh.popleft()
            if isinstance(written, OffsetCommit):
                group_id, partitions = written.group_id, written.partitions
                log = of_group.get(group_id) or self.log_of(group_id)
                columns = topic_of(group_id, written.topic)
                if columns is not None:
                    columns.placed(written, log.end)
                records = len(partitions)
                log.passed = written, records, written.commit_timestamp
                log.end += records
                count -= records
                continue
            timestamp, several = written
            for record in several:
                log = self.log_of(record.group_id)
                self._compact(log, record, log.end, timestamp)
                log.passed = record, _size(record), timestamp
                log.end += _size(record)
                count -= _size(record)
        self._count = count

    def _compact(self, log: StateLog, record: Record, offset: int, timestamp: int) -> None:
        """Note where what a record stands for stood, as far as it is its keys' last.

        Behind a tombstone no snapshot may show what it ended: with it gone nobody would learn.
        """
        hard, group_id = self.hard, record.group_id
        if isinstance(record, OffsetCommit):
            columns = hard.offsets.topic(group_id, record.topic)
            if columns is not None:
                columns.placed(record, offset)
        elif isinstance(record, GroupMetadata):
            if hard.generations.get(group_id) == record:
                self._generations[group_id] = Place(offset, timestamp, record)
        else:
            log.forget_snapshot()
            if isinstance(record, GroupTombstone) and group_id not in hard.generations:
                self._generations.pop(group_id, None)
                if not hard.offsets.topics(group_id):
                    self._of_group.pop(group_id, None)

    # -- reading -------------------------------------------------------------------------------------------------

    def records_of(self, content: Record, timestamp: int) -> list[NewRecord]:
        """The records of an item, in order (`Writer`)."""
        if isinstance(content, OffsetTombstone):
            return [NewRecord(offset_key(content.group_id, content.topic, content.partition), None, timestamp)]
        if not isinstance(content, OffsetCommit):
            return [group_record(content, timestamp)]
        group_id, topic, topic_id = content.group_id, content.topic, content.topic_id
        version, expiry = self._value_version(content.expire_timestamp), content.expire_timestamp
        committed = content.commit_timestamp
        records = []
        for p in content.partitions:
            metadata = p.committed_metadata or ""
            value = offset_value(
                version, p.committed_offset, p.committed_leader_epoch, metadata, committed, expiry, topic_id
            )
            records.append(NewRecord(offset_key(group_id, topic, p.partition_index), value, timestamp))
        return records

    def live_offset(self, group_id: str, topic: str, columns: TopicOffsets, partition: int, slot: int) -> NewRecord:
        """The record behind an offset of the hard state."""
        offset, epoch, metadata = columns.offset_epoch_metadata(slot)
        timestamp, expiry = columns.commit_timestamp(slot), columns.expire_timestamp(slot)
        topic_id = columns.topic_id(slot)
        value = offset_value(self._value_version(expiry), offset, epoch, metadata, timestamp, expiry, topic_id)
        return NewRecord(offset_key(group_id, topic, partition), value, timestamp)

    def live_generation(self, group_id: str, offset: int) -> NewRecord | None:
        """The compacted record behind a group's generation, if it stood at that log offset."""
        place = self._generations.get(group_id)
        if place is None or place.offset != offset or self.hard.generations.get(group_id) != place.record:
            return None
        return group_record(place.record, place.timestamp)

    def _value_version(self, expiry: int) -> int:
        return self._version if expiry == NO_TIMESTAMP else EXPIRING_VALUE

    def snapshot(self, log: StateLog, end: int) -> _LiveRecords:
        """What is left of compacted records (`Writer`)."""
        groups = [group_id for group_id, of_group in self._of_group.items() if of_group is log]
        return _LiveRecords(self, groups, self._generations, end)

    # -- loading -------------------------------------------------------------------------------------------------

    def reload(self, broker_ms: int, timer_ms: int) -> tuple[Turn, Turn]:
        """Let the coordinator forget everything and load it from the logs, as when it moves away and back.

        The turns of both; what is parked is answered with NOT_COORDINATOR by the first.
        """
        unloaded = self.unload(broker_ms, timer_ms)
        for _ in self.load():
            pass
        return unloaded, self._coordinator.loaded(broker_ms, timer_ms)

    def unload(self, broker_ms: int, timer_ms: int) -> Turn:
        """Let the coordinator forget everything; what the logs hold stays."""
        self.catch_up()
        self._left = self._coordinator.hard
        return self._coordinator.unload(broker_ms, timer_ms)

    def load(self) -> Iterator[None]:
        """Apply what the logs hold, record by record, to a coordinator that was unloaded."""
        coordinator = self._coordinator
        generations: dict[str, Place] = {}
        for log in self.logs:

            def skipped(record: LogRecord, error: MalformedMessage, name: str = log.name) -> None:
                self._log.warning("record skipped", partition=name, offset=record.offset, why=str(error))

            for at, timestamp, record in from_log(log.records(), skipped):
                yield
                coordinator.apply(record)
                if at >= log.compacted_end:
                    continue
                if isinstance(record, OffsetCommit):
                    columns = coordinator.offsets.topic(record.group_id, record.topic)
                    assert columns is not None
                    columns.placed(record, at)
                elif isinstance(record, GroupMetadata):
                    generations[record.group_id] = Place(at, timestamp, record)
        self._generations = generations
        self._left = None
        for log in self.logs:
            log.forget_snapshot()


class _LiveRecords:
    """The last records of the keys of some groups that stand before `end` (a `Snapshot`).

    It knows only where they are, 16 bytes each, and looks them up when they are asked for.
    """

    def __init__(self, topic: OffsetsTopic, groups: Sequence[str], generations: Mapping[str, Place], end: int) -> None:
        self._topic = topic
        self._owners: list[tuple[str, str, TopicOffsets | None]] = []
        packed = sorted(self._find(groups, generations, end))
        self.offsets = array("q", [number >> 64 for number in packed])
        self._owner = array("i", [number >> 32 & 0x7FFFFFFF for number in packed])
        self._partition = array("i", [number & 0x7FFFFFFF for number in packed])

    def _find(self, groups: Sequence[str], generations: Mapping[str, Place], end: int) -> Iterator[int]:
        """Log offset, owner and partition in one number each: a million tuples would take three times the memory."""
        store = self._topic.hard.offsets
        for group_id in groups:
            for topic, columns in store.topics(group_id).items():
                owner = len(self._owners) << 32
                self._owners.append((group_id, topic, columns))
                for at, partition in columns.placed_before(end):
                    yield at << 64 | owner | partition
            place = generations.get(group_id)
            if place is not None and place.offset < end:
                yield place.offset << 64 | len(self._owners) << 32
                self._owners.append((group_id, "", None))

    def record(self, index: int) -> NewRecord | None:
        """The record, None where it is not its key's last any more."""
        offset = self.offsets[index]
        group_id, topic, columns = self._owners[self._owner[index]]
        if columns is None:
            return self._topic.live_generation(group_id, offset)
        partition = self._partition[index]
        slot = columns.slot(partition)
        if slot < 0 or columns.place(slot) != offset:
            return None
        return self._topic.live_offset(group_id, topic, columns, partition, slot)


def _size(record: Record) -> int:
    """How many records of the log it stands for."""
    return len(record.partitions) if isinstance(record, OffsetCommit) else 1
