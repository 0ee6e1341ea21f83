"""`transactions` and `held_partitions`: which transactions there were and are, and what the open ones hold back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.cluster import Snapshot
from kafkastub_pipeline.decode.transaction_lives import ABORTING, COMMITTING, OPEN, transactions_of
from kafkastub_pipeline.session import local_table
from kafkastub_pipeline.tables.columns import time_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GRACE_MS: Final = 10_000
"""`transaction.abort.timed.out.transaction.cleanup.interval.ms`: the coordinator looks so often, by default."""
_UNFINISHED: Final = f"status in ('{OPEN}', '{COMMITTING}', '{ABORTING}')"
_MAX_TIMEOUT_MS: Final = 900_000
"""`transaction.max.timeout.ms`, by default: a transaction that any coordinator knows has ended after that."""
_HOLDS_DDL: Final = "topic string, `partition` int, last_stable_offset bigint, high_watermark bigint, newest_ms bigint"


def transactions(raw: DataFrame, now_ms: int, until_ms: int | None) -> DataFrame:
    """With `seconds` and `hanging`; an open one lasts until the moment of the tables.

    Args:
        raw: records of `__transaction_state`, as `decode.plain` gives them.
        now_ms: the moment that the tables are about.
        until_ms: records that are later are not looked at; None: all of them are.
    """
    from pyspark.sql import functions as f

    records = raw if until_ms is None else raw.where(f"log_ms is null or log_ms <= {until_ms}L")
    last = f"greatest(coalesce(ended_ms, {now_ms}L), started_ms)"
    overdue = f"{_UNFINISHED} and {now_ms}L - started_ms > timeout_ms + {GRACE_MS}L"
    return (
        transactions_of(records)
        .withColumn("seconds", f.expr(f"({last} - started_ms) / 1000D"))
        .withColumn("hanging", f.expr(f"coalesce({overdue}, false)"))
        .withColumn("started_at", time_of(f.col("started_ms")))
        .withColumn("ended_at", time_of(f.col("ended_ms")))
        .withColumn("completed_at", time_of(f.col("completed_ms")))
        .withColumn("log_timestamp", time_of(f.col("log_ms")))
    )


def held_partitions(spark: SparkSession, found: DataFrame, cluster: Snapshot, now_ms: int) -> DataFrame:
    """Partitions whose last stable offset is behind their high watermark, each with the oldest transaction in it.

    Where the coordinator knows none, it was begun behind the look at its log, or it hangs in the partition alone
    (KIP-664): so it does where nothing was written for longer than a transaction may last.

    Args:
        found: of `transactions`.
    """
    from pyspark.sql import functions as f

    marks = {place: cluster.partitions[place] for place in cluster.held()}
    rows = [(*place, of.last_stable_offset, of.high_watermark, of.newest_ms) for place, of in marks.items()]
    held = local_table(spark, rows, _HOLDS_DDL)
    names = "transactional_id", "producer_id", "producer_epoch", "status", "started_ms", "timeout_ms", "hanging"
    unfinished = (
        found.where(_UNFINISHED)
        .withColumn("place", f.explode("partitions"))
        .select(f.col("place.topic").alias("topic"), f.col("place.partition").alias("partition"), *names)
    )
    oldest = unfinished.groupBy("topic", "partition").agg(
        f.count("*").alias("transactions"),
        *(f.expr(f"min_by({name}, coalesce(started_ms, 0L))").alias(name) for name in names),
    )
    return (
        held.join(oldest, ["topic", "partition"], "left")
        .withColumn("records_held", f.expr("high_watermark - last_stable_offset"))
        .withColumn("transactions", f.expr("coalesce(transactions, 0L)"))
        .withColumn("since", time_of(f.col("started_ms")))
        .withColumn("seconds", f.expr(f"greatest({now_ms}L - started_ms, 0L) / 1000D"))
        .withColumn(
            "hanging",
            f.expr(
                f"case when transactional_id is not null then hanging when {now_ms}L - newest_ms > {_MAX_TIMEOUT_MS}L"
                " then true end"
            ),
        )
    )
