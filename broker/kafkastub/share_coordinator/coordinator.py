"""The share coordinator: what is known of share partitions that outlives their leaders. Pure; time is an argument.

Whoever leads a partition writes here what has become of records, before a client hears of it. Kafka:
ShareCoordinatorShard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kafkastub.config import BrokerConfig
from kafkastub.share_coordinator.combiner import combine, merge
from kafkastub.share_coordinator.records import (
    SharePartitionKey,
    ShareRecord,
    ShareSnapshot,
    ShareTombstone,
    ShareUpdate,
    key_of,
)
from kafkastub.share_coordinator.state_batches import (
    UNINITIALIZED_START_OFFSET,
    UNKNOWN_DELIVERY_COMPLETE_COUNT,
    ReadState,
    StateBatch,
)
from kafkawire.errors import ErrorCode, KafkaError

_FIRST_STATE_EPOCH: Final = 0
_NO_LEADER_EPOCH: Final = -1
_MOST_BATCHES: Final = 40_000
"""Of one share partition: a record of the topic, which may have 1 MB, has no place for many more."""
NEGATIVE_PARTITION: Final = "The partition id cannot be a negative number."
NEGATIVE_LEADER_EPOCH: Final = "The leader epoch cannot be a negative number."
NEGATIVE_STATE_EPOCH: Final = "The state epoch cannot be a negative number."
WRITE_UNINITIALIZED: Final = "Write operation on uninitialized share partition not allowed."
READ_UNINITIALIZED: Final = "Read operation on uninitialized share partition not allowed."
TOO_MANY: Final = f"More than {_MOST_BATCHES} state batches of one share partition are refused."
NO_RANGE: Final = "The first offset of a state batch must not be behind its last offset."
"""(Apache Kafka 4.4 keeps such a batch, or fails with UNKNOWN_SERVER_ERROR where there are others.)"""


@dataclass(slots=True)
class ShareCoordinatorSettings:
    """Times are milliseconds.

    Attributes:
        updates_per_snapshot: `share.coordinator.snapshot.update.records.per.snapshot`.
        cold_interval_ms: `share.coordinator.cold.partition.snapshot.interval.ms`: share partitions without a newer
            snapshot are written again, so that records before it can be pruned.
    """

    updates_per_snapshot: int = 500
    cold_interval_ms: int = 300_000

    @staticmethod
    def of(values: BrokerConfig) -> ShareCoordinatorSettings:
        """From the broker's configuration."""
        return ShareCoordinatorSettings(
            updates_per_snapshot=values["share.coordinator.snapshot.update.records.per.snapshot"],
            cold_interval_ms=values["share.coordinator.cold.partition.snapshot.interval.ms"],
        )


class Turn:
    """One thing that happened to the coordinator. Fulfils `state.internal_topics.contract.Turn`.

    Attributes:
        broker_ms: when, unix milliseconds: it stamps records.
        records: what to append to `__share_group_state`, in order; already applied.
        completions: always empty: nothing is parked here.
    """

    __slots__ = ("broker_ms", "completions", "records")

    def __init__(self, broker_ms: int) -> None:
        self.broker_ms = broker_ms
        self.records: list[ShareRecord] = []
        self.completions: list[tuple[Any, Any]] = []


class ShareState:
    """What is known of one share partition.

    Attributes:
        known_leader_epoch: the highest that any record had: who comes with less is fenced.
        known_state_epoch: likewise.
        updates: records since the last snapshot that was due to their number.
        batches: combined, ascending.
    """

    __slots__ = (
        "batches",
        "create_timestamp",
        "delivery_complete_count",
        "known_leader_epoch",
        "known_state_epoch",
        "leader_epoch",
        "snapshot_epoch",
        "start_offset",
        "state_epoch",
        "updates",
        "write_timestamp",
    )

    def __init__(self) -> None:
        self.snapshot_epoch = 0
        self.state_epoch = self.known_state_epoch = _FIRST_STATE_EPOCH
        self.leader_epoch = self.known_leader_epoch = 0
        self.start_offset = UNINITIALIZED_START_OFFSET
        self.delivery_complete_count = UNKNOWN_DELIVERY_COMPLETE_COUNT
        self.batches: list[StateBatch] = []
        self.create_timestamp = self.write_timestamp = 0
        self.updates = 0

    @property
    def is_cold(self) -> bool:
        """Whether its last snapshot was written because nothing had changed for long."""
        return self.create_timestamp != self.write_timestamp


