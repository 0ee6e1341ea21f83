"""A snapshot as the files of a data directory, which the next start, or this run, takes up like those of any run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkastub.state.snapshots import documents
from kafkastub.state.snapshots.saved import SavedState
from kafkastub.state.snapshots.segments import Scratch, segments_of
from kafkastub.storage import PartitionLog
from kafkastub.storage.batches import batches_of
from kafkastub.storage.disk.directory import STATE
from kafkastub.storage.disk.partition_files import APPENDED
from kafkastub.storage.disk.producer_files import ABORTED_SUFFIX, SNAPSHOT_SUFFIX, encode_aborted, encode_snapshot
from kafkastub.storage.disk.scan import APPENDED_SUFFIX, LOG_SUFFIX
from kafkastub.storage.segment import Chunk

Part = tuple[str, Sequence[Chunk]]
"""The path of a file in the directory, and what it has."""


def parts(saved: SavedState, clock: tuple[int, int | None]) -> Iterator[Part]:
    """All files, with the clock as it is to be."""
    scratch = Scratch(saved)
    document = documents.document(saved)
    document["clock"] = {"ahead_ms": clock[0], "frozen_at": clock[1]}
    document["unregistered"] = [one.node_id for one in saved.nodes if not one.registered]
    document["metadata"] = {**document["metadata"], "epoch": document["metadata"]["epoch"] - 1}  # a start adds one
    yield STATE, [documents.encoded(document, scratch)]
    for topic in scratch.topics:
        for index, log in scratch.logs(topic):
            for name, chunks in _files(log):
                yield f"{topic.name}-{index}/{name}", chunks


def _files(log: PartitionLog) -> Iterator[Part]:
    end = log.log_end_offset
    if not end:
        return
    segments, due, has_holes = list(segments_of(log)), None, False
    bases = [one.base_offset for one in segments]
    for one, following in zip(segments, [*bases[1:], end], strict=True) if segments else ():
        content = b"".join(one.chunks)
        name = f"{one.base_offset:020d}"
        yield name + LOG_SUFFIX, [content]
        if one.times:
            yield name + APPENDED_SUFFIX, [b"".join(APPENDED.pack(*each) for each in one.times)]
        aborted = [each for each in log.aborted_transactions(0, end) if one.base_offset <= each.last_offset < following]
        if aborted:
            yield name + ABORTED_SUFFIX, list(map(encode_aborted, aborted))
        due, has_holes = one.base_offset, False
        for header, _ in batches_of(memoryview(content)):
            has_holes = has_holes or header.base_offset != due or header.record_count != header.last_offset_delta + 1
            due = header.last_offset + 1
    if has_holes or due != end:  # of the last file the start expects none
        yield f"{end:020d}{LOG_SUFFIX}", []
    if log.producer_states.entries():
        yield f"{end:020d}{SNAPSHOT_SUFFIX}", [encode_snapshot(log.producer_states.entries())]
