"""What cleanup.policy=compact leaves of a log (Kafka: Cleaner, LogCleanerManager). Pure: time comes in.

Offsets stay as they are; of the records with one key the last stays. Departures from Kafka, all so that a test can
tell what is left: the newest segment is compacted as well, but for the log's last record, which always stays (a reader
that goes for the end offset gets there); min.cleanable.dirty.ratio does not put it off; and a tombstone's
delete.retention.ms count from when min.compaction.lag.ms had passed, not from when a cleaner happened to come by.

As Kafka's does, it goes in two passes with a map from keys to offsets between them: one batch is unpacked at a time,
and where there are more keys than the map takes, it ends there, and goes on from there the next time. A batch that
unpacks to more than Produce would take on a compacted topic (it came before the topic was one) stays whole; Kafka,
which reads it as a stream, has no such limit.

Of transactions (CleanedTransactionMetadata): nothing is touched from the last stable offset on. What was aborted goes,
and supersedes nothing. A marker goes when nothing is left of its transaction, no sooner than a tombstone of its age.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar

from kafkastub.steps import Steps
from kafkawire.errors import KafkaError
from kafkawire.records import HEADER_SIZE, BatchHeader, TooMuchUnpacked, compress
from kafkawire.records.filtered import with_records
from kafkawire.records.heads import keyed_records

from .log_transactions import AbortedTransaction
from .segment import StoredBatch
from .settings import LogSettings
from .unpacker import Buffer, Unpacker
from .validation import Unpacking

_INT64_MAX: Final = (1 << 63) - 1
_MOST_KEYS: Final = 500_000
"""Keys that the map takes before it is full; 100 MB."""
_LONGEST_KEY: Final = 32
_DIGEST_BYTES: Final = _LONGEST_KEY + 1
"""Of a longer key: no other key is as long. (Kafka has the MD5 of every key in its map.)"""
_PACKED_IN_PLACE: Final = 1 << 16
"""Bytes that are compressed at once; some milliseconds with gzip."""


_R = TypeVar("_R")


class Compacted(NamedTuple):
    """What a pass found.

    `changes` has an entry for each batch that is no longer what it was: by base offset, the new batch or None.
    `tombstone_ms` is when the next tombstone or marker may go, None where there is none. What is before `clean_to` is
    clean now.
    """

    changes: dict[int, StoredBatch | None]
    tombstone_ms: int | None
    clean_to: int


class _Cleanable(NamedTuple):
    """A batch that compaction may change."""

    batch: StoredBatch
    header: BatchHeader
    aborted: bool

    @property
    def payload(self) -> bytes | memoryview:
        batch = self.batch
        return memoryview(batch.head)[HEADER_SIZE:] if batch.payload is None else batch.payload


class _Kept(NamedTuple):
    """What stays of a batch's records: how many of them, the largest timestamp delta, and their bytes; None where all
    of them do.
    """

    left: int
    largest_delta: int
    records: bytes | None


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


class Compaction:
    """One pass over a log's batches at `now_ms`; `steps` does it, piece by piece.

    A record that is superseded only by protected ones stays, as in Kafka. A record without a key goes: it came before
    the topic was compacted. A batch that can't be unpacked (its codec is not installed, or it is broken, or too large)
    stays whole; its keys supersede nothing.

    Args:
        stable: the last stable offset.
        aborted: all transactions that were, in the order of their markers.
        clean_to: what is before is clean, but for what follows, and for tombstones.
        too_large: base offsets of batches that nobody needs to try.
        leave: is called with the base offset of one more of them.
    """

    def __init__(
        self,
        batches: Sequence[StoredBatch],
        settings: LogSettings,
        now_ms: int,
        unpacker: Unpacker,
        *,
        stable: int = _INT64_MAX,
        aborted: Sequence[AbortedTransaction] = (),
        clean_to: int = 0,
        too_large: Container[int] = (),
        leave: Callable[[int], None] = lambda base_offset: None,
    ) -> None:
        self._cleanable = batches[: first_uncleanable(batches, settings, now_ms, stable)]
        self._settings = settings
        self._now_ms = now_ms
        self._unpacker = unpacker
        self._aborted = aborted
        self._clean_to = clean_to
        self._too_large = too_large
        self._leave = leave
        self._end = batches[-1].last_offset if batches else -1
        """The log's last offset, whose record stays."""
        self._latest: dict[bytes, int] = {}
        self._changes: dict[int, StoredBatch | None] = {}
        self._due: list[int] = []

    def steps(self) -> Steps[Compacted]:
        """Gives how many records were looked at."""
        yield from self._map()
        in_transaction: set[int] = set()  # producers of whose transaction something is left, up to where we are
        for one in _sorted_out(self._cleanable, self._aborted):
            batch, header, was_aborted = one
            if batch.base_offset >= self._clean_to:
                break
            yield 1
            if header.control:
                self._judge_marker(batch, header, in_transaction)
            elif was_aborted:
                self._changes[batch.base_offset] = None
            elif (yield from self._filter(one)) and header.transactional:
                in_transaction.add(header.producer_id)
        return Compacted(self._changes, min(self._due, default=None), self._clean_to)

    def _map(self) -> Steps[None]:
        """Fill the map with what is not clean, as far as it takes it."""
        latest = self._latest
        for one in _sorted_out(self._cleanable, self._aborted):
            batch, header, was_aborted = one
            if batch.last_offset < self._clean_to:
                continue
            if not header.control and not was_aborted:
                keys = yield from self._read(one, partial(_keys, header=header))
                latest.update(keys or ())
            self._clean_to = batch.last_offset + 1
            yield 1
            if len(latest) >= _MOST_KEYS:
                return

    def _judge_marker(self, batch: StoredBatch, header: BatchHeader, in_transaction: set[int]) -> None:
        horizon = self._horizon(batch)
        if header.producer_id in in_transaction:
            in_transaction.remove(header.producer_id)
        elif batch.last_offset != self._end:
            if self._now_ms > horizon:
                self._changes[batch.base_offset] = None
            else:
                self._due.append(horizon + 1)

    def _filter(self, one: _Cleanable) -> Steps[bool]:
        """Whether anything is left of the batch."""
        batch, header, _ = one
        kept = yield from self._read(one, lambda data: self._judge(data, batch, header))
        if kept is None or kept.records is None:
            return True
        if not kept.left:
            self._changes[batch.base_offset] = None
            return False
        packed = kept.records
        if header.compression and len(packed) <= _PACKED_IN_PLACE:
            packed = compress(header.compression, packed)
        elif header.compression:
            packed = yield from self._unpacker.beside(lambda: compress(header.compression, kept.records or b""), _bytes)
        largest = header.max_timestamp if header.log_append_time else header.base_timestamp + kept.largest_delta
        changed = with_records(header, packed, kept.left, largest)
        self._changes[batch.base_offset] = StoredBatch(changed, packed, batch.appended_ms)
        return True

    def _judge(self, data: Buffer, batch: StoredBatch, header: BatchHeader) -> Steps[_Kept]:
        """Each record of the batch: does it stay?"""
        latest, end, base, horizon = self._latest, self._end, header.base_offset, self._horizon(batch)
        expired = self._now_ms > horizon
        view, kept, runs = memoryview(data), 0, list[tuple[int, int]]()
        largest, looked_at = -_INT64_MAX, 0
        for window in keyed_records(data, header):
            for start, stop, timestamp_delta, offset_delta, key, tombstone in window:
                offset = base + offset_delta
                if offset != end:
                    if key is None or latest.get(_short(key), offset) != offset or (tombstone and expired):
                        continue
                    if tombstone:
                        self._due.append(horizon + 1)
                kept += 1
                if timestamp_delta > largest:
                    largest = timestamp_delta
                if runs and runs[-1][1] == start:
                    runs[-1] = runs[-1][0], stop
                else:
                    runs.append((start, stop))
            looked_at += len(window)
            yield len(window)
        if kept == looked_at:
            return _Kept(kept, largest, None)
        return _Kept(kept, largest, b"".join(view[start:stop] for start, stop in runs))

    def _read(self, one: _Cleanable, use: Callable[[Buffer], Steps[_R]]) -> Steps[_R | None]:
        """What comes of the batch's records; None where they cannot be read."""
        batch, header, _ = one
        if batch.base_offset in self._too_large:
            return None
        try:
            if header.compression and header.record_count > Unpacking.MOST_RECORDS:
                raise TooMuchUnpacked(Unpacking.MOST_BYTES)
            return (yield from self._unpacker.with_records(header.compression, one.payload, use, Unpacking.MOST_BYTES))
        except TooMuchUnpacked:
            self._leave(batch.base_offset)
            return None
        except KafkaError:  # the codec is missing, or the bytes are none of its
            return None

    def _horizon(self, batch: StoredBatch) -> int:
        settings = self._settings
        return batch.appended_ms + settings.min_compaction_lag_ms + settings.delete_retention_ms


