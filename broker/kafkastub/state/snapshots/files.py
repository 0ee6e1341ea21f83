"""A snapshot as a file: a zip archive with a document and Kafka's own segment files.

    snapshot.json                       everything beside records (`documents`)
    orders-0/00000000000000000000.log   the batches of a segment, as Kafka writes them to its log directories
    orders-0/00000000000000000000.time  the broker time of their appends: pairs of an offset and Unix milliseconds,
                                        64 bits each, where it changes

A file is not trusted: what it says that it unpacks to is limited before it is unpacked, what it does become is counted
on the way, and whatever is not as it should be is told in one sentence.
"""

from __future__ import annotations

import io
import json
import os
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from struct import Struct, unpack_from
from typing import IO, TYPE_CHECKING, Any, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, LargeZipFile, ZipFile

from kafkastub.metadata import INTERNAL_TOPICS
from kafkastub.state.checks import Damaged
from kafkastub.state.snapshots import documents
from kafkastub.state.snapshots.holding import Budget, Limit
from kafkastub.state.snapshots.saved import SavedBatches, SavedInternalTopic, SavedState, SavedUserTopic, SnapshotError
from kafkastub.state.snapshots.segments import Scratch, segments_of
from kafkastub.storage import SavedLogs
from kafkastub.storage.batches import batches_of, empty_batch, whole_batches
from kafkastub.storage.segment import Segment, StoredBatch
from kafkawire.records import HEADER_SIZE

if TYPE_CHECKING:
    from kafkastub.config import BrokerConfig

FORMAT: Final = 1
"""A program reads its own format and older ones."""
_OF_DOCUMENT: Final = 16
"""Of the bytes that a file may unpack to one in so many may be of its document,"""
_OF_VALUES: Final = 256
"""and to one in so many a value: each takes some 60 bytes, and others wait while they are made."""
FORMAT_KEY: Final = "kafkastub_snapshot"
DOCUMENT: Final = "snapshot.json"
LEVEL: Final = 1
"""Of the compression: the others take longer and give little."""
_TIME: Final = Struct(">qq")
_PIECE: Final = 1 << 20
_END: Final = 22
"""Bytes of what a zip archive without a comment ends with."""
_MOST_ENTRIES: Final = 0xFFFF
_METHODS: Final = (ZIP_STORED, ZIP_DEFLATED)
THE_SAME_DAY: Final = (2000, 1, 1, 0, 0, 0)


def write(saved: SavedState, file: str | os.PathLike[str] | IO[bytes]) -> None:
    """Write a snapshot to a file. OSError; SnapshotError where it has too many partitions with records."""
    from zipfile import ZipInfo

    scratch = Scratch(saved)
    document = {FORMAT_KEY: FORMAT, **documents.document(saved)}
    try:
        with ZipFile(file, "w", ZIP_DEFLATED, allowZip64=False, compresslevel=LEVEL) as archive:

            def add(name: str, content: bytes) -> None:
                entry = ZipInfo(name, THE_SAME_DAY)
                entry.compress_type = ZIP_DEFLATED
                archive.writestr(entry, content, compresslevel=LEVEL)

            add(DOCUMENT, documents.encoded(document, scratch))
            for topic in scratch.topics:
                for index, log in scratch.logs(topic):
                    for segment in segments_of(log):
                        path = f"{topic.name}-{index}/{segment.base_offset:020d}"
                        add(f"{path}.log", b"".join(segment.chunks))
                        if segment.times:
                            add(f"{path}.time", b"".join(_TIME.pack(*one) for one in segment.times))
    except LargeZipFile:
        raise SnapshotError("the snapshot is too large for a file: 2 GiB and 65535 segments are the most") from None


def read_path(path: str | os.PathLike[str], config: BrokerConfig, limit: Limit) -> SavedState:
    """Read a file by its name, as `read` does. Raises OSError, SnapshotError."""
    with Path(path).open("rb") as file:
        return read(file, str(path), config, limit)


def read(file: IO[bytes], where: str, config: BrokerConfig, limit: Limit) -> SavedState:
    """Read what `write` wrote. OSError; SnapshotError for what is no snapshot, or unpacks to more than it may.

    Args:
        where: what the file is called.
        config: stands for that of the broker that it was taken of.
    """
    try:
        _check_end(file, limit)
        with ZipFile(file) as archive:
            return _read(archive, config, limit)
    except SnapshotError as error:
        why = f"is no snapshot that can be restored: {error}"
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        why = f"is no snapshot, or damaged: {error}"
    except (Damaged, ValueError, KeyError, RecursionError) as error:
        why = f"is damaged: {error}"
    raise SnapshotError(f"{where} {why}")  # out here: one with the other error in it would keep what was read


