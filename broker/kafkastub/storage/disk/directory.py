"""A data directory taken into use: whose it is, what format it has, who else uses it.

kafkastub.json has SCRAM's hashes in it, so that nobody but its owner may read it, and a directory that is made here is
nobody else's either. One that was there is left as it is: who made it may want others to read the records.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kafkastub.storage.errors import DataDirError

FORMAT: Final = 1
"""Of everything in the directory. A program reads its own format and older ones."""

LOCK: Final = ".lock"
PROPERTIES: Final = "meta.properties"
STATE: Final = "kafkastub.json"
DELETED: Final = ".deleted"
STRAY: Final = ".stray"
_FORMAT_KEY: Final = "kafkastub.format"
PRIVATE: Final = 0o600
_OTHERS: Final = 0o077


class DataDirectory:
    """A directory that this process holds the lock of, until `release`.

    Attributes:
        root: its absolute path.
        cluster_id: None in a directory that was made just now.
    """

    def __init__(self, path: str | os.PathLike[str], node_id: int) -> None:
        """Take a directory into use; it is made where there is none. Raises DataDirError."""
        self.root = Path(path).absolute()
        self.cluster_id: str | None = None
        self._node_id = node_id
        try:
            self.root.mkdir(0o700, parents=True, exist_ok=True)
            self._lock = _locked(self.root)
        except OSError as error:
            raise DataDirError(f"the data directory {self.root} cannot be used: {error.strerror}") from None
        try:
            self._read_properties()
        except OSError as error:
            self.release()
            raise DataDirError(f"the data directory {self.root} cannot be read: {error.strerror}") from None
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Let others use the directory."""
        os.close(self._lock)

    @property
    def is_new(self) -> bool:
        return self.cluster_id is None

    def initialise(self, cluster_id: str) -> None:
        """Write down whose directory this is. OSError."""
        lines = ["version=1", f"cluster.id={cluster_id}", f"node.id={self._node_id}", f"{_FORMAT_KEY}={FORMAT}"]
        replace_file(self.root / PROPERTIES, "".join(f"{line}\n" for line in lines).encode())
        self.cluster_id = cluster_id

    def state(self) -> bytes | None:
        """What the last run wrote down beside records; None where it did not come to that. OSError."""
        path = self.root / STATE
        if not path.exists():
            return None
        if path.stat().st_mode & _OTHERS:  # of a version that let everybody read it
            with contextlib.suppress(PermissionError):  # somebody else's file, which we may only read
                path.chmod(PRIVATE)
        return path.read_bytes()

    def replace_state(self, content: bytes, *, sync: bool) -> None:
        """Write that down. OSError."""
        replace_file(self.root / STATE, content, mode=PRIVATE, sync=sync)

    def partition(self, name: str) -> Path:
        """Where a partition's files are."""
        return self.root / name

    def deleted(self, topic_id: bytes, partition: int) -> Path:
        """Where a partition's files are put when its topic is deleted."""
        return self.root / DELETED / f"{topic_id.hex()}-{partition}"

    def tidy(self, wanted: dict[str, Path]) -> list[str]:
        """Put the directory in order at the start; gives the names of partitions that no topic has. OSError.

        `wanted`: the partitions that there are, by name, each with its place among the deleted. Those that are found
        there come back: their topic's deletion was never acknowledged.
        """
        for name, deleted in wanted.items():
            self.bring_back(name, deleted)
        remove_tree(self.root / DELETED)
        strays = [entry.name for entry in self.root.iterdir() if is_partition(entry) and entry.name not in wanted]
        for name in strays:
            place = self.root / STRAY / name
            place.parent.mkdir(exist_ok=True)
            remove_tree(place)
            self.partition(name).rename(place)
        return strays

    def bring_back(self, name: str, deleted: Path) -> None:
        """A partition's files from among the deleted, if they are there. OSError."""
        if deleted.exists() and not self.partition(name).exists():
            deleted.rename(self.partition(name))

    def _read_properties(self) -> None:
        path = self.root / PROPERTIES
        if not path.exists():
            present = sorted(entry.name for entry in self.root.iterdir() if entry.name != LOCK)
            if present and present != [f"{PROPERTIES}.new"]:
                raise DataDirError(
                    f"{self.root} is refused as a data directory: it has no {PROPERTIES}, but holds {present[0]!r}"
                )
            return
        found = dict(_properties(path.read_text("utf-8", "replace")))
        written = found.get(_FORMAT_KEY, "")
        if not written:
            raise DataDirError(f"the data directory {self.root} is another program's: {path.name} has no {_FORMAT_KEY}")
        if not written.isdigit() or int(written) > FORMAT:
            raise DataDirError(
                f"the data directory {self.root} has format {written}, which is newer than this version of kafkastub "
                f"knows (up to {FORMAT})"
            )
        if found.get("node.id") != str(self._node_id):
            raise DataDirError(
                f"the data directory {self.root} belongs to node.id={found.get('node.id')}, not {self._node_id}"
            )
        if not found.get("cluster.id"):
            raise DataDirError(f"the data directory {self.root} is damaged: {path.name} names no cluster.id")
        self.cluster_id = found["cluster.id"]


def replace_file(path: Path, content: bytes, *, mode: int = 0o644, sync: bool = True) -> None:
    """Write a file so that either all of it is there or its predecessor, and nothing else. OSError."""
    new = path.with_name(f"{path.name}.new")
    try:
        with open(new, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            if mode == PRIVATE:
                os.fchmod(file.fileno(), mode)  # it may have been left there by who was killed
            file.write(content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        new.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink()
        raise
    if sync:
        sync_path(path.parent)


def sync_path(path: Path | str) -> None:
    """Have a file's bytes, or a directory's entries, on the disk. OSError, but none for what is gone."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def remove_tree(path: Path) -> None:
    """Remove a directory with everything in it, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(path)


def _locked(root: Path) -> int:
    """A descriptor of the lock file with the lock. DataDirError where somebody else has it; OSError."""
    try:
        import fcntl
    except ImportError:
        raise DataDirError("a data directory needs a system with flock(2), which this one has not") from None
    fd = os.open(root / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise DataDirError(f"the data directory {root} is in use by another process") from None
    except BaseException:
        os.close(fd)
        raise
    return fd


def _properties(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            yield key.strip(), value.strip()


def is_partition(entry: Path) -> bool:
    """Whether it has a partition's name, and files."""
    name, hyphen, number = entry.name.rpartition("-")
    return bool(name and hyphen) and number.isdigit() and entry.is_dir()
