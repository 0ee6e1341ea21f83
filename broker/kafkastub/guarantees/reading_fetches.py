"""What an answer to Fetch says, read where it lies: its records are not copied, of each batch its header is looked at.

An answer is kept in the pieces in which it was sent. To put a megabyte together and to decode it takes longer than to
serve it.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from kafkastub.guarantees.events import Batch
from kafkastub.journal.ring import Reply
from kafkawire.errors import KafkaError
from kafkawire.records import HEADER_SIZE, MAGIC, parse_header, read_batch
from kafkawire.records.batch import LOG_OVERHEAD
from kafkawire.schema import ZERO_UUID

_i16: Final = struct.Struct(">h").unpack
_i32: Final = struct.Struct(">i").unpack
_base_and_length: Final = struct.Struct(">qi").unpack_from
_attributes_and_last: Final = struct.Struct(">hi").unpack_from
_PEEKED: Final = 27
"""Bytes of a batch up to behind its last offset's delta."""
_NOT_ORDINARY: Final = 0x30
"""Of a batch's attributes: of a transaction, or a control batch."""
_MARKER_KIND: Final = struct.Struct(">h").unpack_from
_FLEXIBLE: Final = 12

Peek = Callable[[int, int], bytes | memoryview]
"""So many bytes from a position on; fewer at the end."""


class PartitionAnswer(NamedTuple):
    """What is said of a partition."""

    partition_index: int
    error_code: int
    high_watermark: int
    log_start_offset: int
    batches: tuple[Batch, ...] | None
    """None where there are no records."""


class TopicAnswer(NamedTuple):
    """What is said of a topic, which has a name or an id, as the version has it."""

    topic: str
    topic_id: bytes
    partitions: list[PartitionAnswer]


class FetchAnswer(NamedTuple):
    """What is said at all."""

    error_code: int
    session_id: int
    responses: list[TopicAnswer]


class Pieces:
    """A frame in the pieces in which it was sent."""

    __slots__ = ("_at", "_pieces", "_starts", "size")

    def __init__(self, reply: Reply) -> None:
        self._pieces = reply if isinstance(reply, tuple) else (reply,)
        ends = list(accumulate(map(len, self._pieces)))
        self._starts = [0, *ends[:-1]]
        self._at = 0
        """The piece that was read last: what comes next is near."""
        self.size = ends[-1] if ends else 0

    def peek(self, start: int, count: int) -> bytes | memoryview:
        """Return so many bytes from a position on; fewer at the end."""
        at = self._at
        within = start - self._starts[at]
        if not 0 <= within < len(self._pieces[at]):
            at = self._at = max(bisect_right(self._starts, start) - 1, 0)
            within = start - self._starts[at]
        found = self._pieces[at][within : within + count]
        while len(found) < count and at + 1 < len(self._pieces):
            at += 1
            found = bytes(found) + self._pieces[at][: count - len(found)]
        return found


class _Cursor:
    """Reads fields one behind the other. Raises ValueError behind the end."""

    __slots__ = ("_pieces", "at", "flexible")

    def __init__(self, pieces: Pieces, at: int, flexible: bool) -> None:
        self._pieces = pieces
        self.at = at
        self.flexible = flexible

    def bytes(self, count: int) -> bytes:
        found = self._pieces.peek(self.at, count)
        if len(found) < count:
            raise ValueError("the answer ends in the middle of a field")
        self.at += count
        return bytes(found)

    def skip(self, count: int) -> None:
        self.at += count
        if self.at > self._pieces.size:
            raise ValueError("the answer ends in the middle of a field")

    def int16(self) -> int:
        return int(_i16(self.bytes(2))[0])

    def int32(self) -> int:
        return int(_i32(self.bytes(4))[0])

    def int64(self) -> int:
        return int.from_bytes(self.bytes(8), signed=True)

    def varint(self) -> int:
        found = shift = 0
        while True:
            (byte,) = self.bytes(1)
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found
            shift += 7

    def length(self, wide: bool = True) -> int:
        """Of an array, text or records; -1 for null."""
        if self.flexible:
            return self.varint() - 1
        return self.int32() if wide else self.int16()

    def tags(self) -> None:
        if self.flexible:
            for _ in range(self.varint()):
                self.varint()
                self.skip(self.varint())


def fetch_answer(reply: Reply, body: int, version: int) -> FetchAnswer:
    """Read an answer from the start of its body on. Raises ValueError, and KafkaError for a damaged batch."""
    pieces = Pieces(reply)
    read = _Cursor(pieces, body, version >= _FLEXIBLE)
    read.skip(4)
    error, session = (read.int16(), read.int32()) if version >= 7 else (0, 0)
    topics = [_topic(pieces, read, version) for _ in range(read.length())]
    return FetchAnswer(error, session, topics)


def _topic(pieces: Pieces, read: _Cursor, version: int) -> TopicAnswer:
    name, topic_id = "", ZERO_UUID
    if version >= 13:
        topic_id = read.bytes(16)
    else:
        name = read.bytes(read.length(wide=False)).decode()
    partitions = [_partition(pieces, read, version) for _ in range(read.length())]
    read.tags()
    return TopicAnswer(name, topic_id, partitions)


def _partition(pieces: Pieces, read: _Cursor, version: int) -> PartitionAnswer:
    index, error, high_watermark = read.int32(), read.int16(), read.int64()
    read.skip(8)
    log_start = read.int64() if version >= 5 else -1
    for _ in range(read.length()):  # aborted transactions: their markers say the same
        read.skip(16)
        read.tags()
    if version >= 11:
        read.skip(4)
    size = read.length()
    batches = None
    if size >= 0:
        start = read.at
        read.skip(size)
        batches = tuple(spans(pieces.peek, start, read.at))
    read.tags()
    return PartitionAnswer(index, error, high_watermark, log_start, batches)


def spans(peek: Peek, at: int, end: int) -> Iterator[Batch]:
    """The whole batches between two positions, with ordinary ones that follow each other as one.

    What was given is what matters, and not how it was packed.
    """
    first, behind = -1, -1
    while end - at >= HEADER_SIZE:
        head = peek(at, _PEEKED)
        base, length = _base_and_length(head)
        after = at + LOG_OVERHEAD + length
        if after > end or length < HEADER_SIZE - LOG_OVERHEAD or head[16] != MAGIC:
            break
        attributes, last_delta = _attributes_and_last(head, 21)
        if not attributes & _NOT_ORDINARY:
            if base != behind:
                if first >= 0:
                    yield _ordinary(first, behind)
                first = base
            behind = base + last_delta + 1
        else:
            if first >= 0:
                yield _ordinary(first, behind)
            first = behind = -1
            yield batch_of(peek, at, after)
        at = after
    if first >= 0:
        yield _ordinary(first, behind)


def _ordinary(first: int, end: int) -> Batch:
    return Batch(first, end, -1, -1, -1, 0, False, False)


def batch_of(peek: Peek, at: int, end: int) -> Batch:
    """A batch by its header; what a marker marks is in its record."""
    header = parse_header(peek(at, HEADER_SIZE))
    aborts = None
    if header.control:
        try:
            key = next(read_batch(peek(at, end - at))).key
            kind = _MARKER_KIND(key, 2)[0] if key is not None and len(key) >= 4 else -1
            aborts = {0: True, 1: False}.get(kind)
        except (KafkaError, StopIteration):
            pass
    return Batch(
        header.base_offset, header.last_offset + 1, header.producer_id, header.producer_epoch, header.base_sequence,
        header.crc, header.transactional, header.control, aborts,
    )  # fmt: skip
