"""`offset_current`: the offsets that the log leaves, with the state of their groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub_pipeline.roster import HEADS, MEMBERS, SUBSCRIBERS
from kafkastub_pipeline.tables.columns import time_of
from kafkastub_pipeline.tables.events import group_kind, groups, offsets
from kafkawire.offsets_topic import RecordType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def newest(frame: DataFrame, *key: str) -> DataFrame:
    """The last record of each key. A group lives in one partition of the log, where offsets tell what came last.

    Two cheap steps, a sum by key and a look-up, where sorting everything would be dear.
    """
    from pyspark.sql import functions as f

    last = frame.groupBy(*key, "log_partition").agg(f.max("log_offset").alias("log_offset"))
    return frame.join(last.select("log_partition", "log_offset"), ["log_partition", "log_offset"], "left_semi")


def live_offsets(records: DataFrame, latest: DataFrame | None = None) -> DataFrame:
    """Committed offsets that no tombstone has ended.

    Args:
        records: decoded records.
        latest: these offsets, where `decode.latest` has found them; None where a stream has kept decoded records alone.
    """
    if latest is not None:
        return latest
    return newest(offsets(records), "group_id", "topic", "partition").where("not tombstone")


def live_groups(records: DataFrame) -> DataFrame:
    """Groups that have a record: group_id, group_type, protocol_type, group_state, state_ms, subscribed.

    `subscribed` is null where it is not known, or where the protocol type has no subscriptions.
    """
    from pyspark.sql import functions as f

    all_ = groups(records)
    classic = (
        newest(all_.where(f"record_type = {int(RecordType.GROUP_METADATA)}"), "group_id")
        .where("not tombstone")
        .select(
            "group_id",
            f.lit("classic").alias("group_type"),
            f.expr("nullif(`group`.protocol_type, '')").alias("protocol_type"),
            f.col("state").alias("group_state"),
            f.expr("nullif(`group`.state_ms, -1L)").alias("state_ms"),
            "subscribed",
        )
    )
    heads = (
        newest(all_.where(f"record_type in {(*HEADS,)}"), "group_id", "record_type")
        .where("not tombstone")
        .select("group_id", group_kind().alias("group_type"))
    )
    subscriptions = (
        newest(all_.where(f"record_type in {SUBSCRIBERS}"), "group_id", "record_type", "member_id")
        .where("not tombstone")
        .groupBy("group_id")
        .agg(
            f.array_distinct(f.flatten(f.collect_list("topics"))).alias("subscribed"),
            f.sum(f.expr(f"int(record_type in {(*MEMBERS,)})")).alias("members"),
        )
    )
    modern = heads.join(subscriptions, "group_id", "left").select(
        "group_id",
        "group_type",
        f.col("group_type").alias("protocol_type"),
        f.expr("if(coalesce(members, 0) > 0, 'Stable', 'Empty')").alias("group_state"),
        f.lit(None).cast("bigint").alias("state_ms"),
        # who keeps a topology, and has no members, reads nothing
        f.expr("if(group_type = 'streams' and coalesce(members, 0) = 0, array(), coalesce(subscribed, array()))").alias(
            "subscribed"
        ),
    )
    return modern.unionByName(classic.join(heads, "group_id", "left_anti"))


def offset_current(records: DataFrame, latest: DataFrame | None = None) -> DataFrame:
    """With the columns of the table, and `commit_ms`, `expire_ms`, `state_ms`, `subscribed` for others to use."""
    from pyspark.sql import functions as f

    joined = live_offsets(records, latest).drop("group").join(live_groups(records), "group_id", "left")
    return (
        joined.withColumn("group_type", f.expr("if(protocol_type is null, 'simple', group_type)"))
        .withColumn("group_state", f.expr("if(protocol_type is null, null, group_state)"))
        .withColumn("commit_timestamp", time_of(f.col("commit_ms")))
        .withColumn("expire_timestamp", time_of(f.col("expire_ms")))
        .withColumn("log_timestamp", time_of(f.col("log_ms")))
    )
