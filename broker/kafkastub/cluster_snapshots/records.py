"""The records of a topic that come into a snapshot, and a log's part of the document."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Iterable
from typing import Any, Final

from kafkastub.cluster_snapshots.archive import Archive
from kafkastub.cluster_snapshots.positions import Log
from kafkastub.cluster_snapshots.source import Place, Source
from kafkastub.state.snapshots.documents import log_document
from kafkastub.storage import ProducerEntry
from kafkastub.storage.log_transactions import Marker
from kafkastub.storage.producers import AppendedBatch, ProducerStates
from kafkawire.records import (
    HEADER_SIZE,
    BatchHeader,
    Record,
    filtered_batch,
    iterate_records,
    parse_header,
    read_batch,
    read_marker,
)

ALL: Final = -1
"""As a number of records: all there are."""
REDACTED: Final = ("values", "all")
"""What can be redacted: values and the values of headers, or keys as well."""
_DIGITS: Final = 32

Redact = Callable[[BatchHeader, memoryview], bytes]
"""A batch as it is to be written."""


class Copied:
    """What was written of a log's records: where its files begin, and what the batches say of their producers."""

    def __init__(self) -> None:
        self.segments: list[int] = []
        self.states = ProducerStates()


def copy(
    source: Source,
    archive: Archive,
    place: Place,
    log: Log,
    into: Copied,
    *,
    most: int,
    roll_at: int,
    redact: Redact | None,
) -> None:
    """Write the newest `most` records of a partition, or ALL.

    Raises ClientError, KafkaError; SnapshotError where there are too many.

    Args:
        roll_at: bytes of a file, as of the topic's `segment.bytes`.
    """
    start = log.start if most == ALL else max(log.start, log.end - most)
    size = 0
    for header, batch in source.batches(place, start, log.end):
        _follow(into.states, header, batch)
        content: bytes | memoryview = batch
        if header.base_offset < start and most != ALL and not header.control:
            content = _without(header, batch, start)
        if redact is not None and not header.control:
            content = redact(parse_header(content), memoryview(content))
        if not into.segments or size + len(content) > roll_at:
            into.segments.append(header.base_offset)
            archive.begin(*place, header.base_offset)
            size = 0
        archive.write(content)
        size += len(content)


def _without(header: BatchHeader, batch: memoryview, start: int) -> bytes:
    """A batch without its records before an offset; its offsets stay. Raises KafkaError."""
    kept = [one for one in read_batch(batch) if one.offset >= start]
    if not kept:
        return bytes(batch)
    changed, packed = filtered_batch(header, kept)
    return changed.encode() + packed


def document(log: Log, found: Copied) -> dict[str, Any]:
    """What a snapshot says of a log. Where its newest records are not there, an empty batch will stand for them."""
    entries = {one.producer_id: one for one in found.states.entries()}
    for one in log.producers:
        entry = entries.get(one.producer_id)
        if entry is None:
            entry = entries[one.producer_id] = _entry(one)
        begun = [entry.transaction_start] if entry.transaction_start is not None else []
        if 0 <= one.current_txn_start_offset < log.end:  # another one has begun since
            begun.append(one.current_txn_start_offset)
        entry.transaction_start = min(begun, default=None)
    aborted = found.states.aborted
    return log_document(
        log.start,
        log.end,
        [list(one) for one in log.epochs],
        entries.values(),
        [] if aborted is None else aborted.between(0, log.end),
        found.segments,
        log.newest_ms,
    )


def _entry(one: Any) -> ProducerEntry:
    """A producer of whose batches there are none here."""
    entry = ProducerEntry(one.producer_id)
    entry.epoch, entry.coordinator_epoch = one.producer_epoch, one.coordinator_epoch
    entry.last_timestamp = entry.appended_ms = one.last_timestamp
    if one.last_sequence >= 0:
        entry.appended(AppendedBatch(one.last_sequence, one.last_sequence, -1, -1, one.last_timestamp))
    return entry


def _follow(states: ProducerStates, header: BatchHeader, batch: memoryview) -> None:
    """What a batch says of its producer (`ProducerRecovery`)."""
    if header.control:
        end = next((read_marker(one) for one in iterate_records(batch[HEADER_SIZE:], header)), None)
        if end is not None:
            marker = Marker(header.producer_id, header.producer_epoch, *end)
            aborted = states.finish(marker, header.last_offset, header.max_timestamp, header.max_timestamp)
            if aborted is not None:
                states.add_aborted(aborted)
    elif header.has_producer:
        states.update(header, header.base_offset, header.max_timestamp, header.max_timestamp)


def redacting(what: str) -> Redact:
    """Values, and those of headers, become as many asterisks. Keys, if they are to be redacted, become digests: equal
    ones stay equal, within one snapshot.
    """
    secret = os.urandom(32) if what == "all" else None

    def hidden(record: Record) -> Record:
        key = record.key
        if secret is not None and key is not None:
            key = hmac.digest(secret, key, hashlib.sha256).hex()[:_DIGITS].encode()
        return record._replace(
            key=key,
            value=_stars(record.value),
            headers=tuple((name, _stars(value)) for name, value in record.headers),
        )

    def redact(header: BatchHeader, batch: memoryview) -> bytes:
        records: Iterable[Record] = read_batch(batch)
        hidden_ones = [hidden(one) for one in records]
        if not hidden_ones:
            return bytes(batch)
        changed, packed = filtered_batch(header, hidden_ones)
        return changed.encode() + packed

    return redact


def _stars(value: bytes | None) -> bytes | None:
    return None if value is None else b"*" * len(value)
