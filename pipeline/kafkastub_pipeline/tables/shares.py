"""`share_partitions`: how far share groups are in each partition, and what is in flight there (KIP-932)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub_pipeline.cluster import Snapshot
from kafkastub_pipeline.decode.shares import share_partitions_of
from kafkastub_pipeline.session import local_table
from kafkastub_pipeline.tables.columns import time_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def share_partitions(
    spark: SparkSession, raw: DataFrame, marks: DataFrame, cluster: Snapshot | None, until_ms: int | None
) -> DataFrame:
    """With the names of topics and lag where the cluster tells them.

    Args:
        raw: the records of `__share_group_state`, as `decode.plain` gives them.
        marks: of `tables.lag.watermarks`.
        until_ms: records behind it are not looked at; None: all of them are, as the end of the log of
            `__consumer_offsets` says nothing of this one.
    """
    from pyspark.sql import functions as f

    names = [] if cluster is None else [(id_, name) for name, id_ in cluster.topic_ids.items()]
    topics = f.broadcast(local_table(spark, names, "topic_id string, topic string"))
    ends = marks.select("topic", "partition", "high_watermark")
    behind = "high_watermark - start_offset - delivery_complete_count"
    records = raw
    if until_ms is not None:
        records = records.where(f"log_ms is null or log_ms <= {until_ms}L")
    return (
        share_partitions_of(records)
        .join(topics, "topic_id", "left")
        .join(f.broadcast(ends), ["topic", "partition"], "left")
        .withColumn("lag_records", f.expr(f"if({behind} is null, null, greatest({behind}, 0L))"))
        .withColumn("log_timestamp", time_of(f.col("log_ms")))
    )
