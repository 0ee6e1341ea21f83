"""Tables on disk: whole or not there.

Parquet is written beside its place (`_TABLE.incomplete`) and moved into it when it is complete. No file system swaps
two directories at once: for a moment the table of before is `_TABLE.replaced`. Who is killed in that moment leaves it
there: it is read from there, and the next run puts it back first. Delta and Iceberg commit by themselves. Iceberg
makes tables in catalogs: here that is one of paths (its `hadoop` catalog) over the directory.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from kafkastub_pipeline.errors import PipelineError, sentence
from kafkastub_pipeline.files import Files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = ("parquet", "delta", "iceberg")


class Store:
    """The directory that tables are written to, on any file system that the session knows."""

    def __init__(self, spark: SparkSession, root: str, format_: str = "parquet") -> None:
        self.spark = spark
        self.root = root.rstrip("/")
        self.format = format_
        self._files = Files(spark)

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
        if partition_by and not self._files.has_data(half):  # no row, no partition, no file that tells the columns
            self.spark.createDataFrame([], frame.schema).write.mode("overwrite").parquet(half)
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
            aside = not self._files.exists(self.path(table)) and self._files.exists(self._aside(table))
            return self.spark.read.parquet(self._aside(table) if aside else self.path(table))
        except Exception as error:
            raise PipelineError(
                f"there is no table {table} in {self.root}: {sentence(error)}; make it with `kafkastub-pipeline run`"
            ) from error

    def has(self, table: str) -> bool:
        return self._files.exists(self.path(table)) or self._files.exists(self._aside(table))

    def remove(self, table: str) -> None:
        self._files.remove(self.path(table))

    def _committed(self, table: str, frame: DataFrame, partition_by: tuple[str, ...]) -> DataFrame:
        """Written as a table of a format that commits by itself; one of another format makes room."""
        if self._files.exists(self.path(table)) and self._format_of(table) != self.format:
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
        if self._files.exists(f"{self.path(table)}/_delta_log"):
            return "delta"
        if self._files.exists(f"{self.path(table)}/metadata/version-hint.text"):
            return "iceberg"
        return "parquet" if self._files.exists(self.path(table)) else self.format

    def _iceberg(self, table: str) -> str:
        """Its name in the catalog of this directory."""
        whole = self._files.whole(self.root)
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
        target, beside, files = self.path(table), self._aside(table), self._files
        files.remove(beside)  # the table is there, so that this is left over
        if files.exists(target) and not files.move(target, beside):
            raise PipelineError(f"{target} cannot be replaced: the complete new table stays in {complete}")
        if not files.move(complete, target):
            self._mended(table)
            raise PipelineError(f"{target} cannot be written: the complete table stays in {complete}")
        files.remove(beside)

    def _mended(self, table: str) -> None:
        """A table whose replacement was cut short between two moves is put back."""
        target, beside = self.path(table), self._aside(table)
        if not self._files.exists(target) and self._files.exists(beside):
            self._files.move(beside, target)

    def _aside(self, table: str) -> str:
        return self.path(f"_{table}.replaced")
