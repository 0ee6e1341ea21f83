"""Files and directories on any file system that the session knows."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kafkastub_pipeline.errors import PipelineError, sentence
from kafkastub_pipeline.java import hadoop_configuration, jvm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


MOVING: Final = frozenset({"file", "hdfs", "webhdfs", "swebhdfs", "ofs", "o3fs"})
"""Schemes of file systems that move a directory at once or not at all. Any other one may be object storage, which
copies its files one after the other, and deletes them where they were: who is killed meanwhile leaves some of them."""
_MOST_BYTES: Final = 1 << 26
_PATTERNS: Final = frozenset("*?[]{}")
"""What Hadoop reads as a pattern wherever files are read again, and not where they are written."""


class Files:
    """Hadoop's file systems, each chosen by the path."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._jvm = jvm(spark)
        self._configuration = hadoop_configuration(spark)

    def _at(self, path: str) -> tuple[Any, Any]:
        found = self._jvm.org.apache.hadoop.fs.Path(path)
        return found.getFileSystem(self._configuration), found

    def whole(self, path: str) -> str:
        """The path with its file system, from the root on."""
        files, found = self._at(path)
        return str(files.makeQualified(found).toString())

    def parent(self, path: str) -> str:
        """The directory that it is in; itself where it is in none."""
        found = self._at(self.whole(path))[1]
        return str((found.getParent() or found).toString())

    def local(self, path: str) -> Path | None:
        """On this machine's own disks; None on any other file system."""
        at = self._at(self.whole(path))[1].toUri()
        return Path(str(at.getPath())) if str(at.getScheme()) == "file" else None

    def moves(self, path: str) -> bool:
        """Whether directories there are moved at once, or not at all."""
        whole = self.whole(path)
        if whole.startswith("viewfs:"):  # others, mounted under one name
            whole = self._nearest(whole)
            whole = str(self._at(whole)[0].resolvePath(self._at(whole)[1]).toString())
        return whole.partition(":")[0] in MOVING

    def _nearest(self, path: str) -> str:
        """The path, or what is there of the directories that it is in."""
        found = self.whole(path)
        while not self.exists(found) and self.parent(found) != found:
            found = self.parent(found)
        return found

    def exists(self, path: str) -> bool:
        files, found = self._at(path)
        return bool(files.exists(found))

    def is_directory(self, path: str) -> bool:
        files, found = self._at(path)
        return bool(files.exists(found)) and bool(files.getFileStatus(found).isDirectory())

    def has_entries(self, path: str) -> bool:
        files, found = self._at(path)
        return bool(files.exists(found)) and len(files.listStatus(found)) > 0

    def entries(self, directory: str) -> list[str]:
        """Names of what is in it, in order; none where it is not there."""
        files, found = self._at(directory)
        return sorted(str(one.getPath().getName()) for one in files.listStatus(found)) if files.exists(found) else []

    def below(self, directory: str) -> list[str]:
        """Every file in it and in what is in it, by its path from there on; none where it is not there."""
        files, found = self._at(directory)
        if not files.exists(found):
            return []
        start, names = len(self.whole(directory).rstrip("/")) + 1, []
        listed = files.listFiles(found, True)
        while listed.hasNext():
            names.append(str(listed.next().getPath().toString())[start:])
        return names

    def has_data(self, directory: str) -> bool:
        """Whether a reader finds anything in it: what begins with _ or . is passed over."""
        return any(not name.startswith(("_", ".")) for name in self.entries(directory))

    def move(self, path: str, target: str) -> bool:
        """Whether it could be done."""
        files, found = self._at(path)
        return bool(files.rename(found, self._at(target)[1]))

    def remove(self, path: str) -> None:
        """A file, or a directory with all that is in it; nothing where it is not there."""
        files, found = self._at(path)
        files.delete(found, True)

    def read(self, path: str) -> str | None:
        """A small file; None where there is none."""
        files, found = self._at(path)
        if not files.exists(found):
            return None
        stream = files.open(found)
        try:
            return bytes(stream.readNBytes(_MOST_BYTES)).decode("utf-8", "replace")
        finally:
            stream.close()

    def write(self, path: str, text: str) -> None:
        """Whole or not there; in the place of what is there. On object storage every file is, once it is closed."""
        if not self.moves(path):
            self._put(path, text)
            return
        beside = f"{path}.new"
        self._put(beside, text)
        self.remove(path)
        self.move(beside, path)

    def refusal(self, directory: str) -> str | None:
        """Why nothing can be written to a directory, or it cannot be made; None where it can.

        A small file in it, or in the nearest directory above it that is there, is written and removed: who asks file
        systems for permissions learns what some of them grant on paper. Nothing else is made.
        """
        trial = f"/_kafkastub-pipeline-{uuid.uuid4()}"
        try:
            above = self._nearest(directory)
            if not self.is_directory(above):
                return f"{self.local(above) or above} is a file, and no directory"
            try:
                self._put(above.rstrip("/") + trial, "?")
            finally:
                self.remove(above.rstrip("/") + trial)
        except Exception as error:  # Java's, of any kind
            return advised(self._spark, directory, sentence(error).replace(trial, "").rstrip(".: "))
        return None

    def _put(self, path: str, text: str) -> None:
        files, found = self._at(path)
        stream = files.create(found, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()


def advised(spark: SparkSession, path: str, why: str) -> str:
    """What is wrong with a path, and what a session lacks where it is on object storage."""
    if "S3AFileSystem not found" in why:
        hadoop = jvm(spark).org.apache.hadoop.util.VersionInfo.getVersion()
        return f"{why}: a session has s3a with --packages org.apache.hadoop:hadoop-aws:{hadoop} (docs/pipeline.md)"
    if why.startswith('No FileSystem for scheme "s3"'):
        return f"{why}: write s3a{path.removeprefix('s3')}"
    return why


def check_writable(files: Files, option: str, path: str, directory: str | None = None) -> None:
    """Before there is work to lose. Raises PipelineError.

    Args:
        option: the path's, as the user knows it.
        directory: where it has to be possible to write; by default `path` itself.
    """
    why = files.refusal(path if directory is None else directory)
    if why is not None:
        raise PipelineError(f"{option} {path} cannot be written: {why}; name another directory")


def check_no_pattern(option: str, path: str) -> None:
    """Of a directory that is written to and read again. Raises PipelineError."""
    found = sorted(_PATTERNS.intersection(path))
    if found:
        raise PipelineError(
            f"{option} {path} has {' '.join(found)} in it, which Spark takes for a pattern when it reads what it has"
            " written; name another directory"
        )
