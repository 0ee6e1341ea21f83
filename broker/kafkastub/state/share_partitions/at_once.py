"""Share fetches and acknowledgements with nothing in their way: in one go.

`SharePartitionManager` takes what comes: sessions with many partitions, fetches that wait, records that are delivered
again, what is held or cannot be written. A member that keeps up with one partition acknowledges what it has got and
fetches what came behind it. For that the same is done here without anything being passed about; where one thing is out
of the ordinary, nothing has happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from kafkastub.share_partitions.acknowledging import AcknowledgementBatch
from kafkastub.share_partitions.log_batches import Acquired
from kafkastub.share_partitions.sessions import ShareSession, ShareSessions, TopicPartition, next_epoch
from kafkastub.share_partitions.settings import ShareSettings
from kafkastub.share_partitions.states import AcknowledgeType
from kafkastub.state.share_coordinator.needed_state import NeededState
from kafkastub.state.share_partitions.partition_cache import Live, Moment, SharePartitionCache
from kafkastub.state.share_partitions.reading import Found, batches_in, sent
from kafkastub.state.share_partitions.writing import Writing
from kafkastub.storage import Read
from kafkastub.storage.segment import StoredBatch
from kafkawire.errors import KafkaError

OfOneType = tuple[int, int, int]
"""First offset, last offset, and what is said of them all: accepted, released or rejected."""
FetchLimits = tuple[int, int, int, int, int]
"""Of a fetch its minimum and maximum of bytes, its records, its batch size, its acquire mode."""
Said = tuple[TopicPartition, Sequence[OfOneType]]
"""Of which partition what is said."""
_ACCEPT: Final = int(AcknowledgeType.ACCEPT)
_LARGEST: Final = 1 << 14
"""Bytes that are read of a log: of a backlog the next batches are wanted, and what is larger is not to be copied."""


Got = tuple[int, Sequence[bytes | memoryview], Sequence[Acquired]]
"""What a fetch has got of its session's partition: how long it has that (ms), the records in pieces, their offsets."""
_NOT_LOOKED_FOR: Final = Read([], 0), Found([], [])
"""Stands for what is found where the newest batch is known to be all of it."""


class Parts(Protocol):
    """Of a broker's share partitions what is needed here (`SharePartitionManager`)."""

    partitions: SharePartitionCache
    watchers: list[Callable[[], None]]
    acknowledged: Counter[int]

    def acquired(self, live: Live, timer_ms: int) -> None: ...
    def wake(self, live: Live, *, partition: bool = False) -> None: ...


