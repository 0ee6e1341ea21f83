"""Reading segment files at the start: which batches are whole, and what to do where one is not.

As Kafka's recovery does, the last segment is cut at its first batch that is torn or does not match its CRC: a process
that was killed leaves such a tail. In an older segment, where nothing was being written, it cannot come from that; to
go on would leave a hole of acknowledged records, so the directory is refused. (UnifiedLog.recover, LogSegment.recover;
Kafka also cuts older segments, and skips all of this after a clean shutdown.)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kafkastub.storage.batches import whole_batches
from kafkastub.storage.errors import DataDirError

from .producer_files import ABORTED_SUFFIX, SNAPSHOT_SUFFIX

LOG_SUFFIX = ".log"
APPENDED_SUFFIX = ".appended"
CLEANED_SUFFIX = ".cleaned"


class Segment(NamedTuple):
    """One file, read and found in order. `end` is the offset behind its last batch."""

    base_offset: int
    path: Path
    size: int
    end: int


def segment_path(directory: Path, base_offset: int) -> Path:
    """Kafka's name of a segment: twenty digits."""
    return directory / f"{base_offset:020d}{LOG_SUFFIX}"


def read_segments(directory: Path, log: Any) -> Iterator[tuple[Segment, memoryview]]:
    """Every segment with its contents, in order; tails that are torn are cut off, leftovers of a cleaning removed.

    DataDirError where an older segment is damaged or segments overlap. OSError.
    """
    paths = _segment_files(directory)
    end = 0
    for index, (base_offset, path) in enumerate(paths):
        if base_offset < end:  # a cleaning put it into the one before, and was killed before it could remove it
            log.warning("segment removed: an earlier one has its records", file=str(path))
            remove_segment(path)
            continue
        data = memoryview(path.read_bytes())
        last = index + 1 == len(paths)
        valid, end_of_this, damage = whole_batches(data, base_offset, holes=not last)
        if damage is not None:
            if not last:
                raise DataDirError(
                    f"{path} is damaged at byte {damage.position} ({damage.why}) though newer segments follow: restore "
                    f"the file from a copy, or remove {directory} to do without the partition's records"
                )
            log.warning(
                f"{path} is cut at byte {damage.position} ({damage.why}): {len(data) - valid} bytes are given up, "
                f"from offset {end_of_this} on"
            )
            os.truncate(path, valid)
            data = data[:valid]
        end = end_of_this
        yield Segment(base_offset, path, valid, end), data


def _segment_files(directory: Path) -> list[tuple[int, Path]]:
    found = []
    for path in directory.iterdir():
        if path.suffix == CLEANED_SUFFIX:
            path.unlink()
        elif path.suffix == LOG_SUFFIX and path.stem.isdigit():
            found.append((int(path.stem), path))
    return sorted(found)


def remove_segment(path: Path) -> None:
    """Remove a segment with all that is beside it. OSError."""
    path.unlink()
    for suffix in (APPENDED_SUFFIX, ABORTED_SUFFIX, SNAPSHOT_SUFFIX):
        path.with_suffix(suffix).unlink(missing_ok=True)
