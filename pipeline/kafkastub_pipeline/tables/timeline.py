"""`group_timeline`: the generations of classic groups, and what made each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub_pipeline.tables.columns import time_of
from kafkastub_pipeline.tables.events import groups
from kafkawire.offsets_topic import RecordType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def group_timeline(records: DataFrame) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    order = Window.partitionBy("group_id").orderBy("log_offset")
    names = "coalesce(transform(coalesce(members, array()), m -> coalesce(m.group_instance_id, m.member_id)), array())"
    ids = "coalesce(transform(coalesce(members, array()), m -> m.member_id), array())"
    lived = (
        groups(records)
        .where(f"record_type = {int(RecordType.GROUP_METADATA)}")
        .withColumn("names", f.expr(names))
        .withColumn("ids", f.expr(ids))
        .withColumn("before", f.coalesce(f.lag("names").over(order), f.array().cast("array<string>")))
        .withColumn("before_ids", f.coalesce(f.lag("ids").over(order), f.array().cast("array<string>")))
        .withColumn("before_subscribed", f.lag("subscribed").over(order))
        .withColumn("first", f.expr("lag(log_offset) over (partition by group_id order by log_offset) is null"))
        .withColumn("after_end", f.coalesce(f.lag("tombstone").over(order), f.lit(False)))
        .withColumn("until_ms", f.lead("log_ms").over(order))
    )
    return (
        lived.withColumn("joined", f.array_except("names", "before"))
        .withColumn("left", f.array_except("before", "names"))
        .withColumn("state", f.expr("if(tombstone, 'Dead', state)"))
        .withColumn("at", time_of(f.col("log_ms")))
        .withColumn("until", time_of(f.col("until_ms")))
        .withColumn("generation", f.col("group.generation"))
        .withColumn("protocol_type", f.expr("nullif(`group`.protocol_type, '')"))
        .withColumn("members", f.expr("size(names)"))
        .withColumn(
            "cause",
            f.expr(
                "case when tombstone then 'removed'"
                " when (first or after_end) and size(names) = 0 then 'created'"
                " when size(names) = 0 then 'emptied'"
                " when size(joined) > 0 and size(left) > 0 then 'members replaced'"
                " when size(joined) > 0 then 'members joined' when size(left) > 0 then 'members left'"
                " when array_sort(ids) <> array_sort(before_ids) then 'members replaced'"
                " when not (array_sort(subscribed) <=> array_sort(before_subscribed)) then 'subscription changed'"
                " else 'leader rejoined' end"
            ),
        )
    )
