"""`__share_group_state`: records decoded one by one, and put together to what is known of share partitions (KIP-932).

A snapshot has all of a share partition, an update what has changed since; the topic is not compacted. Where several
records tell of an offset, that one counts which says that it was delivered more often, and of those the higher state.
Kafka: ShareCoordinatorRecordSerde, ShareCoordinatorShard.replay, PersisterStateBatchCombiner.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from kafkastub_pipeline.here import mapped
from kafkastub_pipeline.topics import SHARES
from kafkawire.codec import decode_from
from kafkawire.errors import MalformedMessage
from kafkawire.messages.share_snapshot_key import ShareSnapshotKey
from kafkawire.messages.share_snapshot_value import ShareSnapshotValue
from kafkawire.messages.share_update_key import ShareUpdateKey
from kafkawire.messages.share_update_value import ShareUpdateValue

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ARCHIVED: Final = "archived"
STATES: Final = {0: "available", 2: "acknowledged", 3: "archiving", 4: ARCHIVED}
"""Kafka: RecordState, as far as it is written; acquired records are written as what they were before."""
KEYS: Final = {0: (ShareSnapshotKey, ShareSnapshotValue), 1: (ShareUpdateKey, ShareUpdateValue)}
_UNSET: Final = -1
_int16 = struct.Struct(">h")

_KEYED_DDL: Final = (
    "group_id string, topic_id string, `partition` int, log_partition int, log_offset bigint, log_ms bigint,"
    " `key` binary, `value` binary"
)
_KEYED: Final = pa.schema(
    [
        ("group_id", pa.string()),
        ("topic_id", pa.string()),
        ("partition", pa.int32()),
        ("log_partition", pa.int32()),
        ("log_offset", pa.int64()),
        ("log_ms", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
    ]
)
_FOLDED: Final = pa.schema(
    [
        ("group_id", pa.string()),
        ("topic_id", pa.string()),
        ("partition", pa.int32()),
        ("snapshot_epoch", pa.int32()),
        ("state_epoch", pa.int32()),
        ("leader_epoch", pa.int32()),
        ("start_offset", pa.int64()),
        ("delivery_complete_count", pa.int32()),
        ("last_offset", pa.int64()),
        *((name, pa.int64()) for name in STATES.values()),
        ("max_delivery_count", pa.int32()),
        ("redelivered", pa.int64()),
        ("given_up", pa.int64()),
        ("undecoded", pa.int64()),
        ("log_partition", pa.int32()),
        ("log_offset", pa.int64()),
        ("log_ms", pa.int64()),
    ]
)
_FOLDED_DDL: Final = (
    "group_id string, topic_id string, `partition` int, snapshot_epoch int, state_epoch int, leader_epoch int,"
    " start_offset bigint, delivery_complete_count int, last_offset bigint, available bigint, acknowledged bigint,"
    " archiving bigint, archived bigint, max_delivery_count int, redelivered bigint,"
    " given_up bigint, undecoded bigint, log_partition int,"
    " log_offset bigint, log_ms bigint"
)


class Batch(NamedTuple):
    """Neighbouring offsets of one state."""

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int


def share_partitions_of(raw: DataFrame) -> DataFrame:
    """What the records leave of each share partition: a row each, of those that are known.

    Args:
        raw: as `decode.plain` gives it. What has no key that can be read is left out.
    """
    return mapped(keyed(raw), _folded, _FOLDED_DDL)


def keyed(raw: DataFrame) -> DataFrame:
    """The records with the group, topic id and partition of their keys, those of each sorted as on the log."""
    return (
        mapped(raw, _keyed, _KEYED_DDL)
        .repartition("group_id", "topic_id", "partition")
        .sortWithinPartitions("group_id", "topic_id", "partition", "log_partition", "log_offset")
    )


def _keyed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs in a worker: whose each record is."""
    for batch in batches:
        rows = []
        for row in batch.to_pylist():
            key = _key_of(row["key"])
            if key is not None:
                names = ("log_partition", "log_offset", "log_ms", "key", "value")
                about = {
                    "group_id": key.group_id,
                    "topic_id": str(uuid.UUID(bytes=bytes(key.topic_id))),
                    "partition": key.partition,
                }
                rows.append(about | {name: row[name] for name in names})
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=_KEYED)


def _key_of(key: bytes | None) -> Any:
    """None of what is no key of the topic."""
    if key is None or len(key) < 2 or (kind := _int16.unpack_from(key)[0]) not in KEYS:
        return None
    try:
        return decode_from(KEYS[kind][0], 0, key, 2)[0]
    except MalformedMessage:
        return None


