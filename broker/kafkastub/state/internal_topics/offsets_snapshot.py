"""What is left of compacted records of `__consumer_offsets`, read off the coordinator's hard state."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from kafkastub.coordinator import Record
from kafkastub.coordinator.hard_state import HardState
from kafkastub.coordinator.topic_offsets import NOWHERE, TopicOffsets
from kafkastub.state.internal_topics.contract import Place
from kafkastub.state.internal_topics.offsets_transactions import form_of
from kafkastub.storage.state_log import PLAIN, BatchForm, StateLog
from kafkawire.records import NewRecord


class Topic(Protocol):
    """Who can look such records up; each is None where another one of its key has taken its place."""

    @property
    def hard(self) -> HardState:
        """The state that all records on the logs have led to."""

    def live_offset(self, group_id: str, topic: str, columns: TopicOffsets, partition: int, slot: int) -> NewRecord:
        """The record behind an offset of the hard state."""

    def pending_offset(
        self, producer_id: int, group_id: str, topic: str, partition: int, offset: int
    ) -> NewRecord | None:
        """The one behind an offset of an open transaction, if it stood at that log offset."""

    def live_record(self, log: StateLog, key: Any, offset: int) -> NewRecord | None:
        """The one of a group, by its key among the places, if it stood at that log offset."""


_Owner = tuple[Any, str, TopicOffsets | None, BatchForm]
"""Group, topic, and its offsets. Those are None for one of an open transaction, whose form tells the producer, and for
a record about a group, which has no topic, and a key among the places instead of the group."""


class LiveRecords:
    """The last records of the keys of some groups that stand before `end` (a `Snapshot`).

    It knows only where they are, 16 bytes each, and looks them up when they are asked for.
    """

    def __init__(
        self,
        topic: Topic,
        log: StateLog,
        groups: Sequence[str],
        places: Mapping[Any, Place[Record]],
        end: int,
    ) -> None:
        self._topic = topic
        self._log = log
        self._owners: list[_Owner] = []
        packed = sorted(self._find(groups, places, end))
        self.offsets = array("q", [number >> 64 for number in packed])
        self._owner = array("i", [number >> 32 & 0x7FFFFFFF for number in packed])
        self._partition = array("i", [number & 0x7FFFFFFF for number in packed])

    def _find(self, groups: Sequence[str], places: Mapping[Any, Place[Record]], end: int) -> Iterator[int]:
        """Log offset, owner and partition in one number each: a million tuples would take three times the memory."""
        store = self._topic.hard.offsets
        for group_id in groups:
            for topic, columns in store.topics(group_id).items():
                owner = len(self._owners) << 32
                self._owners.append((group_id, topic, columns, PLAIN))
                for at, partition in columns.logged_before(end):
                    yield at << 64 | owner | partition
            for topic, partition, pending in store.pending.each(group_id):
                if NOWHERE < pending.place < end:
                    yield pending.place << 64 | len(self._owners) << 32 | partition
                    self._owners.append((group_id, topic, None, form_of(pending.record)))
        for key, place in places.items():
            if place.offset < end:
                yield place.offset << 64 | len(self._owners) << 32
                self._owners.append((key, "", None, PLAIN))

    def record(self, index: int) -> NewRecord | None:
        """The record, None where it is not its key's last any more."""
        offset = self.offsets[index]
        group_id, topic, columns, form = self._owners[self._owner[index]]
        partition = self._partition[index]
        if columns is None:
            if form is PLAIN:
                return self._topic.live_record(self._log, group_id, offset)
            return self._topic.pending_offset(form.producer_id, group_id, topic, partition, offset)
        slot = columns.slot(partition)
        if slot < 0 or columns.place(slot) != offset:
            return None
        return self._topic.live_offset(group_id, topic, columns, partition, slot)

    def form(self, index: int) -> BatchForm:
        """Of the batch that it belongs in: that of its producer while its transaction is open."""
        return self._owners[self._owner[index]][3]
