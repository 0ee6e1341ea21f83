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

from kafkastub_pipeline.decode.buffers import Mask, Positions, Rows, mask, masked, scattered
from kafkawire.messages.offset_commit_value import OffsetCommitValue
from kafkawire.offsets_topic import RecordType

NEWEST: Final = OffsetCommitValue.VERSIONS[1]
NO_TIMESTAMP: Final = -1
_UUID_BYTES: Final = 16
_LEAST_KEY_BYTES: Final = 2 + 2 + 2 + 4
_NONE_IS_ENOUGH: Final = 2**40
_LEAST_BYTES: Final = np.array([20, 28, 20, 24, 24, _NONE_IS_ENOUGH, _NONE_IS_ENOUGH])
"""Of a value, by its version: with fewer bytes it cannot be whole. The last two are of versions above (5) and below
(-1, counted from the end) those that there are."""


class Offsets:
    """The offsets of a batch: where their parts are, and whether these are sound. `columns` and `sound` copy them out.

    Nearly all rows are offsets. So all are read, and the others are odd from the beginning: to choose rows before, or
    to spread over all what is found of some, costs twice as much.

    Args:
        keys, values: columns of the whole batch.

    Attributes:
        types: the record type in front of each key; -1 where there are not two bytes of one.
    """

    def __init__(self, keys: pa.BinaryArray, values: pa.BinaryArray) -> None:
        self._keys, self._values = Rows(keys), Rows(values)
        self.types: npt.NDArray[np.int16] = self._keys.int16()
        self.types[self._keys.odd | ~mask(keys)] = -1
        self._legacy: Mask = self.types == RecordType.LEGACY_OFFSET_COMMIT
        self._chosen: Mask = self._legacy | (self.types == RecordType.OFFSET_COMMIT)
        self._others = ~self._chosen
        self._present = mask(values)
        self._texts_known = False
        self._read_keys()
        self._read_values()

    def _read_keys(self) -> None:
        rows = self._keys
        rows.odd |= self._others
        self._group = rows.cut(rows.int16().astype(np.int64))
        self._topic = rows.cut(rows.int16().astype(np.int64))
        self._partition = rows.int32()

    def _read_values(self) -> None:
        rows = self._values
        rows.odd |= self._others
        self._version = version = rows.int16()
        self._offset = rows.int64()
        with_epoch = version >= 3
        before_epoch = rows.at.copy()
        self._epoch = np.where(with_epoch, rows.int32(), -1).astype(np.int32)
        rows.odd &= with_epoch | self._others | (before_epoch > rows.end)
        rows.at = np.where(with_epoch, rows.at, before_epoch)
        size = _string_sizes(rows, version >= NEWEST)
        self._metadata = rows.cut(size)
        self._committed = rows.int64()
        self._expires = _own_expiry(rows, version == 1)
        rows.odd |= (version < 0) | (version > NEWEST) | (self._legacy & (version != 0))
        self._topic_id, self._known = _topic_ids(rows, version >= NEWEST)
        rows.odd &= self._present | self._others

    def _odd(self) -> Mask:
        return self._chosen & (self._keys.odd | (self._values.odd & self._present))

    def _whole(self) -> Positions:
        """The offsets that are not odd; before `_texts`, some of them may be found to be no UTF-8."""
        return np.flatnonzero(self._chosen & ~self._odd())

    def columns(self) -> tuple[dict[str, pa.Array], Mask]:
        """The columns by name, and the rows that have to be decoded one by one.

        Columns are null in rows that are none of the chosen, and in those where they cannot be read.
        """
        texts = self._texts(np.arange(len(self._present)))
        odd = self._odd()
        absent = self._others | ~self._present | odd
        return self._as_columns(slice(None), texts, self._keys.odd, absent), odd

    def sound(self) -> tuple[dict[str, pa.Array], Positions]:
        """The columns by name, of the rows alone that need not be decoded one by one; and which rows these are."""
        at = self._whole()
        texts = self._texts(at)
        left = ~self._odd()[at]
        if not left.all():
            at, texts = at[left], [text.filter(pa.array(left)) for text in texts]
        return self._as_columns(at, texts, np.zeros(len(at), np.bool_), ~self._present[at]), at

    def _texts(self, at: Positions) -> list[pa.StringArray]:
        """Groups, topics and metadata of some rows; those that are no UTF-8 become odd."""
        self._texts_known = True
        cuts = (self._keys, self._group), (self._keys, self._topic), (self._values, self._metadata)
        return [rows.text_at(cut, at) for rows, cut in cuts]

    def _as_columns(
        self, at: Positions | slice, texts: list[pa.StringArray], no_key: Mask, absent: Mask
    ) -> dict[str, pa.Array]:
        group, topic, metadata = texts
        topic_id = self._topic_id[0][at], self._topic_id[1][at]
        return {
            "group_id": masked(group, no_key),
            "topic": masked(topic, no_key),
            "partition": pa.array(self._partition[at], mask=no_key),
            "schema_version": pa.array(self._version[at], mask=absent),
            "committed_offset": pa.array(self._offset[at], mask=absent),
            "leader_epoch": pa.array(self._epoch[at], mask=absent),
            "metadata": masked(metadata, absent),
            "commit_ms": pa.array(self._committed[at], mask=absent),
            "expire_ms": pa.array(self._expires[at], mask=absent),
            "topic_id": _as_uuids(self._values, topic_id, self._known[at] & ~absent),
        }

    def refused(self) -> Mask:
        """The offsets whose keys are known from their columns, and whose values cannot be whole; behind `columns`."""
        return self._chosen & ~self._keys.odd & self._hopeless()

    def _hopeless(self) -> Mask:
        """Values of fewer bytes than their versions have, or of versions that there are not."""
        least = _LEAST_BYTES[np.clip(self._version, -1, NEWEST + 1)]
        return self._present & (self._values.end - self._values.begin < least)

    def verdict(self) -> tuple[Mask, Mask, Mask]:
        """The offsets that are sound, those of which only decoding one by one can tell, and those whose key is written
        as every broker since 0.9 writes it.
        """
        if not self._texts_known:
            self._texts(self._whole())
        odd = self._odd()
        hopeless = self._hopeless() | (self._keys.end - self._keys.begin < _LEAST_KEY_BYTES)
        return self._chosen & ~odd, odd & ~hopeless, ~self._legacy & (self._keys.at == self._keys.end)


