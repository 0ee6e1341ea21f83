"""`stale_offsets`: what nobody will use any more, whether it can be deleted, and the command that does it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafkastub_pipeline.cluster import Snapshot

_QUOTE = 'concat("\'", replace({0}, "\'", "\'\\"\'\\"\'"), "\'")'
"""A shell's quoting, as SQL."""


def stale_offsets(
    with_lag: DataFrame, bootstrap_servers: str | None, cluster: Snapshot | None, now_ms: int
) -> DataFrame:
    """Of the offsets with their lag: those of topics that a live group does not subscribe to, of groups without
    members, and of topics that are gone.

    Errors are OffsetDelete's: NON_EMPTY_GROUP of a live group of another protocol type, GROUP_SUBSCRIBED_TO_TOPIC,
    UNKNOWN_TOPIC_OR_PARTITION; KIP-496, Kafka: ClassicGroup.validateOffsetDelete.
    """
    from pyspark.sql import functions as f

    server = shlex.quote(bootstrap_servers or "HOST:PORT")
    live = "protocol_type is not null and group_state = 'Stable'"
    consumer = "(group_type = 'consumer' or protocol_type = 'consumer')"
    subscribed = f"({live} and {consumer} and (subscribed is null or array_contains(subscribed, topic)))"
    return (
        with_lag.withColumn(
            "why",
            f.expr(
                "case when topic_missing then 'no such topic' when protocol_type is null then 'simple group'"
                f" when not ({live}) then 'empty group'"
                f" when {consumer} and not {subscribed} then 'unsubscribed' end"
            ),
        )
        .where("why is not null")
        .withColumn("age_seconds", f.expr(f"({now_ms}L - commit_ms) / 1000D"))
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
            f.concat(
                f.lit(f"kafka-consumer-groups.sh --bootstrap-server {server} --delete-offsets --group "),
                f.expr(_QUOTE.format("group_id")),
                f.lit(" --topic "),
                f.expr(_QUOTE.format("concat(topic, ':', `partition`)")),
            ),
        )
    )
