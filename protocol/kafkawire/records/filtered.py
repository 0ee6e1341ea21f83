"""A batch without some of its records, as compaction leaves it (Kafka: MemoryRecords.filterTo)."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.records.batch import HEADER_SIZE, LOG_OVERHEAD, BatchHeader
from kafkawire.records.build import NewRecord, append_record
from kafkawire.records.checksum import crc32c
from kafkawire.records.compression import compress
from kafkawire.records.record import Record


def filtered_batch(header: BatchHeader, kept: Sequence[Record]) -> tuple[BatchHeader, bytes]:
    """Header and payload of the batch with only these of its records, at least one, in their order.

    Offsets stay, as does the range of offsets and sequences that the batch stands for; the same codec is used.
    UnavailableCodecError where that is missing.
    """
    payload = bytearray()
    for record in kept:
        fields = NewRecord(record.key, record.value, record.timestamp, record.headers)
        append_record(payload, record.offset - header.base_offset, fields, header.base_timestamp)
    packed = compress(header.compression, payload) if header.compression else bytes(payload)
    largest = header.max_timestamp if header.log_append_time else max(record.timestamp for record in kept)
    return with_records(header, packed, len(kept), largest), packed


def with_records(header: BatchHeader, packed: bytes, count: int, largest: int) -> BatchHeader:
    """The header with so many of the batch's records, compressed as it says; `largest` is their largest timestamp."""
    changed = header._replace(
        length=HEADER_SIZE - LOG_OVERHEAD + len(packed), max_timestamp=largest, record_count=count, crc=0
    )
    return changed._replace(crc=crc32c(packed, crc32c(changed.encode()[21:])))
