"""`expiry_forecast`: what will expire when, if nothing happens until then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.cluster import Snapshot, pending_offsets
from kafkastub_pipeline.rules import with_expiry
from kafkastub_pipeline.session import local_table
from kafkastub_pipeline.tables.columns import time_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_PENDING_DDL: Final = "group_id string, topic string, `partition` int"


def pending(
    spark: SparkSession,
    current: DataFrame,
    cluster: Snapshot | None,
    bootstrap_servers: str | None,
    probes: int,
    options: Sequence[tuple[str, str]] = (),
) -> DataFrame:
    """Offsets that an open transaction has committed anew: group_id, topic, partition.

    The log tells of them when the transaction ends, the broker before that. It is asked about so many groups, those
    with the oldest commits first, and only where a partition of the log has an open transaction.
    """
    unstable = [] if cluster is None else cluster.unstable()
    found: set[tuple[str, str, int]] = set()
    if unstable and bootstrap_servers is not None and probes > 0:
        groups = (
            current.where(f"log_partition in ({', '.join(map(str, unstable))})")
            .groupBy("group_id")
            .agg({"commit_ms": "min"})
            .orderBy("min(commit_ms)")
            .limit(probes)
            .collect()
        )
        found = pending_offsets(bootstrap_servers, [row.group_id for row in groups], options)
    return local_table(spark, sorted(found), _PENDING_DDL)


def expiry_forecast(
    current: DataFrame,
    unfinished: DataFrame,
    retention_minutes: int,
    profile: str,
    now_ms: int,
    check_interval_ms: int,
) -> DataFrame:
    from pyspark.sql import functions as f

    waits = f.broadcast(unfinished.withColumn("_waits", f.lit(True)))
    return (
        with_expiry(current, retention_minutes, profile)
        .join(waits, ["group_id", "topic", "partition"], "left")
        .withColumn("blocked_by", f.expr("if(_waits and blocked_by is null, 'pending transaction', blocked_by)"))
        .withColumn("retention_minutes", f.lit(retention_minutes))
        .withColumn("base_timestamp", time_of(f.col("base_ms")))
        .withColumn("expires_at", time_of(f.col("expires_ms")))
        .withColumn("sweep_by", time_of(f.expr(f"greatest(expires_ms, {now_ms}L) + {check_interval_ms}L")))
        .withColumn("sweep_by", f.expr("if(expires_ms is null, null, sweep_by)"))
        .withColumn("seconds_left", f.expr(f"(expires_ms - {now_ms}L) / 1000D"))
        .withColumn("days_left", f.expr("seconds_left / 86400D"))
    )
