"""What cleanup.policy=compact leaves of a log (Kafka: Cleaner, LogCleanerManager). Pure: time comes in.

Offsets stay as they are; of the records with one key the last stays. Departures from Kafka, all so that a test can
tell what is left: the newest segment is compacted as well, but for the log's last record, which always stays (a reader
that goes for the end offset gets there); min.cleanable.dirty.ratio does not put it off; and a tombstone's
delete.retention.ms count from when min.compaction.lag.ms had passed, not from when a cleaner happened to come by.

Of transactions (CleanedTransactionMetadata): nothing is touched from the last stable offset on. What was aborted goes,
and supersedes nothing. A marker goes when nothing is left of its transaction, no sooner than a tombstone of its age.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from kafkawire.errors import KafkaError
from kafkawire.records import BatchHeader, Record, filtered_batch

from .segment import StoredBatch
from .settings import LogSettings
from .transactions import AbortedTransaction

_INT64_MAX: Final = (1 << 63) - 1


class Compacted(NamedTuple):
    """What a pass found.

    `changes` has an entry for each batch that is no longer what it was: by base offset, the new batch or None.
    `tombstone_ms` is when the next tombstone or marker may go, None where there is none.
    """

    changes: dict[int, StoredBatch | None]
    tombstone_ms: int | None


class _Cleanable(NamedTuple):
    """A batch that compaction may change. `records` is None where nobody looked: a marker, what was aborted, or what
    cannot be unpacked.
    """

    batch: StoredBatch
    header: BatchHeader
    records: list[Record] | None
    aborted: bool


def first_uncleanable(batches: Sequence[StoredBatch], settings: LogSettings, now_ms: int, stable: int) -> int:
    """Index of the first batch that min.compaction.lag.ms still protects, or that is not before the last stable offset.

    Appends come in the order of time.
    """
    low, high = 0, bisect_left(batches, stable, key=_base_offset)
    while low < high:
        middle = (low + high) // 2
        if now_ms - batches[middle].appended_ms >= settings.min_compaction_lag_ms:
            low = middle + 1
        else:
            high = middle
    return low


def compact(
    batches: Sequence[StoredBatch],
    settings: LogSettings,
    now_ms: int,
    *,
    stable: int = _INT64_MAX,
    aborted: Sequence[AbortedTransaction] = (),
) -> Compacted:
    """Compact at `now_ms`. A record that is superseded only by protected ones stays, as in Kafka.

    A record without a key goes: it came before the topic was compacted. A batch that can't be unpacked (its codec is
    not installed, or it is broken) stays whole; its keys supersede nothing. `stable` is the last stable offset;
    `aborted` are all transactions that were, in the order of their markers.
    """
    cleanable = list(_cleanable(batches[: first_uncleanable(batches, settings, now_ms, stable)], aborted))
    latest: dict[bytes, int] = {}
    for one in cleanable:
        if one.records is not None:
            latest.update((record.key, record.offset) for record in one.records if record.key is not None)
    end = batches[-1].last_offset if batches else -1
    changes: dict[int, StoredBatch | None] = {}
    due: list[int] = []
    in_transaction: set[int] = set()
    """Producers of whose transaction something is left, up to where we are."""
    for batch, header, records, was_aborted in cleanable:
        horizon = batch.appended_ms + settings.min_compaction_lag_ms + settings.delete_retention_ms
        if header.control:
            if header.producer_id in in_transaction:
                in_transaction.remove(header.producer_id)
            elif batch.last_offset != end and now_ms > horizon:
                changes[batch.base_offset] = None
            elif batch.last_offset != end:
                due.append(horizon + 1)
            continue
        if was_aborted:
            changes[batch.base_offset] = None
            continue
        kept = []
        for record in records or ():
            if record.offset != end and (record.key is None or latest[record.key] != record.offset):
                continue
            if record.value is None and record.key is not None and record.offset != end:
                if now_ms > horizon:
                    continue
                due.append(horizon + 1)
            kept.append(record)
        if records is not None and len(kept) < len(records):
            changes[batch.base_offset] = _only(batch, kept) if kept else None
        if header.transactional and (kept or records is None):
            in_transaction.add(header.producer_id)
    return Compacted(changes, min(due, default=None))


def _cleanable(batches: Iterable[StoredBatch], aborted: Sequence[AbortedTransaction]) -> Iterator[_Cleanable]:
    """Each batch with its records, and whether it is of an aborted transaction."""
    to_come = deque(sorted(aborted, key=lambda one: one.first_offset))
    open_aborted: dict[int, AbortedTransaction] = {}
    for batch in batches:
        header = batch.header()
        while to_come and to_come[0].first_offset <= batch.last_offset:
            one = to_come.popleft()
            open_aborted[one.producer_id] = one
        of = open_aborted.get(header.producer_id) if header.transactional else None
        was_aborted = of is not None and batch.base_offset < of.last_offset
        unread = header.control or was_aborted
        yield _Cleanable(batch, header, None if unread else _records(batch), was_aborted)


def _records(batch: StoredBatch) -> list[Record] | None:
    try:
        return list(batch.records())
    except KafkaError:  # the codec is missing, or the bytes are none of its
        return None


def _base_offset(batch: StoredBatch) -> int:
    return batch.base_offset


def _only(batch: StoredBatch, kept: Sequence[Record]) -> StoredBatch:
    header, payload = filtered_batch(batch.header(), kept)
    return StoredBatch(header, payload, batch.appended_ms)