def _sorted_out(batches: Iterable[StoredBatch], aborted: Sequence[AbortedTransaction]) -> Iterator[_Cleanable]:
    """Each batch, and whether it is of an aborted transaction."""
    to_come = deque(sorted(aborted, key=lambda one: one.first_offset))
    open_aborted: dict[int, AbortedTransaction] = {}
    for batch in batches:
        header = batch.header()
        while to_come and to_come[0].first_offset <= batch.last_offset:
            one = to_come.popleft()
            open_aborted[one.producer_id] = one
        of = open_aborted.get(header.producer_id) if header.transactional else None
        yield _Cleanable(batch, header, of is not None and batch.base_offset < of.last_offset)


def _keys(data: Buffer, header: BatchHeader) -> Steps[dict[bytes, int]]:
    """The last offset of each key."""
    base, found = header.base_offset, dict[bytes, int]()
    for window in keyed_records(data, header):
        for _, _, _, offset_delta, key, _ in window:
            if key is not None:
                found[_short(key)] = base + offset_delta
        yield len(window)
    return found


def _short(key: bytes) -> bytes:
    if len(key) <= _LONGEST_KEY:
        return key
    from hashlib import blake2b  # most keys are short, and it takes half a megabyte

    return blake2b(key, digest_size=_DIGEST_BYTES).digest()


def _bytes(data: Buffer) -> Steps[bytes]:
    yield 1
    return bytes(data)


def _base_offset(batch: StoredBatch) -> int:
    return batch.base_offset