class AtOnce:
    """The short ways through one broker's share partitions.

    Args:
        sessions: by node.
    """

    def __init__(
        self, state: NeededState, manager: Parts, writing: Writing, sessions: Mapping[int, ShareSessions]
    ) -> None:
        self._state = state
        self._sessions = sessions
        self._manager = manager
        self._writing = writing

    def session(self, node_id: int, group_id: str, member_id: str, epoch: int) -> ShareSession | None:
        """A member's session, if this is its next request."""
        sessions = self._sessions.get(node_id)
        return None if sessions is None else sessions.awaiting(group_id, member_id, epoch)

    def acknowledge(
        self,
        node_id: int,
        session: ShareSession,
        partition: TopicPartition,
        batches: Sequence[OfOneType],
        now: Moment,
    ) -> int | None:
        """Do what a ShareAcknowledge says of one partition. Returns the group's lock duration, ms."""
        topic_id, index = partition
        live = self._manager.partitions.get(node_id, session.group_id, topic_id, index)
        if live is None or not self._is_said(live, session.member_id, batches, now):
            return None
        session.epoch = next_epoch(session.epoch)
        return live.partition.settings().record_lock_duration_ms

    def fetch(
        self,
        node_id: int,
        session: ShareSession,
        key: TopicPartition,
        asked: FetchLimits,
        said: Said | None,
        now: Moment,
    ) -> Got | None:
        """Do what a ShareFetch in a session with one partition asks for.

        Args:
            key: the partition.
            asked: for how much.
            said: what it acknowledges, accepted or rejected; None: nothing.
        """
        topic_id, index = key
        live = self._manager.partitions.get(node_id, session.group_id, topic_id, index)
        if live is None or (said is not None and said[0] != key):
            return None
        min_bytes, max_bytes, max_records, batch_size, mode = asked
        partition, member_id, timer_ms = live.partition, session.member_id, now[1]
        settings = partition.settings()
        if not 0 < max_records <= settings.partition_max_record_locks - partition.span():
            return None
        offset = partition.next_fetch_offset()
        if partition.in_flight.batches and offset <= partition.end_offset:  # what is in flight is to be had again
            return None
        newest = self._newest(live, offset, min_bytes, max_bytes, settings)
        found = self._found(live, offset, min_bytes, max_bytes, max_records) if newest is None else _NOT_LOOKED_FOR
        if found is None or (said is not None and not self._is_said(live, member_id, said[1], now)):
            return None
        records: Sequence[bytes | memoryview] = ()
        if newest is not None:
            first, last = newest.base_offset, newest.last_offset
            got = partition.acquire_one(member_id, mode, batch_size, max_records, first, last, timer_ms, settings)
            if got:
                records = newest.chunks
        else:
            batches = found[1].batches
            got = partition.acquire(member_id, mode, batch_size, max_records, offset, batches, timer_ms, (), settings)
            if got:
                records = sent(*found, got)
        if not got and said is None:
            return None
        self._acquired(live, offset, timer_ms, settings)
        session.partitions[key] = False
        session.epoch = next_epoch(session.epoch)
        return settings.record_lock_duration_ms, records, got

    def _acquired(self, live: Live, offset: int, timer_ms: int, settings: ShareSettings) -> None:
        """What was read at `offset` has a lock now; whoever cares is told."""
        live.known_offset = offset
        locked_until = live.locks.at
        ends = timer_ms + settings.record_lock_duration_ms
        if locked_until is None or ends < locked_until or self._manager.watchers:
            self._manager.acquired(live, timer_ms)
        self._manager.wake(live, partition=True)

    def _newest(
        self, live: Live, offset: int, min_bytes: int, max_bytes: int, settings: ShareSettings
    ) -> StoredBatch | None:
        """The newest batch, where that is what `_found` would find: of who keeps up with the partition."""
        log = live.log
        newest = log.newest_at(offset)
        if newest is None or max_bytes <= 0 or not min_bytes <= newest.size <= _LARGEST:
            return None
        if settings.reads_committed:
            states = log.producer_states
            if states.first_unstable is not None or states.aborted is not None:
                return None
        return newest

    def _found(
        self, live: Live, offset: int, min_bytes: int, max_bytes: int, max_records: int
    ) -> tuple[Read, Found] | None:
        """What is to be had behind an offset; None where it is not enough, too much, or not all that there is."""
        read = self._read(live, offset, min_bytes, min(max_bytes, self._state.config["fetch.max.bytes"]))
        if read is None:
            return None
        found = batches_in(read, offset + max_records)
        batches = found.batches
        is_all = max_bytes <= _LARGEST or (batches and batches[-1].last_offset + 1 >= live.log.log_end_offset)
        if not is_all and (len(batches) < 2 or batches[-1].last_offset < offset + max_records - 1):
            return None
        return read, found

    def _read(self, live: Live, offset: int, min_bytes: int, max_bytes: int) -> Read | None:
        """What is to be read there; None where it is not enough, too much, or has aborted transactions."""
        log = live.log
        committed = live.partition.settings().reads_committed
        upto = log.last_stable_offset if committed else None
        if max_bytes <= 0 or not log.log_start_offset <= offset < log.log_end_offset:
            return None
        try:
            read = log.read(offset, min(max_bytes, _LARGEST), at_least_one=True, upto=upto)
        except KafkaError:
            return None
        size = read.size
        if not size or not min_bytes <= size <= _LARGEST or (committed and log.aborted_in_read(offset, size)):
            return None
        return read

    def _is_said(self, live: Live, member_id: str, batches: Sequence[OfOneType], now: Moment) -> bool:
        """Whether it is done, and written."""
        partition, counts = live.partition, self._manager.acknowledged
        first, last, kind = batches[0]
        if live.fenced or first < partition.start_offset:
            return False
        if kind == _ACCEPT and len(batches) == 1:
            run = partition.whole(member_id, first, last)
            if run is not None:
                self._manager.wake(live)
                if not self._writing.accepted(live, run, now):
                    return False
                counts[_ACCEPT] += last - first + 1
                return True
        said = [AcknowledgementBatch(first, last, (kind,)) for first, last, kind in batches]
        try:
            transition = partition.acknowledge(member_id, said, now[1])
        except KafkaError:
            return False
        self._manager.wake(live)
        if not self._writing.at_once(live, transition, now):
            return False
        for first, last, kind in batches:
            counts[kind] += last - first + 1
        return True
