"""The log of one partition of an internal topic: kept as typed records, encoded when it is read, compacted by itself.

    0                          compacted                           tail                       log end
    |--- what is left of old records, from a snapshot ---|--- the newest records, all of them ---|

The *tail* is history: every record, overwritten ones and tombstones too, in the batches that they were written in.
Whoever writes decides what stays in it; a partition's last write always does, as Kafka's cleaner leaves the active
segment alone.

What was in the tail once is compacted. Whoever reads there is shown a *snapshot* of the state that all those records
led to: the last record of every key, at its own offset. Between them are holes, as behind Kafka's cleaner; and as
there, one reader may find an older record of a key than another, when its snapshot is older, before it finds the last.
A tombstone is gone when it leaves the tail, and what it ended with it (Kafka keeps it for delete.retention.ms longer).
The log start offset stays 0.

Batches are encoded when they are read first, and the bytes of the latest are kept.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Protocol

from kafkastub.steps import Steps
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import HEADER_SIZE, BatchHeader, NewRecord, Record, build_batch, parse_header, read_batch

from .by_time import TimestampAndOffset
from .log import PartitionLog, Read
from .log_transactions import AbortedColumns
from .segment import Chunk, StoredBatch
from .settings import LogSettings
from .state_log_items import PLAIN, BatchForm, EncodedBatches, Item, SavedStateLog, Snapshot
from .unpacker import Unpacker

__all__ = ["PLAIN", "BatchForm", "EncodedBatches", "Item", "Snapshot", "StateLog", "Writer"]

_offset_of = itemgetter(0)
_timestamp_of = itemgetter(3)
_GONE: Final = Item(-1, -1, 0, -1, b"")

_ENCODED_AT_ONCE: Final = 128 * 1024
"""A read encodes so many bytes and no more, so that a reader of millions of offsets does not keep others waiting."""

_SNAPSHOT_BATCH: Final = 256
"""Records of a snapshot that make one batch."""


class Writer(Protocol):
    """Who writes to all partitions, and lets the past go, as far as their logs have to know.

    Attributes:
        watched: is set when somebody asks how far a log goes, and may wait for more.
    """

    watched: bool

    def catch_up(self) -> None:
        """Append what is to be appended."""

    def appended(self, log: StateLog) -> None:
        """An item was appended to a tail."""

    def records_of(self, content: Any, timestamp: int) -> Sequence[NewRecord]:
        """The records of an item, in order."""

    def form_of(self, content: Any) -> BatchForm:
        """What the batch of an item is to say of who wrote it."""

    def snapshot(self, log: StateLog, end: int) -> Snapshot:
        """The compacted part up to an offset."""


class StateLog(PartitionLog):
    """One partition's log.

    Args:
        partition: its index.
        encoded: shared by all partitions.
        compression: of the batches, by its number.

    Attributes:
        end: the log end offset, as far as the writer has caught up.
        items: the tail, from `head` on, but for what `passed`.
        passed: content, records and timestamp of what left the tail last; it still belongs there while nothing follows.
    """

    end: int = 0

    def __init__(
        self,
        name: str,
        settings: LogSettings,
        leader_epoch: int,
        *,
        partition: int,
        writer: Writer,
        encoded: EncodedBatches,
        compression: int,
    ) -> None:
        self._writer = writer
        super().__init__(name, settings, leader_epoch)
        self.partition = partition
        self.items: list[Item] = []
        self.head = 0
        self.passed: tuple[Any, int, int] | None = None
        self._encoded = encoded
        self._compression = compression
        self._snapshot: Snapshot | None = None
        self._snapshot_end = 0
        self._snapshots = 0
        self._leader_epoch = leader_epoch

    @property
    def log_end_offset(self) -> int:
        self._writer.catch_up()
        return self.end

    @log_end_offset.setter
    def log_end_offset(self, offset: int) -> None:
        self.end = offset

    @property
    def high_watermark(self) -> int:
        self._writer.watched = True
        return self.log_end_offset

    # -- writing -------------------------------------------------------------------------------------------------

    def append_item(self, batch: int, records: int, timestamp: int, content: Any) -> None:
        """Append to the tail."""
        self.items.append(Item(self.end, batch, records, timestamp, content))
        self.end += records
        self._writer.appended(self)

    def take_oldest(self) -> Item:
        """Take the first item out of the tail."""
        head = self.head
        item = self.items[head]
        self.passed = item.content, item.records, item.timestamp
        self.items[head] = _GONE
        self.head = head = head + 1
        if head == len(self.items) or (head > 512 and head * 2 > len(self.items)):
            del self.items[:head]
            self.head = 0
        return item

    def saved_state(self) -> SavedStateLog:
        """What it is now; what the writer has yet to append is the writer's."""
        epochs, producer_states = self.epochs.copy(), self.producer_states.copy()
        return SavedStateLog(
            self.log_start_offset, self.end, self.items[self.head :], self.passed, epochs, producer_states
        )

    def take_up_state(self, saved: SavedStateLog) -> None:
        """Be what was saved, of this log or another one."""
        self.log_start_offset = saved.log_start_offset
        self.end, self.items, self.head, self.passed = saved.end, saved.items.copy(), 0, saved.passed
        self.epochs, self.producer_states = saved.epochs.copy(), saved.producer_states.copy()
        self.forget_snapshot()

    def forget_snapshot(self) -> None:
        """What the snapshots are made of is another one now."""
        self._snapshot = None
        self._snapshot_end = 0

    def _store(self, batch: StoredBatch) -> None:
        """A client's own batch. It stays as history; nobody's state has it, so that compaction leaves nothing."""
        whole = batch.head if batch.payload is None else b"".join((batch.head, batch.payload))
        self._writer.catch_up()
        self.append_item(self.end, batch.last_offset + 1 - self.end, batch.max_timestamp, whole)

    # -- reading -------------------------------------------------------------------------------------------------

    @property
    def compacted_end(self) -> int:
        """What is before this has left the tail, `passed` included."""
        return self.items[self.head].offset if self.items else self.end

    @property
    def tail_start(self) -> int:
        """From here on every record is there, once the writer has caught up."""
        if self.items:
            return self.items[self.head].offset
        return self.end if self.passed is None else self.end - self.passed[1]

    def _tail(self) -> tuple[list[Item], int]:
        """The items of the tail, and where in the list it begins."""
        self._writer.catch_up()
        if self.items or self.passed is None:
            return self.items, self.head
        content, records, timestamp = self.passed
        offset = self.end - records
        return [Item(offset, offset, records, timestamp, content)], 0

    @property
    def size(self) -> int:
        """Bytes of all batches; of a long log an estimate."""
        total = covered = 0
        for size, end in ((len(batch), end) for batch, end in self._encoded_from(0)):
            total, covered = total + size, end
            if total > _ENCODED_AT_ONCE:
                break
        return total * self.log_end_offset // covered if covered else 0

    def batches(self) -> Iterator[tuple[BatchHeader, memoryview]]:
        """Every batch that there is, and its header."""
        for batches, _ in self._encoded_from(0):
            for batch in _split(batches):
                yield parse_header(batch), batch

    def records(self) -> Iterator[Record]:
        """Every record that there is."""
        for _, batch in self.batches():
            yield from read_batch(batch)

    def read(self, offset: int, max_bytes: int, *, at_least_one: bool = False, upto: int | None = None) -> Read:
        """As `PartitionLog.read`, but that no segments set it bounds; it may give less than there is."""
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {offset} of {self.name} is outside {self.log_start_offset} to {self.log_end_offset}",
            )
        if offset == self.end or (upto is not None and offset >= upto):
            return Read([], 0)
        if max_bytes < 0:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"Invalid max size {max_bytes} for log read")
        chunks: list[Chunk] = []
        size = 0
        for batch, _ in self._encoded_from(offset, upto):
            if not chunks:
                first = parse_header(batch).size
                if first > max_bytes:
                    if not at_least_one:
                        return Read([], 0, incomplete=max_bytes > 0)
                    max_bytes = first
            chunks.append(batch)
            size += len(batch)
            if size >= max_bytes or size > _ENCODED_AT_ONCE:
                break
        if size > max_bytes:
            last = chunks.pop()
            chunks.append(memoryview(last)[: len(last) - (size - max_bytes)])
            size = max_bytes
        return Read(chunks if len(chunks) < 2 else [b"".join(chunks)], size)

    def bytes_after(self, offset: int, upto: int | None = None) -> int | None:
        """How much there is to read, as far as one read gives; None in the compacted part."""
        if offset < self.tail_start:
            return None
        total = 0
        for batch, _ in self._encoded_from(offset, upto):
            total += len(batch)
            if total > _ENCODED_AT_ONCE:
                return None
        return total

    def batches_from(self, offset: int) -> Iterable[StoredBatch]:
        """Every batch that ends at or after `offset`, in order."""
        for batches, _ in self._encoded_from(offset):
            for batch in _split(batches):
                header = parse_header(batch)
                yield StoredBatch(header, bytes(batch[HEADER_SIZE:]), header.max_timestamp)

    def offset_for_timestamp(self, timestamp: int) -> TimestampAndOffset | None:
        """The first record with at least that timestamp; they ascend with the offsets here."""
        items, head = self._tail()
        if not items or items[-1].timestamp < timestamp:
            return None
        if items[head].offset and items[head].timestamp >= timestamp:
            self._cover(items[head].offset - 1)
            found = self._first_in_snapshot(timestamp)
            if found is not None:
                return found
        item = items[bisect_left(items, timestamp, lo=head, key=_timestamp_of)]
        return TimestampAndOffset(item.timestamp, item.offset, self._leader_epoch)

    def search(self, timestamp: int | None, unpacker: Unpacker) -> Steps[TimestampAndOffset | None]:
        """It costs too little for pieces."""
        yield 1
        items, _ = self._tail()
        if timestamp is None:
            return self.offset_for_timestamp(items[-1].timestamp) if items else None
        return self.offset_for_timestamp(timestamp)

    def delete_records_before(self, offset: int) -> int:
        """Kafka does not delete records of an internal topic, nor of any compacted one."""
        raise KafkaError(ErrorCode.POLICY_VIOLATION)

    # -- bytes ---------------------------------------------------------------------------------------------------

    def batch_offset(self, offset: int) -> int:
        """Where the batch begins that holds an offset; in the compacted part nearly there."""
        items, head = self._tail()
        index = bisect_right(items, offset, lo=head, key=_offset_of) - 1
        return offset if index < head else items[index].batch

    def aborted_in_read(self, offset: int, size: int) -> AbortedColumns | None:
        """All from there on whose marker the log still has: what of them concerns other records does a reader no harm.

        Of one whose marker is compacted nothing is left, and a reader who waits for it would leave out what its
        producer has committed since.
        """
        aborted = self.producer_states.aborted
        return None if aborted is None else aborted.for_reader(max(offset, self.tail_start), self.log_end_offset)

    def _encoded_from(self, offset: int, upto: int | None = None) -> Iterator[tuple[bytes, int]]:
        """Batches from the one that holds `offset` on, one or a few together, each with the offset behind it.

        None that begins at `upto` or behind: what is undecided is there.
        """
        self._writer.catch_up()
        while offset < self.tail_start:
            self._cover(offset)
            for batch, end in self._encoded_snapshot(offset):
                if upto is not None and end > upto:
                    batch = b"".join(one for one in _split(batch) if parse_header(one).base_offset < upto)
                if batch:
                    yield batch, end
                offset = end
            if upto is not None and offset >= upto:
                return
        if offset >= self.end:
            return
        items, head = self._tail()
        index = bisect_right(items, offset, lo=head, key=_offset_of) - 1
        while index > head and items[index - 1].batch == items[index].batch:
            index -= 1
        for run in _runs(items[index:]):
            if upto is not None and run[0].offset >= upto:
                return
            yield self._encoded_run(run), run[-1].offset + run[-1].records

    def encoded(self, batch: list[Item]) -> bytes:
        """The bytes of a batch, from what was appended for it."""
        return self._encoded_run(batch)

    def _encoded_run(self, run: list[Item]) -> bytes:
        """The batch that these items make."""
        content = run[0].content
        if isinstance(content, bytes):
            return content
        key = (self.partition, run[0].offset, run[-1].offset)
        batch = self._encoded.get(key)
        if batch is None:
            records = (r for item in run for r in self._writer.records_of(item.content, item.timestamp))
            batch = self._build(list(enumerate(records, run[0].offset)), form=self._writer.form_of(content))
            self._encoded.put(key, batch)
        return batch

    def _build(self, records: list[tuple[int, NewRecord]], last: int = -1, form: BatchForm = PLAIN) -> bytes:
        """Batches of these records with their offsets, none larger than a message may be.

        `last`: the offset that the last batch ends with, where that is none of a record.
        """
        batches: list[bytes] = []
        begin = size = 0
        for index, (_, record) in enumerate(records):
            more = len(record.key or b"") + len(record.value or b"") + 32
            if size and size + more > self.settings.max_message_bytes - 61:
                batches.append(self._one_batch(records[begin:index], -1, form))
                begin, size = index, 0
            size += more
        batches.append(self._one_batch(records[begin:], last, form))
        return b"".join(batches)

    def _one_batch(self, records: list[tuple[int, NewRecord]], last: int, form: BatchForm) -> bytes:
        base = records[0][0]
        return build_batch(
            [record for _, record in records],
            base_offset=base,
            leader_epoch=self._leader_epoch,
            compression=self._compression if form.compressed else 0,
            producer_id=form.producer_id,
            producer_epoch=form.producer_epoch,
            base_sequence=form.base_sequence,
            attributes=form.attributes,
            offset_deltas=[offset - base for offset, _ in records],
            last_offset_delta=max(last, records[-1][0]) - base,
        )

    # -- the compacted part --------------------------------------------------------------------------------------

    def _cover(self, offset: int) -> None:
        """Have a snapshot that reaches beyond an offset before the tail."""
        if self._snapshot is None or offset >= self._snapshot_end:
            self._snapshot_end = self.tail_start
            self._snapshot = self._writer.snapshot(self, self._snapshot_end)
            self._snapshots += 1

    def _encoded_snapshot(self, offset: int) -> Iterator[tuple[bytes, int]]:
        """What the snapshot has from an offset on, batch by batch; empty bytes where nothing is left of one."""
        snapshot, end, serial = self._snapshot, self._snapshot_end, self._snapshots
        assert snapshot is not None
        offsets = snapshot.offsets
        first = bisect_left(offsets, offset)
        for index in range(first - first % _SNAPSHOT_BATCH, len(offsets), _SNAPSHOT_BATCH):
            after = index + _SNAPSHOT_BATCH
            upto = offsets[after] if after < len(offsets) else end
            if upto <= offset:
                continue
            key = (self.partition, -serial, index)
            batch = self._encoded.get(key)
            if batch is None:
                indexes = range(index, min(after, len(offsets)))
                left = [(i, r) for i in indexes if (r := snapshot.record(i)) is not None]
                batch = self._build_forms(snapshot, left, upto - 1)
                self._encoded.put(key, batch)
            yield batch, upto
        yield b"", end

    def _build_forms(self, snapshot: Snapshot, left: list[tuple[int, NewRecord]], last: int) -> bytes:
        """The batches of these records of a snapshot, by their indexes: one a run of one form."""
        offsets = snapshot.offsets
        runs = [(form, list(run)) for form, run in groupby(left, key=lambda one: snapshot.form(one[0]))]
        return b"".join(
            self._build([(offsets[i], record) for i, record in run], last if at == len(runs) else -1, form)
            for at, (form, run) in enumerate(runs, 1)
        )

    def _first_in_snapshot(self, timestamp: int) -> TimestampAndOffset | None:
        snapshot = self._snapshot
        assert snapshot is not None
        low, high = 0, len(snapshot.offsets)
        found: TimestampAndOffset | None = None
        while low < high:
            middle = at = (low + high) // 2
            while at < high and (record := snapshot.record(at)) is None:
                at += 1
            if at == high:
                high = middle
            elif record is not None and record.timestamp >= timestamp:
                found, high = TimestampAndOffset(record.timestamp, snapshot.offsets[at], self._leader_epoch), middle
            else:
                low = at + 1
        return found


def _runs(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Items by batch."""
    run: list[Item] = []
    for item in items:
        if run and run[0].batch != item.batch:
            yield run
            run = []
        run.append(item)
    if run:
        yield run


def _split(batches: bytes) -> Iterator[memoryview]:
    view = memoryview(batches)
    while view:
        size = parse_header(view).size
        yield view[:size]
        view = view[size:]
