"""`retention_whatif`: what would be deleted under another retention, and what that would have cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.past_ends import ends_at
from kafkastub_pipeline.session import local_table
from kafkastub_pipeline.tables.columns import time_of
from kafkastub_pipeline.tables.lag import RECREATED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ENDS_DDL: Final = "topic string, `partition` int, at_ms bigint, next_offset bigint"


def ends(
    spark: SparkSession,
    found: DataFrame,
    marks: DataFrame,
    now_ms: int,
    bootstrap_servers: str | None,
    probes: int,
    options: Sequence[tuple[str, str]] = (),
) -> DataFrame:
    """Where partitions ended when offsets were deleted, and when their groups came back: so many, the newest first.

    `next_offset` is that of the first record with that time or a later one, -1 where there is none.
    """
    from pyspark.sql import functions as f

    known: dict[tuple[str, int, int], int] = {}
    if bootstrap_servers is not None and probes > 0:
        wanted = (
            found.where(f"finding = 'deletion' and deleted_ms <= {now_ms}L")
            .select("topic", "partition", f.expr("explode(array(deleted_ms, came_back_ms))").alias("at_ms"))
            .where("at_ms is not null")
            .distinct()
            .join(marks.select("topic", "partition"), ["topic", "partition"], "left_semi")
            .orderBy(f.desc("at_ms"), "topic", "partition")
            .limit(probes)
            .collect()
        )
        places = [(row.topic, row.partition, row.at_ms) for row in wanted]
        known = ends_at(bootstrap_servers, places, options)
    return local_table(spark, [(*place, offset) for place, offset in known.items()], _ENDS_DDL)


def retention_whatif(found: DataFrame, marks: DataFrame, known_ends: DataFrame, now_ms: int) -> DataFrame:
    """The table.

    Args:
        found: of `findings`.
        marks: of `watermarks`.
        known_ends: of `ends`.
    """
    from pyspark.sql import functions as f

    place = ["topic", "partition"]

    def with_end(frame: DataFrame, at: str, name: str) -> DataFrame:
        then = known_ends.withColumnRenamed("at_ms", at).withColumnRenamed("next_offset", "_next")
        end = "case when high_watermark is null then null when _next = -1 then high_watermark else _next end"
        return frame.join(f.broadcast(then), [*place, at], "left").withColumn(name, f.expr(end)).drop("_next")

    # today's watermarks are of another topic of that name, or the offset is none at all
    other = f"coalesce({RECREATED}, false) or committed_offset < 0"
    deletions = found.where("finding = 'deletion'").join(f.broadcast(marks), place, "left")
    for mark in ("log_start_offset", "high_watermark"):
        deletions = deletions.withColumn(f"_{mark}", f.expr(f"if({other}, null, {mark})"))
    deletions = deletions.drop("log_start_offset", "high_watermark").withColumnsRenamed(
        {"_log_start_offset": "log_start_offset", "_high_watermark": "high_watermark"}
    )
    deletions = with_end(with_end(deletions, "deleted_ms", "end_then"), "came_back_ms", "end_back")

    def behind(end: str, start: str) -> str:
        return f"if({end} is null or {start} is null, null, greatest(try_subtract({end}, {start}), 0L))"

    return (
        deletions.withColumn("commit_timestamp", time_of(f.col("commit_ms")))
        .withColumn("base_timestamp", time_of(f.col("base_ms")))
        .withColumn("deleted_at", time_of(f.col("deleted_ms")))
        .withColumn("already", f.expr(f"deleted_ms <= {now_ms}L"))
        .withColumn("came_back", f.expr("came_back_ms is not null"))
        .withColumn("came_back_at", time_of(f.col("came_back_ms")))
        .withColumn("_end_then", f.expr("if(already, end_then, high_watermark)"))
        .withColumn("_end_back", f.expr("if(came_back, end_back, high_watermark)"))
        .withColumn("lag_then", f.expr(behind("_end_then", "committed_offset")))
        .withColumn("replayed_on_earliest", f.expr(behind("committed_offset", "log_start_offset")))
        .withColumn("skipped_on_latest", f.expr(behind("_end_back", "committed_offset")))
    )