def _check_end(file: IO[bytes], limit: Limit) -> None:
    """What it says at its end, before anything is made of it."""
    size = file.seek(0, os.SEEK_END)
    if size > limit.most:
        raise limit.passed("it has", size)
    file.seek(max(0, size - _END))
    end = file.read(_END)
    if len(end) < _END or end[:4] != b"PK\5\6":
        raise SnapshotError("it does not end as one does: it is something else, or a part of it is missing")
    if unpack_from("<H", end, 10)[0] >= _MOST_ENTRIES:
        raise SnapshotError(f"it has more than {_MOST_ENTRIES} parts")


def _read(archive: ZipFile, config: BrokerConfig, limit: Limit) -> SavedState:
    size = sum(entry.file_size for entry in archive.infolist())
    if size > limit.most:
        raise limit.passed("it unpacks to", size)
    if any(entry.compress_type not in _METHODS for entry in archive.infolist()):
        raise SnapshotError(
            "a part of it is compressed in another way than deflate"
        )  # of others nothing limits a piece
    names = set(archive.namelist())
    if DOCUMENT not in names:
        raise SnapshotError(f"there is no {DOCUMENT} in it")
    document = _document(archive, limit)
    version = document.get(FORMAT_KEY) if isinstance(document, dict) else None
    if type(version) is not int:
        raise SnapshotError(f"{DOCUMENT} has no {FORMAT_KEY}")
    if version > FORMAT:
        raise SnapshotError(f"it has format {version}, which is newer than this version knows (up to {FORMAT})")
    documents.check(document)
    return _state(document, _Parts(archive, names, Budget(limit)), config)


class _Parts:
    """What is in the archive by name. Each piece is counted: a document may name one part as often as it likes."""

    def __init__(self, archive: ZipFile, names: set[str], budget: Budget) -> None:
        self._archive = archive
        self._names = names
        self.budget = budget

    def content(self, name: str) -> bytes:
        """All of it, unpacked piece by piece: between two of them other threads have their turn, and it is there once.

        Nothing where there is no such part. Raises SnapshotError.
        """
        if name not in self._names:
            return b""
        content = io.BytesIO()
        with self._archive.open(name) as entry:
            while piece := entry.read(_PIECE):
                self.budget.take(len(piece))
                content.write(piece)
        return content.getvalue()


def _document(archive: ZipFile, limit: Limit) -> Any:
    """The document, read. Raises SnapshotError where it would become very large, ValueError where it is none."""
    size, most = archive.getinfo(DOCUMENT).file_size, limit.most // _OF_DOCUMENT
    if size > most:
        raise limit.passed(f"{DOCUMENT} has", size, most)
    text = archive.read(DOCUMENT)
    values, most = sum(map(text.count, (b"[", b"{", b","))), limit.most // _OF_VALUES
    if values > most:
        raise limit.passed(f"{DOCUMENT} has", values, most, "values")
    return json.loads(text, object_hook=_as_it_is)


def _as_it_is(value: dict[str, Any]) -> dict[str, Any]:
    """Called for each object: between two of them other threads have their turn."""
    return value


def _state(document: Mapping[str, Any], parts: _Parts, config: BrokerConfig) -> SavedState:
    settings = {
        name: document.get(name, [])
        for name in (
            "broker_configs", "group_configs", "client_metrics_configs", "features", "metadata", "scram", "quotas",
            "delegation_tokens", "acls",
        )
    }  # fmt: skip
    return SavedState(
        config,
        document["cluster_id"],
        documents.nodes_of(document),
        document["controller_id"],
        settings | {"features": document.get("features", {}), "metadata": document["metadata"]},
        document["logger_levels"],
        tuple(_topic(one, parts, document["broker_ms"]) for one in document["topics"]),
        (None, document["clock"]["frozen_at"]),
        document["broker_ms"],
        document["producer_ids"]["next"],
        frozenset(document["held"]),
        [(one[0], one[1], one[2], one[3]) for one in document["dirs_wished"]],
        frozenset(document["held_share_groups"]),
        document.get("properties", {}),
        [(what, why) for what, why in document.get("missing", ())],
    )


