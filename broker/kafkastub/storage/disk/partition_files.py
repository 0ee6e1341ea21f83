"""The files of one partition: appended to, rolled, given up from the front, cleaned.

They need not be cut where the log in memory is: a segment of a file ends with `segment_bytes`, or where somebody wants
to rewrite what stands before.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from struct import Struct
from threading import Lock
from typing import Final

from kafkastub.storage.log_transactions import AbortedTransaction

from .cleaning import Rewrite
from .errors import storage_error
from .journal import Disk
from .producer_files import ABORTED_SUFFIX, encode_aborted, snapshot_path
from .scan import APPENDED_SUFFIX, Segment, read_segments, remove_segment, segment_path

APPENDED: Final = Struct(">qq")
_MOST_OPEN: Final = 200
_BESIDE: Final = (APPENDED_SUFFIX, ABORTED_SUFFIX)
"""Of the files beside a segment those that are appended to."""


def _nothing(well: bool) -> None:
    pass


class OpenFiles:
    """Descriptors of the files that were written to lately, closed in the order of their last use."""

    def __init__(self, limit: int = _MOST_OPEN) -> None:
        self._limit = limit
        self._fds: dict[Path, int] = {}

    def get(self, path: Path) -> int:
        """A descriptor for appending. OSError."""
        fd = self._fds.pop(path, None)
        if fd is None:
            fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._fds[path] = fd
        if len(self._fds) > self._limit:
            self.close(next(iter(self._fds)))
        return fd

    def close(self, path: Path) -> None:
        """Done with a file, for now or for ever."""
        fd = self._fds.pop(path, None)
        if fd is not None:
            os.close(fd)

    def close_all(self) -> None:
        for path in list(self._fds):
            self.close(path)


class _Written:
    """A segment as it stands."""

    __slots__ = ("base_offset", "end", "path", "size")

    def __init__(self, base_offset: int, path: Path, size: int = 0, end: int = 0) -> None:
        self.base_offset = base_offset
        self.path = path
        self.size = size
        self.end = end or base_offset


class PartitionFiles:
    """One partition's directory. Nothing of it is there before the first append.

    Args:
        directory: asked for when it is needed: a log may get its name late.
        segment_bytes: how large a segment may become, asked for with every append.
        keeps_time: whether the broker time of appends is written down.

    Attributes:
        snapshot: gives the contents of a file of producers, which is written where a segment ends.
    """

    def __init__(
        self,
        disk: Disk,
        open_files: OpenFiles,
        directory: Callable[[], Path],
        segment_bytes: Callable[[], int],
        *,
        keeps_time: bool,
    ) -> None:
        self._disk = disk
        self._open = open_files
        self._place = directory
        self._segment_bytes = segment_bytes
        self._keeps_time = keeps_time
        self.snapshot: Callable[[], bytes] | None = None
        self._appended_ms = -1
        self._segments: list[_Written] = []
        self._busy = False
        self._gone = False
        self._in_place = Lock()
        """Held while a thread rewrites files in this directory."""

    @property
    def directory(self) -> Path:
        return self._place()

    @property
    def segments(self) -> int:
        """How many files of batches there are."""
        return len(self._segments)

    @property
    def offsets(self) -> set[int]:
        """Where they begin."""
        return {one.base_offset for one in self._segments}

    @property
    def busy(self) -> bool:
        """Whether a rewriting is under way."""
        return self._busy

    # -- writing -------------------------------------------------------------------------------------------------

    def append(self, chunks: Sequence[bytes | memoryview], base_offset: int, end: int, now_ms: int = -1) -> None:
        """Append whole batches, from `base_offset` to before `end`. KAFKA_STORAGE_ERROR; then nothing is there."""
        disk = self._disk
        if disk.failed is not None:
            raise storage_error(disk.failed)
        size = sum(map(len, chunks))
        try:
            segment = self._segments[-1] if self._segments else self._roll(base_offset)
            if segment.size and segment.size + size > self._segment_bytes():
                segment = self._roll(base_offset)
            if self._keeps_time and now_ms != self._appended_ms:
                self._note_time(segment, base_offset, now_ms)
            fd = self._open.get(segment.path)
            try:
                _write(fd, chunks, size)
            except OSError:
                os.ftruncate(fd, segment.size)
                raise
        except OSError as error:
            disk.fail("writing failed", error)
            raise storage_error(disk.failed or "") from None
        segment.size += size
        segment.end = end
        disk.wrote(segment.path)

    def take_back(self, size: int) -> None:
        """Cut the last so many bytes off again: what was to be written with them could not be. OSError."""
        segment = self._segments[-1]
        segment.size -= size
        os.truncate(segment.path, segment.size)

    def roll(self, base_offset: int) -> None:
        """Begin a new segment, unless the newest is empty. KAFKA_STORAGE_ERROR."""
        try:
            if self._segments and self._segments[-1].size:
                self._roll(base_offset)
        except OSError as error:
            self._disk.fail("a new segment cannot be made", error)
            raise storage_error(self._disk.failed or "") from None

    def _roll(self, base_offset: int) -> _Written:
        directory = self._place()
        if not self._segments and not directory.exists():
            directory.mkdir()
            self._disk.created(directory.parent)
        if self._segments:
            self._close(self._segments[-1])
            self._write_snapshot(base_offset)
        segment = _Written(base_offset, segment_path(directory, base_offset))
        self._open.get(segment.path)
        self._disk.created(directory)
        self._segments.append(segment)
        self._appended_ms = -1
        return segment

    def _note_time(self, segment: _Written, base_offset: int, now_ms: int) -> None:
        path = segment.path.with_suffix(APPENDED_SUFFIX)
        _write(self._open.get(path), (APPENDED.pack(base_offset, now_ms),), APPENDED.size)
        self._appended_ms = now_ms
        self._disk.wrote(path)

    def _write_snapshot(self, offset: int) -> None:
        if self.snapshot is not None:
            path = snapshot_path(self._place(), offset)
            path.write_bytes(self.snapshot())
            self._disk.wrote(path)

    def note_aborted(self, aborted: AbortedTransaction) -> None:
        """The marker of an aborted transaction was appended. What goes wrong is logged: the next start sees it too."""
        try:
            path = self._segments[-1].path.with_suffix(ABORTED_SUFFIX)
            _write(self._open.get(path), (encode_aborted(aborted),), len(encode_aborted(aborted)))
        except OSError as error:
            self._disk.log.warning("an index is not written to", why=error.strerror or str(error))

    def leave(self, end: int) -> None:
        """An orderly end: the producers as they are now are written down. What goes wrong is logged."""
        if self._gone or not self._segments or self._disk.failed is not None:
            return
        try:
            self._write_snapshot(end)
        except OSError as error:
            self._disk.log.warning("producers are not written down", why=error.strerror or str(error))

    def _close(self, segment: _Written) -> None:
        self._open.close(segment.path)
        for suffix in _BESIDE:
            self._open.close(segment.path.with_suffix(suffix))

    # -- the front, and all of it --------------------------------------------------------------------------------

    def remove_before(self, offset: int, log_end_offset: int) -> None:
        """Remove the segments that end at or before `offset`; the newest too, for an empty one. Errors are logged."""
        if self._busy or not self._segments or self._segments[0].end > offset or self._disk.failed is not None:
            return
        try:
            if self._segments[-1].end <= offset and self._segments[-1].size:
                self._roll(log_end_offset)
            while len(self._segments) > 1 and self._segments[0].end <= offset:
                self._remove(self._segments.pop(0))
        except OSError as error:
            self._disk.log.warning("an old segment cannot be removed", why=error.strerror or str(error))

    def _remove(self, segment: _Written) -> None:
        self._close(segment)
        remove_segment(segment.path)

    def close(self) -> None:
        """Nothing is written here any more."""
        with self._in_place:  # a rewriting, which is rare and short, must not write where others may be by then
            self._gone = True
        for segment in self._segments:
            self._close(segment)

    def delete(self, deleted: Path) -> None:
        """The topic is gone: put the files aside, and remove them once that is written down."""
        self.close()
        if not self._segments or self._disk.failed is not None:
            return
        try:
            deleted.parent.mkdir(exist_ok=True)
            self._place().rename(deleted)
        except OSError as error:
            self._disk.fail("a partition cannot be removed", error)
        else:
            self._disk.doom(deleted)

    # -- rewriting -----------------------------------------------------------------------------------------------

    def closed(self) -> list[Segment]:
        """Every segment but the newest."""
        return [Segment(one.base_offset, one.path, one.size, one.end) for one in self._segments[:-1]]

    def rewrite(
        self, rewrite: Rewrite, runs: Sequence[Sequence[Segment]], done: Callable[[bool], None] = _nothing
    ) -> bool:
        """Put what `rewrite` makes of each run of neighbouring closed segments in their place, some time soon.

        A run's first segment gets all of it. False, and nothing happens, where a rewriting is under way already, or
        none can begin. `done` is called with whether all went well.
        """
        if self._busy or self._gone or not runs or self._disk.failed is not None or self._disk.closed:
            return False
        self._busy = True
        sizes: list[int] = []

        def job() -> None:
            for run in runs:
                with self._in_place:
                    if self._gone:
                        return
                    sizes.append(rewrite([one.path for one in run]))

        self._disk.runner.submit_slow(job, lambda error: self._rewritten(runs, sizes, error, done))
        return True

    def _rewritten(
        self,
        runs: Sequence[Sequence[Segment]],
        sizes: list[int],
        error: BaseException | None,
        done: Callable[[bool], None],
    ) -> None:
        self._busy = False
        if self._gone:
            return
        if error is not None:
            self._disk.log.warning("segments were not rewritten", directory=str(self._place()), why=str(error))
        for run, size in zip(runs, sizes, strict=False):
            replaced = {one.base_offset for one in run[1:]}
            for one in self._segments:
                if one.base_offset == run[0].base_offset:
                    one.size, one.end = size, run[-1].end
            self._segments = [one for one in self._segments if one.base_offset not in replaced]
        done(error is None)

    # -- reading, at the start -----------------------------------------------------------------------------------

    def read(self) -> Iterator[tuple[Segment, memoryview]]:
        """Every segment with its contents; appends go on behind the last. DataDirError, OSError."""
        directory = self._place()
        self._segments = []
        self._appended_ms = -1
        if not directory.is_dir():
            return
        for segment, data in read_segments(directory, self._disk.log):
            self._segments.append(_Written(segment.base_offset, segment.path, segment.size, segment.end))
            yield segment, data

    def append_times(self, segment: Segment) -> Callable[[int, int], int]:
        """(base offset of a batch, what if nothing was written down) -> the broker time of its append. OSError."""
        path = segment.path.with_suffix(APPENDED_SUFFIX)
        noted = sorted(_times(path.read_bytes())) if path.exists() else []
        offsets = [offset for offset, _ in noted]

        def appended_ms(base_offset: int, otherwise: int) -> int:
            index = bisect_right(offsets, base_offset)
            return noted[index - 1][1] if index else otherwise

        return appended_ms


def _times(data: bytes) -> Iterable[tuple[int, int]]:
    return APPENDED.iter_unpack(data[: len(data) - len(data) % APPENDED.size])


def _write(fd: int, chunks: Sequence[bytes | memoryview], size: int) -> None:
    written = os.writev(fd, chunks)
    if written == size:
        return
    rest = memoryview(b"".join(chunks))[written:]
    while rest:
        rest = rest[os.write(fd, rest) :]
