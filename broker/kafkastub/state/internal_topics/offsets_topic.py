"""`__consumer_offsets`: an internal topic whose keys come in millions, and in commits of many.

What it has of its own: a commit is one record of the coordinator and stands for a record a partition; the turn of one
commit is kept as nothing but that; and what is left of compacted commits is read off the columns of the coordinator's
hard state, 8 bytes each (`TopicOffsets`), where the general form has a dictionary's entry.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kafkastub.config import BrokerConfig
from kafkastub.coordinator import (
    GroupCoordinator,
    GroupMetadata,
    GroupTombstone,
    OffsetCommit,
    Record,
    Turn,
)
from kafkastub.coordinator.hard_state import HardState
from kafkastub.coordinator.topic_offsets import TopicOffsets
from kafkastub.state.internal_topics import contract
from kafkastub.state.internal_topics.contract import Place
from kafkastub.state.internal_topics.internal_topic import InternalTopic, Places
from kafkastub.state.internal_topics.offsets_codec import OffsetsCodec
from kafkastub.storage.state_log import StateLog
from kafkawire.offsets_topic import offset_key
from kafkawire.records import NewRecord


class OffsetsTopic(InternalTopic[Record]):
    """The logs of `__consumer_offsets` (`offsets.topic.*`, `kafkastub.offsets.history.records`).

    Args:
        config: the broker's.
        coordinator: writes here; what is left of compacted records is read off its hard state.
        log: is told of records that cannot be read.
        partitions: how many the topic has, once it is there.
    """

    _codec: OffsetsCodec
    _coordinator: GroupCoordinator
    _left: HardState | None
    """While the coordinator is loading: the state that it had before."""

    def __init__(
        self, config: BrokerConfig, coordinator: GroupCoordinator, log: Any, partitions: Callable[[], int]
    ) -> None:
        super().__init__(
            OffsetsCodec(config["kafkastub.offset.commit.value.version"]),
            coordinator,
            history=config["kafkastub.offsets.history.records"],
            compression=config["offsets.topic.compression.codec"],
            log=log,
            partitions=partitions,
        )

    def clear(self) -> None:
        super().clear()
        self._left = None

    @property
    def hard(self) -> HardState:
        """The state that all records on the logs have led to."""
        return self._coordinator.hard if self._left is None else self._left

    # -- writing -------------------------------------------------------------------------------------------------

    def write(self, turn: contract.Turn[Record], batch_per_owner: bool = False) -> None:
        records = turn.records
        first = records[0]
        if type(first) is OffsetCommit and len(records) == 1:
            self.write_commit(first, len(first.partitions))
        else:
            InternalTopic.write(self, turn, batch_per_owner)  # commits of several topics: super() takes longer

    def write_commit(self, commit: OffsetCommit, records: int) -> None:
        """Append a turn of one commit, which is applied and stands for so many records."""
        self._fresh.append(commit)
        self._count = count = self._count + records
        if count > self._trigger:
            self._trim()

    def append_marker(
        self,
        partition: int,
        producer_id: int,
        producer_epoch: int,
        commit: bool,
        *,
        coordinator_epoch: int,
        transaction_version: int,
        broker_ms: int,
    ) -> int:
        """End a producer's transaction in a partition: write the control batch, and let the group coordinator
        complete what was pending there. The marker's offset.

        Who waits for the partition is not woken: `state.groups.end_transaction_of_offsets` does both. KafkaError:
        INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED (ProducerAppendInfo.appendEndTxnMarker), and
        KAFKA_STORAGE_ERROR.
        """
        raise NotImplementedError

    @staticmethod
    def _size(record: Record) -> int:
        return len(record.partitions) if type(record) is OffsetCommit else 1

    def catch_up(self) -> None:
        fresh = self._fresh
        while fresh:
            written = fresh.popleft()
            if isinstance(written, OffsetCommit):
                log = self._owners.get(written.group_id) or self.log_of(written.group_id)
                log.append_item(log.end, len(written.partitions), written.commit_timestamp, written)
            else:
                self._append(*written)

    # -- compaction ----------------------------------------------------------------------------------------------

    def _trim_fresh(self) -> None:
        fresh, limit, count = self._fresh, self._limit, self._count
        topic_of, owners = self.hard.offsets.topic, self._owners
        while count > limit and fresh:
            written = fresh.popleft()
            if isinstance(written, OffsetCommit):
                group_id, partitions = written.group_id, written.partitions
                log = owners.get(group_id) or self.log_of(group_id)
                columns = topic_of(group_id, written.topic)
                if columns is not None:
                    columns.placed(written, log.end)
                records = len(partitions)
                log.passed = written, records, written.commit_timestamp
                log.end += records
                count -= records
            else:
                count -= self._pass(*written)
        self._count = count

    def _pass(self, timestamp: int, records: Sequence[Record]) -> int:
        owners, topic_of, count = self._owners, self.hard.offsets.topic, 0
        for record in records:
            log = owners.get(record.group_id) or self.log_of(record.group_id)
            if type(record) is OffsetCommit:
                size = len(record.partitions)
                columns = topic_of(record.group_id, record.topic)
                if columns is not None:
                    columns.placed(record, log.end)
            else:
                size = 1
                self._compact(log, record, log.end, timestamp)
            log.passed = record, size, timestamp
            log.end += size
            count += size
        return count

    def _compact(self, log: StateLog, record: Record, offset: int, timestamp: int) -> None:
        """As in general, but that only what is its key's last in the hard state is noted."""
        hard, group_id = self.hard, record.group_id
        if isinstance(record, OffsetCommit):
            columns = hard.offsets.topic(group_id, record.topic)
            if columns is not None:
                columns.placed(record, offset)
        elif isinstance(record, GroupMetadata):
            if hard.generations.get(group_id) == record:
                self._places[log][group_id] = Place(offset, timestamp, record)
        else:
            log.forget_snapshot()
            if isinstance(record, GroupTombstone) and group_id not in hard.generations:
                self._places[log].pop(group_id, None)
                if not hard.offsets.topics(group_id):
                    self._owners.pop(group_id, None)

    def _place(self, places: Places[Record], record: Record, offset: int, timestamp: int) -> bool:
        if isinstance(record, OffsetCommit):
            columns = self._coordinator.hard.offsets.topic(record.group_id, record.topic)
            if columns is not None:
                columns.placed(record, offset)
        elif isinstance(record, GroupMetadata):
            places[record.group_id] = Place(offset, timestamp, record)
        elif isinstance(record, GroupTombstone):
            places.pop(record.group_id, None)
        return isinstance(record, OffsetCommit | GroupMetadata)

    # -- reading -------------------------------------------------------------------------------------------------

    def records_of(self, content: Record, timestamp: int) -> list[NewRecord]:
        if not isinstance(content, OffsetCommit):
            return super().records_of(content, timestamp)
        group_id, topic, value = content.group_id, content.topic, self._codec.offset
        return [
            NewRecord(offset_key(group_id, topic, p), value(committed), timestamp) for p, committed in content.each()
        ]

    def live_offset(self, group_id: str, topic: str, columns: TopicOffsets, partition: int, slot: int) -> NewRecord:
        """The record behind an offset of the hard state."""
        committed = columns.at(slot)
        return NewRecord(
            offset_key(group_id, topic, partition), self._codec.offset(committed), committed.commit_timestamp
        )

    def live_generation(self, log: StateLog, group_id: str, offset: int) -> NewRecord | None:
        """The compacted record behind a group's generation, if it stood at that log offset."""
        place = self._places[log].get(group_id)
        if place is None or self.hard.generations.get(group_id) != place.record:
            return None
        return self.last_record(log, group_id, offset)

    def snapshot(self, log: StateLog, end: int) -> _LiveRecords:
        groups = [group_id for group_id, of_group in self._owners.items() if of_group is log]
        return _LiveRecords(self, log, groups, self._places[log], end)

    # -- loading -------------------------------------------------------------------------------------------------

    def unload(self, broker_ms: int, timer_ms: int) -> Turn:
        self.catch_up()
        self._left = self._coordinator.hard
        return self._coordinator.unload(broker_ms, timer_ms)

    def load(self) -> Iterator[None]:
        yield from super().load()
        self._left = None


class _LiveRecords:
    """The last records of the keys of some groups that stand before `end` (a `Snapshot`).

    It knows only where they are, 16 bytes each, and looks them up when they are asked for.
    """

    def __init__(
        self,
        topic: OffsetsTopic,
        log: StateLog,
        groups: Sequence[str],
        generations: Mapping[str, Place[Record]],
        end: int,
    ) -> None:
        self._topic = topic
        self._log = log
        self._owners: list[tuple[str, str, TopicOffsets | None]] = []
        packed = sorted(self._find(groups, generations, end))
        self.offsets = array("q", [number >> 64 for number in packed])
        self._owner = array("i", [number >> 32 & 0x7FFFFFFF for number in packed])
        self._partition = array("i", [number & 0x7FFFFFFF for number in packed])

    def _find(self, groups: Sequence[str], generations: Mapping[str, Place[Record]], end: int) -> Iterator[int]:
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
            return self._topic.live_generation(self._log, group_id, offset)
        partition = self._partition[index]
        slot = columns.slot(partition)
        if slot < 0 or columns.place(slot) != offset:
            return None
        return self._topic.live_offset(group_id, topic, columns, partition, slot)