def _topic(one: Any, parts: _Parts, broker_ms: int) -> SavedUserTopic | SavedInternalTopic:
    topic = documents.topic_of(one, INTERNAL_TOPICS)
    log_dirs = [{"log_dirs": each["log_dirs"]} for each in one["partitions"] if "log_dirs" in each]
    if len(log_dirs) < len(one["partitions"]):
        log_dirs = []
    if one["coordinators"]:
        batches = []
        for index, each in enumerate(one["partitions"]):
            name = f"{topic.name}-{index}"
            _check_start(each, name)
            whole = b"".join(parts.content(f"{name}/{base:020d}.log") for base in each["segments"])
            _check(memoryview(whole), name, 0, each["log_end_offset"])
            batches.append(whole)
        starts = [each["log_start_offset"] for each in one["partitions"]]
        return SavedInternalTopic(topic, log_dirs, SavedBatches(batches, starts))
    made = {
        index: documents.log_of(each, list(_segments(each, f"{topic.name}-{index}", parts, broker_ms)))
        for index, each in enumerate(one["partitions"])
        if not documents.is_new(each)
    }
    return SavedUserTopic(topic, log_dirs, SavedLogs(made, {}))


def _segments(each: Any, name: str, parts: _Parts, broker_ms: int) -> Iterator[Segment]:
    """The segments of a log; at least one, for it to grow.

    A log's last offset is always in a batch: where the file has none, an empty one is made, as compaction leaves them.
    """
    _check_start(each, name)
    end = each["log_end_offset"]
    bases = each["segments"]
    if not bases:
        segment = Segment(each["log_start_offset"])
        if each["log_start_offset"] < end:
            segment.append(_stand_in(each, broker_ms))
        yield segment.twin()
        return
    for base, following in zip(bases, [*bases[1:], end], strict=True):
        path = f"{name}/{base:020d}"
        data = memoryview(parts.content(f"{path}.log"))
        _check(data, name, base, following)
        times = list(_TIME.iter_unpack(_times(parts.content(f"{path}.time"), data, name)))
        offsets = [offset for offset, _ in times]
        segment = Segment(base)
        for header, batch in batches_of(data):
            parts.budget.take_batch()
            at = bisect_right(offsets, header.base_offset)
            appended_ms = times[at - 1][1] if at else header.max_timestamp
            segment.append(StoredBatch(header, batch[HEADER_SIZE:], appended_ms))
        if following == end and (not segment.batches or segment.batches[-1].last_offset < end - 1):
            segment.append(_stand_in(each, broker_ms))
        yield segment.twin()


def _stand_in(each: Any, broker_ms: int) -> StoredBatch:
    """A batch without records at a log's last offset, as old as its newest record was."""
    newest_ms = each.get("newest_ms")
    if newest_ms is None:
        newest_ms = broker_ms
    epoch = max((epoch for epoch, _ in each["epochs"]), default=0)
    return StoredBatch(empty_batch(each["log_end_offset"] - 1, epoch, newest_ms), b"", newest_ms)


def _check_start(each: Any, name: str) -> None:
    """Raises SnapshotError; where a segment comes again, before it is read again."""
    if any(base >= following for base, following in pairwise(each["segments"])):
        raise SnapshotError(f"the segments of {name} do not rise")
    if not 0 <= each["log_start_offset"] <= each["log_end_offset"]:
        raise SnapshotError(f"the log of {name} starts behind its end")


def _check(data: memoryview, name: str, base: int, end: int) -> None:
    """Raises SnapshotError for batches that are not whole, or not between these offsets."""
    _, stop, damage = whole_batches(data, base, holes=True)
    if damage is not None:
        raise SnapshotError(f"the records of {name} are damaged at byte {damage.position} ({damage.why})")
    if stop > end:
        raise SnapshotError(f"the records of {name} go to offset {stop}, and its log ends at {end}")


def _times(data: bytes, batches: memoryview, name: str) -> bytes:
    """Those that are whole. Raises SnapshotError for more than there can be batches: each takes ten times its bytes."""
    count = len(data) // _TIME.size
    if count > len(batches) // HEADER_SIZE:
        raise SnapshotError(f"the records of {name} have more times than batches")
    return data[: count * _TIME.size]
