"""What an answer to Fetch says, read where it lies: its records are not copied, of each batch its header is looked at.

An answer is kept in the pieces in which it was sent. To put a megabyte together and to decode it takes longer than to
serve it. Where the payload of a batch is a piece of its own, nobody needs it here: `without_payloads` leaves it out.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, NamedTuple

from kafkastub.guarantees.events import Batch
from kafkastub.journal.ring import Reply
from kafkawire.errors import KafkaError
from kafkawire.records import HEADER_SIZE, MAGIC, parse_header, read_batch
from kafkawire.records.batch import LOG_OVERHEAD
from kafkawire.schema import ZERO_UUID

_int16: Final = struct.Struct(">h")
_int32: Final = struct.Struct(">i")
_error_and_session: Final = struct.Struct(">4xhi")
"""Behind the throttle time."""
_partition_of_5: Final = struct.Struct(">ihq8xq")
"""Index, error, high watermark and start of the log, from version 5 on."""
_partition_of_4: Final = struct.Struct(">ihq8x")
_batch: Final = struct.Struct(">qi4xb4xhi")
"""Base offset, length, magic, attributes and the last offset's delta: the first bytes of a batch."""
_length: Final = struct.Struct(">8xi4xb")
"""Length and magic of a batch."""
_KEPT: Final = 64
"""Bytes of a payload that is kept: those of a marker are read."""
_NOT_ORDINARY: Final = 0x30
"""Of a batch's attributes: of a transaction, or a control batch."""
_MARKER_KIND: Final = struct.Struct(">h").unpack_from
_FLEXIBLE: Final = 12

Place = Callable[[int, int], tuple[bytes | memoryview, int]]
"""A buffer, and where in it so many bytes from a position on begin; the buffer ends sooner at the end."""


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


@dataclass(slots=True)
class Sparse:
    """A frame in pieces, some of which were left out."""

    pieces: list[bytes | memoryview]
    starts: list[int]
    size: int
    """Bytes of the frame."""
    kept: int
    """Bytes of its pieces."""


def without_payloads(reply: tuple[bytes | memoryview, ...]) -> Sparse:
    """Leave out of an answer to Fetch the pieces that are payloads of batches: those behind a batch's header.

    A header is sent as the bytes that are stored; a view of so many bytes is a part of something else. A payload that
    was cut off is a view of the stored one. What is shorter and no view is not of the batch: the answer was cut off
    behind its header, and what follows are fields.
    """
    pieces: list[bytes | memoryview] = []
    starts: list[int] = []
    at = kept = 0
    payload = -1
    for piece in reply:
        count = len(piece)
        is_payload = count == payload or (count < payload and type(piece) is memoryview)
        if not is_payload or count <= _KEPT:
            pieces.append(piece if type(piece) is bytes else bytes(piece) if count <= _KEPT else piece)
            starts.append(at)
            kept += count
        payload = -1
        if count == HEADER_SIZE and type(piece) is bytes:
            length, magic = _length.unpack_from(piece)
            if magic == MAGIC:
                payload = LOG_OVERHEAD + length - HEADER_SIZE
        at += count
    return Sparse(pieces, starts, at, kept)


class Pieces:
    """A frame in the pieces in which it was sent."""

    __slots__ = ("_at", "_pieces", "_starts", "size")

    def __init__(self, reply: Reply | Sparse) -> None:
        if isinstance(reply, Sparse):
            self._pieces: Sequence[bytes | memoryview] = reply.pieces
            self._starts, self.size = reply.starts, reply.size
        else:
            self._pieces = reply if isinstance(reply, tuple) else (reply,)
            ends = list(accumulate(map(len, self._pieces)))
            self._starts = [0, *ends[:-1]]
            self.size = ends[-1] if ends else 0
        self._at = 0
        """The piece that was read last: what comes next is near."""

    def place(self, start: int, count: int) -> tuple[bytes | memoryview, int]:
        """Return a buffer that has so many bytes from a position on, and where in it; fewer at the end.

        Raises ValueError where they were left out.
        """
        at = self._at
        piece = self._pieces[at]
        within = start - self._starts[at]
        if within >= 0 and within + count <= len(piece):
            return piece, within
        at = self._at = max(bisect_right(self._starts, start) - 1, 0)
        piece = self._pieces[at]
        within = start - self._starts[at]
        if within + count <= len(piece):
            return piece, within
        found = bytes(piece[within:])
        while len(found) < count and start + len(found) < self.size:
            at += 1
            if at == len(self._pieces) or self._starts[at] != start + len(found):
                raise ValueError("the answer was kept without these bytes")
            found += self._pieces[at][: count - len(found)]
        return found, 0


