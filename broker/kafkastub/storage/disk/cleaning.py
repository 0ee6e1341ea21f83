"""Closed segments rewritten without what compaction took: in a thread of its own, on files that nobody writes to.

A new file takes the place of the first segment in one step; then the others go. Killed in between, the next start finds
them superseded.
"""

from __future__ import annotations

import mmap
import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from threading import Event
from typing import Final

from kafkastub.storage.batches import FoundBatch, batches_of
from kafkastub.storage.log_transactions import AbortedTransaction
from kafkawire.records import (
    HEADER_SIZE,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    BatchHeader,
    filtered_batch,
    iterate_records,
)

from .directory import sync_path
from .producer_files import ABORTED_SUFFIX
from .scan import CLEANED_SUFFIX, remove_segment

_AT_A_TIME: Final = 100
"""Records that are read between two pauses."""
_PAUSE_SECONDS: Final = 0.0005
_NEVER_SET: Final = Event()
_TRANSACTIONAL: Final = 0x10
_marker_of = attrgetter("last_offset")
_NULL: Final = 1
"""The size of nothing, as a varint."""

Rewrite = Callable[[Sequence[Path]], int]
"""Rewrites neighbouring segments into the first of them; gives its size in bytes. OSError."""


def with_changes(changes: Mapping[int, bytes | None]) -> Rewrite:
    """Other batches, or none, where those with these base offsets are."""

    def rewrite(paths: Sequence[Path]) -> int:
        def left() -> Iterator[bytes | memoryview]:
            for header, data in _batches(paths):
                batch = changes.get(header.base_offset, data)
                if batch is not None:
                    yield batch

        return _replace(paths, left())

    return rewrite


def last_committed_of_each_key(aborted: Sequence[AbortedTransaction]) -> Rewrite:
    """The last record of every key; no tombstone. The segments are the first of their log.

    Every transaction in them is decided; `aborted` has those that left
    nothing. What the others wrote is in no transaction any more: nobody has to wait for their markers, which go.
    """

    def rewrite(paths: Sequence[Path]) -> int:
        latest: dict[bytes | None, int] = {}
        for batch in _decided(paths, aborted):
            for key, offset, tombstone in _keys(batch):
                latest[key] = -1 if tombstone else offset
        live = set(latest.values())

        def left() -> Iterator[bytes | memoryview]:
            for header, data in _decided(paths, aborted):
                # a batch that was cleaned before may have one record left, and not its last
                if header.base_offset == header.last_offset and not header.transactional:
                    if header.last_offset in live:
                        yield data
                    continue
                records = list(iterate_records(data[HEADER_SIZE:], header))
                kept = [one for one in records if one.offset in live]
                if len(kept) == len(records) and not header.transactional:
                    yield data
                elif kept:
                    changed, payload = filtered_batch(_plain(header), kept)
                    yield changed.encode() + payload

        return _replace(paths, left())

    return rewrite


def _decided(paths: Sequence[Path], aborted: Sequence[AbortedTransaction]) -> Iterator[FoundBatch]:
    """The batches, but for markers, and those of aborted transactions."""
    by_producer: dict[int, list[AbortedTransaction]] = {}
    for one in aborted:
        by_producer.setdefault(one.producer_id, []).append(one)
    for found in _batches(paths):
        header = found.header
        if header.control:
            continue
        if header.transactional:
            of_producer = by_producer.get(header.producer_id, ())
            # they follow one another: the first that ends behind the batch is the only one that can have it
            at = bisect_left(of_producer, header.base_offset, key=_marker_of)
            if at < len(of_producer) and of_producer[at].first_offset <= header.base_offset:
                continue
        yield found


def _plain(header: BatchHeader) -> BatchHeader:
    """The header without a transaction."""
    if not header.transactional:
        return header
    return header._replace(
        attributes=header.attributes & ~_TRANSACTIONAL,
        producer_id=NO_PRODUCER_ID,
        producer_epoch=NO_PRODUCER_EPOCH,
    )


def _batches(paths: Sequence[Path]) -> Iterator[FoundBatch]:
    """Every batch, with pauses: the broker's own thread shall not wait for this one to give up the interpreter.

    It does so by itself every five milliseconds only, and a broker that writes asks for it with every batch.
    """
    since = 0
    for path in paths:
        for batch in batches_of(_contents(path)):
            yield batch
            since += batch.header.record_count
            if since > _AT_A_TIME:
                since = 0
                _NEVER_SET.wait(_PAUSE_SECONDS)


def _contents(path: Path) -> memoryview:
    """A file's bytes, which come into memory where they are looked at, and need not stay there. OSError."""
    with path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _keys(batch: FoundBatch) -> Iterator[tuple[bytes | None, int, bool]]:
    """Key, offset and whether it is a tombstone, of each record. KafkaError where a batch cannot be unpacked."""
    header, data = batch
    if header.record_count == 1 and not header.compression and header.base_offset == header.last_offset:
        # a quarter of the time: most batches of the offsets topic are like this
        at = _behind_varint(data, _behind_varint(data, _behind_varint(data, HEADER_SIZE) + 1))
        end = _behind_varint(data, at)
        if end == at + 1 and not data[at] & 1:
            key_end = end + (data[at] >> 1)
            yield bytes(data[end:key_end]), header.base_offset, data[key_end] == _NULL
            return
    for record in iterate_records(data[HEADER_SIZE:], header):
        yield record.key, record.offset, record.value is None


def _behind_varint(data: memoryview, at: int) -> int:
    while data[at] >= 0x80:
        at += 1
    return at + 1


def _replace(paths: Sequence[Path], batches: Iterable[bytes | memoryview]) -> int:
    first = paths[0]
    cleaned = first.with_suffix(CLEANED_SUFFIX)
    with cleaned.open("wb") as file:
        file.writelines(batches)
        file.flush()
        os.fsync(file.fileno())
        size = file.tell()
    cleaned.replace(first)
    for path in paths[1:]:
        index = path.with_suffix(ABORTED_SUFFIX)
        if index.exists():
            with first.with_suffix(ABORTED_SUFFIX).open("ab") as file:
                file.write(index.read_bytes())
        remove_segment(path)
    sync_path(first.parent)
    return size
