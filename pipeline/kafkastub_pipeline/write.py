"""Tables on disk, in HDFS or on object storage: each is whole or not there, and so is each day of a table by days.

How a directory of Parquet takes the place of the one before is in `placed.py`. Delta and Iceberg commit by themselves.
Iceberg makes tables in catalogs: here that is one of paths (its `hadoop` catalog) over the directory.

By days, a table has what each run found, under the day that it is about: for Parquet a directory `day=2026-11-22` which
is replaced as a whole table is, for Delta and Iceberg a column `day` and one commit that replaces its rows. All three
ways a day can become empty, too: Spark's dynamic overwriting of partitions, and Iceberg's, leave the rows of a
partition where there are no new ones.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.errors import PipelineError, sentence
from kafkastub_pipeline.files import Files
from kafkastub_pipeline.maven import lake
from kafkastub_pipeline.placed import Options, placing
from kafkastub_pipeline.rules import LAST_MS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame, SparkSession

FORMATS = ("parquet", "delta", "iceberg")
DAY: Final = "day"
"""The column, and for Parquet the directory, of a table by days."""


class Store:
    """The directory that tables are written to, on any file system that the session knows.

    Attributes:
        day: the day that is written and read, of tables by days; None for tables that are of one run.
    """

    def __init__(self, spark: SparkSession, root: str, format_: str = "parquet", day: date | None = None) -> None:
        self.spark = spark
        self.root = root.rstrip("/")
        self.format = format_
        self.day = day
        self._files = Files(spark)

    def path(self, table: str) -> str:
        return f"{self.root}/{table}"

    def write(
        self, table: str, frame: DataFrame, partition_by: tuple[str, ...] = (), options: Options | None = None
    ) -> DataFrame:
        """Replace a table, or its day; what comes back reads it. Raises PipelineError.

        Args:
            options: of files in Parquet.
        """
        if self.format != "parquet":
            try:
                return self._committed(table, frame, partition_by)
            except PipelineError:
                raise
            except Exception as error:
                raise PipelineError(
                    f"{self.path(table)} cannot be written as {self.format}: {sentence(error)};"
                    f" {lake(self.format, self.spark.version)}"
                ) from error
        target = self._parquet(table)
        if self.day is not None or not self._files.moves(target):  # else what is there goes when the new one comes
            self._make_room(table)
        placing(self.spark, self._files, target).write(target, frame, partition_by, options or {})
        return self.spark.read.schema(frame.schema).parquet(target)

    def read(self, table: str) -> DataFrame:
        """A table that is there, or its day. Raises PipelineError."""
        try:
            format_ = self._format_of(table)
            if format_ == "parquet":
                target = self._parquet(table)
                return placing(self.spark, self._files, target).read(target)
            found = self._all_days(table, format_)
            return found if self.day is None else found.where(found[DAY] == self.day).drop(DAY)
        except Exception as error:
            why = str(error) if isinstance(error, PipelineError) else sentence(error)
            raise PipelineError(
                f"there is no table {table} in {self.root}: {why}; make it with `kafkastub-pipeline run`"
            ) from error

    def has(self, table: str) -> bool:
        format_ = self._format_of(table)
        if format_ != "parquet":
            return self._is_committed(table, format_)
        target = self._parquet(table)
        return placing(self.spark, self._files, target).has(target)

    def remove(self, table: str) -> None:
        self._files.remove(self.path(table))

    def days(self, table: str) -> list[date] | None:
        """Of which days it has something; None where it is not by days, or not there. Raises PipelineError."""
        format_ = self._format_of(table)
        if format_ != "parquet":
            if not self._is_committed(table, format_):
                return None
            found = self._all_days(table, format_)
            return sorted(row[0] for row in found.select(DAY).distinct().collect()) if DAY in found.columns else None
        names = [name for name in self._files.entries(self.path(table)) if name.startswith(f"{DAY}=")]
        return [_day_of(name) for name in names] or None

    def keeps_empty(self, table: str) -> bool:
        """Whether a table that is made without a row, or its day, can be told from one that was never made."""
        return self.day is None or self._format_of(table) == "parquet"

    def has_rows(self, table: str) -> bool:
        """Whether it is there, and nothing of another kind that was begun."""
        return self._files.has_data(self.path(table)) and self.has(table)

    def _parquet(self, table: str) -> str:
        """The directory that is replaced."""
        return self.path(table) if self.day is None else f"{self.path(table)}/{DAY}={self.day.isoformat()}"

    def _make_room(self, table: str) -> None:
        """A table of another format goes. Raises PipelineError where it has days, which would go with it."""
        there = self._format_of(table)
        if there == self.format or not self._files.exists(self.path(table)):
            return
        if self.day is not None and self.days(table):
            raise PipelineError(
                f"{self.path(table)} has days in the format {there}: give --format {there}, or name another directory"
            )
        self.remove(table)

    def _committed(self, table: str, frame: DataFrame, partition_by: tuple[str, ...]) -> DataFrame:
        """Written as a table of a format that commits by itself."""
        from pyspark.sql import functions as f

        self._make_room(table)
        there = self._is_committed(table, self.format)
        if self.day is not None:
            frame, partition_by = frame.withColumn(DAY, f.lit(self.day)), (DAY, *partition_by)
        if self.format == "iceberg":
            columns = [frame[name] for name in partition_by]
            writer = frame.writeTo(self._iceberg(table)).using("iceberg")
            if self.day is not None and there:
                writer.overwrite(f.col(DAY) == f.lit(self.day))
            else:
                (writer.partitionedBy(*columns) if columns else writer).createOrReplace()
        else:
            saver = frame.write.format(self.format).mode("overwrite").partitionBy(*partition_by)
            replacing = self.day is not None and there
            option = ("replaceWhere", f"{DAY} = '{self.day}'") if replacing else ("overwriteSchema", "true")
            saver.option(*option).save(self.path(table))
        return self.read(table)

    def _all_days(self, table: str, format_: str) -> DataFrame:
        """A table that commits by itself, with every day that it has."""
        if format_ == "iceberg":
            return self.spark.table(self._iceberg(table))
        return self.spark.read.format(format_).load(self.path(table))

    def _format_of(self, table: str) -> str:
        """Of the table that is there, or was begun; Parquet where there is none."""
        entries = self._files.entries(self.path(table))
        if "_delta_log" in entries:
            return "delta"
        return "iceberg" if "metadata" in entries or "data" in entries else "parquet"

    def _is_committed(self, table: str, format_: str) -> bool:
        """Whether a format that commits by itself has ever done so: who is killed before leaves files of no table."""
        folder, sign = ("_delta_log", ".json") if format_ == "delta" else ("metadata", ".metadata.json")
        names = self._files.entries(f"{self.path(table)}/{folder}")
        return any(name.endswith(sign) and (format_ == "delta" or name.startswith("v")) for name in names)

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


def day_of(now_ms: int) -> date:
    """The day of a moment, in UTC."""
    first = datetime(1970, 1, 1, tzinfo=UTC)
    return (first + timedelta(milliseconds=max(-62_135_596_800_000, min(now_ms, LAST_MS)))).date()


def check_days(store: Store, tables: Iterable[str], by_days: bool) -> None:
    """A directory has tables of one run, or tables by days. Raises PipelineError where the other kind is there."""
    for table in tables:
        days = store.days(table)
        if by_days and days is None and store.has_rows(table):
            raise PipelineError(
                f"--out {store.root} has the table {table} of one run, and not by days: name another directory for"
                " --append-day"
            )
        if not by_days and days:
            raise PipelineError(
                f"--out {store.root} has the table {table} by days ({days[0]} to {days[-1]}), and not of one run:"
                " give --append-day, or name another directory"
            )


def newest_day(store: Store, tables: Iterable[str], wanted: date | None = None) -> date | None:
    """The newest day that a run has completed a table of, or the one that is wanted; None where tables are not by days.

    Raises PipelineError where the day that is wanted is not there.
    """
    names = list(tables)
    days = sorted({day for name in names for day in store.days(name) or ()}, reverse=True)
    for day in days:
        of_day = Store(store.spark, store.root, day=day)
        if wanted in (None, day) and any(of_day.has(name) for name in names):
            return day
    if wanted is not None:
        what = f"its days are {days[-1]} to {days[0]}" if days else "its tables are not by days"
        raise PipelineError(f"{store.root} has no tables of the day {wanted}: {what}")
    return None


def _day_of(name: str) -> date:
    try:
        return date.fromisoformat(name.partition("=")[2])
    except ValueError as error:
        raise PipelineError(f"{name} is not a day: a table by days has directories such as {DAY}=2026-11-22") from error
