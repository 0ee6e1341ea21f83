"""Tables on disk: whole or not there.

Parquet is written beside its place (`_TABLE.incomplete`) and moved into it when it is complete. No file system swaps
two directories at once: for a moment the table of before is `_TABLE.replaced`. Who is killed in that moment leaves it
there: it is read from there, and the next run puts it back first. Delta and Iceberg commit by themselves. Iceberg
makes tables in catalogs: here that is one of paths (its `hadoop` catalog) over the directory.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from kafkastub_pipeline.errors import PipelineError, sentence

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = ("parquet", "delta", "iceberg")


class Store:
    """The directory that tables are written to, on any file system that the session knows."""

    def __init__(self, spark: SparkSession, root: str, format_: str = "parquet") -> None:
        self.spark = spark
        self.root = root.rstrip("/")
        self.format = format_

    def path(self, table: str) -> str:
        return f"{self.root}/{table}"

    def write(self, table: str, frame: DataFrame, partition_by: tuple[str, ...] = ()) -> DataFrame:
        """Replace a table; what comes back reads it. Raises PipelineError."""
        if self.format != "parquet":
            try:
                return self._committed(table, frame, partition_by)
            except Exception as error:
                raise PipelineError(
                    f"{self.path(table)} cannot be written as {self.format}: {sentence(error)}; a session has it with"
                    " --packages (docs/pipeline.md)"
                ) from error
        half = self.path(f"_{table}.incomplete")
        frame.write.mode("overwrite").partitionBy(*partition_by).parquet(half)
        self._move(half, table)
        return self.spark.read.schema(frame.schema).parquet(self.path(table))

    def read(self, table: str) -> DataFrame:
        """A table that is there. Raises PipelineError."""
        try:
            format_ = self._format_of(table)
            if format_ == "iceberg":
                return self.spark.table(self._iceberg(table))
            if format_ != "parquet":
                return self.spark.read.format(format_).load(self.path(table))
            aside = not self._exists(self.path(table)) and self._exists(self._aside(table))
            return self.spark.read.parquet(self._aside(table) if aside else self.path(table))
        except Exception as error:
            raise PipelineError(
                f"there is no table {table} in {self.root}: {sentence(error)}; make it with `kafkastub-pipeline run`"
            ) from error

    def has(self, table: str) -> bool:
        return self._exists(self.path(table)) or self._exists(self._aside(table))

    def remove(self, table: str) -> None:
        path = self._hadoop(self.path(table))
        self._files(path).delete(path, True)

    def _committed(self, table: str, frame: DataFrame, partition_by: tuple[str, ...]) -> DataFrame:
        """Written as a table of a format that commits by itself; one of another format makes room."""
        if self._exists(self.path(table)) and self._format_of(table) != self.format:
            self.remove(table)
        if self.format == "iceberg":
            writer = frame.writeTo(self._iceberg(table)).using("iceberg")
            columns = [frame[name] for name in partition_by]
            (writer.partitionedBy(*columns) if columns else writer).createOrReplace()
            return self.spark.table(self._iceberg(table))
        writer_ = frame.write.format(self.format).mode("overwrite").option("overwriteSchema", "true")
        writer_.partitionBy(*partition_by).save(self.path(table))
        return self.spark.read.format(self.format).load(self.path(table))

    def _format_of(self, table: str) -> str:
        """Of the table that is there; that of the store where it does not show."""
        if self._exists(f"{self.path(table)}/_delta_log"):
            return "delta"
        if self._exists(f"{self.path(table)}/metadata/version-hint.text"):
            return "iceberg"
        return "parquet" if self._exists(self.path(table)) else self.format

    def _iceberg(self, table: str) -> str:
        """Its name in the catalog of this directory."""
        root = self._hadoop(self.root)
        whole = str(self._files(root).makeQualified(root).toString())
        catalog = f"kafkastub_{hashlib.sha256(whole.encode()).hexdigest()[:16]}"
        name = f"spark.sql.catalog.{catalog}"
        settings = {name: "org.apache.iceberg.spark.SparkCatalog", f"{name}.type": "hadoop"}
        settings |= {f"{name}.warehouse": whole, f"{name}.cache-enabled": "false"}
        for key, value in settings.items():
            self.spark.conf.set(key, value)
        return f"{catalog}.`{table}`"

    def _move(self, complete: str, table: str) -> None:
        """Put what is complete into the table's place."""
        self._mended(table)
        target, beside = self._hadoop(self.path(table)), self._hadoop(self._aside(table))
        files = self._files(target)
        files.delete(beside, True)  # the table is there, so that this is left over
        if files.exists(target) and not files.rename(target, beside):
            raise PipelineError(f"{self.path(table)} cannot be replaced: the complete new table stays in {complete}")
        if not files.rename(self._hadoop(complete), target):
            self._mended(table)
            raise PipelineError(f"{self.path(table)} cannot be written: the complete table stays in {complete}")
        files.delete(beside, True)

    def _mended(self, table: str) -> None:
        """A table whose replacement was cut short between two moves is put back."""
        target, beside = self._hadoop(self.path(table)), self._hadoop(self._aside(table))
        files = self._files(target)
        if not files.exists(target) and files.exists(beside):
            files.rename(beside, target)

    def _aside(self, table: str) -> str:
        return self.path(f"_{table}.replaced")

    def _exists(self, path: str) -> bool:
        found = self._hadoop(path)
        return bool(self._files(found).exists(found))

    def _hadoop(self, path: str) -> Any:
        jvm: Any = self.spark._jvm
        return jvm.org.apache.hadoop.fs.Path(path)

    def _files(self, path: Any) -> Any:
        context: Any = self.spark._jsc
        return path.getFileSystem(context.hadoopConfiguration())
