"""A snapshot of saved records of `__consumer_offsets`, as the pipeline reads them with `--raw`: groups and offsets.

The records say which topics there are, as far as groups have committed on them. Their logs are empty and end at the
largest offset that anybody has committed.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from kafkastub.cluster_snapshots import assembled
from kafkastub.cluster_snapshots.archive import Archive
from kafkastub.cluster_snapshots.taking import Taken
from kafkastub.coordinator import OffsetCommit, Record, partition_for
from kafkastub.metadata import CONSUMER_OFFSETS, PartitionState
from kafkastub.metadata.ids import uuid_text
from kafkastub.state import persisted
from kafkastub.state.internal_topics.offsets_codec import OffsetsCodec
from kafkastub.state.snapshots import documents
from kafkastub.state.snapshots.saved import SavedNode
from kafkawire.errors import MalformedMessage
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import ZERO_UUID

_COLUMNS: Final = ("key", "value", "partition", "offset", "timestamp")
_USUAL_PARTITIONS: Final = 50
_MOST_PARTITIONS: Final = 1000
_AT_ONCE: Final = 10_000
"""Records that are read at a time."""
_MOST_IN_BATCH: Final = 500
_LARGEST_DELTA: Final = (1 << 31) - 1
_MOST_OF_TOPIC: Final = 100_000
"""Partitions of a topic that offsets were committed on; more are a damaged record."""
_LOST: Final = (
    "saved records have groups and offsets; topics are as groups have committed on them, and all else is missing"
)
_NODE: Final = 1


class _Last(NamedTuple):
    """The last record of a key."""

    partition: int
    offset: int
    value: bytes | None
    timestamp_ms: int


def of_raw(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> Taken:
    """Write a snapshot of saved records to a file. It blocks. Broker time is that of the newest record.

    Raises ImportError without pyarrow (extra `journal`); ValueError for what are no saved records; OSError.
    """
    last, newest_ms = _last_records(folder)
    codec, groups, ends = OffsetsCodec(3), dict[str, int](), dict[tuple[str, int], int]()
    topic_ids, epochs = dict[str, bytes](), dict[tuple[str, int], int]()
    for key, one in last.items():
        record = _decoded(codec, key, one.value)
        if record is None:
            continue
        groups[codec.owner(record)] = one.partition
        if isinstance(record, OffsetCommit):
            if record.topic_id != ZERO_UUID:
                topic_ids[record.topic] = record.topic_id
            for partition, committed in record.each():
                place = record.topic, partition
                ends[place] = max(ends.get(place, 0), committed.offset)
                epochs[place] = max(epochs.get(place, 0), committed.leader_epoch)
                newest_ms = max(newest_ms, committed.commit_timestamp)
    partitions = _partitions(groups, folder)
    cluster_id = uuid_text(uuid.uuid4().bytes)
    with Archive(path) as archive:
        by_partition = groupby(last.items(), key=lambda item: item[1].partition)
        logs = {partition: _write(archive, partition, list(own)) for partition, own in by_partition}
        offsets_logs = [logs.get(index, documents.NEW) for index in range(partitions)]
        topics = [_topic(CONSUMER_OFFSETS, uuid.uuid4().bytes, offsets_logs)]
        for name, places in groupby(sorted(ends), key=lambda place: place[0]):
            count = 1 + max(index for _, index in places)
            if count > _MOST_OF_TOPIC:
                raise ValueError(
                    f"{folder} has an offset of {name}-{count - 1}: {_MOST_OF_TOPIC} partitions are allowed"
                )
            of_topic = [_empty_log(ends.get((name, i), 0), epochs.get((name, i), 0)) for i in range(count)]
            topics.append(_topic(name, topic_ids.get(name) or uuid.uuid4().bytes, of_topic))
        missing = [(str(folder), _LOST)]
        nodes = [SavedNode(_NODE, None, True, True, None)]
        archive.document(
            assembled.document(
                topics, cluster_id=cluster_id, nodes=nodes, controller_id=_NODE, broker_ms=newest_ms, missing=missing
            )
        )
    return Taken(cluster_id, len(topics) - 1, len(ends), missing)


def _last_records(folder: str | os.PathLike[str]) -> tuple[dict[bytes, _Last], int]:
    """The last record of each key, in the order of partitions and offsets; and the time of the newest of all."""
    last: dict[bytes, _Last] = {}
    newest_ms = 0
    for key, value, partition, offset, at in _rows(folder):
        newest_ms = max(newest_ms, at)
        if key is not None and (key not in last or last[key].offset < offset):
            last[key] = _Last(partition, offset, value, at)
    there = ((key, one) for key, one in last.items() if one.value is not None)
    return dict(sorted(there, key=lambda item: item[1][:2])), newest_ms


def _rows(folder: str | os.PathLike[str]) -> Iterator[tuple[bytes | None, bytes | None, int, int, int]]:
    try:
        pa, dataset = import_module("pyarrow"), import_module("pyarrow.dataset")
    except ImportError:
        raise ImportError("saved records are Parquet, which needs pyarrow: pip install 'kafkastub[journal]'") from None
    try:
        if not Path(folder).exists():
            raise ValueError("there is no such folder")
        found = dataset.dataset(str(folder), format="parquet")
        lacking = [name for name in _COLUMNS if name not in found.schema.names]
        if lacking:
            raise ValueError(f"the column {lacking[0]} is not there")
        millis = pa.timestamp("ms", tz=found.schema.field("timestamp").type.tz)
        for batch in found.to_batches(columns=list(_COLUMNS), batch_size=_AT_ONCE):
            times = batch.column("timestamp").cast(millis, safe=False).cast(pa.int64())
            columns = [batch.column(name).to_pylist() for name in _COLUMNS[:-1]]
            yield from zip(*columns, times.to_pylist(), strict=True)
    except (ValueError, TypeError, AttributeError, pa.ArrowException) as error:
        raise ValueError(f"{folder} has no saved records in Parquet with the columns of --raw: {error}") from None


def _decoded(codec: OffsetsCodec, key: bytes, value: bytes | None) -> Record | None:
    try:
        return codec.decode(key, value)
    except MalformedMessage:
        return None


def _partitions(groups: dict[str, int], folder: str | os.PathLike[str]) -> int:
    """How many partitions the topic has: with another number groups would be in other ones. Raises ValueError."""
    candidates: list[int] = [_USUAL_PARTITIONS, *range(1 + max(groups.values(), default=0), _MOST_PARTITIONS + 1)]
    for count in candidates:
        if all(partition_for(group_id, count) == partition for group_id, partition in groups.items()):
            return count
    raise ValueError(f"{folder} has records of more than one topic: no number of partitions is that of all groups")


def _write(archive: Archive, partition: int, own: list[tuple[bytes, _Last]]) -> dict[str, Any]:
    """A partition of the topic, with its records in order."""
    start = own[0][1].offset
    archive.begin(CONSUMER_OFFSETS, partition, start)
    first = 0
    while first < len(own):
        base = own[first][1].offset
        some = [item for item in own[first : first + _MOST_IN_BATCH] if item[1].offset - base <= _LARGEST_DELTA]
        records = [NewRecord(key, one.value, one.timestamp_ms) for key, one in some]
        deltas = [one.offset - base for _, one in some]
        archive.write(build_batch(records, base_offset=base, leader_epoch=0, offset_deltas=deltas))
        first += len(some)
    archive.end()
    return documents.log_document(start, own[-1][1].offset + 1, [[0, 0]], [], [], [start])


def _empty_log(end: int, epoch: int) -> dict[str, Any]:
    return documents.log_document(0, end, [[epoch, 0]], [], [], [])


def _topic(name: str, topic_id: bytes, logs: Iterable[dict[str, Any]]) -> str:
    partitions = [
        {**persisted.partition(PartitionState(index, _NODE, max(e for e, _ in log["epochs"]), [_NODE], [_NODE])), **log}
        for index, log in enumerate(logs)
    ]
    return assembled.topic(name, topic_id, {}, partitions)
