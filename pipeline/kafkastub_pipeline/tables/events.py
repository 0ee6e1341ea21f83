"""`offset_events`, `group_events`, `decode_errors`: everything that the log says, as it says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub_pipeline.tables.columns import time_of
from kafkawire.offsets_topic import RecordType

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

OFFSETS = (int(RecordType.LEGACY_OFFSET_COMMIT), int(RecordType.OFFSET_COMMIT))
_MODERN = ("epoch", "client", "member_state", "assigned", "pending_revocation", "tasks", "pending_tasks")


def sound(records: DataFrame) -> DataFrame:
    """Records that could be decoded."""
    return records.where("error is null")


def offsets(records: DataFrame) -> DataFrame:
    """Records about offsets."""
    return sound(records).where(f"record_type in {OFFSETS}")


def groups(records: DataFrame) -> DataFrame:
    """Records about groups, with the state and the subscription of a classic group."""
    from pyspark.sql import functions as f

    return (
        sound(records)
        .where(f"record_type not in {OFFSETS}")
        .withColumn("members", f.col("group.members"))
        .withColumn(
            "state", f.expr("case when members is null then null when size(members) = 0 then 'Empty' else 'Stable' end")
        )
        .withColumn("subscribed", subscription())
    )


def subscription() -> Column:
    """Topics that a classic group's members subscribe to; null where that is not known (KIP-496)."""
    from pyspark.sql import functions as f

    return f.expr(
        "case when `group` is null then topics when `group`.protocol_type <> 'consumer' then null"
        " when exists(`group`.members, m -> m.topics is null) then null"
        " else array_distinct(flatten(transform(`group`.members, m -> m.topics))) end"
    )


def named_type() -> Column:
    """The record type in Kafka's words."""
    from pyspark.sql import functions as f

    pairs = [f.lit(one) for type_ in RecordType for one in (int(type_), type_.name)]
    return f.create_map(*pairs)[f.col("record_type").cast("int")]


def group_kind() -> Column:
    """The kind of group that a record is about."""
    from pyspark.sql import functions as f

    pairs = [f.lit(one) for type_ in RecordType for one in (int(type_), type_.kind.value)]
    return f.create_map(*pairs)[f.col("record_type").cast("int")]


def _logged(frame: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    return frame.withColumn("log_timestamp", time_of(f.col("log_ms"))).withColumn(
        "event_month", f.date_format("log_timestamp", "yyyy-MM")
    )


def offset_events(records: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    return (
        _logged(offsets(records))
        .withColumn("event", f.when(f.col("tombstone"), "tombstone").otherwise("commit"))
        .withColumn("commit_timestamp", time_of(f.col("commit_ms")))
        .withColumn("expire_timestamp", time_of(f.col("expire_ms")))
    )


def group_events(records: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    return (
        _logged(groups(records))
        .withColumn("group_type", group_kind())
        .withColumn("event", named_type())
        .withColumn("protocol_type", f.col("group.protocol_type"))
        .withColumn("generation", f.col("group.generation"))
        .withColumn("protocol", f.col("group.protocol"))
        .withColumn("leader", f.col("group.leader"))
        .withColumn("state_timestamp", time_of(f.col("group.state_ms")))
        .withColumn("subscribed_topics", f.col("subscribed"))
        .withColumns({name: f.col(f"modern.{name}") for name in _MODERN})
    )


def decode_errors(records: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    return _logged(records.where("error is not null")).withColumn("reason", f.col("error"))
