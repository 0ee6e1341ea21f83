"""Files and directories on any file system that the session knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

    def exists(self, path: str) -> bool:
        files, found = self._at(path)
        return bool(files.exists(found))

    def has_entries(self, path: str) -> bool:
        files, found = self._at(path)
        return bool(files.exists(found)) and len(files.listStatus(found)) > 0

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
        """Whole or not there."""
        beside = f"{path}.new"
        files, found = self._at(beside)
        stream = files.create(found, True)
        stream.write(bytearray(text.encode()))
        stream.close()
        self.move(beside, path)
