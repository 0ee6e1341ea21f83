"""Offsets, the bulk of the topic, as columns: every value version without a look at a single row.

    version  value
    0        offset int64, metadata string, commit timestamp int64
    1        … and expire timestamp int64
    2        as 0
    3        offset int64, leader epoch int32, metadata string, commit timestamp int64
    4        as 3 with a compact string, then tagged fields: 0 is the topic id (16 bytes)

Kafka: OffsetCommitKey.json, OffsetCommitValue.json. Bytes behind a message are ignored, as there.
"""

from __future__ import annotations

import uuid
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kafkastub_pipeline.decode.buffers import Mask, Positions, Rows, mask, scattered
from kafkawire.messages.offset_commit_value import OffsetCommitValue

NEWEST: Final = OffsetCommitValue.VERSIONS[1]
NO_TIMESTAMP: Final = -1
_UUID_BYTES: Final = 16


def key_types(keys: pa.BinaryArray) -> npt.NDArray[np.int16]:
    """The record type in front of each key; -1 where there are not two bytes of one."""
    types = Rows(keys, np.arange(len(keys)))
    numbers = types.int16()
    numbers[types.odd | ~mask(keys)] = -1
    return numbers


class Offsets:
    """The offsets of a batch, decoded.

    Args:
        keys, values: columns of the whole batch.
        chosen: the rows that are offsets, by their record types.
        legacy: of the whole batch: rows of the record type before Kafka 0.9.

    Attributes:
        columns: by name, of the whole batch; null in rows that are none of `chosen`.
        odd: of the whole batch: chosen rows that have to be decoded one by one.
    """

    def __init__(self, keys: pa.BinaryArray, values: pa.BinaryArray, chosen: Positions, legacy: Mask) -> None:
        self._count = len(keys)
        self._chosen = chosen
        self.columns: dict[str, pa.Array] = {}
        self.odd: Mask = np.zeros(self._count, np.bool_)
        self._keys(keys)
        self._values(values, legacy[chosen])

    def _put(self, name: str, values: pa.Array) -> None:
        self.columns[name] = scattered(values, self._chosen, self._count)

    def _keys(self, keys: pa.BinaryArray) -> None:
        rows = Rows(keys, self._chosen)
        rows.at += 2
        group = rows.cut(rows.int16().astype(np.int64))
        topic = rows.cut(rows.int16().astype(np.int64))
        partition = rows.int32()
        self._put("group_id", rows.text_of(group))
        self._put("topic", rows.text_of(topic))
        self._put("partition", pa.array(partition))
        self.odd[self._chosen] |= rows.odd

    def _values(self, values: pa.BinaryArray, legacy: Mask) -> None:
        present = mask(values)[self._chosen]
        rows = Rows(values, self._chosen)
        version = rows.int16()
        offset = rows.int64()
        with_epoch = version >= 3
        before_epoch = rows.at.copy()
        epoch = np.where(with_epoch, rows.int32(), -1).astype(np.int32)
        rows.odd &= with_epoch | (before_epoch > rows.end)
        rows.at = np.where(with_epoch, rows.at, before_epoch)
        size = _string_sizes(rows, version >= NEWEST)
        metadata = rows.cut(size)
        committed = rows.int64()
        expires = _own_expiry(rows, version == 1)
        rows.odd |= (version < 0) | (version > NEWEST) | (legacy & (version != 0))
        topic_id, known = _topic_ids(rows, version >= NEWEST)
        absent = ~present

        self._put("schema_version", pa.array(version, mask=absent))
        self._put("committed_offset", pa.array(offset, mask=absent))
        self._put("leader_epoch", pa.array(epoch, mask=absent))
        rows.odd &= present
        text = rows.text_of(metadata)
        self._put("metadata", pc.if_else(pa.array(present), text, pa.scalar(None, pa.string())))
        self._put("commit_ms", pa.array(committed, mask=absent))
        self._put("expire_ms", pa.array(expires, mask=absent))
        self._put("topic_id", _as_uuids(rows.bytes_of(topic_id), known & present))
        self.odd[self._chosen] |= rows.odd & present


def _string_sizes(rows: Rows, compact: Mask) -> Positions:
    """Lengths of the strings at the cursors: 16 bits, or a varint that is one more."""
    before, odd = rows.at.copy(), rows.odd.copy()
    if not compact.any():
        return rows.int16().astype(np.int64)
    short = rows.varint() - 1
    compact_at, compact_odd = rows.at, rows.odd
    if compact.all():
        return short
    rows.at, rows.odd = before, odd
    size = np.where(compact, short, rows.int16().astype(np.int64))
    rows.at = np.where(compact, compact_at, rows.at)
    rows.odd = np.where(compact, compact_odd, rows.odd)
    return size


def _own_expiry(rows: Rows, has: Mask) -> npt.NDArray[np.int64]:
    if not has.any():
        return np.full(len(has), NO_TIMESTAMP, np.int64)
    before, odd = rows.at, rows.odd.copy()
    found = np.where(has, rows.int64(), NO_TIMESTAMP)
    rows.at = np.where(has, rows.at, before)
    rows.odd = np.where(has, rows.odd, odd)
    return found


def _topic_ids(rows: Rows, has: Mask) -> tuple[tuple[Positions, Positions], Mask]:
    """Where topic ids are. No tags, and this tag alone, are what is written; everything else is odd."""
    nothing = rows.begin, rows.begin
    if not has.any():
        return nothing, has
    odd = rows.odd.copy()
    tags = rows.uint8()
    one = has & (tags == 1) & ~rows.odd
    odd |= has & (rows.odd | (tags > 1))
    if one.any():
        rows.odd = np.zeros_like(odd)
        plain = (rows.uint8() == 0) & (rows.uint8() == _UUID_BYTES) & (rows.at + _UUID_BYTES <= rows.end)
        odd |= one & ~plain
        one &= plain
        start = np.where(one, rows.at, rows.begin)
        rows.odd = odd
        return (start, np.where(one, start + _UUID_BYTES, start)), one
    rows.odd = odd
    return nothing, one


def _as_uuids(raw: pa.BinaryArray, known: Mask) -> pa.StringArray:
    """The usual notation. A batch has few topics, so that each is written once."""
    if not known.any():
        return pa.nulls(len(raw), pa.string())
    different = raw.dictionary_encode()
    texts = [
        str(uuid.UUID(bytes=one)) if len(one) == _UUID_BYTES and any(one) else None
        for one in different.dictionary.to_pylist()
    ]
    return pa.array(texts, pa.string()).take(different.indices)
