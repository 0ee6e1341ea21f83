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
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kafkastub_pipeline.decode.buffers import Mask, Positions, Rows, mask, masked, numbers, present
from kafkawire.messages.offset_commit_value import OffsetCommitValue
from kafkawire.offsets_topic import RecordType

NEWEST: Final = OffsetCommitValue.VERSIONS[1]
NO_TIMESTAMP: Final = -1
_UUID_BYTES: Final = 16
_LEAST_KEY_BYTES: Final = 2 + 2 + 2 + 4
_FRONT: Final = np.dtype([("version", ">i2"), ("offset", ">i8"), ("epoch", ">i4")])
"""Of a value of version 3 or 4; an older one has no epoch, and is longer than this all the same."""
_BEHIND_OFFSET, _BEHIND_EPOCH = 2 + 8, 2 + 8 + 4
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
        front = rows.fields(_FRONT)
        self._version = version = front["version"].astype(np.int16)
        self._offset = front["offset"].astype(np.int64)
        with_epoch = version >= 3
        self._epoch = np.where(with_epoch, front["epoch"], -1).astype(np.int32)
        rows.skip(np.where(with_epoch, _BEHIND_EPOCH, _BEHIND_OFFSET))
        size = _string_sizes(rows, version >= NEWEST)
        self._metadata = rows.cut(size)
        self._committed = rows.int64()
        self._expires = _own_expiry(rows, version == 1)
        rows.odd |= (version < 0) | (version > NEWEST) | (self._legacy & (version != 0))
        self._topic_id, self._known = _topic_ids(rows, version >= NEWEST)
        rows.odd &= self._present | self._others

    def _odd(self) -> Mask:
        return self._chosen & (self._keys.odd | (self._values.odd & self._present))

    def _whole(self) -> Mask:
        """The offsets that are not odd; before `_texts`, some of them may be found to be no UTF-8."""
        return self._chosen & ~self._odd()

    def columns(self) -> tuple[dict[str, pa.Array], Mask]:
        """The columns by name, and the rows that have to be decoded one by one.

        Columns are null in rows that are none of the chosen, and in those where they cannot be read.
        """
        texts = self._texts(slice(None))
        odd = self._odd()
        absent = self._others | ~self._present | odd
        return self._as_columns(slice(None), texts, self._keys.odd, absent), odd

    def sound(self) -> tuple[dict[str, pa.Array], Mask]:
        """The columns by name, of the rows alone that need not be decoded one by one; and which rows these are."""
        whole = self._whole()
        texts = self._texts(whole)
        sound = self._whole()
        left = sound[whole]
        if not left.all():
            texts = [text.filter(pa.array(left)) for text in texts]
        return self._as_columns(sound, texts, np.zeros(len(texts[0]), np.bool_), ~self._present[sound]), sound

    def _texts(self, chosen: Mask | slice) -> list[pa.StringArray]:
        """Groups, topics and metadata of some rows; those that are no UTF-8 become odd."""
        self._texts_known = True
        cuts = (self._keys, self._group), (self._keys, self._topic), (self._values, self._metadata)
        return [rows.text_of(cut, chosen) for rows, cut in cuts]

    def _as_columns(
        self, chosen: Mask | slice, texts: list[pa.StringArray], no_key: Mask, absent: Mask
    ) -> dict[str, pa.Array]:
        group, topic, metadata = texts
        keys, values = present(no_key), present(absent)
        return {
            "group_id": masked(group, keys),
            "topic": masked(topic, keys),
            "partition": numbers(self._partition[chosen], keys),
            "schema_version": numbers(self._version[chosen], values),
            "committed_offset": numbers(self._offset[chosen], values),
            "leader_epoch": numbers(self._epoch[chosen], values),
            "metadata": masked(metadata, values),
            "commit_ms": numbers(self._committed[chosen], values),
            "expire_ms": numbers(self._expires[chosen], values),
            "topic_id": _as_uuids(self._values, self._topic_id[chosen], self._known[chosen] & ~absent),
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


def _topic_ids(rows: Rows, has: Mask) -> tuple[Positions, Mask]:
    """Where topic ids begin, and which rows have one. No tags, and this tag alone, are written; others are odd."""
    start, known = np.zeros(len(has), np.int64), np.zeros_like(has)
    at = np.flatnonzero(has)
    if len(at):
        some = rows.only(at)
        tags = some.uint8()
        one = (tags == 1) & ~some.odd
        odd = some.odd | (tags > 1)
        plain = (some.uint8() == 0) & (some.uint8() == _UUID_BYTES) & (some.at + _UUID_BYTES <= some.end)
        rows.odd[at] = odd | (one & ~plain)
        known[at] = one & plain
        start[at] = some.at
    return start, known


def _as_uuids(rows: Rows, start: Positions, known: Mask) -> pa.StringArray:
    """The usual notation, null where it is not known. A batch has few topics, so that each is written once."""
    at = np.flatnonzero(known)
    if not len(at):
        return pa.nulls(len(known), pa.string())
    begin = start[at]
    different = rows.bytes_of((begin, begin + _UUID_BYTES)).dictionary_encode()
    texts = pa.array(map(_as_uuid, different.dictionary.to_pylist()), pa.string())
    number = np.zeros(len(known), np.int32)
    number[at] = different.indices
    return texts.take(pa.array(number, mask=~known))


@lru_cache(maxsize=10_000)
def _as_uuid(raw: bytes) -> str | None:
    """Other batches have the same topics."""
    return str(uuid.UUID(bytes=raw)) if any(raw) else None
