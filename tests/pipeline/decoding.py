"""Records through the pipeline's decoder without Spark, and the wire's parts written by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

Record = tuple[bytes | None, bytes | None]


def decode(records: Sequence[Record]) -> list[dict[str, Any]]:
    """One dictionary a record, as the columns of `decode.columns.RECORD`, on partition 3 from offset 100 on."""
    import pyarrow as pa

    from kafkastub_pipeline.decode import decode_batch

    count = len(records)
    batch = pa.record_batch(
        {
            "key": pa.array([key for key, _ in records], pa.binary()),
            "value": pa.array([value for _, value in records], pa.binary()),
            "log_partition": pa.array([3] * count, pa.int32()),
            "log_offset": pa.array(range(100, 100 + count), pa.int64()),
            "log_ms": pa.array(range(count), pa.int64()),
        }
    )
    return [row for one in decode_batch(batch) for row in one.to_pylist()]


def known(row: dict[str, Any]) -> dict[str, Any]:
    """What a row says beside its place on the log and what is null."""
    return {name: value for name, value in row.items() if value is not None and not name.startswith("log_")}


def i16(number: int) -> bytes:
    return struct.pack(">h", number)


def i32(number: int) -> bytes:
    return struct.pack(">i", number)


def i64(number: int) -> bytes:
    return struct.pack(">q", number)


def text(value: str | None) -> bytes:
    """STRING and NULLABLE_STRING."""
    return i16(-1) if value is None else i16(len(value.encode())) + value.encode()


def blob(value: bytes) -> bytes:
    """BYTES."""
    return i32(len(value)) + value


def varint(number: int) -> bytes:
    """UNSIGNED_VARINT."""
    found = bytearray()
    while number >= 0x80:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def short(value: str | None) -> bytes:
    """COMPACT_STRING and COMPACT_NULLABLE_STRING."""
    return b"\0" if value is None else varint(len(value.encode()) + 1) + value.encode()


def tags(*fields: tuple[int, bytes]) -> bytes:
    """Tagged fields."""
    return varint(len(fields)) + b"".join(varint(number) + varint(len(value)) + value for number, value in fields)
