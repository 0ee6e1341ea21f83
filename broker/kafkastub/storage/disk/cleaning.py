"""Closed segments rewritten without what compaction took: in a thread of its own, on files that nobody writes to.

A new file takes the place of the first segment in one step; then the others go. Killed in between, the next start finds
them superseded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from kafkawire.errors import KafkaError
from kafkawire.records import HEADER_SIZE, Record, filtered_batch, iterate_records

from .directory import sync_path
from .scan import APPENDED_SUFFIX, CLEANED_SUFFIX, FoundBatch, batches_of

Rewrite = Callable[[Sequence[Path]], int]
"""Rewrites neighbouring segments into the first of them; gives its size in bytes. OSError."""


def with_changes(changes: Mapping[int, bytes | None]) -> Rewrite:
    """Other batches, or none, where those with these base offsets are."""

    def rewrite(paths: Sequence[Path]) -> int:
        def left() -> Iterator[bytes | memoryview]:
            for path in paths:
                for header, data in batches_of(memoryview(path.read_bytes())):
                    batch = changes.get(header.base_offset, data)
                    if batch is not None:
                        yield batch

        return _replace(paths, left())

    return rewrite


def last_of_each_key(paths: Sequence[Path]) -> int:
    """The last record of every key; no tombstone. The segments are the first of their log."""
    latest: dict[bytes | None, int] = {}
    for path in paths:
        for batch in batches_of(memoryview(path.read_bytes())):
            for record in _records(batch) or ():
                latest[record.key] = record.offset

    def left() -> Iterator[bytes | memoryview]:
        for path in paths:
            for batch in batches_of(memoryview(path.read_bytes())):
                records = _records(batch)
                if records is None:
                    yield batch.data
                    continue
                kept = [one for one in records if one.value is not None and latest[one.key] == one.offset]
                if len(kept) == len(records):
                    yield batch.data
                elif kept:
                    header, payload = filtered_batch(batch.header, kept)
                    yield header.encode() + payload

    return _replace(paths, left())


def _records(batch: FoundBatch) -> list[Record] | None:
    """None where they cannot be read: then the batch stays."""
    try:
        return list(iterate_records(batch.data[HEADER_SIZE:], batch.header))
    except KafkaError:
        return None


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
        path.unlink()
        path.with_suffix(APPENDED_SUFFIX).unlink(missing_ok=True)
    sync_path(first.parent)
    return size
