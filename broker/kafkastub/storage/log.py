"""One partition's log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafkastub.steps import Steps, at_once
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import (
    NO_TIMESTAMP,
    BatchHeader,
    patched_header,
)

from .by_time import ByTime, TimestampAndOffset
from .epochs import LeaderEpochs
from .errors import AppendError
from .log_transactions import AbortedColumns, AbortedTransaction, Marker
from .ordinary import TRANSACTIONAL, ordinary_header
from .producers import ProducerEntry, ProducerStates
from .segment import Chunk, Segment, StoredBatch, StoredMarker, stored_as_it_came
from .settings import LogSettings
from .unpacker import Unpacker
from .validation import Unpacking, analyze, validate

_AS_IT_WAS = object()
_PRODUCER_ID = BatchHeader._fields.index("producer_id")


class Appended(NamedTuple):
    """Where a batch went. `log_append_time_ms` is -1 with CreateTime, but for a duplicate it is its max
    timestamp.
    """

    first_offset: int
    last_offset: int
    log_append_time_ms: int
    log_start_offset: int
    duplicate: bool = False


class Read(NamedTuple):
    """What a read found. The chunks are to be sent one after the other; the last batch may be cut off, as in
    Kafka.
    """

    chunks: list[Chunk]
    size: int
    """Bytes of all chunks."""
    incomplete: bool = False
    """There was a batch, but already the first one is larger than a limit above zero."""


class SavedLog(NamedTuple):
    """What a log was at some time. Logs that take it up share its batches; nothing in it ever changes."""

    log_start_offset: int
    log_end_offset: int
    epochs: LeaderEpochs
    producer_states: ProducerStates
    segments: tuple[Segment, ...]


class PartitionLog:
    """Batches as they arrived, with offsets and leader epoch written into their headers.

    There is one node, so that what is appended is committed: the high watermark is the log end offset. Offsets count
    records; `name` ("orders-0") serves messages only.

    Attributes:
        producer_states: who wrote here, with open and aborted transactions.
    """

    def __init__(self, name: str, settings: LogSettings, leader_epoch: int = 0) -> None:
        self.name = name
        self.settings = settings
        self.log_start_offset = 0
        self.log_end_offset = 0
        self.epochs = LeaderEpochs()
        self.epochs.assign(leader_epoch, 0)
        self.producer_states = ProducerStates()
        self._segments = [Segment(0)]
        self._by_time: ByTime | None = None

    @property
    def high_watermark(self) -> int:
        return self.log_end_offset

    @property
    def last_stable_offset(self) -> int:
        """Where the oldest open transaction begins, if there is one: what is before is decided.

        Of one whose first records were deleted, where the batch begins that the log starts in, which may be below the
        log start (UnifiedLog.maybeUpdateFirstUnstableOffset).
        """
        end, first = self.high_watermark, self.producer_states.first_unstable
        if first is None:
            return end
        start = self.log_start_offset
        if first >= start:
            return first
        return start if start >= end else self.batch_offset(start)

    @property
    def size(self) -> int:
        """Bytes of all batches."""
        return sum(segment.size for segment in self._segments)

    def producers(self, now_ms: int | None = None) -> Iterable[ProducerEntry]:
        """The idempotent producers that wrote here, but for those who have expired at `now_ms` (broker time)."""
        if now_ms is not None:
            self.producer_states.forget(now_ms - self.settings.producers_expire_ms)
        return self.producer_states.entries()

    def has_ongoing(self, producer_id: int, producer_epoch: int) -> bool:
        """Whether the producer has an open transaction here, in that epoch."""
        return self.producer_states.has_ongoing(producer_id, producer_epoch)

    def become_leader(self, leader_epoch: int) -> None:
        """A new leader epoch begins at the log's end."""
        self.epochs.assign(leader_epoch, self.log_end_offset)

    def saved(self) -> SavedLog:
        """What it is now. Costs what the log has of producers, epochs and segments: no matter how many batches."""
        return SavedLog(
            self.log_start_offset,
            self.log_end_offset,
            self.epochs.copy(),
            self.producer_states.copy(),
            tuple(segment.twin() for segment in self._segments),
        )

    def take_up(self, saved: SavedLog) -> None:
        """Be what was saved, of this log or another one. Costs as much."""
        self.log_start_offset, self.log_end_offset = saved.log_start_offset, saved.log_end_offset
        self.epochs, self.producer_states = saved.epochs.copy(), saved.producer_states.copy()
        self._segments = [segment.twin() for segment in saved.segments]
        self._by_time = None

    def append(
        self,
        records: bytes | memoryview,
        *,
        leader_epoch: int,
        now_ms: int,
        bounds_ms: int | None = None,
        unpacking: Unpacking | None = None,
        settings: LogSettings | None = None,
    ) -> Appended:
        """Append a client's one batch. AppendError where a leader would refuse it.

        `now_ms` is broker time: what LogAppendTime writes, and the age of the batch. `bounds_ms` is what the
        bounds on timestamps are measured from, `now_ms` unless given. The bytes are kept, not copied, unless
        they are few. `unpacking` is what is left for the request, and is used up. `settings`: other than the log's.
        """
        bounds = now_ms if bounds_ms is None else bounds_ms
        if settings is None and isinstance(records, bytes):
            first = self.append_ordinary(records, 0, len(records), leader_epoch, now_ms, bounds)
            if first is not None:
                return Appended(first, self.log_end_offset - 1, NO_TIMESTAMP, self.log_start_offset)
        settings = settings or self.settings
        header, payload = analyze(records, settings, self.name)
        header, payload, max_timestamp = validate(header, payload, settings, self.name, bounds, unpacking)
        if header.size > settings.segment_bytes:
            raise AppendError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"the batch for {self.name} has {header.size} bytes, more than a segment's {settings.segment_bytes}",
                tells_log_start=False,
            )
        first_offset = self.log_end_offset
        append_time, has_producer = settings.log_append_time, header.has_producer
        if has_producer:
            self.producer_states.forget(now_ms - settings.producers_expire_ms)
            repeated = self.producer_states.check(header, first_offset, self.name)
            if repeated is not None:
                return Appended(
                    repeated.first_offset,
                    repeated.last_offset,
                    repeated.timestamp,
                    self.log_start_offset,
                    True,
                )
        stored = patched_header(
            header,
            payload,
            base_offset=first_offset,
            leader_epoch=leader_epoch,
            max_timestamp=now_ms if append_time else max_timestamp,
            log_append_time=append_time,
        )
        batch = StoredBatch(stored, payload, now_ms)
        self._store(batch)
        if has_producer:
            self.producer_states.update(header, first_offset, batch.max_timestamp, now_ms)
        return Appended(first_offset, batch.last_offset, now_ms if append_time else NO_TIMESTAMP, self.log_start_offset)

    def append_ordinary(
        self,
        data: bytes | bytearray,
        start: int,
        end: int,
        leader_epoch: int,
        now_ms: int,
        bounds_ms: int,
        attributes: int = 0,
    ) -> int | None:
        """Append the batch in `data[start:end]`, if it is one of those that come every day; gives its first offset.

        With `attributes` TRANSACTIONAL: one that goes on in an open transaction. None, and nothing has happened, where
        `append` has to look. `data` is kept if the batch is most of it, else copied.
        """
        fields = ordinary_header(data, start, end, self.settings, bounds_ms, attributes)
        if fields is None:
            return None
        header = None if fields[_PRODUCER_ID] < 0 else BatchHeader._make(fields)
        if header is not None:
            self.producer_states.forget(now_ms - self.settings.producers_expire_ms)
            if not self.producer_states.follows(header):
                return None
        elif attributes:
            return None
        first_offset = self.log_end_offset
        batch = stored_as_it_came(data, start, end, fields, first_offset, leader_epoch, now_ms)
        self._store(batch)
        if header is not None:
            self.producer_states.update(header, first_offset, batch.max_timestamp, now_ms)
        return first_offset

    def ordinary_beginning(
        self, data: bytes | bytearray, start: int, end: int, now_ms: int, bounds_ms: int
    ) -> tuple[int, ...] | None:
        """The header's fields of the batch in `data[start:end]`, if it is an ordinary one that begins a transaction.

        None where `append` has to look.
        """
        fields = ordinary_header(data, start, end, self.settings, bounds_ms, TRANSACTIONAL)
        if fields is None or fields[_PRODUCER_ID] < 0:
            return None
        self.producer_states.forget(now_ms - self.settings.producers_expire_ms)
        return fields if self.producer_states.may_begin(fields) else None

    def append_beginning(
        self,
        data: bytes | bytearray,
        start: int,
        end: int,
        fields: tuple[int, ...],
        leader_epoch: int,
        now_ms: int,
    ) -> int:
        """Append such a batch, which has joined its transaction; gives its first offset."""
        first_offset = self.log_end_offset
        batch = stored_as_it_came(data, start, end, fields, first_offset, leader_epoch, now_ms)
        self._store(batch)
        self.producer_states.begin(fields, first_offset, batch.last_offset, now_ms)
        return first_offset

    def append_marker(self, marker: Marker, *, leader_epoch: int, now_ms: int) -> int:
        """Write the marker that ends the producer's transaction here, if it has one; gives its offset.

        KafkaError: INVALID_PRODUCER_EPOCH where the producer has written in a later epoch, or with transaction version
        2 in the same one (but a marker written twice is taken twice); TRANSACTION_COORDINATOR_FENCED where a marker of
        a later coordinator epoch is there. Source: ProducerAppendInfo.appendEndTxnMarker, KIP-890.
        """
        self.producer_states.check_marker(marker, self.name)
        return self.append_taken(marker, leader_epoch, now_ms)

    def append_taken(self, marker: Marker, leader_epoch: int, now_ms: int) -> int:
        """As `append_marker`, of one that `ProducerStates.takes`."""
        offset = self.log_end_offset
        self._store(StoredMarker(marker, offset, leader_epoch, now_ms, self.settings.log_append_time))
        aborted = self.producer_states.end(marker, offset, now_ms, now_ms)
        if aborted is not None:
            self._aborted(aborted)
        return offset

    def _aborted(self, aborted: AbortedTransaction) -> None:
        """The marker of an aborted transaction was written."""

    def aborted_transactions(self, start: int, end: int) -> list[AbortedTransaction]:
        """The aborted transactions that have records or their marker in offsets from `start` to before `end`.

        What a reader of committed records is told with them; costs what the answer has (TransactionIndex).
        """
        aborted = self.producer_states.aborted
        return [] if aborted is None else aborted.between(start, end)

    def _store(self, batch: StoredBatch) -> None:
        segment = self._segments[-1]
        if segment.size and self._is_full(segment, batch):
            segment = Segment(self.log_end_offset)
            self._segments.append(segment)
        if batch.leader_epoch != self.epochs.latest:
            self.epochs.assign(batch.leader_epoch, batch.base_offset)
        segment.append(batch)
        self.log_end_offset = batch.last_offset + 1

    def _is_full(self, segment: Segment, batch: StoredBatch) -> bool:
        """Whether a batch belongs into a segment of its own (LogSegment.shouldRoll): a read stays in one.

        Time is that between the first batch's largest timestamp and this one's; without timestamps, that of the append.
        """
        settings, first = self.settings, segment.batches[0]
        if segment.size + batch.size > settings.segment_bytes:
            return True
        if first.max_timestamp >= 0:
            return batch.max_timestamp - first.max_timestamp > settings.segment_ms
        return batch.appended_ms - first.appended_ms > settings.segment_ms

    def read(self, offset: int, max_bytes: int, *, at_least_one: bool = False, upto: int | None = None) -> Read:
        """Batches from the one that holds `offset` on, at most `max_bytes` of them (UnifiedLog.read).

        Nothing where already the first batch is larger, unless `at_least_one`. A read stays in one segment, and before
        `upto` (the last stable offset, for committed records).
        KafkaError: OFFSET_OUT_OF_RANGE; UNKNOWN_SERVER_ERROR for a negative `max_bytes`, if there was
        something to read.
        """
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {offset} of {self.name} is outside {self.log_start_offset} to {self.log_end_offset}",
            )
        if offset == self.log_end_offset or (upto is not None and offset >= upto):
            return Read([], 0)
        if max_bytes < 0:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"Invalid max size {max_bytes} for log read")
        segment = self._segment_of(offset)
        index = segment.index_of(offset)
        first_size = segment.batches[index].size
        if first_size > max_bytes:
            if not at_least_one:
                return Read([], 0, incomplete=max_bytes > 0)
            max_bytes = first_size
        chunks = segment.read(index, max_bytes, upto)
        return Read(chunks, sum(map(len, chunks)))

    def newest_at(self, offset: int) -> StoredBatch | None:
        """The newest batch, where it can be read and begins at `offset`: who keeps up with the log reads just that."""
        batches = self._segments[-1].batches
        if not batches or offset < self.log_start_offset:
            return None
        batch = batches[-1]
        return batch if batch.base_offset == offset else None

    def bytes_after(self, offset: int, upto: int | None = None) -> int | None:
        """How much there is to read from `offset` on, before `upto`; None where that does not end in the segment that
        it begins in.
        """
        segment = self._segments[-1]
        if upto is not None and upto < segment.base_offset:
            segment = next(one for one in reversed(self._segments) if one.base_offset <= upto)
        if offset < segment.base_offset:
            return None
        end = segment.size if upto is None else segment.position_of(upto)
        return max(0, end - segment.position_of(offset))

    def batch_offset(self, offset: int) -> int:
        """Where the batch begins that holds a readable offset, or the next one that there is."""
        segment = self._segment_of(offset)
        return segment.batches[segment.index_of(offset)].base_offset

    def aborted_in_read(self, offset: int, size: int) -> AbortedColumns | None:
        """The aborted transactions that a reader of committed records is told with so many bytes from `offset` on.

        As in Kafka there may be some too many: its index knows only roughly where the bytes end
        (LocalLog.addAbortedTransactions). None where none ever was.
        """
        aborted = self.producer_states.aborted
        if aborted is None:
            return None
        segment = self._segment_of(offset)
        end = segment.offset_behind(segment.position_of(offset) + size, self.settings.index_interval_bytes)
        if end is None:
            behind = self._segments.index(segment) + 1
            end = self._segments[behind].base_offset if behind < len(self._segments) else self.log_end_offset
        return aborted.for_reader(offset, end)

    def _segment_of(self, offset: int) -> Segment:
        """The segment whose batches hold `offset` or, where it was removed, the next one that there is."""
        for index in range(len(self._segments) - 1, 0, -1):
            if self._segments[index].base_offset <= offset:
                segment = self._segments[index]
                break
        else:
            index, segment = 0, self._segments[0]
        while segment.index_of(offset) == len(segment.batches):
            index += 1
            segment = self._segments[index]
        return segment

    def batches_from(self, offset: int) -> Iterable[StoredBatch]:
        """Every batch that ends at or after `offset`, in order."""
        for segment in self._segments:
            if segment.batches and segment.batches[-1].last_offset >= offset:
                yield from segment.batches[segment.index_of(offset) :]

    def batch_at(self, offset: int) -> StoredBatch | None:
        """The first of them; None where there is none."""
        for segment in self._segments:
            if segment.batches and segment.batches[-1].last_offset >= offset:
                return segment.batches[segment.index_of(offset)]
        return None

    def offset_for_timestamp(self, timestamp: int) -> TimestampAndOffset | None:
        """As `search`, at once."""
        return at_once(self.search(timestamp, Unpacker()))

    def search(self, timestamp: int | None, unpacker: Unpacker) -> Steps[TimestampAndOffset | None]:
        """The first record with at least that timestamp, or (None) with the largest; piece by piece.

        Codec errors where a batch is compressed with a codec that is not there.
        """
        if self._by_time is None:
            self._by_time = ByTime()
        if timestamp is None:
            return self._by_time.largest(self._segments, unpacker)
        return self._by_time.first_from(self._segments, timestamp, self.log_start_offset, unpacker)

    def delete_records_before(self, offset: int) -> int:
        """Move the log start offset up to `offset`, never back; returns what it is then.

        KafkaError OFFSET_OUT_OF_RANGE beyond the high watermark. Batches are kept until their whole segment
        goes.
        """
        if offset > self.high_watermark:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"log start offset {offset} of {self.name} would be beyond its high watermark {self.high_watermark}",
            )
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self.epochs.truncate_from_start(offset)
            self.producer_states.deleted_before(offset)
        return self.log_start_offset

    def remove_through(self, offset: int) -> None:
        """Forget every batch that ends at or before `offset`; the log starts behind it, unless it does so already."""
        self.delete_records_before(offset + 1)
        self._segments = [segment for segment in self._segments[:-1] if segment.ends_after(offset)] + [
            self._segments[-1]
        ]
        self._segments = [segment.without_those_through(offset) for segment in self._segments]

    def rewrite(self, changes: Mapping[int, StoredBatch | None]) -> None:
        """Put other batches where those with these base offsets are, or nothing (None). Offsets stay as they are.

        The newest batch must not go: a reader could not reach the end of the log.
        """
        self._by_time = None
        self._segments = [segment.rewritten(changes) for segment in self._segments]
        self._segments = [segment for segment in self._segments[:-1] if segment.batches] + [self._segments[-1]]
        aborted = self.producer_states.aborted
        if aborted is not None:
            aborted.keep(lambda one: changes.get(one.last_offset, _AS_IT_WAS) is not None)
