"""A run of batches, found by offset, position or time.

What Kafka keeps in one `.log` file with its two indexes is here a list of batches with three parallel lists
to bisect.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from struct import Struct

from kafkawire.records import (
    HEADER_SIZE,
    MARKER_SIZE,
    BatchHeader,
    Record,
    build_marker,
    iterate_records,
    parse_header,
)

from .log_transactions import Marker
from .rows import Rows, split

Chunk = bytes | memoryview
_front = Struct(">qii").pack
"""Base offset, length and leader epoch: how a header begins."""

_COPIED_UP_TO = 4096
"""Payloads up to here are copied behind their header: one object, one chunk. Larger ones are kept where they
arrived.
"""


class StoredBatch:
    """One batch: its header as the leader wrote it, and its payload as it was received.

    `payload` is None where `head` holds the whole batch. `appended_ms` is the broker time of the append.
    """

    __slots__ = (
        "appended_ms",
        "base_offset",
        "head",
        "last_offset",
        "leader_epoch",
        "max_timestamp",
        "payload",
        "size",
    )

    def __init__(self, header: BatchHeader, payload: Chunk, appended_ms: int) -> None:
        self.base_offset, _, self.leader_epoch = header[:3]
        self.last_offset = header.last_offset
        self.max_timestamp = header.max_timestamp
        self.appended_ms = appended_ms
        self.size = HEADER_SIZE + len(payload)
        self.head = header.encode()
        self.payload: Chunk | None = payload
        if len(payload) <= _COPIED_UP_TO:
            self.head, self.payload = b"".join((self.head, payload)), None

    @property
    def chunks(self) -> list[Chunk]:
        """All of it, as a read gives it."""
        return [self.head] if self.payload is None else [self.head, self.payload]

    def header(self) -> BatchHeader:
        """As it stands in `head`."""
        return parse_header(self.head)

    def records(self, most: int | None = None) -> Iterator[Record]:
        """The records inside, decompressed to `most` bytes at most. Codec errors as `kafkawire.records` has them."""
        payload = memoryview(self.head)[HEADER_SIZE:] if self.payload is None else self.payload
        return iterate_records(payload, parse_header(self.head), most)


class StoredMarker(StoredBatch):
    """The control batch that ends a producer's transaction. Its bytes are made when they are first wanted."""

    __slots__ = ("_append_time", "_bytes", "_marker")

    def __init__(self, marker: Marker, offset: int, leader_epoch: int, now_ms: int, append_time: bool) -> None:
        self.base_offset = self.last_offset = offset
        self.leader_epoch = leader_epoch
        self.max_timestamp = self.appended_ms = now_ms
        self.size = MARKER_SIZE
        self.payload = None
        self._marker = marker
        self._append_time = append_time
        self._bytes: bytes | None = None

    @property
    def head(self) -> bytes:  # type: ignore[override]
        """All of it."""
        if self._bytes is None:
            producer_id, epoch, commit, coordinator_epoch, _ = self._marker
            self._bytes = build_marker(
                producer_id, epoch, commit, coordinator_epoch, self.max_timestamp,
                base_offset=self.base_offset, leader_epoch=self.leader_epoch, log_append_time=self._append_time,
            )  # fmt: skip
        return self._bytes


def stored_as_it_came(
    data: bytes | bytearray,
    start: int,
    end: int,
    header: tuple[int, ...],
    base_offset: int,
    leader_epoch: int,
    appended_ms: int,
) -> StoredBatch:
    """The batch in `data[start:end]`, which has that header (the fields of a `BatchHeader`), with nothing changed but
    offset and leader epoch.

    Its payload stays in `data` if the batch is at least half of that: what is kept is never much more than the batch.
    """
    batch = StoredBatch.__new__(StoredBatch)
    batch.base_offset = base_offset
    batch.last_offset = base_offset + header[6]
    batch.leader_epoch = leader_epoch
    batch.max_timestamp = header[8]
    batch.appended_ms = appended_ms
    batch.size = end - start
    front = _front(base_offset, header[1], leader_epoch)
    payload = start + HEADER_SIZE
    if end - payload <= _COPIED_UP_TO:
        batch.head, batch.payload = front + data[start + len(front) : end], None
    else:
        batch.head = front + data[start + len(front) : payload]
        if len(data) <= 2 * (end - start):
            batch.payload = memoryview(data)[payload:end]
        else:
            batch.payload = bytes(memoryview(data)[payload:end])
    return batch


class SparseIndex:
    """The entries that Kafka's offset index of a segment would have, made when they are wanted."""

    __slots__ = ("_next", "_offsets", "_position", "_positions", "_since")

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._positions: list[int] = []
        self._next = 0
        """The first batch that was not looked at; it is at `_position`, so many bytes behind the last entry."""
        self._position = 0
        self._since = 0

    def offset_behind(self, batches: Rows[StoredBatch], position: int, interval: int) -> int | None:
        """The offset of the first entry at that position or behind, None where there is none (yet)."""
        for batch in batches[self._next :]:
            if self._since > interval:
                self._offsets.append(batch.last_offset)
                self._positions.append(self._position)
                self._since = 0
            self._position += batch.size
            self._since += batch.size
        self._next = len(batches)
        index = bisect_left(self._positions, position)
        return self._offsets[index] if index < len(self._offsets) else None


