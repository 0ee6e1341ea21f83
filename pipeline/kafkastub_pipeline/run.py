"""One run: read, decode once, and write every table."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kafkastub_pipeline.cluster import Snapshot, snapshot
from kafkastub_pipeline.decode import plain
from kafkastub_pipeline.decode.apart import decoded_here, decoded_with_candidates
from kafkastub_pipeline.decode.latest import parted
from kafkastub_pipeline.errors import PipelineError, sentence
from kafkastub_pipeline.files import Files, check_no_pattern, check_writable
from kafkastub_pipeline.here import is_small, plans
from kafkastub_pipeline.moment import view
from kafkastub_pipeline.placed import beside, check_complete
from kafkastub_pipeline.progress import Progress
from kafkastub_pipeline.session import arrow_table, local_table
from kafkastub_pipeline.settings import Settings
from kafkastub_pipeline.small_log import Held, held, newest_transactions
from kafkastub_pipeline.sources import RAW_DDL, read_journal, read_kafka, read_raw
from kafkastub_pipeline.staging import staged
from kafkastub_pipeline.tables.columns import TABLES
from kafkastub_pipeline.tables.made_from import Run
from kafkastub_pipeline.tables.wanted import check_readable, check_tables
from kafkastub_pipeline.topics import SHARES, TRANSACTIONS
from kafkastub_pipeline.write import Store, check_days, day_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Run", "Settings", "complete_since", "run"]

log = logging.getLogger("kafkastub_pipeline")

RECORDS = "decoded_records"
"""The decoded records, and the candidates for current offsets behind them, while a run needs them."""
STAGED = {"parquet.enable.dictionary": "false"}
"""They are read by this run, mostly by no other: to look for values that repeat costs a sixth of all that
decoding does, and saves a third of their space for a while."""


def run(spark: SparkSession, settings: Settings, before: Held | None = None, raw: DataFrame | None = None) -> list[str]:
    """Make all tables, or those that are asked for. Returns their names; raises PipelineError.

    Args:
        before: the cluster as it was asked already; by default it is asked now.
        raw: the records of the log, as `read_raw` has them; by default they are where the settings say.
    """
    check_tables(settings)
    check_no_pattern("--out", settings.out)
    check_writable(Files(spark), "--out", settings.out)
    store = Store(spark, settings.out, settings.format)
    check_days(store, TABLES, settings.append_day is not None)
    progress = Progress(spark, settings.terminal)
    with progress.running():
        return _run(store, settings, before, progress, raw)


def _run(store: Store, settings: Settings, before: Held | None, progress: Progress, raw: DataFrame | None) -> list[str]:
    spark = store.spark
    if before is None and settings.bootstrap_servers is not None:
        shares = settings.reads_shares
        before = held(
            settings.bootstrap_servers, settings.options, settings.reads_the_log, shares, settings.reads_transactions
        )
    check_readable(settings, () if before is None else before.begun.unreadable())
    journal = None if settings.journal is None else read_journal(spark, settings.journal)
    if raw is None and settings.raw is not None:
        raw = read_raw(spark, settings.raw)
    log_here = _log_here(settings, before, raw)
    with plans(spark, log_here is not None):
        staging = Store(spark, settings.out)
        try:
            if settings.records is not None:
                records, latest = parted(_saved_records(spark, settings.records))
            elif log_here is None:
                with progress.step("reading and decoding the log"):
                    records, latest = _decoded(
                        staging, _read(spark, settings, before) if raw is None else raw, settings
                    )
            else:
                stored = arrow_table(spark, decoded_here(log_here))
                if settings.keep_records:
                    staging.write(RECORDS, stored)
                records, latest = parted(stored)
            return _tables_of(store, settings, records, latest, journal, before, progress)
        finally:
            if settings.records is None and not settings.keep_records:
                _removed(staging)


def _tables_of(
    store: Store,
    settings: Settings,
    records: DataFrame,
    latest: DataFrame | None,
    journal: DataFrame | None,
    before: Held | None,
    progress: Progress,
) -> list[str]:
    """What follows when all records are decoded."""
    from kafkastub_pipeline.tables import all_tables

    # behind the log: what it has was then asked for, and is not ahead of where topics end
    if settings.journal is not None:
        journal = read_journal(store.spark, settings.journal, checked=True)
    servers = settings.bootstrap_servers
    cluster = None
    if servers is not None and before is not None and settings.needs_snapshot:
        cluster = snapshot(servers, settings.options, begun=before.begun)
    with progress.step("finding where the log begins and ends"):
        seen = view(records, latest, journal, cluster, settings.now)
        complete_ms = complete_since(records)
    if settings.append_day is not None:
        store.day = day_of(seen.now_ms) if isinstance(settings.append_day, str) else settings.append_day
    made = Run(
        store.spark,
        settings,
        store,
        seen.records,
        seen.latest,
        seen.now_ms,
        complete_ms,
        seen.cluster,
        seen.journal,
        seen.past,
        None if cluster is None else cluster.retention_minutes,
        _shares(store.spark, settings, before),
        _transactions(store.spark, settings, before, cluster),
        progress=progress,
    )
    all_tables.write_all(made)
    return [name for name in TABLES if name in made.written]


def _log_here(settings: Settings, before: Held | None, raw: DataFrame | None) -> pa.Table | None:
    """The log, where it is so small that it is decoded here; None where it is not, or is decoded already."""
    if settings.records is not None:
        return None
    if raw is None:
        return None if before is None else before.log
    return plain(raw).toArrow() if is_small(raw) else None


def _decoded(staging: Store, raw: DataFrame, settings: Settings) -> tuple[DataFrame, DataFrame | None]:
    """Every record decoded and stored, and the current offsets: by workers themselves, where they see the directory."""
    files, half = Files(staging.spark), _half(staging)
    directory = files.local(half)
    if settings.keep_records or directory is None:
        return parted(staging.write(RECORDS, decoded_with_candidates(raw), options=STAGED))
    files.remove(half)  # of a run that was killed
    if files.exists(half):  # as another user's, of which Hadoop says no more
        raise PipelineError(f"{directory}, left by another run, cannot be removed: remove it, or name another --out")
    return staged(raw, directory, files=settings.raw is not None)


def _half(staging: Store) -> str:
    return beside(staging.path(RECORDS), "incomplete")


def _removed(staging: Store) -> None:
    """What the run needed; where that is not to be removed, something else is told, or all is well."""
    try:
        staging.remove(RECORDS)
        Files(staging.spark).remove(_half(staging))
    except Exception as error:
        log.info("%s stays: %s", staging.path(RECORDS), sentence(error))


def _read(spark: SparkSession, settings: Settings, before: Held | None) -> DataFrame:
    if settings.bootstrap_servers is None or before is None:
        raise PipelineError("there is nothing to read: give --bootstrap-servers, --raw or --records")
    servers, begun = settings.bootstrap_servers, before.begun
    return read_kafka(spark, servers, begun.log_partitions, settings.options, sizes=begun.log_sizes)


def _shares(spark: SparkSession, settings: Settings, before: Held | None) -> DataFrame | None:
    """The records of `__share_group_state`, none where there is no such topic; None where it may not be read, or
    nothing is made of it."""
    if not settings.reads_shares:
        return None
    if settings.bootstrap_servers is None or before is None or before.begun.share_partitions is None:
        return None
    if before.shares is not None:
        return arrow_table(spark, before.shares)
    count, sizes = before.begun.share_partitions, before.begun.share_sizes
    if not count:
        return plain(local_table(spark, [], RAW_DDL))
    return plain(read_kafka(spark, settings.bootstrap_servers, count, settings.options, SHARES, sizes))


def _transactions(
    spark: SparkSession, settings: Settings, before: Held | None, cluster: Snapshot | None
) -> DataFrame | None:
    """The same of `__transaction_state`. `lag` alone takes the newest record of each id, if readers are held back."""
    if settings.bootstrap_servers is None or before is None or before.begun.transaction_partitions is None:
        return None
    if not settings.reads_transactions:
        if not settings.makes("lag") or cluster is None or not cluster.held():
            return None
        return arrow_table(spark, newest_transactions(settings.bootstrap_servers, before.begun, settings.options))
    if before.transactions is not None:
        return arrow_table(spark, before.transactions)
    count, sizes = before.begun.transaction_partitions, before.begun.transaction_sizes
    if not count:
        return plain(local_table(spark, [], RAW_DDL))
    return plain(read_kafka(spark, settings.bootstrap_servers, count, settings.options, TRANSACTIONS, sizes))


def _saved_records(spark: SparkSession, path: str) -> DataFrame:
    from kafkastub_pipeline.decode.columns import NARROW, RECORD

    check_complete(Files(spark), path)
    try:
        found = spark.read.parquet(path)
    except Exception as error:
        raise PipelineError(f"{path} cannot be read as decoded records in Parquet: {sentence(error)}") from error
    kept = RECORD.names if "about_group" not in found.columns else NARROW.names
    missing = [name for name in kept if name not in found.columns]
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
