"""A journal that is complete on disk: JSON lines with raw frames, in files that follow each other.

An entry is a line, in the columns of `export`. What is pending when it comes is written then and once more when its end
has come, with the same sequence number: the last line counts. Each line is handed to the system at once, so that all of
them are there after a kill; a torn last line is ignored when it is read.
"""

from __future__ import annotations

import base64
import errno
import json
import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from kafkastub.journal.entry import Entry
from kafkastub.journal.export import line
from kafkastub.journal.extract import TopicName
from kafkastub.journal.ring import Outcome, Raw, Ring

FILE_BYTES: Final = 64 << 20
"""From here on a new file is begun."""
MOST_FILES: Final = 16
"""Then the oldest goes: about 1 GiB is kept."""
_NAME: Final = "journal-{:020}.jsonl"
_INT: Final = (1 << 31) - 1
_NUMBERS: Final = {
    "sequence": (int, 0, 1 << 62),
    "connection_id": (int, -1, 1 << 62),
    "api_key": (int, -1, _INT),
    "api_version": (int, -1, _INT),
}
"""Columns that a replay counts on: their type, the least and the most."""
_TEXTS: Final = ("kind", "outcome", "api", "broker_time", "wall_time")
_FIRST: Final = 1900
_LAST: Final = 9999
"""Years between which a time can be, for another one to be counted from it."""
_LONGEST_US: Final = 366 * 86_400 * 1_000_000
"""Of an answer: a year."""


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
        *,
        once: bool = False,
    ) -> None:
        """Begins a new file; `failed` is told once when nothing more can be written. Raises JournalDirError.

        `once`: whether a request is written only when its end has come: where all of them wait for somebody else, each
        would be written twice.
        """
        self.directory = Path(directory)
        self._ring = ring
        self._topic_name = topic_name
        self._failed = failed
        self._file_bytes = file_bytes
        self._most_files = most_files
        self._once = once
        self._begun = -1
        """The number in the name of the last file."""
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
        self._begun, self._size = sequence, 0
        for old in journal_files(self.directory)[: -self._most_files]:
            old.unlink()

    def _write(self, sequence: int, raw: Raw) -> None:
        if self._once and raw.outcome is Outcome.PENDING:
            return
        entry = Entry(sequence, raw, self._ring.wall_offset_ns, self._topic_name)
        written = line(entry, frames=True).encode()
        try:
            newest = self._once or sequence == self._ring.total - 1
            if self._size and self._size + len(written) > self._file_bytes and newest:
                self._file.close()
                self._begin(max(self._begun + 1, self._ring.total - 1))
            if self._file.write(written) < len(written):  # what is written behind half a line could not be read
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
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
    """The columns of each entry, by sequence number; frames as bytes. Raises JournalDirError where there is no journal,
    or something else than entries.

    All of them are read before the first is given.
    """
    files = journal_files(directory)
    if not files:
        raise JournalDirError(f"{directory} holds no journal")
    rows: dict[int, dict[str, Any]] = {}
    for path in files:
        with path.open("rb") as lines:
            for number, text in enumerate(lines, 1):
                if not text.endswith(b"\n"):
                    break
                try:
                    found = _entry(text)
                except (ValueError, RecursionError, KeyError) as error:
                    why = f"it has no {error}" if isinstance(error, KeyError) else error
                    raise JournalDirError(f"{path}, line {number}, is not an entry of a journal: {why}") from None
                rows[found["sequence"]] = found
    for sequence in sorted(rows):
        yield rows[sequence]


def _entry(text: bytes) -> dict[str, Any]:
    """Raises ValueError, RecursionError, KeyError."""
    found: Any = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("it is not an object")
    for name, (kind, least, most) in _NUMBERS.items():
        value = found[name]
        if type(value) is not kind or not least <= value <= most:
            raise ValueError(f"its {name} is not a whole number from {least} to {most}")
    for name in _TEXTS:
        if not isinstance(found[name], str):
            raise ValueError(f"its {name} is not a string")
    for name in ("broker_time", "wall_time"):
        moment = datetime.fromisoformat(found[name])
        if moment.tzinfo is None or not _FIRST < moment.year < _LAST:
            raise ValueError(f"its {name} is not a time with a zone")
    took = found["duration_us"]
    if took is not None and (type(took) is not int or not 0 <= took <= _LONGEST_US):
        raise ValueError("its duration_us is not a length of time")
    if not isinstance(found["groups"], list) or not all(isinstance(one, str) for one in found["groups"]):
        raise ValueError("its groups are no list of names")
    for name in ("request", "response"):
        frame = found[name]
        if frame is not None and not isinstance(frame, str):
            raise ValueError(f"its {name} is not a frame")
        found[name] = None if frame is None else base64.b64decode(frame)
    if found["request"] is None:
        raise ValueError("it has no request")
    return found