class Segment:
    """Batches in the order of their offsets. Positions are bytes from the segment's beginning."""

    __slots__ = ("_bases", "_largest_timestamps", "_positions", "_sparse", "base_offset", "batches", "size")

    def __init__(self, base_offset: int) -> None:
        self.base_offset = base_offset
        self.batches: Rows[StoredBatch] = []
        self.size = 0
        self._bases: Rows[int] = []
        self._positions: Rows[int] = []
        self._largest_timestamps: Rows[int] = []
        """The largest timestamp up to and including each batch, hence ascending."""
        self._sparse: SparseIndex | None = None

    @property
    def largest_timestamp(self) -> int:
        """-1 where there are no records, or none with a timestamp."""
        return self._largest_timestamps[-1] if self._largest_timestamps else -1

    def append(self, batch: StoredBatch) -> None:
        largest = self._largest_timestamps[-1] if self.batches else -1
        self._largest_timestamps.append(batch.max_timestamp if batch.max_timestamp > largest else largest)
        self.batches.append(batch)
        self._bases.append(batch.base_offset)
        self._positions.append(self.size)
        self.size += batch.size

    def twin(self) -> Segment:
        """Another one with the same batches: what is appended to one of both is not in the other.

        What it costs does not grow with the batches: many of them are shared.
        """
        self.batches, self._bases = split(self.batches), split(self._bases)
        self._positions, self._largest_timestamps = split(self._positions), split(self._largest_timestamps)
        twin = Segment(self.base_offset)
        twin.size = self.size
        twin.batches, twin._bases = self.batches.copy(), self._bases.copy()
        twin._positions, twin._largest_timestamps = self._positions.copy(), self._largest_timestamps.copy()
        return twin

    def ends_after(self, offset: int) -> bool:
        return bool(self.batches) and self.batches[-1].last_offset > offset

    def without_those_through(self, offset: int) -> Segment:
        """The segment without its batches that end at or before `offset`; itself where there are none."""
        first = self.index_of(offset + 1)
        return self._with(self.batches[first:]) if first else self

    def rewritten(self, changes: Mapping[int, StoredBatch | None]) -> Segment:
        """The segment with other batches, or none, at the base offsets in `changes`; itself where none is here."""
        if not any(base in changes for base in self._bases):
            return self
        replaced = (changes.get(batch.base_offset, batch) for batch in self.batches)
        return self._with([batch for batch in replaced if batch is not None])

    def _with(self, batches: Iterable[StoredBatch]) -> Segment:
        segment = Segment(self.base_offset)
        for batch in batches:
            segment.append(batch)
        return segment

    def index_of(self, offset: int) -> int:
        """Index of the first batch that ends at or after `offset`; the number of batches where none does."""
        index = bisect_right(self._bases, offset) - 1
        if index < 0:
            return 0
        return index if self.batches[index].last_offset >= offset else index + 1

    def position_of(self, offset: int) -> int:
        """Where reading `offset` begins."""
        index = self.index_of(offset)
        return self._positions[index] if index < len(self.batches) else self.size

    def offset_behind(self, position: int, interval: int) -> int | None:
        """An offset that is not before any record up to that position, as Kafka's offset index knows one
        (OffsetIndex.fetchUpperBoundOffset); None where it has none.

        That index has an entry where more than `interval` bytes came since the last one.
        """
        if self._sparse is None:
            self._sparse = SparseIndex()
        return self._sparse.offset_behind(self.batches, position, interval)

    def read(self, index: int, limit: int, upto: int | None = None) -> list[Chunk]:
        """`limit` bytes from the beginning of batch `index` on, or all there are. The last batch may be cut
        in two. Nothing from the batch on that begins at `upto`.
        """
        stop = bisect_left(self._positions, self._positions[index] + limit)
        if upto is not None:
            stop = min(stop, bisect_left(self._bases, upto))
        chunks: list[Chunk] = []
        small: list[bytes] = []
        for batch in self.batches[index:stop]:
            if batch.payload is None:
                small.append(batch.head)
                continue
            if small:
                chunks.append(b"".join(small))
                small = []
            chunks += (batch.head, batch.payload)
        if small:
            chunks.append(b"".join(small))
        end = self._positions[stop] if stop < len(self.batches) else self.size
        excess = end - self._positions[index] - limit
        while excess > 0:
            last = chunks.pop()
            if len(last) > excess:
                chunks.append(memoryview(last)[: len(last) - excess])
            excess -= len(last)
        return chunks

    def from_time(self, timestamp: int) -> list[StoredBatch]:
        """The batches from the first on whose header has at least that timestamp."""
        return self.batches[bisect_left(self._largest_timestamps, timestamp) :]