class ShareCoordinator:
    """All share partitions. A method that changes something adds its records, applied, to the turn that it is given.

    KafkaError where something is refused; then nothing has happened. What all refuse: INVALID_REQUEST for numbers that
    none can be, and UNKNOWN_TOPIC_OR_PARTITION.

    Args:
        exists: whether a topic (its id) has such a partition.

    Attributes:
        states: by share partition.
    """

    def __init__(self, settings: ShareCoordinatorSettings, exists: Callable[[bytes, int], bool]) -> None:
        self.settings = settings
        self._exists = exists
        self._clear()

    def _clear(self) -> None:
        self.states: dict[SharePartitionKey, ShareState] = {}
        self._by_topic: dict[bytes, dict[SharePartitionKey, None]] = {}

    # -- requests ------------------------------------------------------------------------------------------------

    def initialize(self, key: SharePartitionKey, state_epoch: int, start_offset: int, turn: Turn) -> None:
        """Make a share partition known, or let it begin anew. FENCED_STATE_EPOCH where its own is higher."""
        _check(key, state_epoch=state_epoch)
        known = self.states.get(key)
        if known is not None and known.known_state_epoch > state_epoch:
            raise KafkaError(ErrorCode.FENCED_STATE_EPOCH)
        self._check_exists(key)
        initialized = start_offset != UNINITIALIZED_START_OFFSET
        self._write(
            turn,
            ShareSnapshot(
                key,
                snapshot_epoch=0 if known is None else known.snapshot_epoch + 1,
                state_epoch=state_epoch,
                leader_epoch=0,
                start_offset=start_offset,
                delivery_complete_count=0 if initialized else UNKNOWN_DELIVERY_COMPLETE_COUNT,
                batches=(),
                create_timestamp=turn.broker_ms,
                write_timestamp=turn.broker_ms,
            ),
        )

    def read(self, key: SharePartitionKey, leader_epoch: int, turn: Turn) -> ReadState:
        """What a leader begins with; its epoch is written down if it is another one.

        INVALID_REQUEST where it is not known, FENCED_LEADER_EPOCH where a later leader has been here.
        """
        _check(key, leader_epoch=leader_epoch)
        known = self.states.get(key)
        if known is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, READ_UNINITIALIZED)
        if known.known_leader_epoch > leader_epoch:
            raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
        self._check_exists(key)
        found = ReadState(known.state_epoch, known.start_offset, known.delivery_complete_count, tuple(known.batches))
        if known.known_leader_epoch != leader_epoch:
            self._note(key, known, leader_epoch, known.start_offset, known.delivery_complete_count, (), turn)
        return found

    def summary(self, key: SharePartitionKey) -> ShareState | None:
        """What is known, None for nothing."""
        _check(key)
        self._check_exists(key)
        return self.states.get(key)

    def write(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        delivery_complete_count: int,
        batches: Sequence[StateBatch],
        turn: Turn,
    ) -> None:
        """What has become of records. The start offset never goes back.

        INVALID_REQUEST where it is not known, FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH.
        """
        if key.partition < 0 or leader_epoch < 0 or state_epoch < 0:
            _check(key, leader_epoch=leader_epoch, state_epoch=state_epoch)
        known = self.states.get(key)
        if known is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, WRITE_UNINITIALIZED)
        if known.known_leader_epoch > leader_epoch:
            raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
        if known.known_state_epoch > state_epoch:
            raise KafkaError(ErrorCode.FENCED_STATE_EPOCH)
        self._check_exists(key)
        for one in batches:
            if one.first_offset > one.last_offset:
                raise KafkaError(ErrorCode.INVALID_REQUEST, NO_RANGE)
        if len(known.batches) + len(batches) > _MOST_BATCHES:
            raise KafkaError(ErrorCode.INVALID_REQUEST, TOO_MANY)
        self._note(key, known, known.leader_epoch, start_offset, delivery_complete_count, batches, turn)

    def delete(self, key: SharePartitionKey, turn: Turn) -> None:
        """Forget a share partition; nothing happens where it is not known."""
        _check(key)
        self._check_exists(key)
        if key in self.states:
            self._write(turn, ShareTombstone(key))

    # -- what happens by itself ----------------------------------------------------------------------------------

    @property
    def topic_ids(self) -> Iterable[bytes]:
        """Of all share partitions."""
        return self._by_topic.keys()

    def of_topic(self, topic_id: bytes) -> list[SharePartitionKey]:
        """The share partitions of a topic."""
        return list(self._by_topic.get(topic_id, ()))

    def forget(self, keys: Iterable[SharePartitionKey], turn: Turn) -> None:
        """Forget those of these that are known: their topic is gone."""
        for key in keys:
            if key in self.states:
                self._write(turn, ShareTombstone(key))

    def cold(self, broker_ms: int) -> list[SharePartitionKey]:
        """Those whose last snapshot is old, if any was changed since they were written again last."""
        states = self.states
        if all(one.is_cold for one in states.values()):
            return []
        due = broker_ms - self.settings.cold_interval_ms
        return [key for key, one in states.items() if one.write_timestamp <= due]

    def snapshot(self, keys: Iterable[SharePartitionKey], turn: Turn) -> None:
        """Write those of these again, as they are, that are known."""
        for key in keys:
            known = self.states.get(key)
            if known is None:
                continue
            self._write(
                turn,
                ShareSnapshot(
                    key,
                    known.snapshot_epoch + 1,
                    known.state_epoch,
                    known.leader_epoch,
                    known.start_offset,
                    known.delivery_complete_count,
                    tuple(known.batches),
                    known.create_timestamp,
                    turn.broker_ms,
                ),
            )

    # -- records -------------------------------------------------------------------------------------------------

    def _note(
        self,
        key: SharePartitionKey,
        known: ShareState,
        leader_epoch: int,
        start_offset: int,
        delivery_complete_count: int,
        batches: Sequence[StateBatch],
        turn: Turn,
    ) -> None:
        """An update, or a snapshot where there were many updates. (ShareCoordinatorShard.generateShareStateRecord)"""
        if start_offset == known.start_offset:
            if delivery_complete_count < known.delivery_complete_count:
                delivery_complete_count = known.delivery_complete_count
        elif start_offset < known.start_offset:
            start_offset, delivery_complete_count = known.start_offset, known.delivery_complete_count
        if known.updates < self.settings.updates_per_snapshot:
            new = tuple(combine(batches, start_offset))
            update = tuple.__new__(  # its own constructor takes three times as long
                ShareUpdate, (key, known.snapshot_epoch, leader_epoch, start_offset, delivery_complete_count, new)
            )
            self._apply_update(known, update)
            turn.records.append(update)
            return
        self._write(
            turn,
            ShareSnapshot(
                key,
                known.snapshot_epoch + 1,
                known.state_epoch,
                leader_epoch,
                start_offset,
                delivery_complete_count,
                tuple(combine((*known.batches, *batches), start_offset)),
                turn.broker_ms,
                turn.broker_ms,
            ),
        )

    def _check_exists(self, key: SharePartitionKey) -> None:
        if not self._exists(key.topic_id, key.partition):
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def _write(self, turn: Turn, record: ShareRecord) -> None:
        self.apply(record)
        turn.records.append(record)

    def apply(self, record: ShareRecord) -> None:
        """Make a record true. Kafka: ShareCoordinatorShard.replay."""
        key = record.key
        if isinstance(record, ShareTombstone):
            if self.states.pop(key, None) is not None:
                of_topic = self._by_topic[key.topic_id]
                del of_topic[key]
                if not of_topic:
                    del self._by_topic[key.topic_id]
            return
        known = self.states.get(key)
        if known is None:
            known = self.states[key] = ShareState()
            self._by_topic.setdefault(key.topic_id, {})[key] = None
            known.snapshot_epoch = record.snapshot_epoch
        if isinstance(record, ShareUpdate):
            self._apply_update(known, record)
        else:
            self._apply_snapshot(known, record)

    def _apply_update(self, known: ShareState, record: ShareUpdate) -> None:
        _, _, leader_epoch, start_offset, known.delivery_complete_count, batches = record
        if leader_epoch != _NO_LEADER_EPOCH:
            known.leader_epoch = leader_epoch
            if known.known_leader_epoch < leader_epoch:
                known.known_leader_epoch = leader_epoch
        if start_offset != UNINITIALIZED_START_OFFSET:
            known.start_offset = start_offset
        merge(known.batches, batches, known.start_offset)
        known.updates += 1

    def _apply_snapshot(self, known: ShareState, record: ShareSnapshot) -> None:
        known.snapshot_epoch = record.snapshot_epoch
        known.state_epoch = record.state_epoch
        known.known_state_epoch = max(known.known_state_epoch, record.state_epoch)
        known.leader_epoch = record.leader_epoch
        known.known_leader_epoch = max(known.known_leader_epoch, record.leader_epoch)
        known.start_offset = record.start_offset
        known.delivery_complete_count = record.delivery_complete_count
        known.batches = list(record.batches)
        known.create_timestamp = record.create_timestamp
        known.write_timestamp = record.write_timestamp
        if known.updates >= self.settings.updates_per_snapshot:
            known.updates = 0

    # -- loading -------------------------------------------------------------------------------------------------

    def knows(self, owner: str) -> bool:
        """Whether anything is known of the share partition with that key (`coordinator_key`)."""
        return key_of(owner) in self.states

    def loaded(self, broker_ms: int, timer_ms: int) -> Turn:
        """All records are applied."""
        return Turn(broker_ms)

    def unload(self, broker_ms: int, timer_ms: int) -> Turn:
        """Forget everything."""
        self._clear()
        return Turn(broker_ms)


