"""Where each field of record batches lies among their bytes, for people who look at a frame.

Format v2; what is compressed is one piece. What is noted is bounded.
"""

from __future__ import annotations

from typing import Final

from kafkawire.codec.spans import FieldSpan
from kafkawire.codec.varint import read_varint
from kafkawire.errors import KafkaError
from kafkawire.records.batch import HEADER_SIZE, BatchHeader, parse_header
from kafkawire.records.compression import Compression

_HEADER: Final = (
    ("base_offset", "int64", 8), ("batch_length", "int32", 4), ("partition_leader_epoch", "int32", 4),
    ("magic", "int8", 1), ("crc", "uint32", 4), ("attributes", "int16", 2), ("last_offset_delta", "int32", 4),
    ("base_timestamp", "int64", 8), ("max_timestamp", "int64", 8), ("producer_id", "int64", 8),
    ("producer_epoch", "int16", 2), ("base_sequence", "int32", 4), ("record_count", "int32", 4),
)  # fmt: skip
_MOST_BATCHES: Final = 20
_MOST_RECORDS: Final = 50
"""Of one batch."""
_MOST_HEADERS: Final = 20


def batch_spans(data: bytes, start: int, end: int) -> list[FieldSpan]:
    """The batches in `data[start:end]`; of what cannot be read, and of very many, the rest in one piece."""
    found: list[FieldSpan] = []
    while start < end:
        if len(found) == _MOST_BATCHES:
            found.append(FieldSpan("more batches", "records", start, end, f"{end - start} bytes"))
            break
        try:
            header = parse_header(memoryview(data)[start:end])
        except KafkaError:
            header = None
        if header is None or header.size < HEADER_SIZE or start + header.size > end:
            found.append(FieldSpan("part of a batch", "records", start, end, f"{end - start} bytes"))
            break
        found.append(_batch(data, start, header, f"[{len(found)}]"))
        start += header.size
    return found


def _batch(data: bytes, start: int, header: BatchHeader, name: str) -> FieldSpan:
    fields: list[FieldSpan] = []
    at = start
    for (label, kind, size), value in zip(_HEADER, header, strict=True):
        fields.append(FieldSpan(label, kind, at, at + size, value))
        at += size
    end = start + header.size
    if header.attributes & 7:
        codec = header.attributes & 7
        told = Compression(codec).name.lower() if codec in set(Compression) else f"codec {codec}"
        fields.append(FieldSpan("records", told, at, end, f"{header.record_count} records in {end - at} bytes"))
    else:
        fields.append(_records(data, at, end, header))
    return FieldSpan(name, "record batch", start, end, fields=fields)


def _records(data: bytes, start: int, end: int, header: BatchHeader) -> FieldSpan:
    records = FieldSpan("records", "array of record", start, end, fields=[])
    assert records.fields is not None
    at = start
    try:
        for number in range(min(header.record_count, _MOST_RECORDS)):
            record = _record(data, at, end, f"[{number}]")
            records.fields.append(record)
            at = record.end
    except (IndexError, ValueError):
        records.fields.append(FieldSpan("unreadable", "bytes", at, end, f"{end - at} bytes"))
        return records
    records.left_out = max(header.record_count - len(records.fields), 0)
    return records


def _record(data: bytes, start: int, end: int, name: str) -> FieldSpan:
    """Raises IndexError and ValueError."""
    walk = _Walk(data, start, end)
    length = walk.varint("length", "varint")
    last = walk.at + length
    if not walk.at <= last <= end:
        raise ValueError("a record that ends behind its batch")
    walk.end = last
    walk.piece("attributes", "int8", 1, data[walk.at])
    walk.varint("timestamp_delta", "varlong", 10)
    walk.varint("offset_delta", "varint")
    walk.sized("key")
    walk.sized("value")
    count = walk.varint("header_count", "varint")
    for number in range(min(count, _MOST_HEADERS)):
        walk.sized(f"header[{number}].key", text=True)
        walk.sized(f"header[{number}].value")
    return FieldSpan(name, "record", start, last, fields=walk.fields, left_out=max(count - _MOST_HEADERS, 0))


class _Walk:
    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data = data
        self.at = at
        self.end = end
        self.fields: list[FieldSpan] = []

    def varint(self, name: str, kind: str, most: int = 5) -> int:
        value, end = read_varint(self.data, self.at, most)
        self.piece(name, kind, end - self.at, value)
        return value

    def sized(self, name: str, text: bool = False) -> None:
        """A length and so many bytes; below zero there are none."""
        size, after = read_varint(self.data, self.at)
        value = None if size < 0 else self.data[after : after + size]
        told = value.decode("utf-8", "replace") if text and value is not None else value
        self.piece(name, "string" if text else "bytes", after - self.at + max(size, 0), told)

    def piece(self, name: str, kind: str, size: int, value: object) -> None:
        if self.at + size > self.end:
            raise ValueError(f"{name} ends behind its record")
        self.fields.append(FieldSpan(name, kind, self.at, self.at + size, value))
        self.at += size