def _folded(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs in a worker over records sorted by share partition and place on the log."""
    rows = (row for batch in batches for row in batch.to_pylist())
    for place, records in groupby(rows, key=lambda row: (row["group_id"], row["topic_id"], row["partition"])):
        known = SharePartition()
        row: dict[str, Any] = {}
        for row in records:
            known.take(row["key"], row["value"])
        if known.snapshot_epoch is not None:
            about = dict(zip(("group_id", "topic_id", "partition"), place, strict=True))
            last = {name: row[name] for name in ("log_partition", "log_offset", "log_ms")}
            yield pa.RecordBatch.from_pylist([about | known.row() | last], schema=_FOLDED)


class SharePartition:
    """A share partition as its records make it, one after the other.

    Attributes:
        snapshot_epoch: None where nothing is known of it.
        undecoded: so many of its records could not be read since the last snapshot.
        redelivered, given_up: records before the start offset that were delivered more than once, or archived.
    """

    def __init__(self) -> None:
        self.snapshot_epoch: int | None = None
        self.state_epoch = self.leader_epoch = 0
        self.start_offset = self.delivery_complete_count = _UNSET
        self.batches: list[Batch] = []
        self.undecoded = self.redelivered = self.given_up = 0

    def take(self, key: bytes, value: bytes | None) -> None:
        """Apply a record whose key could be read."""
        is_snapshot = _int16.unpack_from(key)[0] == 0
        if value is None:
            if is_snapshot:
                self.snapshot_epoch, self.batches = None, []
            return
        try:
            if len(value) < 2 or _int16.unpack_from(value)[0] != 0:
                raise MalformedMessage(f"record of {SHARES}", "value", 0, "its version is not known")
            message: Any = decode_from(KEYS[0 if is_snapshot else 1][1], 0, value, 2)[0]
        except MalformedMessage:
            self.undecoded += 1
            return
        batches = [
            Batch(one.first_offset, one.last_offset, one.delivery_state, one.delivery_count)
            for one in message.state_batches
        ]
        self.delivery_complete_count = message.delivery_complete_count
        if is_snapshot:
            if self.snapshot_epoch is not None and message.state_epoch == self.state_epoch:
                self._leave(self.batches, message.start_offset)
            self.snapshot_epoch, self.state_epoch = message.snapshot_epoch, message.state_epoch
            self.leader_epoch, self.start_offset = message.leader_epoch, message.start_offset
            self.batches, self.undecoded = batches, 0
            return
        if self.snapshot_epoch is None:  # its snapshot is not on the log any more
            self.snapshot_epoch = message.snapshot_epoch
        if message.leader_epoch != _UNSET:
            self.leader_epoch = message.leader_epoch
        known = combined([*self.batches, *batches], self.start_offset)
        if message.start_offset != _UNSET:
            self._leave(known, message.start_offset)
            self.start_offset = message.start_offset
        self.batches = combined(known, self.start_offset)

    def _leave(self, batches: Iterable[Batch], start_offset: int) -> None:
        """Count what the group has left behind its start offset."""
        for one in batches:
            size = min(one.last_offset, start_offset - 1) - one.first_offset + 1
            if size > 0:
                self.redelivered += size if one.delivery_count > 1 else 0
                self.given_up += size if STATES.get(one.delivery_state) == ARCHIVED else 0

    def row(self) -> dict[str, Any]:
        """The columns that do not say where it is."""
        counts = dict.fromkeys(STATES.values(), 0)
        for one in self.batches:
            if one.delivery_state in STATES:
                counts[STATES[one.delivery_state]] += size_of(one)
        return {
            "snapshot_epoch": self.snapshot_epoch,
            "state_epoch": self.state_epoch,
            "leader_epoch": self.leader_epoch,
            "start_offset": None if self.start_offset == _UNSET else self.start_offset,
            "delivery_complete_count": None if self.delivery_complete_count < 0 else self.delivery_complete_count,
            "last_offset": max((one.last_offset for one in self.batches), default=None),
            "redelivered": self.redelivered + sum(size_of(one) for one in self.batches if one.delivery_count > 1),
            "given_up": self.given_up + counts[ARCHIVED],
            "max_delivery_count": max((one.delivery_count for one in self.batches), default=None),
            "undecoded": self.undecoded,
            **counts,
        }


def size_of(batch: Batch) -> int:
    """How many records it is of."""
    return batch.last_offset - batch.first_offset + 1


def combined(batches: Iterable[Batch], start_offset: int) -> list[Batch]:
    """Without overlaps, ascending; what is before the start offset is left out. What ends before it begins is too."""
    edges: list[tuple[int, int, tuple[int, int]]] = []
    for first, last, state, count in batches:
        first = max(first, start_offset)
        if first <= last:
            edges += ((first, 1, (count, state)), (last + 1, -1, (count, state)))
    edges.sort()
    there: dict[tuple[int, int], int] = {}
    found: list[Batch] = []
    begin = 0
    for offset, change, rank in edges:
        if there and offset > begin:
            count, state = max(there)
            before = found[-1] if found else None
            if before is not None and before[1:] == (begin - 1, state, count):
                found[-1] = before._replace(last_offset=offset - 1)
            else:
                found.append(Batch(begin, offset - 1, state, count))
        begin = offset
        there[rank] = there.get(rank, 0) + change
        if not there[rank]:
            del there[rank]
    return found
