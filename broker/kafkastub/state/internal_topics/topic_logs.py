"""The logs of a topic that a coordinator writes its records to: history, compaction, reading.

Live, every turn of the coordinator is written to the logs of the owners' partitions: one batch a turn and partition, as
Kafka's coordinator runtime writes one a request. `internal_topic` loads the coordinator from them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, Generic

from kafkastub.coordinator import partition_for
from kafkastub.state.internal_topics.contract import (
    Coordinator,
    Kept,
    Place,
    R,
    RecordCodec,
    Turn,
)
from kafkastub.storage import LogSettings
from kafkastub.storage.state_log import PLAIN, BatchForm, EncodedBatches, Snapshot, StateLog
from kafkawire.records import NewRecord

Places = dict[Any, Place[R]]
"""The last compacted record of each key in one log."""

_SLACK: Final = 1000
"""So many records more than wanted are kept before the oldest are let go, all at once."""


class TopicLogs(Generic[R]):
    """The logs of one internal topic, and what is only known about them together.

    A turn of the coordinator leaves no more behind than its records; which offsets they have is worked out when
    somebody looks at a log (`catch_up`), or when they are compacted. All partitions together remember so many of the
    newest records, whatever the clock says; of older ones the last of each key.

    Args:
        codec: writes and reads the records.
        coordinator: whose they are.
        history: how many of the newest records are remembered.
        key_of: what stands for a record's key, and whether it has a value, where that is known without encoding it.
        weigh: what a record weighs; fewer are remembered where they weigh more than `heaviest`.
        compression: of the batches, by its number.
        log: is told of records that cannot be read.
        partitions: how many the topic has, once it is there.
        kept: the coordinator, where it hands its state on as a whole.

    Attributes:
        logs: by partition; empty while there is no such topic.
        watched: somebody may wait for a log to grow.
    """

    _kind: ClassVar[type[StateLog]] = StateLog
    """What its logs are."""
    logs: list[StateLog]
    watched: bool
    _encoded: EncodedBatches
    _count: int
    """Of the records that are remembered: those in tails, then those in `_fresh`."""
    _weight: int
    """Of the same, where they are weighed."""
    _order: deque[int]
    """Which partition's tail has the oldest item, and so on: an entry an item."""
    _fresh: deque[Any]
    """What the logs do not know of yet: turns as (time, records), or whatever else a topic's own form is."""
    _owners: dict[str, StateLog]
    """Where the records of those are that have any."""
    _places: dict[StateLog, Places[R]]
    _partitions: int

    def __init__(
        self,
        codec: RecordCodec[R],
        coordinator: Coordinator[R],
        *,
        history: int,
        compression: int,
        log: Any,
        partitions: Callable[[], int],
        key_of: Callable[[R], tuple[Any, bool]] | None = None,
        weigh: Callable[[R], int] | None = None,
        heaviest: int = 0,
        kept: Kept | None = None,
    ) -> None:
        self._codec = codec
        self._coordinator = coordinator
        self._limit = history
        self._trigger = history + min(history, _SLACK)
        self._compression = compression
        self._log = log
        self._partitions_now = partitions
        self._key_of = self._encoded_key if key_of is None else key_of
        self._weigh = weigh
        self._heaviest = heaviest
        self._kept = kept
        self.clear()

    def clear(self) -> None:
        """There is no such topic, or no more."""
        self.logs = []
        self.watched = False
        self._encoded = EncodedBatches()
        self._count = 0
        self._weight = 0
        self._order = deque()
        self._fresh = deque()
        self._owners = {}
        self._places = {}
        self._partitions = 0

    def create_log(self, name: str, settings: LogSettings, leader_epoch: int = 0) -> StateLog:
        """The log of the next partition."""
        log = self._kind(
            name,
            settings,
            leader_epoch,
            partition=len(self.logs),
            writer=self,
            encoded=self._encoded,
            compression=self._compression,
        )
        self.logs.append(log)
        self._places[log] = {}
        return log

    def log_of(self, owner: str) -> StateLog:
        """The log of an owner's records. The number of partitions counts that there was when the first owner came."""
        log = self._owners.get(owner)
        if log is None:
            if not self._partitions:
                self._partitions = self._partitions_now()
            log = self._owners[owner] = self.logs[partition_for(owner, self._partitions)]
        return log

    # -- writing -------------------------------------------------------------------------------------------------

    def write(self, turn: Turn[R], batch_per_owner: bool = False) -> None:
        """Append a turn's records, which are applied: a batch in each partition that it concerns.

        `batch_per_owner`: it was several things that happened to several owners.
        """
        records = turn.records
        count, weight, weigh = self._count, self._weight, self._weigh
        for record in records:
            count += self._size(record)
            if weigh is not None:
                weight += weigh(record)
        self._count, self._weight = count, weight
        if batch_per_owner:
            batches: dict[str, list[R]] = {}
            for record in records:
                batches.setdefault(self._codec.owner(record), []).append(record)
            self._fresh.extend((turn.broker_ms, batch) for batch in batches.values())
        else:
            self._fresh.append((turn.broker_ms, records))
        if count > self._trigger or weight > self._heaviest:
            self._trim()

    def write_each(self, records: Sequence[R], broker_ms: int, weight: int) -> None:
        """Append records, which are applied: each a batch of its own, and one record of the log.

        `weight`: what they weigh together.
        """
        self._count += len(records)
        self._weight += weight
        for record in records:
            self._fresh.append((broker_ms, (record,)))
        if self._count > self._trigger or self._weight > self._heaviest:
            self._trim()

    @staticmethod
    def _size(record: R) -> int:
        """How many records of the log it stands for."""
        return 1

    def catch_up(self) -> None:
        """Give everything that was written its place in a log (`Writer`)."""
        fresh = self._fresh
        while fresh:
            self._append(*fresh.popleft())

    def _append(self, timestamp: int, records: Sequence[R]) -> None:
        batches: dict[StateLog, int] = {}
        for record in records:
            log = self.log_of(self._codec.owner(record))
            log.append_item(batches.setdefault(log, log.end), self._size(record), timestamp, record)

    def appended(self, log: StateLog) -> None:
        """An item was appended to a tail (`Writer`)."""
        self._order.append(log.partition)

    def grow(self, partitions: Sequence[int]) -> list[int]:
        """Catch up; those of the partitions that have become longer."""
        ends = [self.logs[partition].end for partition in partitions]
        self.catch_up()
        return [partition for partition, end in zip(partitions, ends, strict=True) if self.logs[partition].end > end]

    # -- compaction ----------------------------------------------------------------------------------------------

    def _trim(self) -> None:
        """Let the oldest records go."""
        order, limit, logs = self._order, self._limit, self.logs
        while (self._count > limit or self._weight > self._heaviest) and order:
            log = logs[order.popleft()]
            item = log.take_oldest()
            self._count -= item.records
            if type(item.content) is not bytes:
                if self._weigh is not None:
                    self._weight -= self._weigh(item.content)
                self._compact(log, item.content, item.offset, item.timestamp)
        self._trim_fresh()

    def _trim_fresh(self) -> None:
        """The same with those that nobody has looked at, so that they never get places in a tail."""
        fresh = self._fresh
        while (self._count > self._limit or self._weight > self._heaviest) and fresh:
            self._count -= self._pass(*fresh.popleft())

    def _pass(self, timestamp: int, records: Sequence[R]) -> int:
        """Compact what nobody has looked at; how many records of logs it was."""
        count = 0
        for record in records:
            log, size = self.log_of(self._codec.owner(record)), self._size(record)
            if self._weigh is not None:
                self._weight -= self._weigh(record)
            self._compact(log, record, log.end, timestamp)
            log.passed = record, size, timestamp
            log.end += size
            count += size
        return count

    def _compact(self, log: StateLog, record: R, offset: int, timestamp: int) -> None:
        """Note where what a record stands for stood.

        Behind a tombstone no snapshot may show what it ended: with it gone nobody would learn.
        """
        if self._place(self._places[log], record, offset, timestamp):
            return
        log.forget_snapshot()
        owner = self._codec.owner(record)
        if not self._coordinator.knows(owner):
            self._owners.pop(owner, None)

    def _place(self, places: Places[R], record: R, offset: int, timestamp: int) -> bool:
        """Note where a record stood that follows those of `places`; False for a tombstone."""
        key, has_value = self._key_of(record)
        if not has_value:
            places.pop(key, None)
            return False
        places[key] = Place(offset, timestamp, record)
        return True

    def _encoded_key(self, record: R) -> tuple[Any, bool]:
        key, value = self._codec.encode(record)
        return key, value is not None

    # -- reading -------------------------------------------------------------------------------------------------

    def records_of(self, content: R, timestamp: int) -> list[NewRecord]:
        """The records of an item, in order (`Writer`)."""
        return [NewRecord(*self._codec.encode(content), timestamp)]

    def form_of(self, content: Any) -> BatchForm:
        """Of an item's batch (`Writer`)."""
        return PLAIN

    def snapshot(self, log: StateLog, end: int) -> Snapshot:
        """What is left of compacted records (`Writer`)."""
        return _LastRecords(self, log, {k: p.offset for k, p in self._places[log].items() if p.offset < end})

    def last_record(self, log: StateLog, key: Any, offset: int) -> NewRecord | None:
        """The compacted record of a key, if it stood at that log offset."""
        place = self._places[log].get(key)
        if place is None or place.offset != offset:
            return None
        (record,) = self.records_of(place.record, place.timestamp)
        return record


class _LastRecords(Generic[R]):
    """The last records of some keys (a `Snapshot`)."""

    def __init__(self, topic: TopicLogs[R], log: StateLog, places: Mapping[Any, int]) -> None:
        self._topic = topic
        self._log = log
        self._keys = sorted(places, key=places.__getitem__)
        self.offsets = [places[key] for key in self._keys]

    def record(self, index: int) -> NewRecord | None:
        """The record, None where it is not its key's last any more."""
        return self._topic.last_record(self._log, self._keys[index], self.offsets[index])

    def form(self, index: int) -> BatchForm:
        """None of them is a transaction's."""
        return PLAIN
