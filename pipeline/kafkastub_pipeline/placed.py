"""A directory of Parquet that takes the place of the one before: whole, or not there.

Where directories are moved at once (disks, HDFS), Parquet is written beside its place (`_TABLE.incomplete`) and moved
into it when it is complete. Nothing swaps two directories at once: for a moment the one of before is `_TABLE.replaced`.
Who is killed in that moment leaves it there: it is read from there, and the next run puts it back first.

Object storage (s3a) moves nothing: it copies file by file. It has, though, each file whole or not at all, and a list of
them that is never behind. There new files are written beside those of before, in the same directory, and one file tells
which of them count:

* `_SUCCESS` is there: all that are there. Hadoop's own committers say that with it, and so it is between runs.
* it is not there, and `_manifest.json` is: those that this one names. First they are the files of before; when all new
  ones are there, it is replaced by one that names these, and with that one write the table is another. Then the old
  ones are deleted, `_SUCCESS` is written, and `_manifest.json` goes.
* neither is there: none; the first run was killed before it had them all.

Who is killed in between leaves files that do not count: readers here leave them out, and the next run deletes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.errors import PipelineError
from kafkastub_pipeline.files import Files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SUCCESS: Final = "_SUCCESS"
MANIFEST: Final = "_manifest.json"
Options = Mapping[str, str]
"""Of the files: what Parquet's writer understands."""
_UNMARKED: Final = "mapreduce.fileoutputcommitter.marksuccessfuljobs"


def beside(target: str, what: str) -> str:
    """A directory next to `target` that readers pass over: with an equals sign they would take it for a partition."""
    folder, _, name = target.rpartition("/")
    return f"{folder}/_{name.replace('=', '-')}.{what}"


class Moved:
    """Where a directory is moved at once."""

    def __init__(self, spark: SparkSession, files: Files) -> None:
        self._spark = spark
        self._files = files

    def write(self, target: str, frame: DataFrame, partition_by: tuple[str, ...], options: Options) -> None:
        """Raises PipelineError where it cannot be put into its place."""
        half = beside(target, "incomplete")
        frame.write.mode("overwrite").options(**options).partitionBy(*partition_by).parquet(half)
        if partition_by and not self._files.has_data(half):  # no row, no partition, no file that tells the columns
            self._spark.createDataFrame([], frame.schema).write.mode("overwrite").parquet(half)
        self._move(half, target)

    def has(self, target: str) -> bool:
        return self._files.exists(target) or self._files.exists(beside(target, "replaced"))

    def read(self, target: str) -> DataFrame:
        aside = beside(target, "replaced")
        left = not self._files.exists(target) and self._files.exists(aside)
        return self._spark.read.parquet(aside if left else target)

    def _move(self, complete: str, target: str) -> None:
        """Put what is complete into the table's place."""
        self._mended(target)
        aside, files = beside(target, "replaced"), self._files
        files.remove(aside)  # the table is there, so that this is left over
        if files.exists(target) and not files.move(target, aside):
            raise PipelineError(f"{target} cannot be replaced: the complete new table stays in {complete}")
        if not files.move(complete, target):
            self._mended(target)
            raise PipelineError(f"{target} cannot be written: the complete table stays in {complete}")
        files.remove(aside)

    def _mended(self, target: str) -> None:
        """A table whose replacement was cut short between two moves is put back."""
        aside = beside(target, "replaced")
        if not self._files.exists(target) and self._files.exists(aside):
            self._files.move(aside, target)


class Listed:
    """Where single files are whole or not there, and nothing is moved at once: object storage."""

    def __init__(self, spark: SparkSession, files: Files) -> None:
        self._spark = spark
        self._files = files

    def write(self, target: str, frame: DataFrame, partition_by: tuple[str, ...], options: Options) -> None:
        """Beside the files of before, which count until all new ones are there. Raises PipelineError."""
        files = self._files
        before = set(self._mended(target))
        if before:
            self._name(target, sorted(before))
        files.remove(f"{target}/{SUCCESS}")
        writer = frame.write.mode("append").options(**options).option(_UNMARKED, "false")
        writer.partitionBy(*partition_by).parquet(target)
        now = set(_data(files.below(target))) - before
        if not now:  # no row, no partition, no file that tells the columns
            empty = self._spark.createDataFrame([], frame.schema)
            empty.write.mode("append").option(_UNMARKED, "false").parquet(target)
            now = set(_data(files.below(target))) - before
        self._name(target, sorted(now))
        for name in before:
            files.remove(f"{target}/{name}")
        files.write(f"{target}/{SUCCESS}", "")
        files.remove(f"{target}/{MANIFEST}")

    def has(self, target: str) -> bool:
        return self._files.exists(f"{target}/{SUCCESS}") or self._files.exists(f"{target}/{MANIFEST}")

    def read(self, target: str) -> DataFrame:
        """Raises PipelineError where no run has completed it."""
        if self._files.exists(f"{target}/{SUCCESS}"):
            return self._spark.read.parquet(target)
        named = self._named(target)
        if named is None:
            raise PipelineError(f"{target} is not complete: it has no {SUCCESS}: the run that wrote it was killed")
        return self._spark.read.option("basePath", target).parquet(*[f"{target}/{name}" for name in named])

    def _mended(self, target: str) -> list[str]:
        """The files that count; others, which a run has left that was killed, are deleted."""
        files = self._files
        there = files.below(target)
        if SUCCESS in there:
            return _data(there)
        count = self._named(target) or []
        for name in there:
            if name not in count and name != MANIFEST:
                files.remove(f"{target}/{name}")
        return count

    def _name(self, target: str, names: list[str]) -> None:
        self._files.write(f"{target}/{MANIFEST}", json.dumps({"files": names}))

    def _named(self, target: str) -> list[str] | None:
        """What the manifest names; None where there is none. Raises PipelineError where it cannot be understood."""
        text = self._files.read(f"{target}/{MANIFEST}")
        if text is None:
            return None
        try:
            return [str(name) for name in json.loads(text)["files"]]
        except (ValueError, KeyError, TypeError) as error:
            raise PipelineError(
                f"{target}/{MANIFEST} is damaged: delete {target}, and make it again with `kafkastub-pipeline run`"
            ) from error


def _data(names: list[str]) -> list[str]:
    """Those that a reader takes for data; what begins with _ or . is passed over, but not a partition's directory."""
    found = []
    for name in names:
        parts = name.split("/")
        if not any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in parts):
            found.append(name)
    return found


def placing(spark: SparkSession, files: Files, path: str) -> Moved | Listed:
    """How it is done where `path` is."""
    return Moved(spark, files) if files.moves(path) else Listed(spark, files)


def check_complete(files: Files, path: str) -> None:
    """Of a directory of Parquet that a command of ours has written. Raises PipelineError where it was killed meanwhile.

    Where directories are moved, one that is there is complete. A stream's directory lists for itself what counts.
    """
    if files.moves(path) or not files.exists(path) or files.exists(f"{path}/_spark_metadata"):
        return
    if not files.exists(f"{path}/{SUCCESS}"):
        raise PipelineError(f"{path} is not complete: it has no {SUCCESS}: the run that wrote it was killed")