def _string_sizes(rows: Rows, compact: Mask) -> Positions:
    """Lengths of the strings at the cursors: 16 bits, or a varint that is one more."""
    at = np.flatnonzero(compact)
    if not len(at):
        return rows.int16().astype(np.int64)
    some = rows.only(at)
    short = some.varint() - 1
    if len(at) == len(compact):
        rows.at, rows.odd = some.at, some.odd
        return short
    size = rows.int16().astype(np.int64)
    size[at], rows.at[at], rows.odd[at] = short, some.at, some.odd
    return size


def _own_expiry(rows: Rows, has: Mask) -> npt.NDArray[np.int64]:
    found = np.full(len(has), NO_TIMESTAMP, np.int64)
    at = np.flatnonzero(has)
    if len(at):
        some = rows.only(at)
        found[at] = some.int64()
        rows.at[at], rows.odd[at] = some.at, some.odd
    return found


def _topic_ids(rows: Rows, has: Mask) -> tuple[tuple[Positions, Positions], Mask]:
    """Where topic ids are. No tags, and this tag alone, are what is written; everything else is odd."""
    start, end, known = rows.begin.copy(), rows.begin.copy(), np.zeros_like(has)
    at = np.flatnonzero(has)
    if len(at):
        some = rows.only(at)
        tags = some.uint8()
        one = (tags == 1) & ~some.odd
        odd = some.odd | (tags > 1)
        plain = (some.uint8() == 0) & (some.uint8() == _UUID_BYTES) & (some.at + _UUID_BYTES <= some.end)
        rows.odd[at] = odd | (one & ~plain)
        known[at] = one & plain
        start[known] = some.at[one & plain]
        end[known] = start[known] + _UUID_BYTES
    return (start, end), known


def _as_uuids(rows: Rows, cut: tuple[Positions, Positions], known: Mask) -> pa.StringArray:
    """The usual notation, null where it is not known. A batch has few topics, so that each is written once."""
    count = len(known)
    at = np.flatnonzero(known)
    if not len(at):
        return pa.nulls(count, pa.string())
    different = rows.bytes_of((cut[0][at], cut[1][at])).dictionary_encode()
    texts = [str(uuid.UUID(bytes=one)) if any(one) else None for one in different.dictionary.to_pylist()]
    return scattered(pa.array(texts, pa.string()).take(different.indices), at, count)
