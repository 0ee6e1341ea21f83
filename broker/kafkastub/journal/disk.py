"""A journal that is complete on disk: JSON lines with raw frames, in files that follow each other.

An entry is a line, in the columns of `export`. What is pending when it comes is written then and once more when its end
has come, with the same sequence number: the last line counts. Each line is handed to the system at once, so that all of
them are there after a kill; a torn last line is ignored when it is read.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from kafkastub.journal.entry import Entry
from kafkastub.journal.export import line
from kafkastub.journal.extract import TopicName
from kafkastub.journal.ring import Raw, Ring

FILE_BYTES: Final = 64 << 20
"""From here on a new file is begun."""
MOST_FILES: Final = 16
"""Then the oldest goes: about 1 GiB is kept."""
_NAME: Final = "journal-{:020}.jsonl"


class JournalDirError(OSError):
    """The directory cannot be used; the text is one sentence for a user."""


class DiskJournal:
    """Writes the entries of a ring. Belongs to the server's thread."""

    def __init__(
        self,
        directory: str | os.PathLike[str],
        ring: Ring,
        topic_name: TopicName,
        failed: Callable[[OSError], None],
        file_bytes: int = FILE_BYTES,
        most_files: int = MOST_FILES,
    ) -> None:
        """Begins a new file; `failed` is told once when nothing more can be written. Raises JournalDirError."""
        self.directory = Path(directory)
        self._ring = ring
        self._topic_name = topic_name
        self._failed = failed
        self._file_bytes = file_bytes
        self._most_files = most_files
        self._size = 0
        self._file: BinaryIO
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            if journal_files(self.directory):
                raise JournalDirError(f"{self.directory} holds a journal already: name another directory")
            self._begin(ring.total)
        except JournalDirError:
            raise
        except OSError as error:
            raise JournalDirError(f"no journal can be kept in {directory}: {error.strerror or error}") from None
        ring.watchers.append(self._write)

    def _begin(self, sequence: int) -> None:
        self._file = (self.directory / _NAME.format(sequence)).open("xb", buffering=0)
        self._size = 0
        for old in journal_files(self.directory)[: -self._most_files]:
            old.unlink()

    def _write(self, sequence: int, raw: Raw) -> None:
        entry = Entry(sequence, raw, self._ring.wall_offset_ns, self._topic_name)
        written = line(entry, frames=True).encode()
        try:
            if self._size and self._size + len(written) > self._file_bytes and sequence == self._ring.total - 1:
                self._file.close()
                self._begin(sequence)
            self._file.write(written)
            self._size += len(written)
        except OSError as error:
            self.close()
            self._failed(error)

    def close(self) -> None:
        """Write nothing more."""
        if self._write in self._ring.watchers:
            self._ring.watchers.remove(self._write)
        self._file.close()


def journal_files(directory: str | os.PathLike[str]) -> list[Path]:
    """The files of a journal, oldest first."""
    return sorted(Path(directory).glob("journal-" + "[0-9]" * 20 + ".jsonl"))


def read_rows(directory: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The columns of each entry, by sequence number; frames as bytes. Raises JournalDirError where there is no journal.

    All of them are read before the first is given.
    """
    files = journal_files(directory)
    if not files:
        raise JournalDirError(f"{directory} holds no journal")
    rows: dict[int, dict[str, Any]] = {}
    for path in files:
        with path.open("rb") as lines:
            for text in lines:
                if not text.endswith(b"\n"):
                    break
                found = json.loads(text)
                for name in ("request", "response"):
                    if found[name] is not None:
                        found[name] = base64.b64decode(found[name])
                rows[found["sequence"]] = found
    for sequence in sorted(rows):
        yield rows[sequence]
