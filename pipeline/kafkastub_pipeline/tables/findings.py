"""`findings`: groups that rebalance one time after the other, and groups that commit too often, with the evidence.

Of a storm the generations and epochs of `group_timeline` are counted, over ten minutes that may begin at any time; of a
rate the commits on the log, minute by minute. The log is compacted, so that of the past there were at least so many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.tables.columns import time_of
from kafkastub_pipeline.tables.events import OFFSETS, sound

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STORM: Final = "rebalance_storm"
RATE: Final = "commit_rate"
WITHIN_MS: Final = 600_000
_MINUTE_MS: Final = 60_000
_NO_REBALANCES: Final = ("created", "emptied", "removed", "converted")


def findings_of(records: DataFrame, timeline: DataFrame, generations: int, rate: float) -> DataFrame:
    """The table.

    Args:
        records: decoded records.
        timeline: of `tables.timeline.group_timeline`.
        generations: from so many within ten minutes on, it is a storm.
        rate: of more offsets a second than these, over a whole minute, it is a rate.
    """
    from pyspark.sql import functions as f

    found = _storms(timeline, generations).unionByName(_rates(records, rate))
    return (
        found.withColumn("from_at", time_of(f.col("from_ms")))
        .withColumn("until", time_of(f.col("until_ms")))
        .withColumn("seconds", f.expr("(until_ms - from_ms) / 1000D"))
    )


def _storms(timeline: DataFrame, generations: int) -> DataFrame:
    """Spans in which any ten minutes that end with a generation have so many; those that touch are one."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    of_group = Window.partitionBy("group_id").orderBy("log_offset")
    within = Window.partitionBy("group_id").orderBy("at_ms").rangeBetween(-WITHIN_MS, 0)
    ahead = Window.partitionBy("group_id").orderBy("at_ms").rangeBetween(0, WITHIN_MS)
    begun = (
        timeline.where(f"cause not in {_NO_REBALANCES}")
        .withColumn("at_ms", f.unix_millis("at"))
        .where("at_ms is not null")
        .select("group_id", "at_ms", "cause", "log_partition", "log_offset")
        .withColumn("many", f.count("*").over(within))
    )
    stormy = begun.withColumn("inside", f.max("many").over(ahead)).where(f"inside >= {generations}")
    apart = f.expr(f"coalesce(at_ms - lag(at_ms) over (partition by group_id order by at_ms) > {WITHIN_MS}, true)")
    spans = stormy.withColumn("apart", apart.cast("int")).withColumn("span", f.sum("apart").over(of_group))
    causes = (
        spans.groupBy("group_id", "span", "cause")
        .agg(f.count("*").alias("n"))
        .groupBy("group_id", "span")
        .agg(f.expr("array_sort(collect_list(struct(-n as less, cause)))").alias("causes"))
    )
    return (
        spans.groupBy("group_id", "span")
        .agg(
            f.min("at_ms").alias("from_ms"),
            f.max("at_ms").alias("until_ms"),
            f.count("*").alias("count"),
            f.max("many").cast("double").alias("peak"),
            f.first("log_partition").alias("log_partition"),
            f.min("log_offset").alias("first_log_offset"),
            f.max("log_offset").alias("last_log_offset"),
        )
        .join(causes, ["group_id", "span"])
        .withColumn("finding", f.lit(STORM))
        .withColumn("threshold", f.lit(float(generations)))
        .withColumn(
            "evidence",
            f.expr("concat_ws(', ', transform(causes, c -> concat(c.cause, ' (', -c.less, ')')))"),
        )
        .drop("span", "causes")
    )


def _rates(records: DataFrame, rate: float) -> DataFrame:
    """Minutes with more commits; those that follow each other are one."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    minutes = (
        sound(records)
        .where(f"record_type in {OFFSETS} and not tombstone and log_ms is not null")
        .withColumn("minute", f.expr(f"log_ms div {_MINUTE_MS}"))
        .groupBy("group_id", "log_partition", "minute", "topic", "partition")
        .agg(f.count("*").alias("n"), f.min("log_offset").alias("first"), f.max("log_offset").alias("last"))
        .groupBy("group_id", "log_partition", "minute")
        .agg(
            f.sum("n").alias("n"),
            f.count("*").alias("partitions"),
            f.max(f.expr("struct(n, topic, `partition`)")).alias("most"),
            f.min("first").alias("first"),
            f.max("last").alias("last"),
        )
        .where(f.col("n") > rate * _MINUTE_MS / 1000)
    )
    of_group = Window.partitionBy("group_id", "log_partition").orderBy("minute")
    spans = minutes.withColumn("span", f.col("minute") - f.row_number().over(of_group))
    return (
        spans.groupBy("group_id", "log_partition", "span")
        .agg(
            f.expr(f"min(minute) * {_MINUTE_MS}L").alias("from_ms"),
            f.expr(f"(max(minute) + 1) * {_MINUTE_MS}L").alias("until_ms"),
            f.sum("n").alias("count"),
            f.expr("max(n) / 60D").alias("peak"),
            f.max("partitions").alias("partitions"),
            f.max("most").alias("most"),
            f.min("first").alias("first_log_offset"),
            f.max("last").alias("last_log_offset"),
        )
        .withColumn("finding", f.lit(RATE))
        .withColumn("threshold", f.lit(float(rate)))
        .withColumn(
            "evidence",
            f.expr(
                "concat(partitions, if(partitions = 1, ' partition', ' partitions'), '; most in a minute: ',"
                " most.topic, '-', most.`partition`, ' (', most.n, ')')"
            ),
        )
        .drop("span", "partitions", "most")
    )
