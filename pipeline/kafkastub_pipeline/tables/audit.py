"""`deletion_audit`: every tombstone explained.

What expired, and what the journal names, `GroupHistory` has told. For the rest (`deletion`) the log alone has to do:

    DeleteGroups     ends the group's offsets and, right behind them, the group; not a group with members
    OffsetDelete     ends some offsets; not those of a topic that a live group subscribes to, and none of a live group
                     of another protocol type
    topic deletion   ends every group's offsets of the topic at once, whoever subscribes to it

So a topic was not deleted when an older offset of it lived on, or when it still has the commit's id later on. It was
deleted, as far as the log can tell, when that is not so, and offsets of several groups went with it, or it has another
id later on, or there is no such topic any more. What remains open is told with both names.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.rules import LAST_MS
from kafkastub_pipeline.session import local_table
from kafkastub_pipeline.tables.columns import time_of
from kafkastub_pipeline.tables.history import CLOSE_MS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafkastub_pipeline.cluster import Snapshot

_IDS_DDL: Final = "topic string, topic_id string, last_ms bigint"


def suspects(found: DataFrame) -> set[str]:
    """Topics of which offsets were deleted, and nobody knows by which API."""
    rows = found.where("finding = 'tombstone' and reason = 'deletion' and topic is not null")
    return {row.topic for row in rows.select("topic").distinct().collect()}


def deletion_audit(
    found: DataFrame, cluster: Snapshot | None, gone: Collection[str] = (), check_interval_ms: int = 600_000
) -> DataFrame:
    """The table.

    Args:
        found: of `findings`.
        gone: topics that the cluster says it has not any more.
        check_interval_ms: an expiry that comes so much later was predicted.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    in_time = f.expr(f"deleted_ms - due_ms <= {check_interval_ms + CLOSE_MS}L")
    of_group = f.min("in_time").over(Window.partitionBy("group_id", "deleted_ms"))
    named = _named(_whole(found.where("finding = 'tombstone'")), _of_topics(found, cluster), gone)
    return (
        named.withColumn("commit_timestamp", time_of(f.col("commit_ms")))
        .withColumn("base_timestamp", time_of(f.col("base_ms")))
        .withColumn("expires_at", time_of(f.col("expires_ms")))
        .withColumn("deleted_at", time_of(f.col("deleted_ms")))
        .withColumn("in_time", in_time)
        .withColumn("in_time", f.coalesce("in_time", of_group))
        .withColumn("predicted", f.expr("reason = 'no offsets left' or (reason = 'expiry' and in_time)"))
        .withColumn("late_ms", f.expr("try_subtract(deleted_ms, expires_ms)"))
    )


def _whole(stones: DataFrame) -> DataFrame:
    """Adds `whole`: the group's own tombstone comes at the same time, and right behind its offsets'."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    order = Window.partitionBy("log_partition").orderBy("log_offset")
    behind = f.expr("what = 'group' and group_before = group_id and ms_before = deleted_ms")
    return (
        stones.withColumn("group_before", f.lag("group_id").over(order))
        .withColumn("ms_before", f.lag("deleted_ms").over(order))
        .withColumn("whole", f.max(behind).over(Window.partitionBy("group_id", "deleted_ms")))
    )


def _of_topics(found: DataFrame, cluster: Snapshot | None) -> DataFrame:
    """A row a topic: `ids`, each with when it was last seen, and `alive_ms`, the oldest offset's that is left."""
    from pyspark.sql import functions as f

    now = [] if cluster is None else [(topic, id_, LAST_MS) for topic, id_ in cluster.topic_ids.items()]
    seen = found.where("finding = 'id'").select("topic", "topic_id", f.col("deleted_ms").alias("last_ms"))
    if now:
        asked = found.select("topic").distinct()
        seen = seen.unionByName(
            local_table(found.sparkSession, sorted(now), _IDS_DDL).join(asked, "topic", "left_semi")
        )
    ids = seen.groupBy("topic").agg(f.collect_list(f.struct("topic_id", "last_ms")).alias("ids"))
    alive = found.where("finding = 'alive'").groupBy("topic").agg(f.min("since_ms").alias("alive_ms"))
    return ids.join(alive, "topic", "full")


