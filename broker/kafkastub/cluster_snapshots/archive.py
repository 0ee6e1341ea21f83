"""The file of a snapshot, written part by part: what is in it is never in memory as a whole (`state.snapshots.files`
has its form).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from types import TracebackType
from typing import IO, Final, Self
from zipfile import ZIP_DEFLATED, LargeZipFile, ZipFile, ZipInfo

from kafkastub.state.snapshots.files import DOCUMENT, LEVEL, THE_SAME_DAY
from kafkastub.state.snapshots.holding import OF_OWN
from kafkastub.state.snapshots.saved import SnapshotError

_MOST: Final = OF_OWN.most
"""Bytes that a file may unpack to for a stub to start from it."""


class Archive:
    """To be used as a context manager: at its end the file is there, readable by its owner alone; after an error
    nothing is.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._part: IO[bytes] | None = None
        self._size = 0

    def __enter__(self) -> Self:
        """Raises OSError."""
        # by a name that nobody can have taken before, in a folder that others may write to
        descriptor, name = mkstemp(prefix=f"{self._path.name}.unfinished-", dir=self._path.parent)
        self._unfinished, self._file = Path(name), os.fdopen(descriptor, "wb")
        self._archive = ZipFile(self._file, "w", ZIP_DEFLATED, allowZip64=False, compresslevel=LEVEL)
        return self

    def begin(self, topic: str, partition: int, base_offset: int) -> None:
        """What is written next goes to the file of a partition that begins there. Raises SnapshotError."""
        self._begin(f"{topic}-{partition}/{base_offset:020d}.log")

    def document(self, content: bytes) -> None:
        """Write the document. Raises SnapshotError."""
        self._begin(DOCUMENT)
        self.write(content)
        self.end()

    def _begin(self, name: str) -> None:
        self.end()
        entry = ZipInfo(name, THE_SAME_DAY)
        entry.compress_type = ZIP_DEFLATED
        try:
            self._part = self._archive.open(entry, "w")
        except LargeZipFile:
            raise SnapshotError(_TOO_LARGE) from None

    def write(self, content: bytes | memoryview) -> None:
        """Bytes of the part that was begun. Raises SnapshotError where there are too many, OSError."""
        assert self._part is not None
        self._size += len(content)
        if self._size > _MOST:
            raise SnapshotError(_TOO_LARGE)
        self._part.write(content)

    def end(self) -> None:
        """Nothing more comes of the part that was begun, if there is one."""
        part, self._part = self._part, None
        if part is not None:
            part.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raises OSError; SnapshotError where there are too many parts."""
        try:
            if error is None:
                self.end()
                self._archive.close()
                self._file.flush()
                os.fsync(self._file.fileno())
                self._unfinished.replace(self._path)
        except LargeZipFile:
            raise SnapshotError(_TOO_LARGE) from None
        finally:
            # each of them, whatever becomes of the others: an archive that is open ends itself later, with a traceback
            for step in (self.end, self._archive.close, self._file.close, self._unfinished.unlink):
                with suppress(OSError, ValueError, LargeZipFile):
                    step()


_TOO_LARGE: Final = (
    f"the snapshot is too large: it may have {_MOST} bytes, unpacked, and 65535 parts. Take fewer records: "
    "--records TOPIC=N takes the newest N of each partition"
)
