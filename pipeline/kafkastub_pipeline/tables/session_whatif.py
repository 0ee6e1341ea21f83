"""`session_whatif`: what another session timeout would have made of members that were silent for a while.

Heartbeats are not on the log, so that a journal decides this. Of a member that a journal says nothing of after some
time, the log says whether it was removed. Of groups that a journal does not have, nothing is decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from kafkastub_pipeline.replayed.playing import played
from kafkastub_pipeline.replayed.sessions import APIS, KEPT, REMOVED, UNDECIDED, Group, Silence, judged
from kafkastub_pipeline.tables.columns import time_of
from kafkastub_pipeline.tables.timeline import group_timeline

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FOUND_DDL: Final = (
    "timeout_ms bigint, group_id string, member_id string, group_instance_id string, from_ms bigint, until_ms bigint,"
    " seconds double, recorded string, outcome string, why string, last boolean, removed_ms bigint"
)
_FOUND: Final = pa.schema(
    [
        ("timeout_ms", pa.int64()),
        ("group_id", pa.string()),
        ("member_id", pa.string()),
        ("group_instance_id", pa.string()),
        ("from_ms", pa.int64()),
        ("until_ms", pa.int64()),
        ("seconds", pa.float64()),
        ("recorded", pa.string()),
        ("outcome", pa.string()),
        ("why", pa.string()),
        ("last", pa.bool_()),
        ("removed_ms", pa.int64()),
    ]
)
_NO_JOURNAL: Final = "there are no heartbeats on the log, and the journal has no request of this group"


def session_whatif(records: DataFrame, journal: DataFrame | None, tried: Sequence[int]) -> DataFrame:
    """A row for each timeout and silence in which something happened or would have, and one for each other member.

    Args:
        records: decoded records of the log.
        journal: entries, as `--journal` or the data source `kafkastub_journal` has them.
        tried: session timeouts, in milliseconds.
    """
    from pyspark.sql import functions as f

    tried = tuple(dict.fromkeys(tried))
    tries = f.explode(f.array(*(f.lit(one).cast("bigint") for one in tried)))
    timeline = group_timeline(records)
    with_members = timeline.where("members > 0").select("group_id").distinct()
    silent = with_members.sparkSession.createDataFrame([], _FOUND_DDL) if journal is None else _silences(journal, tried)
    unknown = (
        with_members.join(silent.select("group_id").distinct(), "group_id", "left_anti")
        .withColumn("timeout_ms", tries)
        .withColumn("outcome", f.lit(UNDECIDED))
        .withColumn("why", f.lit(_NO_JOURNAL))
    )
    left = timeline.select("group_id", f.explode("left").alias("_name"), f.unix_millis("at").alias("left_ms"))
    found = (
        silent.withColumn("_at", f.monotonically_increasing_id())
        # a classic group's timeline has the instance ids of static members, the others' have member ids
        .withColumn("_names", f.expr("array_distinct(array(coalesce(group_instance_id, member_id), member_id))"))
        .withColumn("_name", f.explode("_names"))
        .join(left, ["group_id", "_name"], "left")
        .withColumn("left_ms", f.expr("if(left_ms >= from_ms and (last or left_ms <= until_ms), left_ms, null)"))
        .groupBy("_at", *_FOUND.names)
        .agg(f.min("left_ms").alias("left_ms"))
        .withColumn(
            "recorded",
            f.expr(f"case when not last then recorded when left_ms is not null then '{REMOVED}' else '{KEPT}' end"),
        )
        .unionByName(unknown, allowMissingColumns=True)
    )
    return (
        found.withColumn("changes", f.expr(f"case when outcome <> '{UNDECIDED}' then recorded <> outcome end"))
        .withColumn("silent_from", time_of(f.col("from_ms")))
        .withColumn("silent_until", time_of(f.col("until_ms")))
        .withColumn("removed_at", time_of(f.expr(f"if(outcome = '{REMOVED}', removed_ms, null)")))
        .withColumn("recorded_at", time_of(f.expr(f"if(recorded = '{REMOVED}', left_ms, null)")))
    )


def _silences(journal: DataFrame, tried: tuple[int, ...]) -> DataFrame:
    columns = (
        "members array<struct<member_id: string, instance_id: string, epoch: int>>",
        *("errors", "outcome", "fault string"),
    )
    return played(journal, APIS, columns, "true", Group, _told, tried, (_FOUND, _FOUND_DDL))


def _told(group_id: str, silences: Iterable[Silence], tried: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The rows of a group's silences."""
    for timeout_ms, silence, outcome, why in judged(silences, tried):
        yield {
            "timeout_ms": timeout_ms,
            "group_id": group_id,
            "member_id": silence.member_id,
            "group_instance_id": silence.instance_id,
            "from_ms": silence.from_ms,
            "until_ms": silence.until_ms,
            "seconds": silence.most_ms / 1000,
            "recorded": silence.recorded,
            "outcome": outcome,
            "why": why,
            "last": silence.last,
            "removed_ms": silence.from_ms + timeout_ms,
        }