class _Cursor:
    """Reads fields one behind the other. Raises ValueError behind the end."""

    __slots__ = ("_place", "_size", "at", "flexible")

    def __init__(self, pieces: Pieces, at: int, flexible: bool) -> None:
        self._place = pieces.place
        self._size = pieces.size
        self.at = at
        self.flexible = flexible

    def fields(self, form: struct.Struct) -> tuple[Any, ...]:
        """The fields of a form."""
        data, within = self._place(self.at, form.size)
        self.skip(form.size)
        return form.unpack_from(data, within)

    def bytes(self, count: int) -> bytes:
        data, within = self._place(self.at, count)
        self.skip(count)
        return bytes(data[within : within + count])

    def skip(self, count: int) -> None:
        self.at += count
        if self.at > self._size:
            raise ValueError("the answer ends in the middle of a field")

    def varint(self) -> int:
        found = shift = 0
        while True:
            if self.at >= self._size:
                raise ValueError("the answer ends in the middle of a field")
            data, within = self._place(self.at, 1)
            byte = data[within]
            self.at += 1
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found
            shift += 7

    def length(self, wide: bool = True) -> int:
        """Of an array, text or records; -1 for null."""
        if self.flexible:
            return self.varint() - 1
        return int(self.fields(_int32 if wide else _int16)[0])

    def tags(self) -> None:
        if self.flexible:
            for _ in range(self.varint()):
                self.varint()
                self.skip(self.varint())


def fetch_answer(reply: Reply | Sparse, body: int, version: int) -> FetchAnswer:
    """Read an answer from the start of its body on. Raises ValueError, and KafkaError for a damaged batch."""
    pieces = Pieces(reply)
    read = _Cursor(pieces, body, version >= _FLEXIBLE)
    if version >= 7:
        error, session = read.fields(_error_and_session)
    else:
        error = session = 0
        read.skip(4)
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
    if version >= 5:
        index, error, high_watermark, log_start = read.fields(_partition_of_5)
    else:
        index, error, high_watermark = read.fields(_partition_of_4)
        log_start = -1
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
        batches = tuple(spans(pieces.place, start, read.at))
    read.tags()
    return PartitionAnswer(index, error, high_watermark, log_start, batches)


def spans(place: Place, at: int, end: int) -> Iterator[Batch]:
    """The whole batches between two positions, with ordinary ones that follow each other as one.

    What was given is what matters, and not how it was packed.
    """
    first, behind = -1, -1
    while end - at >= HEADER_SIZE:
        base, length, magic, attributes, last_delta = _batch.unpack_from(*place(at, _batch.size))
        after = at + LOG_OVERHEAD + length
        if after > end or length < HEADER_SIZE - LOG_OVERHEAD or magic != MAGIC:
            break
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
            yield batch_of(place, at, after)
        at = after
    if first >= 0:
        yield _ordinary(first, behind)


def _part(place: Place, at: int, count: int) -> bytes | memoryview:
    data, within = place(at, count)
    return data[within : within + count]


def _ordinary(first: int, end: int) -> Batch:
    return Batch(first, end, -1, -1, -1, 0, False, False)


def batch_of(place: Place, at: int, end: int) -> Batch:
    """A batch by its header; what a marker marks is in its record."""
    header = parse_header(_part(place, at, HEADER_SIZE))
    aborts = None
    if header.control:
        try:
            key = next(read_batch(_part(place, at, end - at))).key
            kind = _MARKER_KIND(key, 2)[0] if key is not None and len(key) >= 4 else -1
            aborts = {0: True, 1: False}.get(kind)
        except (KafkaError, StopIteration):
            pass
    return Batch(
        header.base_offset, header.last_offset + 1, header.producer_id, header.producer_epoch, header.base_sequence,
        header.crc, header.transactional, header.control, aborts,
    )  # fmt: skip
