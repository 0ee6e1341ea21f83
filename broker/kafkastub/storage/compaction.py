"""What cleanup.policy=compact leaves of a log (Kafka: Cleaner, LogCleanerManager). Pure: time comes in.

Offsets stay as they are; of the records with one key the last stays. Departures from Kafka, all so that a test can
tell what is left: the newest segment is compacted as well, but for the log's last record, which always stays (a reader
that goes for the end offset gets there); min.cleanable.dirty.ratio does not put it off; and a tombstone's
delete.retention.ms count from when min.compaction.lag.ms had passed, not from when a cleaner happened to come by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkawire.errors import KafkaError
from kafkawire.records import Record, filtered_batch

from .segment import StoredBatch
from .settings import LogSettings


class Compacted(NamedTuple):
    """What a pass found.

    `changes` has an entry for each batch that is no longer what it was: by base offset, the new batch or None.
    `tombstone_ms` is when the next tombstone may go, None where there is none.
    """

    changes: dict[int, StoredBatch | None]
    tombstone_ms: int | None


def first_uncleanable(batches: Sequence[StoredBatch], settings: LogSettings, now_ms: int) -> int:
    """Index of the first batch that min.compaction.lag.ms still protects; appends come in the order of time."""
    low, high = 0, len(batches)
    while low < high:
        middle = (low + high) // 2
        if now_ms - batches[middle].appended_ms >= settings.min_compaction_lag_ms:
            low = middle + 1
        else:
            high = middle
    return low


def compact(batches: Sequence[StoredBatch], settings: LogSettings, now_ms: int) -> Compacted:
    """Compact at `now_ms`. A record that is superseded only by protected ones stays, as in Kafka.

    A record without a key goes: it came before the topic was compacted. A batch that can't be unpacked (its codec is
    not installed, or it is broken) stays whole, and so does a control batch; their keys supersede nothing.
    """
    readable: list[tuple[StoredBatch, list[Record]]] = []
    latest: dict[bytes, int] = {}
    for batch in batches[: first_uncleanable(batches, settings, now_ms)]:
        records = _records(batch)
        if records is not None:
            readable.append((batch, records))
            latest.update((record.key, record.offset) for record in records if record.key is not None)
    end = batches[-1].last_offset if batches else -1
    changes: dict[int, StoredBatch | None] = {}
    tombstones: list[int] = []
    for batch, records in readable:
        horizon = batch.appended_ms + settings.min_compaction_lag_ms + settings.delete_retention_ms
        kept = []
        for record in records:
            if record.offset != end and (record.key is None or latest[record.key] != record.offset):
                continue
            if record.value is None and record.key is not None and record.offset != end:
                if now_ms > horizon:
                    continue
                tombstones.append(horizon + 1)
            kept.append(record)
        if len(kept) < len(records):
            changes[batch.base_offset] = _only(batch, kept) if kept else None
    return Compacted(changes, min(tombstones, default=None))


def _records(batch: StoredBatch) -> list[Record] | None:
    if batch.header().control:
        return None
    try:
        return list(batch.records())
    except KafkaError:  # the codec is missing, or the bytes are none of its
        return None


def _only(batch: StoredBatch, kept: Sequence[Record]) -> StoredBatch:
    header, payload = filtered_batch(batch.header(), kept)
    return StoredBatch(header, payload, batch.appended_ms)
