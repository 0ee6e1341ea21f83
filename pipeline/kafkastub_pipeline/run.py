"""One run: read, decode once, and write every table."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kafkastub_pipeline.cluster import Beginnings, beginnings, snapshot
from kafkastub_pipeline.decode.latest import CANDIDATE, decoded_with_candidates
from kafkastub_pipeline.errors import PipelineError, sentence
from kafkastub_pipeline.files import Files, check_writable
from kafkastub_pipeline.moment import view
from kafkastub_pipeline.placed import check_complete
from kafkastub_pipeline.session import local_table
from kafkastub_pipeline.settings import Settings
from kafkastub_pipeline.sources import RAW_DDL, SHARES, read_journal, read_kafka, read_raw
from kafkastub_pipeline.tables.columns import TABLES
from kafkastub_pipeline.tables.made_from import Run
from kafkastub_pipeline.write import Store, check_days, day_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Run", "Settings", "complete_since", "run"]

log = logging.getLogger("kafkastub_pipeline")

RECORDS = "decoded_records"
"""The decoded records, and the candidates for current offsets behind them, while a run needs them."""


def run(spark: SparkSession, settings: Settings) -> list[str]:
    """Make all tables. Returns their names; raises PipelineError."""
    from kafkastub_pipeline.tables import all_tables

    check_writable(Files(spark), "--out", settings.out)
    store = Store(spark, settings.out, settings.format)
    check_days(store, TABLES, settings.append_day is not None)
    staging = Store(spark, settings.out)
    servers = settings.bootstrap_servers
    begun = None if servers is None else beginnings(servers, settings.options)
    journal = None if settings.journal is None else read_journal(spark, settings.journal)
    if settings.records is not None:
        stored = _saved_records(spark, settings.records)
    else:
        stored = staging.write(RECORDS, decoded_with_candidates(_raw(spark, settings, begun)))
    try:
        # behind the log: what it has was then asked for, and is not ahead of where topics end
        if settings.journal is not None:
            journal = read_journal(spark, settings.journal, checked=True)
        cluster = None if servers is None else snapshot(servers, settings.options, begun=begun)
        records, candidates = _parted(stored)
        seen = view(records, candidates, journal, cluster, settings.now)
        if settings.append_day is not None:
            store.day = day_of(seen.now_ms) if isinstance(settings.append_day, str) else settings.append_day
        made = Run(
            spark,
            settings,
            store,
            seen.records,
            seen.candidates,
            seen.now_ms,
            complete_since(records),
            seen.cluster,
            seen.journal,
            seen.past,
            None if cluster is None else cluster.retention_minutes,
            _shares(spark, settings, begun),
        )
        all_tables.write_all(made)
    finally:
        if settings.records is None and not settings.keep_records:
            _removed(staging)
    return made.written


def _removed(staging: Store) -> None:
    """What the run needed; where that is not to be removed, something else is told, or all is well."""
    try:
        staging.remove(RECORDS)
    except Exception as error:
        log.info("%s stays: %s", staging.path(RECORDS), sentence(error))


def _parted(stored: DataFrame) -> tuple[DataFrame, DataFrame | None]:
    """The decoded records, and the candidates where there are any: `stream` writes none."""
    if "place" not in stored.columns:
        return stored, None
    return stored.where("place is null").drop("place"), stored.where("place is not null").select(*CANDIDATE.names)


def _raw(spark: SparkSession, settings: Settings, begun: Beginnings | None) -> DataFrame:
    if settings.raw is not None:
        return read_raw(spark, settings.raw)
    if settings.bootstrap_servers is None or begun is None:
        raise PipelineError("there is nothing to read: give --bootstrap-servers, --raw or --records")
    servers, sizes = settings.bootstrap_servers, begun.log_sizes
    return read_kafka(spark, servers, begun.log_partitions, settings.options, sizes=sizes)


def _shares(spark: SparkSession, settings: Settings, begun: Beginnings | None) -> DataFrame | None:
    """The records of `__share_group_state`, none where there is no such topic; None where it may not be read."""
    if settings.bootstrap_servers is None or begun is None or begun.share_partitions is None:
        return None
    if not begun.share_partitions:
        return local_table(spark, [], RAW_DDL)
    count, sizes = begun.share_partitions, begun.share_sizes
    return read_kafka(spark, settings.bootstrap_servers, count, settings.options, SHARES, sizes)


def _saved_records(spark: SparkSession, path: str) -> DataFrame:
    from kafkastub_pipeline.decode.columns import RECORD

    check_complete(Files(spark), path)
    try:
        found = spark.read.parquet(path)
    except Exception as error:
        raise PipelineError(f"{path} cannot be read as decoded records in Parquet: {sentence(error)}") from error
    missing = [name for name in RECORD.names if name not in found.columns]
    if missing:
        raise PipelineError(f"{path} holds no decoded records: it has no column {', '.join(missing)}")
    return found


def complete_since(records: DataFrame) -> int | None:
    """From when on the log has every record; None where it has all from the beginning.

    Compaction leaves gaps between offsets; so do the markers of transactions, which then only make this later.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    counted = records.groupBy("log_partition").agg(
        f.count("*").alias("n"), f.min("log_offset").alias("first"), f.max("log_offset").alias("last")
    )
    gaps = [row.log_partition for row in counted.where("first > 0 or last - first >= n").collect()]
    if not gaps:
        return None
    order = Window.partitionBy("log_partition").orderBy("log_offset")
    behind_gap = (
        records.where(f.col("log_partition").isin(gaps))
        .select("log_partition", "log_offset", "log_ms")
        .withColumn("before", f.lag("log_offset", 1, -1).over(order))
        .where("log_offset - 1 > before")
        .groupBy("log_partition")
        .agg(f.max_by("log_ms", "log_offset").alias("ms"))
    )
    found = behind_gap.agg(f.max("ms")).collect()[0][0]
    return None if found is None else int(found)
