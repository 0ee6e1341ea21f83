"""When an offset expires, as Spark expressions.

    group                                               offsets considered          age counted from
    --------------------------------------------------  --------------------------  ---------------------------------
    protocol type present, Empty                        all                         the group's state timestamp,
                                                                                    else the commit's
    consumer, Stable, every subscription known          of topics nobody subscribes the commit's timestamp
    KIP-848 group, any state                            of topics nobody subscribes the commit's timestamp
    no protocol type (simple consumer)                  all                         the commit's timestamp
    everything else                                     none                        -

A commit with its own retention expires at its own time: in the profile `kips` always, in `kafka` where the table
considers it. KIP-211, KIP-496; Kafka: OffsetExpirationConditionImpl. `history` has the same rules for one group's life.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LAST_MS: Final = 253_402_300_799_999
"""9999-12-31T23:59:59.999Z: whatever is later counts, and is shown, as this."""
PROFILES: Final = ("kips", "kafka")
MINUTE_MS: Final = 60_000


def with_expiry(current: DataFrame, retention_minutes: int, profile: str) -> DataFrame:
    """Adds `rule`, `base_ms`, `expires_ms` and `blocked_by` to offsets with the state of their groups.

    Args:
        current: `group_type`, `group_state`, `protocol_type`, `state_ms`, `subscribed`, `topic`, `commit_ms`,
            `expire_ms`.
        retention_minutes: `offsets.retention.minutes`; negative for ever.
    """
    from pyspark.sql import functions as f

    considered = f.expr(
        "case when protocol_type is null then 'simple'"
        " when group_type = 'share' then null"
        " when group_type in ('consumer', 'streams') and not array_contains(subscribed, topic) then 'unsubscribed'"
        " when group_type in ('consumer', 'streams') then null"
        " when group_state = 'Empty' then 'empty'"
        " when protocol_type = 'consumer' and subscribed is not null and not array_contains(subscribed, topic)"
        "  then 'unsubscribed' end"
    )
    blocked = f.expr(
        "case when _considered is not null or rule = 'explicit' then null"
        " when group_type = 'share' then 'group type'"
        " when group_type = 'classic' and protocol_type <> 'consumer' then 'members of another protocol type'"
        " when subscribed is null then 'subscription unknown' else 'subscribed' end"
    )
    if retention_minutes < 0:
        nothing = f.lit(None).cast("bigint")
        return (
            current.withColumn("rule", f.lit("none"))
            .withColumn("base_ms", nothing)
            .withColumn("expires_ms", nothing)
            .withColumn("blocked_by", f.lit("infinite retention"))
        )
    own = "expire_ms <> -1" if profile == "kips" else "expire_ms <> -1 and _considered is not null"
    retention_ms = retention_minutes * MINUTE_MS
    return (
        current.withColumn("_considered", considered)
        .withColumn("rule", f.expr(f"case when {own} then 'explicit' else coalesce(_considered, 'none') end"))
        .withColumn(
            "base_ms",
            f.expr(
                "case rule when 'empty' then coalesce(state_ms, commit_ms) when 'simple' then commit_ms"
                " when 'unsubscribed' then commit_ms end"
            ),
        )
        .withColumn(
            "expires_ms",  # what is before 1970, as an overflowed retention is, is long past
            f.expr(
                f"case when rule = 'explicit' then greatest(least(expire_ms, {LAST_MS}L), 0L) when base_ms is not null"
                f" then greatest(least(coalesce(try_add(base_ms, {retention_ms}L), {LAST_MS}L), {LAST_MS}L), 0L) end"
            ),
        )
        .withColumn("blocked_by", blocked)
        .drop("_considered")
    )
