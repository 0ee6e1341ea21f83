"""`lag`: how far behind each offset is, in records and in seconds, and by which method the seconds are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.cluster import Snapshot, next_record_times
from kafkastub_pipeline.session import local_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WATERMARKS_DDL: Final = (
    "topic string, `partition` int, log_start_offset bigint, high_watermark bigint, last_stable_offset bigint,"
    " newest_offset bigint, newest_ms bigint, topic_id_now string"
)
_NEXT_DDL: Final = "topic string, `partition` int, committed_offset bigint, next_ms bigint"


def watermarks(spark: SparkSession, cluster: Snapshot | None) -> DataFrame:
    """The snapshot as a table; empty without a cluster."""
    rows = (
        []
        if cluster is None
        else [
            (
                *(topic, partition, w.log_start, w.high_watermark, w.last_stable_offset, w.newest_offset, w.newest_ms),
                cluster.topic_ids.get(topic),
            )
            for (topic, partition), w in cluster.partitions.items()
        ]
    )
    return local_table(spark, rows, _WATERMARKS_DDL)


def next_records(
    spark: SparkSession,
    current: DataFrame,
    marks: DataFrame,
    bootstrap_servers: str | None,
    probes: int,
    options: Sequence[tuple[str, str]] = (),
) -> DataFrame:
    """Timestamps of the first records that groups have not consumed, for so many places, the oldest commits first."""
    found: dict[tuple[str, int, int], int] = {}
    if bootstrap_servers is not None and probes > 0:
        wanted = (
            current.join(marks, ["topic", "partition"])
            .where("committed_offset >= log_start_offset and committed_offset < last_stable_offset")
            .groupBy("topic", "partition", "committed_offset")
            .agg({"commit_ms": "min"})
            .orderBy("min(commit_ms)")
            .limit(probes)
            .collect()
        )
        found = next_record_times(
            bootstrap_servers, [(row.topic, row.partition, row.committed_offset) for row in wanted], options
        )
    return local_table(spark, [(*place, ms) for place, ms in found.items()], _NEXT_DDL)


def lag(current: DataFrame, marks: DataFrame, following: DataFrame, cluster: Snapshot | None, now_ms: int) -> DataFrame:
    """Adds `lag_records`, `lag_seconds`, `lag_method` and flags to the current offsets.

    Seconds are the age of the first record that was not consumed. "interpolation": its time is taken to lie between the
    commit and the newest record as its offset does; "commit age" where nothing better is known.
    """
    from pyspark.sql import functions as f

    interpolated = (
        "commit_ms + (greatest(newest_ms, commit_ms) - commit_ms) / cast(greatest(lag_records, 1L) as double)"
    )
    # ids tell, where the commit and the cluster have them; else that the commit is beyond the end
    recreated = "committed_offset > high_watermark or coalesce(topic_id <> topic_id_now, false)"
    return (
        current.join(f.broadcast(marks), ["topic", "partition"], "left")
        .join(following, ["topic", "partition", "committed_offset"], "left")
        .withColumn("lag_records", f.expr("high_watermark - committed_offset"))
        .withColumn("data_lost", f.expr("committed_offset < log_start_offset"))
        .withColumn("topic_recreated", f.expr(recreated))
        .withColumn(
            "topic_missing", f.expr("high_watermark is null") if cluster is not None else f.lit(None).cast("boolean")
        )
        .withColumn(
            "lag_method",
            f.expr(
                "case when high_watermark is null then null when lag_records <= 0 then 'none left'"
                " when next_ms is not null then 'next record'"
                " when newest_ms is not null and newest_ms > commit_ms then 'interpolation' else 'commit age' end"
            ),
        )
        .withColumn(
            "lag_seconds",
            f.expr(
                f"case lag_method when 'none left' then 0D when 'next record' then ({now_ms}L - next_ms) / 1000D"
                f" when 'interpolation' then ({now_ms}L - ({interpolated})) / 1000D"
                f" when 'commit age' then ({now_ms}L - commit_ms) / 1000D end"
            ),
        )
        .withColumn("lag_seconds", f.expr("if(lag_seconds is null, null, greatest(lag_seconds, 0D))"))
    )
