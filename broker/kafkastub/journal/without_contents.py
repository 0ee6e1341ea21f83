"""Frames without what is in records: keys, values and headers. Who wrote, where, when and how much stays.

Each batch keeps its header (offsets, timestamps, producer, sequence, number of records) and has that many records with
an empty key, an empty value and no headers, uncompressed. So the frame can be read, and a broker takes it. Markers of
transactions stay: no application writes them.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final

from kafkawire.api import ApiKey
from kafkawire.catalogue import request_class, response_class
from kafkawire.codec import decode_from, encode
from kafkawire.errors import KafkaError, MalformedMessage
from kafkawire.header import is_flexible, read_request_header, response_header_size
from kafkawire.records import NewRecord, checksum, read_batch
from kafkawire.records.batch import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    BatchHeader,
    Buffer,
    parse_header,
    split_batches,
)
from kafkawire.records.build import append_record
from kafkawire.records.markers import read_marker
from kafkawire.schema import Struct

WITH_RECORDS: Final = frozenset((ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.SHARE_FETCH))
"""APIs whose requests or answers hold records."""
_HEAD: Final = 8
"""Bytes that stay of a frame that cannot be read: key, version and correlation id, or size and correlation id."""
_MOST_RECORDS: Final = 100_000
"""Of a batch; of one that says it has more, none are kept."""
_GROWTH: Final = 18
"""Times as large as a frame is what its records may be: what compresses best is half a byte a record (zstd), and an
empty record nine. How many records a batch has it only says, and so do a thousand batches of nothing but a header."""
_MOST_ADDED: Final = 1 << 24
"""Bytes by which a frame may grow."""
_SMALLEST: Final = 7
"""Bytes of an empty record."""
_LARGEST_MARKER: Final = HEADER_SIZE + 32
_MARKER_KEY: Final = 4
"""Bytes: version and type."""
_MARKER_VALUE: Final = 6
"""Bytes: version, and the coordinator's epoch."""
_CODECS: Final = 0x07
_CRC_FROM: Final = 21


class WithoutContents:
    """Makes such frames. Belongs to one thread."""

    def __init__(self) -> None:
        self._empty = bytearray()
        """Empty records one behind the other, made when they are first wanted."""
        self._ends = [0]
        self._left = 0
        """Bytes that there may be of records in the frame that is made."""

    def request(self, api_key: int, version: int, frame: bytes) -> bytes:
        """A request without its size."""
        self._left = _most(len(frame))
        try:
            cls = request_class(api_key)
            body = read_request_header(frame, 0, len(frame), is_flexible(cls, version)).end
            message = decode_from(cls, version, frame, body)[0]
            self._empty_all(message)
            return frame[:body] + encode(message, version)
        except (MalformedMessage, ValueError, KeyError):
            return zeroed(frame)

    def answer(self, api_key: int, version: int, frame: bytes) -> bytes:
        """An answer with its size."""
        self._left = _most(len(frame))
        try:
            cls = response_class(api_key)
            body = 4 + response_header_size(api_key, is_flexible(cls, version))
            message: Any = decode_from(cls, version, frame, body)[0]
            self._empty_all(message)
            contents = frame[4:body] + encode(message, version)
            return len(contents).to_bytes(4) + contents
        except (MalformedMessage, ValueError, KeyError):
            return zeroed(frame)

    def _empty_all(self, struct: Any) -> None:
        for name, kind, *_ in struct.FIELDS:
            value = getattr(struct, name)
            if str(kind).endswith("records"):
                if value:
                    setattr(struct, name, self._emptied(value))
            elif isinstance(value, Struct):
                self._empty_all(value)
            elif isinstance(value, list | tuple):
                for each in value:
                    if isinstance(each, Struct):
                        self._empty_all(each)

    def records(self, records: Buffer) -> bytes:
        """Batches one behind the other. What is no batch of today's format is left out."""
        self._left = _most(len(records))
        return self._emptied(records)

    def _emptied(self, records: Buffer) -> bytes:
        found = []
        with contextlib.suppress(KafkaError):  # what comes behind cannot be read by anybody
            for magic, batch in split_batches(records):
                if magic == MAGIC:
                    found.append(self._batch(batch))
        return b"".join(found)

    def _batch(self, batch: memoryview) -> bytes:
        """Raises KafkaError."""
        header = parse_header(batch)
        if header.control and _is_marker(batch, header):
            return bytes(batch)
        count = header.record_count
        spread = header.max_timestamp - header.base_timestamp
        payload = self._records(count, spread) if 0 < count <= _MOST_RECORDS else b""
        changed = header._replace(
            length=HEADER_SIZE - LOG_OVERHEAD + len(payload), attributes=header.attributes & ~_CODECS
        )
        crc = checksum.crc32c(payload, checksum.crc32c(changed.encode()[_CRC_FROM:]))
        return changed._replace(crc=crc).encode() + payload

    def _records(self, count: int, spread: int) -> bytes:
        """So many, the last one with the batch's largest timestamp; none where that is more than there may be."""
        if count * _SMALLEST > self._left:
            return b""
        while len(self._ends) < count:
            append_record(self._empty, len(self._ends) - 1, NewRecord(b"", b"", 0), 0)
            self._ends.append(len(self._empty))
        last = bytearray()
        append_record(last, count - 1, NewRecord(b"", b"", spread), 0)
        size = self._ends[count - 1] + len(last)
        if size > self._left:
            return b""
        self._left -= size
        return b"".join((memoryview(self._empty)[: self._ends[count - 1]], last))


def _most(size: int) -> int:
    """Bytes of records in a frame that had so many in all."""
    return min(_GROWTH * size, size + _MOST_ADDED)


def _is_marker(batch: memoryview, header: BatchHeader) -> bool:
    """Whether it is one of a broker's: a client may call a batch of its own so."""
    if header.record_count != 1 or header.compression or len(batch) > _LARGEST_MARKER:
        return False
    with contextlib.suppress(KafkaError, ValueError):
        (record,) = read_batch(batch)
        is_short = len(record.key or b"") == _MARKER_KEY and len(record.value or b"") == _MARKER_VALUE
        return is_short and not record.headers and read_marker(record) is not None
    return False


def zeroed(frame: bytes) -> bytes:
    """All behind its head is zeros."""
    return frame[:_HEAD] + bytes(max(0, len(frame) - _HEAD))
