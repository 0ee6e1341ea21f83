"""The columns of every table: names, Spark types and meanings. docs/pipeline.md is generated from this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.rules import LAST_MS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Columns = tuple[tuple[str, str, str], ...]

_GROUP: Final = ("group_id", "string", "the group")
_PLACE: Final = (
    _GROUP,
    ("topic", "string", "the topic"),
    ("partition", "int", "the partition"),
)
_COMMIT: Final = (
    ("committed_offset", "bigint", "the offset that the group committed"),
    ("commit_timestamp", "timestamp", "when, by the broker's clock"),
)
_LOG: Final = (
    ("log_partition", "int", "where its record is: partition of `__consumer_offsets`"),
    ("log_offset", "bigint", "and offset"),
)
_LOGGED: Final = (*_LOG, ("log_timestamp", "timestamp", "timestamp of the record"))
_TIME: Final = (
    ("as_of", "timestamp", "the moment that the table is about (`--now`)"),
    (
        "complete_since",
        "timestamp",
        "from when on the log of `__consumer_offsets` is whole; null where it is from its beginning",
    ),
)
_EXPIRY: Final = (
    ("rule", "string", "`explicit`, `simple`, `empty`, `unsubscribed`, or `none` where nothing makes it expire"),
    ("base_timestamp", "timestamp", "what its age is counted from; null for `explicit` and `none`"),
)
_MEMBERS: Final = (
    "array<struct<member_id: string, group_instance_id: string, client_id: string, client_host: string,"
    " rebalance_timeout_ms: int, session_timeout_ms: int, topics: array<string>>>"
)
_CLIENT: Final = (
    "struct<group_instance_id: string, client_id: string, client_host: string, rack_id: string,"
    " rebalance_timeout_ms: int, session_timeout_ms: int, assignor: string, regular_expression: string,"
    " protocols: array<string>, process_id: string>"
)
_ASSIGNED: Final = "array<struct<topic_id: string, partitions: array<int>, epochs: array<int>>>"
_TASKS: Final = "array<struct<role: string, subtopology: string, partitions: array<int>, epochs: array<int>>>"

TABLES: Final[dict[str, Columns]] = {
    "offset_events": (
        *_PLACE,
        ("event", "string", "`commit` or `tombstone`"),
        *_COMMIT,
        ("expire_timestamp", "timestamp", "when a commit with its own retention expires; else null"),
        ("leader_epoch", "int", "leader epoch of the commit, -1 for none"),
        ("metadata", "string", "what the client wrote beside it"),
        ("topic_id", "string", "id of the topic, where the record has one (Kafka 4.1 and later)"),
        ("schema_version", "smallint", "of the record's value; null for a tombstone"),
        *_LOGGED,
        ("event_month", "string", "month of `log_timestamp`, as 2026-01; the table is partitioned by it"),
        *_TIME,
    ),
    "group_events": (
        _GROUP,
        ("group_type", "string", "`classic`, `consumer` (KIP-848), `share` (KIP-932), `streams` (KIP-1071)"),
        ("event", "string", "the record's type in Kafka's words, for example `GROUP_METADATA`"),
        ("tombstone", "boolean", "whether the record ends what it is about"),
        ("member_id", "string", "the member, or the regular expression, that the record is about"),
        ("protocol_type", "string", "of a classic group; empty for one that never had members"),
        ("generation", "int", "of a classic group"),
        ("protocol", "string", "the assignor that the members agreed on"),
        ("leader", "string", "member id of the leader"),
        ("state", "string", "`Stable` or `Empty`: what a classic group is in when it is loaded from this record"),
        ("state_timestamp", "timestamp", "when the group came into its state; null where the record does not say"),
        ("members", _MEMBERS, "of a classic group; `topics` is null where a subscription cannot be parsed"),
        (
            "subscribed_topics",
            "array<string>",
            "what the members subscribe to, or the topology reads; null where that is not known",
        ),
        (
            "epoch",
            "int",
            "of a consumer, share or streams group, of its target assignment, of its topology, or of a member, whatever"
            " the record is about",
        ),
        (
            "client",
            _CLIENT,
            "what a member of a consumer group has said of itself; `session_timeout_ms` and `protocols` of one that"
            " speaks the classic protocol, `process_id` of a streams group's",
        ),
        (
            "member_state",
            "string",
            "`STABLE`, `UNREVOKED_PARTITIONS`, `UNRELEASED_PARTITIONS` or `UNKNOWN`: how far a member of a consumer"
            " group is on its way to its target; of a streams group `…_TASKS`",
        ),
        (
            "assigned",
            _ASSIGNED,
            "partitions that a member has, each with the epoch in which it was given to it (consumer groups of Kafka"
            " 4.4 and later), or is to have (`…_TARGET_ASSIGNMENT_MEMBER`); those of a share group that the share"
            " coordinator knows (`SHARE_GROUP_STATE_PARTITION_METADATA`)",
        ),
        ("pending_revocation", _ASSIGNED, "partitions that it has and is to give up"),
        (
            "tasks",
            _TASKS,
            "tasks that a member of a streams group has, or is to have (`…_TARGET_ASSIGNMENT_MEMBER`); `role` is"
            " `active`, `standby` or `warmup`, and active ones that it has have an epoch each",
        ),
        ("pending_tasks", _TASKS, "tasks that it has and is to give up"),
        ("schema_version", "smallint", "of the record's value; null for a tombstone"),
        *_LOGGED,
        ("event_month", "string", "month of `log_timestamp`, as 2026-01; the table is partitioned by it"),
        *_TIME,
    ),
    "decode_errors": (
        *_LOGGED,
        ("reason", "string", "why the record cannot be decoded"),
        ("record_type", "smallint", "the number in front of the key, where there is one"),
        ("group_id", "string", "the group, where the key could be read"),
        ("key", "binary", "the record's key"),
        ("value", "binary", "the record's value"),
        *_TIME,
    ),
    "offset_current": (
        *_PLACE,
        *_COMMIT,
        ("expire_timestamp", "timestamp", "when a commit with its own retention expires; else null"),
        ("leader_epoch", "int", "leader epoch of the commit, -1 for none"),
        ("metadata", "string", "what the client wrote beside it"),
        ("topic_id", "string", "id of the topic, where the record has one (Kafka 4.1 and later)"),
        ("group_type", "string", "`simple` (only commits), `classic`, `consumer` (KIP-848), `share`, `streams`"),
        ("group_state", "string", "`Empty` or `Stable`, as the log has it; null for a simple group"),
        ("protocol_type", "string", "of a classic group; null for a simple one"),
        ("schema_version", "smallint", "of the record's value"),
        *_LOGGED,
        *_TIME,
    ),
    "expiry_forecast": (
        *_PLACE,
        *_COMMIT,
        ("retention_minutes", "bigint", "`offsets.retention.minutes` that is assumed: the first of the list"),
        *_EXPIRY,
        ("expires_at", "timestamp", "from when on it is expired; null where nothing makes it expire"),
        ("sweep_by", "timestamp", "when the broker has swept it at the latest"),
        ("seconds_left", "double", "from `as_of` to `expires_at`; negative where it is overdue"),
        ("days_left", "double", "the same in days"),
        (
            "blocked_by",
            "string",
            "what keeps it: `subscribed`, `subscription unknown`, `members of another protocol type`,"
            " `infinite retention`, `group type`, `pending transaction` (until that ends); null where nothing does",
        ),
        ("group_state", "string", "`Empty` or `Stable`; null for a simple group"),
        *_TIME,
    ),
    "retention_whatif": (
        ("retention_minutes", "bigint", "the `offsets.retention.minutes` that is tried"),
        *_PLACE,
        *_COMMIT,
        *_EXPIRY,
        ("deleted_at", "timestamp", "when it would have been, or will be, deleted"),
        ("already", "boolean", "whether that is not later than `as_of`"),
        (
            "lag_then",
            "bigint",
            "records behind the commit at `deleted_at`: up to the first record of the topic with that time or a later"
            " one; for what is still to come, as of the snapshot. Null without a snapshot, where the topic is another"
            " one by now, for more than `--probes` moments, and where retention has deleted what was there then",
        ),
        ("came_back", "boolean", "whether the group committed this partition again afterwards"),
        ("came_back_at", "timestamp", "when it did"),
        (
            "replayed_on_earliest",
            "bigint",
            "records read again if it resets to the earliest offset: at least so many, from where the partition begins"
            " as of the snapshot",
        ),
        (
            "skipped_on_latest",
            "bigint",
            "records never read if it resets to the latest offset: up to where the partition ended at `came_back_at`,"
            " found as for `lag_then`; as of the snapshot where the group has not come back",
        ),
        *_TIME,
    ),
    "stale_offsets": (
        *_PLACE,
        *_COMMIT,
        (
            "why",
            "string",
            "`unsubscribed` by a live group, `no such topic`; `empty group` and `simple group` where nobody used it for"
            " so long as `--stale-after` says",
        ),
        ("unused_since", "timestamp", "the commit, or when the group lost its last member, if that was later"),
        ("age_seconds", "double", "from the commit to `as_of`"),
        ("lag_records", "bigint", "records behind the commit; null where `lag` has null"),
        ("deletable", "boolean", "whether OffsetDelete would succeed; null in a view of the past"),
        ("error", "string", "the error that OffsetDelete would answer; null where it succeeds"),
        ("command", "string", "the command that deletes it; null in a view of the past, and for a name with NUL"),
        *_TIME,
    ),
    "lag": (
        *_PLACE,
        *_COMMIT,
        ("log_start_offset", "bigint", "of the topic's partition, before the log was read"),
        ("high_watermark", "bigint", "of the topic's partition, once the log was read"),
        ("last_stable_offset", "bigint", "of the topic's partition, once the log was read"),
        (
            "lag_records",
            "bigint",
            "high watermark less the committed offset, 0 where that is ahead; null where either is not known, where the"
            " topic is another one by now, and for an offset below 0, which clients take for none",
        ),
        (
            "lag_committed",
            "bigint",
            "the same up to the last stable offset: what a consumer that reads committed records can read now",
        ),
        ("held_by", "string", "transactional id whose open transaction holds the last stable offset back; else null"),
        ("held_seconds", "double", "for how long it has done so; null where not known"),
        ("commit_age_seconds", "double", "how old the commit is; null where it has no time"),
        ("topic_left", "boolean", "the group is alive, and no member subscribes to the topic any more"),
        (
            "lag_seconds",
            "double",
            "how old the first record is that was not consumed, 0 where only marks of transactions are left; null where"
            " not known",
        ),
        ("lag_method", "string", "`none left`, `next record`, `interpolation` or `commit age`; null where not known"),
        ("data_lost", "boolean", "records behind the commit are deleted already; null where lag is not known"),
        (
            "topic_recreated",
            "boolean",
            "the topic is another one by now: it has another id than the commit, or, where either has none, ends"
            " before it",
        ),
        (
            "topic_missing",
            "boolean",
            "the cluster says that there is no such partition; null where it does not say: the partition has no leader,"
            " the topic may not be described, there is no snapshot",
        ),
        *_TIME,
    ),
    "group_timeline": (
        _GROUP,
        ("at", "timestamp", "when it happened"),
        ("state", "string", "`Stable`, `Empty` or `Dead`"),
        ("until", "timestamp", "when the next thing happened; null for the last"),
        ("generation", "int", "the generation of a classic group; null for another one"),
        ("protocol_type", "string", "of the group"),
        ("members", "int", "how many members"),
        ("joined", "array<string>", "members that were not in the generation before"),
        ("left", "array<string>", "members that are not in this one any more"),
        (
            "cause",
            "string",
            "`created`, `members joined`, `members left`, `members replaced`, `subscription changed`,"
            " `leader rejoined`, `new epoch` (of another than a classic group: partitions changed, for example),"
            " `emptied`, `converted` (from a classic group to a KIP-848 one or back), `removed`",
        ),
        *_LOG,
        *_TIME,
    ),
    "partition_owners": (
        _GROUP,
        ("group_type", "string", "`consumer`, `share` or `streams`"),
        ("topic", "string", "the topic; null of a task, and where the cluster does not tell which one has the id"),
        ("topic_id", "string", "id of the topic; null of a task"),
        ("subtopology", "string", "of a task; else null"),
        ("role", "string", "of a task: `active`, `standby` or `warmup`"),
        ("partition", "int", "the partition"),
        ("member_id", "string", "the member that held it; null for the time in which no member did"),
        ("from_at", "timestamp", "when the member was given it, or lost it"),
        ("until", "timestamp", "until when; null where that goes on"),
        ("seconds", "double", "from then until then, or until `as_of`"),
        ("epoch", "int", "the member's epoch when it was given it"),
        (
            "cause",
            "string",
            "of a time without an owner: `member joined`, `member left`, `subscription changed`, `new epoch`, whatever"
            " happened last to the group before",
        ),
        *_TIME,
    ),
    "deletion_audit": (
        ("what", "string", "`offset` or `group`"),
        *_PLACE,
        *_COMMIT,
        ("deleted_at", "timestamp", "timestamp of the tombstone"),
        (
            "reason",
            "string",
            "`expiry`; `OffsetDelete`, `DeleteGroups`, `topic deletion`, or two of them with `or` between where the log"
            " cannot tell which; of a group `no offsets left`, or `converted` (to a KIP-848 group or back: its offsets"
            " stay); `repeated` where there was none; `unexplained` where no rule made it expire and nobody asked for"
            " it",
        ),
        (
            "evidence",
            "string",
            "`journal` where it has the request, or would have it; `log` where it is inferred: from the rules of"
            " expiry, from what else went at the same time, from what the group subscribed to, from the topic's ids",
        ),
        (
            "predicted",
            "boolean",
            "whether the rules of expiry led to expect it: false for what went later than the sweep after it was due,"
            " for example because of a transaction that was open",
        ),
        *_EXPIRY,
        ("expires_at", "timestamp", "when the rules made it expire; null where they did not"),
        ("late_ms", "bigint", "the tombstone's time less `expires_at`; negative where it went before"),
        *_LOG,
        *_TIME,
    ),
    "share_partitions": (
        _GROUP,
        ("topic", "string", "the topic; null where the cluster does not tell which one has the id"),
        ("partition", "int", "the partition"),
        ("topic_id", "string", "id of the topic"),
        ("start_offset", "bigint", "before it the group is done with everything; null where it has not begun"),
        ("last_offset", "bigint", "up to here something is known of single records; null where nothing is"),
        ("delivery_complete_count", "int", "so many records behind the start offset are done with; null: unknown"),
        ("available", "bigint", "records that were given back, or are delivered now: who has them is not written"),
        ("acknowledged", "bigint", "records behind the start offset that were accepted"),
        ("archiving", "bigint", "records whose dead letter is being written (Kafka 4.4 and later)"),
        ("archived", "bigint", "records that were rejected, or delivered too often, or are none"),
        ("max_delivery_count", "int", "how often the record was delivered that was delivered most often"),
        (
            "lag_records",
            "bigint",
            "high watermark less the start offset and what is done with behind it; null where either is not known",
        ),
        ("state_epoch", "int", "how often the share partition was begun anew"),
        ("leader_epoch", "int", "of the leader that has read its state last"),
        ("snapshot_epoch", "int", "counts its snapshots"),
        ("undecoded", "bigint", "so many of its records since the last snapshot cannot be decoded"),
        ("log_partition", "int", "where its newest record is: partition of `__share_group_state`"),
        ("log_offset", "bigint", "and offset"),
        ("log_timestamp", "timestamp", "timestamp of the record"),
        *_TIME,
    ),
    "transactions": (
        ("transactional_id", "string", "the transactional id"),
        (
            "status",
            "string",
            "`open`; `committing` or `aborting`: decided, and not all markers are written; `committed`, `aborted`",
        ),
        ("producer_id", "bigint", "the producer's id"),
        ("producer_epoch", "smallint", "and epoch"),
        ("started_at", "timestamp", "when its first partition was added"),
        ("ended_at", "timestamp", "when the coordinator decided; null where it is open"),
        ("completed_at", "timestamp", "when all markers were written; null where they are not"),
        ("seconds", "double", "from the begin to the decision, or to `as_of`: for so long readers were held back"),
        ("timeout_ms", "int", "`transaction.timeout.ms` of the producer"),
        (
            "hanging",
            "boolean",
            "not complete, and more than 10 seconds beyond its timeout: the coordinator should have aborted it",
        ),
        ("partitions", "array<struct<topic: string, partition: int>>", "partitions in it, where the log has them"),
        ("log_partition", "int", "where its newest record is: partition of `__transaction_state`"),
        ("log_offset", "bigint", "and offset"),
        ("log_timestamp", "timestamp", "timestamp of the record"),
        *_TIME,
    ),
    "held_partitions": (
        ("topic", "string", "the topic"),
        ("partition", "int", "the partition"),
        ("last_stable_offset", "bigint", "readers of committed records come to here"),
        ("high_watermark", "bigint", "and all others to here"),
        ("records_held", "bigint", "the difference"),
        ("transactional_id", "string", "of the oldest transaction there; null where the coordinator knows none"),
        ("producer_id", "bigint", "its producer's id"),
        ("producer_epoch", "smallint", "and epoch"),
        ("status", "string", "`open`, `committing` or `aborting`"),
        ("transactions", "bigint", "how many there are"),
        ("since", "timestamp", "when the oldest one began"),
        ("seconds", "double", "from then to `as_of`"),
        (
            "hanging",
            "boolean",
            "as in `transactions`; true, too, where the coordinator knows none and nothing was written for 15 minutes"
            " (KIP-664); null where that is not known",
        ),
        *_TIME,
    ),
    "guarantees": (
        ("guarantee", "string", "name of the guarantee (docs/guarantees.md)"),
        ("verdict", "string", "`finding` where it was not kept, `notice` where Kafka promises it to nobody"),
        ("group_id", "string", "the group; null where it is about none"),
        ("topic", "string", "the topic; null where it is about none"),
        ("partition", "int", "the partition"),
        (
            "offsets",
            "array<struct<first: bigint, last: bigint>>",
            "records that it is about, by runs of offsets; empty where it is about none",
        ),
        ("happened_at", "timestamp", "when, by the broker's clock"),
        ("cause", "string", "what happened, as `kafkastub check` prints it"),
        ("members", "array<string>", "members that took part"),
        ("entries", "array<bigint>", "numbers of the journal's entries that show it"),
        ("as_of", "timestamp", "the moment that the table is about (`--now`)"),
        ("complete_since", "timestamp", "null: `kafkastub check` says what is undecided"),
    ),
    "protocol_coverage": (
        ("api", "string", "name of the API"),
        ("api_key", "smallint", "its number"),
        ("api_version", "smallint", "the version"),
        ("error_code", "smallint", "error code in the answers; null where there was no answer, or no request"),
        ("error", "string", "its name"),
        ("requests", "bigint", "how many requests had it in their answer; 0 where never exercised"),
        ("count", "bigint", "how often it stood there"),
        ("clients", "array<string>", "client software and ids that asked; this pipeline is left out"),
        ("advertised", "boolean", "whether the broker says it has it; null where it was not asked"),
        ("exercised", "boolean", "whether anybody asked"),
        ("as_of", "timestamp", "the moment that the table is about (`--now`)"),
        ("complete_since", "timestamp", "broker time of the journal's first entry"),
    ),
}
"""Table to its columns, in order."""


def time_of(milliseconds: Column) -> Column:
    """A timestamp; null for what Kafka writes as -1."""
    from pyspark.sql import functions as f

    return f.when(milliseconds >= 0, f.timestamp_millis(f.least(milliseconds, f.lit(LAST_MS))))


def shaped(frame: DataFrame, table: str) -> DataFrame:
    """The frame with the documented columns of a table and no other."""
    from pyspark.sql import functions as f

    return frame.select(*(f.col(name).cast(type_).alias(name) for name, type_, _ in TABLES[table]))
