"""`stale_offsets`: what nobody will use any more, whether it can be deleted, and the command that does it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from kafkastub_pipeline.rules import LAST_MS
from kafkastub_pipeline.tables.columns import time_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_QUOTE = 'concat("\'", replace({0}, "\'", "\'\\"\'\\"\'"), "\'")'
"""A shell's quoting, as SQL."""


def stale_offsets(
    with_lag: DataFrame, bootstrap_servers: str | None, now_ms: int, stale_after_ms: int, past: bool = False
) -> DataFrame:
    """Of the offsets with their lag: those of topics that a live group does not subscribe to, and of topics that are
    gone; of groups without members those alone that were not used for long.

    A job that runs every night, and one that assigns its partitions by hand, have no members when it is looked: their
    offsets are used when they are committed, and as long as the group had members.

    Args:
        stale_after_ms: for so long.
        past: whether the log goes on behind `now_ms`: what can be deleted is then not told.

    Errors are OffsetDelete's: NON_EMPTY_GROUP of a live group of another protocol type, GROUP_SUBSCRIBED_TO_TOPIC,
    UNKNOWN_TOPIC_OR_PARTITION; KIP-496, Kafka: ClassicGroup.validateOffsetDelete.
    """
    from pyspark.sql import functions as f

    server = shlex.quote(bootstrap_servers or "HOST:PORT")
    live = "protocol_type is not null and group_state = 'Stable'"
    consumer = "(group_type in ('consumer', 'streams') or protocol_type = 'consumer')"
    subscribed = f"({live} and {consumer} and (subscribed is null or array_contains(subscribed, topic)))"
    old = f"unused_ms <= {now_ms - stale_after_ms}L"
    found = (
        with_lag.withColumn("unused_ms", f.expr("greatest(commit_ms, if(group_state = 'Empty', state_ms, null))"))
        .withColumn(
            "why",
            f.expr(
                f"case when topic_missing then 'no such topic' when {live} then"
                f"  if({consumer} and not {subscribed}, 'unsubscribed', null)"
                f" when {old} then if(protocol_type is null, 'simple group', 'empty group') end"
            ),
        )
        .where("why is not null")
        .withColumn("unused_since", time_of(f.col("unused_ms")))
        .withColumn("age_seconds", f.expr(f"if(commit_ms < 0, null, {now_ms}D - least(commit_ms, {LAST_MS}L)) / 1000D"))
        .withColumn(
            "error",
            f.expr(
                f"case when group_id = '' then 'INVALID_GROUP_ID' when {live} and not {consumer} then 'NON_EMPTY_GROUP'"
                " when topic_missing then 'UNKNOWN_TOPIC_OR_PARTITION'"
                f" when {subscribed} then 'GROUP_SUBSCRIBED_TO_TOPIC' end"
            ),
        )
        .withColumn("deletable", f.expr("error is null"))
        .withColumn(
            "command",
            f.when(
                ~f.col("group_id").contains("\0"),
                f.concat(
                    f.lit(f"kafka-consumer-groups.sh --bootstrap-server {server} --delete-offsets --group "),
                    f.expr(_QUOTE.format("group_id")),
                    f.lit(" --topic "),
                    f.expr(_QUOTE.format("concat(topic, ':', `partition`)")),
                ),
            ),
        )
    )
    told = "error", "deletable", "command"
    return found.withColumns({name: f.when(f.lit(not past), f.col(name)) for name in told})
