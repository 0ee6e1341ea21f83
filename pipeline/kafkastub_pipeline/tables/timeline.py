"""`group_timeline`: the generations of classic groups, the epochs of all other ones, and what made each.

A classic group has one record a generation, another one has one for itself and one for each member. Those of one
moment, which the broker writes together, are put together here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from kafkastub_pipeline.here import mapped
from kafkastub_pipeline.roster import HEADS, SUBSCRIBERS, Part, Roster
from kafkastub_pipeline.tables.columns import time_of
from kafkastub_pipeline.tables.events import groups
from kafkawire.offsets_topic import RecordType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_READ: Final = "group_id", "log_ms", "log_partition", "log_offset", "record_type", "member_id", "tombstone", "topics"
_MOMENT_DDL: Final = (
    "group_id string, log_ms bigint, log_partition int, log_offset bigint, tombstone boolean, names array<string>,"
    " subscribed array<string>, protocol_type string"
)
_MOMENT: Final = pa.schema(
    [
        ("group_id", pa.string()),
        ("log_ms", pa.int64()),
        ("log_partition", pa.int32()),
        ("log_offset", pa.int64()),
        ("tombstone", pa.bool_()),
        ("names", pa.list_(pa.string())),
        ("subscribed", pa.list_(pa.string())),
        ("protocol_type", pa.string()),
    ]
)


def _moments(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs in a worker over records of groups with epochs, sorted by group and log offset.

    What each moment made of a group: where it changed, and where it began another epoch.
    """
    rows = (row for batch in batches for row in zip(*(batch.column(name).to_pylist() for name in _READ), strict=True))
    for group_id, of_group in groupby(rows, key=lambda row: row[0]):
        found: list[dict[str, Any]] = []
        roster = Roster()
        before: tuple[Any, ...] | None = None
        for log_ms, of_moment in groupby(of_group, key=lambda row: row[1]):
            was, epoch = roster.group_type, False
            for _, _, log_partition, log_offset, type_, name, tombstone, topics in of_moment:  # noqa: B007
                roster.take(Part(type_, name, tombstone, tuple(topics or ())))
                epoch |= type_ in HEADS and not tombstone
            dead = roster.group_type is None
            if dead and was is None:
                continue  # members of a group that is to come, or was
            now = dead, sorted(roster.members), sorted(roster.subscribed), roster.group_type
            if epoch or now != before:
                row = group_id, log_ms, log_partition, log_offset, *now
                found.append(dict(zip(_MOMENT.names, row, strict=True)))
            before = now
        if found:
            yield pa.RecordBatch.from_pylist(found, schema=_MOMENT)


def _generations(records: DataFrame) -> DataFrame:
    """Of both types: `names` and `ids` of members, who of a classic group may have a name of their own."""
    from pyspark.sql import functions as f

    names = "coalesce(transform(coalesce(members, array()), m -> coalesce(m.group_instance_id, m.member_id)), array())"
    ids = "coalesce(transform(coalesce(members, array()), m -> m.member_id), array())"
    all_ = groups(records)
    place = "group_id", "log_ms", "log_partition", "log_offset", "tombstone", "subscribed"
    classic = (
        all_.where(f"record_type = {int(RecordType.GROUP_METADATA)}")
        .withColumn("generation", f.col("group.generation"))
        .withColumn("protocol_type", f.expr("nullif(`group`.protocol_type, '')"))
        .select(*place, f.expr(names).alias("names"), f.expr(ids).alias("ids"), "generation", "protocol_type")
    )
    ordered = (
        all_.where(f"record_type in {(*HEADS, *SUBSCRIBERS)}")
        .select(*_READ)
        .repartition("group_id")
        .sortWithinPartitions("group_id", "log_offset")
    )
    modern = mapped(ordered, _moments, _MOMENT_DDL).withColumn("ids", f.col("names"))
    return classic.withColumn("modern", f.lit(False)).unionByName(
        modern.withColumn("modern", f.lit(True)), allowMissingColumns=True
    )


def group_timeline(records: DataFrame) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    order = Window.partitionBy("group_id").orderBy("log_offset")
    moment = Window.partitionBy("group_id", "log_ms")
    lived = (
        _generations(records)
        # a group that goes on as another type has ended as the one that it was
        .withColumn("goes_on", f.max(f.expr("not tombstone and modern")).over(moment) & ~f.col("modern"))
        .withColumn(
            "goes_on", f.col("goes_on") | (f.max(f.expr("not tombstone and not modern")).over(moment) & f.col("modern"))
        )
        .where("not (tombstone and goes_on)")
        .withColumn("before", f.coalesce(f.lag("names").over(order), f.array().cast("array<string>")))
        .withColumn("before_ids", f.coalesce(f.lag("ids").over(order), f.array().cast("array<string>")))
        .withColumn("before_subscribed", f.lag("subscribed").over(order))
        .withColumn("first", f.expr("lag(log_offset) over (partition by group_id order by log_offset) is null"))
        .withColumn("after_end", f.coalesce(f.lag("tombstone").over(order), f.lit(False)))
        .withColumn("converted", f.expr("not after_end") & (f.lag("modern").over(order) != f.col("modern")))
        .withColumn("until_ms", f.lead("log_ms").over(order))
    )
    return (
        lived.withColumn("joined", f.array_except("names", "before"))
        .withColumn("left", f.array_except("before", "names"))
        .withColumn(
            "state", f.expr("case when tombstone then 'Dead' when size(names) = 0 then 'Empty' else 'Stable' end")
        )
        .withColumn("at", time_of(f.col("log_ms")))
        .withColumn("until", time_of(f.col("until_ms")))
        .withColumn("members", f.expr("size(names)"))
        .withColumn(
            "cause",
            f.expr(
                "case when tombstone then 'removed' when converted then 'converted'"
                " when (first or after_end) and size(names) = 0 then 'created'"
                " when size(names) = 0 and size(left) = 0 and modern then 'new epoch'"
                " when size(names) = 0 then 'emptied'"
                " when size(joined) > 0 and size(left) > 0 then 'members replaced'"
                " when size(joined) > 0 then 'members joined' when size(left) > 0 then 'members left'"
                " when array_sort(ids) <> array_sort(before_ids) then 'members replaced'"
                " when not (array_sort(subscribed) <=> array_sort(before_subscribed)) then 'subscription changed'"
                " when modern then 'new epoch' else 'leader rejoined' end"
            ),
        )
    )
