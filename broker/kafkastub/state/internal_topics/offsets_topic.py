"""`__consumer_offsets`: an internal topic whose keys come in millions, and in commits of many.

What it has of its own: a commit is one record of the coordinator and stands for a record a partition; the turn of one
commit is kept as nothing but that; and what is left of compacted commits is read off the columns of the coordinator's
hard state, 8 bytes each (`TopicOffsets`), where the general form has a dictionary's entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from kafkastub.config import BrokerConfig
from kafkastub.coordinator import (
    GroupCoordinator,
    OffsetCommit,
    OffsetTombstone,
    PendingOffsets,
    Record,
    TransactionMarker,
    Turn,
)
from kafkastub.coordinator.hard_state import HardState, key_of, weight_of_group
from kafkastub.coordinator.topic_offsets import TopicOffsets
from kafkastub.state.internal_topics import contract
from kafkastub.state.internal_topics.contract import Loaded, Place, Skipped
from kafkastub.state.internal_topics.internal_topic import InternalTopic
from kafkastub.state.internal_topics.offsets_batches import read_offsets
from kafkastub.state.internal_topics.offsets_codec import OffsetsCodec
from kafkastub.state.internal_topics.offsets_snapshot import LiveRecords
from kafkastub.state.internal_topics.offsets_transactions import (
    form_of,
    marker_appended,
    marker_in,
    pending_appended,
    record_of,
)
from kafkastub.state.internal_topics.topic_logs import Places
from kafkastub.storage import Marker
from kafkastub.storage.batches import FoundBatch
from kafkastub.storage.state_log import BatchForm, StateLog
from kafkawire.offsets_topic import offset_key
from kafkawire.records import NewRecord

_FEW_ABORTED: Final = 1000
"""Aborted transactions of a partition that are remembered without looking whether anything is left of them."""
_HEAVIEST: Final = 1 << 28
"""Bytes that remembered records about groups take, at most and roughly: subscriptions and assignments may be long."""


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
            weigh=weight_of_group,
            heaviest=_HEAVIEST,
            kept=coordinator,
        )

    def clear(self) -> None:
        super().clear()
        self._left = None
        self._aborted_limit: dict[StateLog, int] = {}

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
        elif type(first) is PendingOffsets:
            self._write_pending(turn.broker_ms, first, records)
        else:
            InternalTopic.write(self, turn, batch_per_owner)  # commits of several topics: super() takes longer

    def write_commit(self, commit: OffsetCommit, records: int) -> None:
        """Append a turn of one commit, which is applied and stands for so many records."""
        self._fresh.append(commit)
        self._count = count = self._count + records
        if count > self._trigger:
            self._trim()

    def _write_pending(self, broker_ms: int, first: PendingOffsets, records: Sequence[Record]) -> None:
        """Append a turn of one producer's transactional commits for one group; they get their places at once."""
        self.catch_up()
        log = self.log_of(first.group_id)
        base = log.end
        log.producer_states.forget(broker_ms - log.settings.producers_expire_ms)
        for record in records:
            log.append_item(base, self._size(record), broker_ms, record)
        self._count += log.end - base
        pending_appended(log, first, base, log.end - base, broker_ms)
        if self._count > self._trigger:
            self._trim()

    def check_producer(self, group_id: str, producer_id: int, producer_epoch: int) -> None:
        """AppendError INVALID_PRODUCER_EPOCH for a producer that has written to the group's log in a later epoch."""
        log = self.log_of(group_id)
        where = f"producer {producer_id} in partition {log.name}"
        log.producer_states.check_epoch(producer_id, producer_epoch, where)

    def append_marker(self, partition: int, marker: Marker, broker_ms: int) -> int:
        """End a producer's transaction in a partition: write the control batch, and let the group coordinator
        complete what was pending there. The marker's offset.

        Who waits for the partition is not woken: `state.transaction_coordinator.markers` does both. KafkaError:
        INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED (ProducerAppendInfo.appendEndTxnMarker), and
        KAFKA_STORAGE_ERROR.
        """
        self.catch_up()
        log = self.logs[partition]
        log.producer_states.check_marker(marker, log.name)
        ended = TransactionMarker(
            marker.producer_id,
            marker.producer_epoch,
            marker.commit,
            marker.coordinator_epoch,
            broker_ms,
            self._pending_in(log, marker.producer_id),
        )
        offset = log.end
        log.append_item(offset, 1, broker_ms, ended)
        self._count += 1
        self._complete(log, ended, offset)
        if self._count > self._trigger:
            self._trim()
        return offset

    def _pending_in(self, log: StateLog, producer_id: int) -> tuple[str, ...]:
        """The groups of a log in which a producer has pending offsets.

        While loading also one whose owner was forgotten, as nothing was left of it: its records may still be there.
        """
        groups = self._coordinator.offsets.pending.groups_of(producer_id)
        return tuple(group_id for group_id in groups if self.log_of(group_id) is log)

    def _complete(self, log: StateLog, marker: TransactionMarker, offset: int) -> None:
        """A marker stands there."""
        marker_appended(log, marker, offset)
        self._coordinator.complete_transaction(marker)
        if marker.group_ids:
            log.forget_snapshot()  # what of them is compacted is in no transaction any more

    @staticmethod
    def _size(record: Record) -> int:
        if type(record) is OffsetCommit:
            return len(record.partitions)
        return len(record.commit.partitions) if type(record) is PendingOffsets else 1

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
        while (count > limit or self._weight > self._heaviest) and fresh:
            written = fresh.popleft()
            if isinstance(written, OffsetCommit):
                group_id, partitions = written.group_id, written.partitions
                log = owners.get(group_id) or self.log_of(group_id)
                columns = topic_of(group_id, written.topic)
                if columns is not None:
                    columns.note_log_offset(written, log.end)
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
                    columns.note_log_offset(record, log.end)
            else:
                size = 1
                self._weight -= weight_of_group(record)
                self._compact(log, record, log.end, timestamp)
            log.passed = record, size, timestamp
            log.end += size
            count += size
        return count

    def _compact(self, log: StateLog, record: Record | TransactionMarker, offset: int, timestamp: int) -> None:
        """As in general, but that only what is its key's last in the hard state is noted."""
        if isinstance(record, TransactionMarker):
            self._forget_aborted(log)
            return
        hard, group_id = self.hard, record.group_id
        if isinstance(record, OffsetCommit):
            columns = hard.offsets.topic(group_id, record.topic)
            if columns is not None:
                columns.note_log_offset(record, offset)
        elif isinstance(record, PendingOffsets):
            self._compact_pending(log, record, offset)
        elif isinstance(record, OffsetTombstone):
            log.forget_snapshot()
        else:
            key, has_value = key_of(record)
            if has_value:
                if hard.last(key) == record:
                    self._places[log][key] = Place(offset, timestamp, record)
                return
            log.forget_snapshot()
            if hard.last(key) is None:
                self._places[log].pop(key, None)
                if not hard.knows(group_id):
                    self._owners.pop(group_id, None)

    def _compact_pending(self, log: StateLog, record: PendingOffsets, offset: int) -> None:
        """Of an open transaction it stays in one; committed it is like any other; aborted, nothing is left of it."""
        entry, offsets = log.producer_states.entry(record.producer_id), self.hard.offsets
        if entry is not None and entry.transaction_start is not None and entry.transaction_start <= offset:
            offsets.pending.note_log_offset(record, offset)
            return
        of_batch = log.aborted_transactions(offset, offset + 1)
        if any(one.producer_id == record.producer_id and one.first_offset <= offset for one in of_batch):
            return  # it may say what was committed before it: that stays where it stood
        columns = offsets.topic(record.group_id, record.commit.topic)
        if columns is not None:
            columns.note_log_offset(record.commit, offset)

    def _forget_aborted(self, log: StateLog) -> None:
        """Forget which transactions were aborted of which there is nothing left, now and then."""
        aborted = log.producer_states.aborted
        if aborted is not None and len(aborted) > self._aborted_limit.get(log, _FEW_ABORTED):
            aborted.remove_before(self._aborted_from(log))
            self._aborted_limit[log] = max(2 * len(aborted), _FEW_ABORTED)

    def _aborted_from(self, log: StateLog) -> int:
        """Before this there is nothing left of aborted transactions."""
        return log.compacted_end

    def _place(self, places: Places[Record], record: Record, offset: int, timestamp: int) -> bool:
        if isinstance(record, OffsetCommit):
            columns = self._coordinator.hard.offsets.topic(record.group_id, record.topic)
            if columns is not None:
                columns.note_log_offset(record, offset)
        elif isinstance(record, PendingOffsets):
            self._coordinator.hard.offsets.pending.note_log_offset(record, offset)
        elif isinstance(record, OffsetTombstone):
            return False
        else:
            key, has_value = key_of(record)
            if not has_value:
                places.pop(key, None)
                return False
            places[key] = Place(offset, timestamp, record)
        return True

    # -- reading -------------------------------------------------------------------------------------------------

    def form_of(self, content: Any) -> BatchForm:
        return form_of(content)

    def records_of(self, content: Any, timestamp: int) -> list[NewRecord]:
        if type(content) is PendingOffsets:
            content = content.commit
        elif type(content) is TransactionMarker:
            return [record_of(content)]
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

    def pending_offset(
        self, producer_id: int, group_id: str, topic: str, partition: int, offset: int
    ) -> NewRecord | None:
        """The compacted record behind an offset of an open transaction, if it stood at that log offset."""
        pending = self.hard.offsets.pending.of(producer_id, group_id, topic, partition)
        if pending is None or pending.place != offset:
            return None
        ((_, committed),) = pending.as_commit().each()
        key = offset_key(group_id, topic, partition)
        return NewRecord(key, self._codec.offset(committed), committed.commit_timestamp)

    def live_record(self, log: StateLog, key: Any, offset: int) -> NewRecord | None:
        """The compacted record about a group of that key, if it stood at that log offset."""
        place = self._places[log].get(key)
        if place is None or self.hard.last(key) != place.record:
            return None
        return self.last_record(log, key, offset)

    def snapshot(self, log: StateLog, end: int) -> LiveRecords:
        groups = [group_id for group_id, of_group in self._owners.items() if of_group is log]
        return LiveRecords(self, log, groups, self._places[log], end)

    # -- loading -------------------------------------------------------------------------------------------------

    def unload(self, broker_ms: int, timer_ms: int) -> Turn:
        self.catch_up()
        self._left = self._coordinator.hard
        return self._coordinator.unload(broker_ms, timer_ms)

    def load(self) -> Iterator[None]:
        yield from super().load()
        self._left = None

    def _loaded_from(self, log: StateLog) -> Iterator[Loaded[Record]]:
        skipped = self._skipped(log)
        for header, batch in log.batches():
            if header.control:
                marker = marker_in(header, batch, self._pending_in(log, header.producer_id))
                if marker is not None:
                    self._coordinator.complete_transaction(marker)
            else:
                yield from read_offsets(header, batch, skipped)

    def _owner_of(self, content: Any) -> str | None:
        return None if type(content) is TransactionMarker else super()._owner_of(content)

    def _load(self, log: StateLog, batch: FoundBatch, in_tail: bool) -> None:
        header = batch.header
        if not header.control:
            super()._load(log, batch, in_tail)
            if header.has_producer:
                log.producer_states.update(header, header.base_offset, header.max_timestamp, header.max_timestamp)
            return
        log.end = header.base_offset
        marker = marker_in(header, batch.data, self._pending_in(log, header.producer_id))
        if in_tail:
            log.append_item(log.end, header.record_count, header.max_timestamp, marker or bytes(batch.data))
        if marker is not None:
            self._complete(log, marker, header.base_offset)
        log.end = header.last_offset + 1

    def _records_in(self, batch: FoundBatch, skipped: Skipped) -> Iterable[Loaded[Record]]:
        return read_offsets(batch.header, batch.data, skipped)
