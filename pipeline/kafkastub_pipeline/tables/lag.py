"""`lag`: how far behind each offset is, in records and in seconds, and by which method the seconds are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.cluster import Snapshot, gone_topics, next_record_times
from kafkastub_pipeline.rules import LAST_MS
from kafkastub_pipeline.session import local_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WATERMARKS_DDL: Final = (
    "topic string, `partition` int, log_start_offset bigint, high_watermark bigint, last_stable_offset bigint,"
    " newest_offset bigint, newest_ms bigint, topic_id_now string"
)
_PLACE_DDL: Final = "topic string, `partition` int"
_NEXT_DDL: Final = "topic string, `partition` int, committed_offset bigint, next_ms bigint, nothing_left boolean"

_HOLDER: Final = {"held_by": "string", "held_seconds": "double"}

RECREATED: Final = "coalesce(topic_id <> topic_id_now, committed_offset > high_watermark)"
"""Whether a topic is another one than was committed to. Ids tell, where the commit and the cluster have them: a commit
beyond the end is then one that is ahead of a new leader, say, or that somebody has set. Else that is the one sign."""


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
    """Timestamps of the first records that groups have not consumed, for so many places, the oldest commits first.

    Null where there is no such record: what is left are marks of transactions, which clients count and never see.
    """
    found: dict[tuple[str, int, int], int | None] = {}
    if bootstrap_servers is not None and probes > 0:
        wanted = (
            current.join(marks, ["topic", "partition"])
            .where("committed_offset >= log_start_offset and committed_offset < high_watermark")
            .groupBy("topic", "partition", "committed_offset")
            .agg({"commit_ms": "min"})
            .orderBy("min(commit_ms)")
            .limit(probes)
            .collect()
        )
        found = next_record_times(
            bootstrap_servers, [(row.topic, row.partition, row.committed_offset) for row in wanted], options
        )
    return local_table(spark, [(*place, ms, ms is None) for place, ms in found.items()], _NEXT_DDL)


def missing(
    spark: SparkSession,
    current: DataFrame,
    cluster: Snapshot | None,
    bootstrap_servers: str | None,
    options: Sequence[tuple[str, str]] = (),
) -> DataFrame:
    """Places with an offset of which the cluster says that they are not there: topic, partition.

    A partition without a leader is there; of a topic that may not be described nobody knows.
    """
    from pyspark.sql import functions as f

    if cluster is None:
        return local_table(spark, [], _PLACE_DDL)
    listed = f.broadcast(local_table(spark, sorted(cluster.listed), _PLACE_DDL))
    unlisted = current.select("topic", "partition").distinct().join(listed, ["topic", "partition"], "left_anti")
    names = {row.topic for row in unlisted.select("topic").distinct().collect()}
    known = {topic for topic, _ in cluster.listed}
    gone = names & known  # the topic is there, with fewer partitions
    if bootstrap_servers is not None and names - known:
        gone |= gone_topics(bootstrap_servers, names - known, options)
    return unlisted.join(f.broadcast(local_table(spark, [(name,) for name in sorted(gone)], "topic string")), "topic")


def lag(current: DataFrame, marks: DataFrame, following: DataFrame, gone: DataFrame, now_ms: int) -> DataFrame:
    """Adds `lag_records`, `lag_seconds`, `lag_method` and flags to the current offsets.

    Seconds are the age of the first record that was not consumed. "interpolation": its time is taken to lie between the
    commit and the newest record as its offset does; "commit age" where nothing better is known. Nothing is known of an
    offset that was committed to another topic of the same name, nor of one below 0, which clients take for none.

    Args:
        marks: of `watermarks`.
        following: of `next_records`.
        gone: of `missing`.
    """
    from pyspark.sql import functions as f

    left = "group_state = 'Stable' and subscribed is not null and not array_contains(subscribed, topic)"
    # numbers of clients, such as the times of records, can be anything: as doubles they do not overflow
    commit, newest = f"double(least(commit_ms, {LAST_MS}L))", f"double(least(newest_ms, {LAST_MS}L))"
    interpolated = f"{commit} + (greatest({newest}, {commit}) - {commit}) / double(greatest(lag_records, 1L))"
    return (
        current.join(f.broadcast(marks), ["topic", "partition"], "left")
        .join(f.broadcast(gone.withColumn("_gone", f.lit(True))), ["topic", "partition"], "left")
        .join(following, ["topic", "partition", "committed_offset"], "left")
        .withColumn("topic_recreated", f.expr(RECREATED))
        .withColumn("_comparable", f.expr("committed_offset >= 0 and not topic_recreated"))
        .withColumn("lag_records", f.expr("if(_comparable, greatest(high_watermark - committed_offset, 0L), null)"))
        .withColumn(
            "lag_committed", f.expr("if(_comparable, greatest(last_stable_offset - committed_offset, 0L), null)")
        )
        .withColumn(
            "commit_age_seconds", f.expr(f"if(commit_ms < 0, null, greatest({now_ms}D - {commit}, 0D) / 1000D)")
        )
        .withColumn("topic_left", f.expr(f"coalesce({left}, false)"))
        .withColumns({name: f.lit(None).cast(type_) for name, type_ in _HOLDER.items()})
        .withColumn("data_lost", f.expr("if(_comparable, committed_offset < log_start_offset, null)"))
        .withColumn("topic_missing", f.expr("case when _gone then true when high_watermark is not null then false end"))
        .withColumn(
            "lag_method",
            f.expr(
                "case when lag_records is null then null when lag_records <= 0 or nothing_left then 'none left'"
                " when next_ms >= 0 then 'next record' when commit_ms < 0 then null"
                " when newest_ms is not null and newest_ms > commit_ms then 'interpolation' else 'commit age' end"
            ),
        )
        .withColumn(
            "lag_seconds",
            f.expr(
                "case lag_method when 'none left' then 0D"
                f" when 'next record' then ({now_ms}D - double(next_ms)) / 1000D"
                f" when 'interpolation' then ({now_ms}D - ({interpolated})) / 1000D"
                f" when 'commit age' then ({now_ms}D - {commit}) / 1000D end"
            ),
        )
        .withColumn("lag_seconds", f.expr("if(lag_seconds is null, null, greatest(lag_seconds, 0D))"))
    )


def with_holders(with_lag: DataFrame, held: DataFrame) -> DataFrame:
    """Adds who holds the last stable offset of a partition back, where it is behind the high watermark.

    Args:
        held: of `tables.transactions.held_partitions`.
    """
    from pyspark.sql import functions as f

    holders = held.select(
        "topic",
        "partition",
        f.col("transactional_id").alias("held_by"),
        f.col("seconds").alias("held_seconds"),
    )
    return with_lag.drop(*_HOLDER).join(f.broadcast(holders), ["topic", "partition"], "left")