def _named(stones: DataFrame, topics: DataFrame, gone: Collection[str]) -> DataFrame:
    """An API, or two, in the place of `deletion`."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    open_ = "what = 'offset' and reason = 'deletion'"
    judged = _judged(stones.where(open_), stones.where("what = 'offset'"), topics, gone).withColumn(
        "reason",
        f.expr(
            "case when protected then if(possible, 'topic deletion', 'unexplained')"
            " when whole then if(all_possible and (replaced or gone), 'DeleteGroups or topic deletion', 'DeleteGroups')"
            " when possible and (replaced or gone or of_several) then 'topic deletion'"
            " when possible then 'OffsetDelete or topic deletion' else 'OffsetDelete' end"
        ),
    )
    with_group = Window.partitionBy("group_id", "deleted_ms")
    of_offsets = f.max(f.expr("if(what = 'offset' and judged, reason, null)")).over(with_group)
    return (
        judged.withColumn("judged", f.lit(True))
        .unionByName(stones.where(f"not ({open_})").withColumn("judged", f.lit(False)), allowMissingColumns=True)
        .withColumn("of_offsets", of_offsets)
        .withColumn(
            "reason",
            f.expr(
                "if(what = 'group' and reason = 'deletion', if(whole, coalesce(of_offsets, 'DeleteGroups'),"
                " 'no offsets left'), reason)"
            ),
        )
    )


def _judged(asked: DataFrame, all_: DataFrame, topics: DataFrame, gone: Collection[str]) -> DataFrame:
    """Adds what tells for and against a topic's deletion to the tombstones of offsets in question.

    `possible`: nothing speaks against it; `all_possible`: nor for what else of the group went at that time; `replaced`,
    `gone`, `of_several`: what speaks for it.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    # the last end of any offset of the topic that was there well before
    lives = all_.where("since_ms is not null").select(
        "topic", f.expr(f"since_ms + {CLOSE_MS}L").alias("key"), f.col("deleted_ms").alias("ends_ms")
    )
    before = Window.partitionBy("topic").orderBy("key").rangeBetween(Window.unboundedPreceding, -1)
    near = Window.partitionBy("topic").orderBy("deleted_ms").rangeBetween(-CLOSE_MS, CLOSE_MS)
    return (
        asked.withColumn("key", f.col("deleted_ms"))
        .unionByName(lives, allowMissingColumns=True)
        .withColumn("last_ms", f.max("ends_ms").over(before))
        .where("ends_ms is null")
        .join(topics, "topic", "left")
        .withColumn("of_several", f.min("group_id").over(near) != f.max("group_id").over(near))
        .withColumn(
            "later", f.expr(f"transform(filter(ids, i -> i.last_ms > deleted_ms + {CLOSE_MS}), i -> i.topic_id)")
        )
        .withColumn("same", f.expr("coalesce(array_contains(later, topic_id), false)"))
        .withColumn("replaced", f.expr("coalesce(size(array_except(later, array(topic_id))) > 0, false)"))
        .withColumn("replaced", f.expr("topic_id is not null and replaced"))
        .withColumn("gone", f.col("topic").isin(sorted(gone)))
        .withColumn(
            "survived",
            f.expr(
                f"coalesce(last_ms > deleted_ms + {CLOSE_MS}, false)"
                f" or coalesce(alive_ms < deleted_ms - {CLOSE_MS}, false)"
            ),
        )
        .withColumn("possible", f.expr("not same and not survived"))
        .withColumn("all_possible", f.min("possible").over(Window.partitionBy("group_id", "deleted_ms")))
        .drop("key", "ends_ms", "last_ms", "alive_ms", "ids", "later")
    )