def _check(key: SharePartitionKey, *, leader_epoch: int = 0, state_epoch: int = 0) -> None:
    """INVALID_REQUEST for numbers that none can be."""
    if key.partition < 0:
        raise KafkaError(ErrorCode.INVALID_REQUEST, NEGATIVE_PARTITION)
    if leader_epoch < 0:
        raise KafkaError(ErrorCode.INVALID_REQUEST, NEGATIVE_LEADER_EPOCH)
    if state_epoch < 0:
        raise KafkaError(ErrorCode.INVALID_REQUEST, NEGATIVE_STATE_EPOCH)


def last_redundant(records: Iterable[tuple[int, ShareRecord]]) -> int | None:
    """The offset before which no record of a partition of the topic is needed any more, None while there is none.

    `records` are all that the partition has, with their offsets. Each share partition needs what is behind its last
    snapshot. One that was forgotten counts until another snapshot or tombstone follows. Kafka:
    ShareCoordinatorOffsetsManager.
    """
    last: dict[SharePartitionKey, int] = {}
    forgotten: SharePartitionKey | None = None
    for offset, record in records:
        if isinstance(record, ShareUpdate):
            continue
        if forgotten is not None:
            del last[forgotten]
        last[record.key] = offset
        forgotten = record.key if isinstance(record, ShareTombstone) else None
    found = min(last.values(), default=0)
    return found if found > 0 else None
