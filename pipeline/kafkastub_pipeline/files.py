"""Files and directories on any file system that the session knows."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkastub_pipeline.errors import PipelineError, sentence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Files:
    """Hadoop's file systems, each chosen by the path."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        context: Any = spark._jsc
        self._configuration = context.hadoopConfiguration()

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

    def exists(self, path: str) -> bool:
        files, found = self._at(path)
        return bool(files.exists(found))

    def is_directory(self, path: str) -> bool:
        files, found = self._at(path)
        return bool(files.exists(found)) and bool(files.getFileStatus(found).isDirectory())

    def has_entries(self, path: str) -> bool:
        files, found = self._at(path)
        return bool(files.exists(found)) and len(files.listStatus(found)) > 0

    def has_data(self, directory: str) -> bool:
        """Whether a reader finds anything in it: what begins with _ or . is passed over."""
        files, found = self._at(directory)
        names = [str(one.getPath().getName()) for one in files.listStatus(found)]
        return any(not name.startswith(("_", ".")) for name in names)

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
            return bytes(stream.readNBytes(1 << 20)).decode("utf-8", "replace")
        finally:
            stream.close()

    def write(self, path: str, text: str) -> None:
        """Whole or not there; in the place of what is there."""
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
            above = self.whole(directory)
            while not self.exists(above) and self.parent(above) != above:
                above = self.parent(above)
            if not self.is_directory(above):
                return f"{self.local(above) or above} is a file, and no directory"
            try:
                self._put(above.rstrip("/") + trial, "?")
            finally:
                self.remove(above.rstrip("/") + trial)
        except Exception as error:  # Java's, of any kind
            return sentence(error).replace(trial, "").rstrip(".: ")
        return None

    def _put(self, path: str, text: str) -> None:
        files, found = self._at(path)
        stream = files.create(found, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()


def check_writable(files: Files, option: str, path: str, directory: str | None = None) -> None:
    """Before there is work to lose. Raises PipelineError.

    Args:
        option: the path's, as the user knows it.
        directory: where it has to be possible to write; by default `path` itself.
    """
    why = files.refusal(path if directory is None else directory)
    if why is not None:
        raise PipelineError(f"{option} {path} cannot be written: {why}; name another directory")
