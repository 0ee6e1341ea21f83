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
    ("commit_timestamp", "timestamp", "time of the commit, by the broker's clock"),
)
_LOG: Final = (
    ("log_partition", "int", "partition of `__consumer_offsets` that has the record"),
    ("log_offset", "bigint", "offset of the record in that partition"),
)
_LOGGED: Final = (*_LOG, ("log_timestamp", "timestamp", "timestamp of the record"))
_TIME: Final = (
    ("as_of", "timestamp", "the moment that the table describes (`--now`)"),
    (
        "complete_since",
        "timestamp",
        "time from which the log of `__consumer_offsets` is complete; null if it is complete from its beginning",
    ),
)
_EXPIRY: Final = (
    (
        "rule",
        "string",
        "rule of expiry: `explicit`, `simple`, `empty` or `unsubscribed`; `none` if nothing makes the offset expire",
    ),
    ("base_timestamp", "timestamp", "start of its age; null for `explicit` and `none`"),
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
        ("expire_timestamp", "timestamp", "expiry of a commit with its own retention; otherwise null"),
        ("leader_epoch", "int", "leader epoch of the commit, -1 for none"),
        ("metadata", "string", "metadata that the client committed"),
        ("topic_id", "string", "id of the topic, if the record has one (Kafka 4.1 and later)"),
        ("schema_version", "smallint", "schema version of the record's value; null for a tombstone"),
        *_LOGGED,
        ("event_month", "string", "month of `log_timestamp`, for example 2026-01; the table is partitioned by it"),
        *_TIME,
    ),
    "group_events": (
        _GROUP,
        ("group_type", "string", "`classic`, `consumer` (KIP-848), `share` (KIP-932), `streams` (KIP-1071)"),
        ("event", "string", "the record's type in Kafka's words, for example `GROUP_METADATA`"),
        ("tombstone", "boolean", "whether the record is a tombstone"),
        ("member_id", "string", "the member or regular expression that the record describes"),
        ("protocol_type", "string", "protocol type of a classic group; empty if it never had members"),
        ("generation", "int", "generation of a classic group"),
        ("protocol", "string", "the assignor that the members agreed on"),
        ("leader", "string", "member id of the leader"),
        ("state", "string", "`Stable` or `Empty`: state of a classic group that is loaded from this record"),
        ("state_timestamp", "timestamp", "time of the group's last change of state; null if the record has none"),
        ("members", _MEMBERS, "members of a classic group; `topics` is null if a subscription cannot be parsed"),
        (
            "subscribed_topics",
            "array<string>",
            "topics that the members subscribe to or the topology reads; null if not known",
        ),
        (
            "epoch",
            "int",
            "epoch of a consumer, share or streams group, of its target assignment, its topology or a member, "
            "depending on the record",
        ),
        (
            "client",
            _CLIENT,
            "what a member of a consumer group has declared; `session_timeout_ms` and `protocols` only if it "
            "uses the classic protocol, `process_id` only in streams groups",
        ),
        (
            "member_state",
            "string",
            "progress of a member towards its target: `STABLE`, `UNREVOKED_PARTITIONS`, `UNRELEASED_PARTITIONS` "
            "or `UNKNOWN` in a consumer group, `…_TASKS` in a streams group",
        ),
        (
            "assigned",
            _ASSIGNED,
            "partitions that a member has, each with the epoch of its assignment (consumer groups of Kafka 4.4 "
            "and later); its target (`…_TARGET_ASSIGNMENT_MEMBER`); or the partitions of a share group that the "
            "share coordinator knows (`SHARE_GROUP_STATE_PARTITION_METADATA`)",
        ),
        ("pending_revocation", _ASSIGNED, "partitions that it has and must give up"),
        (
            "tasks",
            _TASKS,
            "tasks that a member of a streams group has, or its target (`…_TARGET_ASSIGNMENT_MEMBER`); `role` is "
            "`active`, `standby` or `warmup`; active tasks that it has come with their epochs",
        ),
        ("pending_tasks", _TASKS, "tasks that it has and must give up"),
        ("schema_version", "smallint", "schema version of the record's value; null for a tombstone"),
        *_LOGGED,
        ("event_month", "string", "month of `log_timestamp`, for example 2026-01; the table is partitioned by it"),
        *_TIME,
    ),
    "decode_errors": (
        *_LOGGED,
        ("reason", "string", "why the record cannot be decoded"),
        ("record_type", "smallint", "the record type at the start of the key, if there is one"),
        ("group_id", "string", "the group, if the key could be read"),
        ("key", "binary", "the record's key"),
        ("value", "binary", "the record's value"),
        *_TIME,
    ),
    "offset_current": (
        *_PLACE,
        *_COMMIT,
        ("expire_timestamp", "timestamp", "expiry of a commit with its own retention; otherwise null"),
        ("leader_epoch", "int", "leader epoch of the commit, -1 for none"),
        ("metadata", "string", "metadata that the client committed"),
        ("topic_id", "string", "id of the topic, if the record has one (Kafka 4.1 and later)"),
        ("group_type", "string", "`simple` (only commits), `classic`, `consumer` (KIP-848), `share`, `streams`"),
        ("group_state", "string", "`Empty` or `Stable`, from the log; null for a simple group"),
        ("protocol_type", "string", "protocol type of a classic group; null for a simple one"),
        ("schema_version", "smallint", "schema version of the record's value"),
        *_LOGGED,
        *_TIME,
    ),
    "expiry_forecast": (
        *_PLACE,
        *_COMMIT,
        ("retention_minutes", "bigint", "the `offsets.retention.minutes` that is assumed: the first one in the list"),
        *_EXPIRY,
        ("expires_at", "timestamp", "time of expiry; null if nothing makes it expire"),
        ("sweep_by", "timestamp", "latest time at which the broker's sweep deletes it"),
        ("seconds_left", "double", "seconds from `as_of` to `expires_at`; negative if overdue"),
        ("days_left", "double", "the same in days"),
        (
            "blocked_by",
            "string",
            "why it does not expire: `subscribed`, `subscription unknown`, `members of another protocol type`, "
            "`infinite retention`, `group type`, `pending transaction` (until that ends); null if it does",
        ),
        ("group_state", "string", "`Empty` or `Stable`; null for a simple group"),
        *_TIME,
    ),
    "retention_whatif": (
        ("retention_minutes", "bigint", "the `offsets.retention.minutes` that this row assumes"),
        *_PLACE,
        *_COMMIT,
        *_EXPIRY,
        ("deleted_at", "timestamp", "time at which it would have been, or will be, deleted"),
        ("already", "boolean", "whether `deleted_at` is at or before `as_of`"),
        (
            "lag_then",
            "bigint",
            "records after the commit at `deleted_at`: up to the first record with that time or a later one. For "
            "a time in the future: up to the snapshot. Null without a snapshot, if the topic was recreated, for "
            "more than `--probes` moments, and if retention has deleted those records",
        ),
        ("came_back", "boolean", "whether the group committed this partition again after `deleted_at`"),
        ("came_back_at", "timestamp", "time of that commit"),
        (
            "replayed_on_earliest",
            "bigint",
            "minimum number of records that are read again after a reset to the earliest offset, counted from "
            "the start of the partition in the snapshot",
        ),
        (
            "skipped_on_latest",
            "bigint",
            "records that are never read after a reset to the latest offset, counted to the end of the partition "
            "at `came_back_at` (found as for `lag_then`), or in the snapshot if the group has not come back",
        ),
        *_TIME,
    ),
    "lock_whatif": (
        ("lock_duration_ms", "bigint", "the `group.share.record.lock.duration.ms` that this row assumes"),
        _GROUP,
        ("topic", "string", "the topic; null if the cluster does not know the topic id"),
        ("partition", "int", "the partition"),
        ("topic_id", "string", "id of the topic"),
        ("first_offset", "bigint", "first offset of neighbouring records; null for a row of several deliveries"),
        ("last_offset", "bigint", "last offset of them; null likewise"),
        ("records", "bigint", "number of deliveries of a record in this row"),
        ("member_id", "string", "the member that had them; null for a row of several deliveries"),
        ("delivery_count", "int", "which delivery of them it was; null likewise"),
        ("acquired_at", "timestamp", "time of the request that acquired them; null likewise"),
        ("ended_at", "timestamp", "time of what ended it, or of the journal's end; null likewise"),
        ("seconds", "double", "seconds for which a member had them at most, by the broker's timers; null if not known"),
        ("recorded_lock_ms", "bigint", "duration of the lock that the broker named; null without a journal"),
        (
            "recorded",
            "string",
            "`acknowledged`, `released` or `rejected` by the member, `expired` if the lock ended first, `held` if the "
            "member has it at the end of the journal; null if not known",
        ),
        ("outcome", "string", "the same under this duration, or `undecided`"),
        ("changes", "boolean", "whether `outcome` differs from `recorded`; null if undecided or not known"),
        ("why", "string", "why it is undecided; otherwise null"),
        ("expires_at", "timestamp", "time at which the lock would have ended, if the outcome is `expired`"),
        ("evidence", "string", "`journal`, or `log` for a partition that the journal does not have"),
        *_TIME,
    ),
    "transaction_whatif": (
        ("timeout_ms", "bigint", "the `transaction.timeout.ms` that this row assumes"),
        ("transactional_id", "string", "the transactional id"),
        ("producer_id", "bigint", "the producer's id"),
        ("producer_epoch", "smallint", "the producer's epoch"),
        ("recorded_timeout_ms", "bigint", "the `transaction.timeout.ms` that the producer had"),
        ("started_at", "timestamp", "time at which its first partition was added"),
        ("ended_at", "timestamp", "time of the coordinator's decision; null if it is open"),
        ("seconds", "double", "seconds from its start to the decision, or to `as_of`"),
        ("recorded", "string", "what became of it: `status` in `transactions`"),
        (
            "outcome",
            "string",
            "what would have become of it: the same, `aborted` by the coordinator, or `undecided`",
        ),
        (
            "changes",
            "boolean",
            "true if the coordinator would have aborted it before it ended, or before `as_of`; null if undecided",
        ),
        ("why", "string", "why it is undecided; otherwise null"),
        ("aborted_from", "timestamp", "earliest time at which the coordinator would have aborted it"),
        ("aborted_by", "timestamp", "latest time: the coordinator looks for such transactions every 10 seconds"),
        ("log_partition", "int", "partition of `__transaction_state` that has its newest record"),
        ("log_offset", "bigint", "offset of the record in that partition"),
        *_TIME,
    ),
    "session_whatif": (
        ("timeout_ms", "bigint", "the session timeout that this row assumes"),
        _GROUP,
        ("member_id", "string", "the member; null for a group of which the journal has no request"),
        ("group_instance_id", "string", "`group.instance.id` of a static member; otherwise null"),
        ("silent_from", "timestamp", "time of the member's last request that kept its session alive"),
        ("silent_until", "timestamp", "time of its next request, or of the journal's end"),
        ("seconds", "double", "length of the silence at most, by the broker's timers"),
        ("last", "boolean", "true if the journal has no later request of the member"),
        (
            "recorded",
            "string",
            "`kept` if it was still a member at `silent_until` or, for the last silence, at `as_of`; `removed` if it "
            "was not; null if it is not known",
        ),
        ("recorded_at", "timestamp", "time at which the log removes it; null if it was kept or that is not known"),
        (
            "outcome",
            "string",
            "`kept` or `removed` at `silent_until` under this timeout, or `undecided`",
        ),
        ("changes", "boolean", "whether `outcome` differs from `recorded`; null if undecided or not known"),
        ("why", "string", "why it is undecided; otherwise null"),
        ("removed_at", "timestamp", "time at which its session would have ended"),
        ("as_of", "timestamp", "the moment that the table describes (`--now`)"),
        ("complete_since", "timestamp", "broker time of the journal's first entry; null without a journal"),
    ),
    "stale_offsets": (
        *_PLACE,
        *_COMMIT,
        (
            "why",
            "string",
            "`unsubscribed` by a live group; `no such topic`; `empty group` and `simple group` if unused for "
            "`--stale-after`",
        ),
        (
            "unused_since",
            "timestamp",
            "time of the commit, or the time at which the group lost its last member if that was later",
        ),
        ("age_seconds", "double", "seconds from the commit to `as_of`"),
        ("lag_records", "bigint", "records after the commit; null if it is null in `lag`"),
        ("deletable", "boolean", "whether OffsetDelete would succeed; null in a view of the past"),
        ("error", "string", "the error that OffsetDelete would return; null if it would succeed"),
        (
            "command",
            "string",
            "the command that deletes it; null in a view of the past, and for names with a NUL character",
        ),
        *_TIME,
    ),
    "lag": (
        *_PLACE,
        *_COMMIT,
        ("log_start_offset", "bigint", "start offset of the topic's partition before the log was read"),
        ("high_watermark", "bigint", "high watermark of the topic's partition after the log was read"),
        ("last_stable_offset", "bigint", "last stable offset of the topic's partition after the log was read"),
        (
            "lag_records",
            "bigint",
            "high watermark minus the committed offset, 0 if the commit is ahead; null if either is not known, "
            "if the topic was recreated, and for an offset below 0, which clients treat as none",
        ),
        (
            "lag_committed",
            "bigint",
            "the same up to the last stable offset: records that a read_committed consumer can read now",
        ),
        (
            "held_by",
            "string",
            "transactional id of the open transaction that holds back the last stable offset; otherwise null",
        ),
        ("held_seconds", "double", "seconds for which it has done so; null if not known"),
        ("commit_age_seconds", "double", "age of the commit in seconds; null if it has no time"),
        ("topic_left", "boolean", "true if the group has members and none of them subscribes to the topic any more"),
        (
            "lag_seconds",
            "double",
            "age in seconds of the first record that was not consumed; 0 if only transaction markers are left; "
            "null if not known",
        ),
        (
            "lag_method",
            "string",
            "source of `lag_seconds`: `none left`, `next record`, `interpolation` or `commit age`; null if not known",
        ),
        ("data_lost", "boolean", "true if records after the commit are already deleted; null if the lag is not known"),
        (
            "topic_recreated",
            "boolean",
            "true if the topic was deleted and created again: its id differs from that of the commit or, if "
            "either has none, it ends before the commit",
        ),
        (
            "topic_missing",
            "boolean",
            "true if the partition does not exist; null if that is not known: the partition has no leader, the "
            "topic may not be described, or there is no snapshot",
        ),
        *_TIME,
    ),
    "group_timeline": (
        _GROUP,
        ("at", "timestamp", "time of the event"),
        ("state", "string", "`Stable`, `Empty` or `Dead`"),
        ("until", "timestamp", "time of the next event; null for the last one"),
        ("generation", "int", "generation of a classic group; null for other groups"),
        ("protocol_type", "string", "protocol type of the group"),
        ("members", "int", "number of members"),
        ("joined", "array<string>", "members that were not in the previous generation"),
        ("left", "array<string>", "members of the previous generation that are not in this one"),
        (
            "cause",
            "string",
            "`created`, `members joined`, `members left`, `members replaced`, `subscription changed`, `leader "
            "rejoined`, `new epoch` (not in classic groups; partitions changed, for example), `emptied`, "
            "`converted` (from a classic group to a KIP-848 group or back), `removed`",
        ),
        *_LOG,
        *_TIME,
    ),
    "findings": (
        (
            "finding",
            "string",
            "`rebalance_storm`: as many generations or epochs within ten minutes as `--storm-generations` says; "
            "`commit_rate`: more offsets a second than `--commit-rate` over a whole minute",
        ),
        _GROUP,
        ("from_at", "timestamp", "first generation of the storm, or start of the first such minute"),
        ("until", "timestamp", "its last generation, or end of the last such minute"),
        ("seconds", "double", "seconds from `from_at` to `until`"),
        ("count", "bigint", "generations that began, or offsets committed, in that time, as far as the log has them"),
        ("peak", "double", "most generations within ten minutes; most offsets a second over one minute"),
        ("threshold", "double", "the number that `peak` is compared with"),
        (
            "evidence",
            "string",
            "what made the generations, and how often; the number of partitions, and the one with most commits",
        ),
        ("log_partition", "int", "partition of `__consumer_offsets` that has the records"),
        ("first_log_offset", "bigint", "offset of the first of these records"),
        ("last_log_offset", "bigint", "offset of the last one"),
        *_TIME,
    ),
    "partition_owners": (
        _GROUP,
        ("group_type", "string", "`consumer`, `share` or `streams`"),
        ("topic", "string", "the topic; null for a task, and if the cluster does not know the topic id"),
        ("topic_id", "string", "id of the topic; null for a task"),
        ("subtopology", "string", "subtopology of a task; otherwise null"),
        ("role", "string", "role of a task: `active`, `standby` or `warmup`"),
        ("partition", "int", "the partition"),
        ("member_id", "string", "the member that had it; null for a time without an owner"),
        ("from_at", "timestamp", "time at which the member got it, or the last owner lost it"),
        ("until", "timestamp", "end of that time; null if it has not ended"),
        ("seconds", "double", "seconds from `from_at` to `until`, or to `as_of`"),
        ("epoch", "int", "the member's epoch when it got the partition or task"),
        (
            "cause",
            "string",
            "cause of a time without an owner, which is the last event of the group before it: `member joined`, "
            "`member left`, `subscription changed` or `new epoch`",
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
            "`expiry`; `OffsetDelete`, `DeleteGroups` or `topic deletion`, or two of them joined by `or` if the "
            "log does not decide; for a group `no offsets left`, or `converted` (to a KIP-848 group or back: its "
            "offsets stay); `repeated` if there was nothing to delete; `unexplained` if no rule made it expire "
            "and no request deleted it",
        ),
        (
            "evidence",
            "string",
            "`journal` if the journal has the request, or would have it; `log` if the reason is inferred from "
            "the rules of expiry, from other deletions at the same time, from the group's subscription, or from "
            "topic ids",
        ),
        (
            "predicted",
            "boolean",
            "whether the rules of expiry predict it; false if it was deleted later than the first sweep after it "
            "was due, for example because a transaction was open",
        ),
        *_EXPIRY,
        ("expires_at", "timestamp", "time of expiry by the rules; null if they do not make it expire"),
        (
            "late_ms",
            "bigint",
            "tombstone's time minus `expires_at`, in milliseconds; negative if it was deleted earlier",
        ),
        *_LOG,
        *_TIME,
    ),
    "share_partitions": (
        _GROUP,
        ("topic", "string", "the topic; null if the cluster does not know the topic id"),
        ("partition", "int", "the partition"),
        ("topic_id", "string", "id of the topic"),
        ("start_offset", "bigint", "the group is done with all records before it; null if it has not begun"),
        ("last_offset", "bigint", "last offset with a state of its record; null for none"),
        ("delivery_complete_count", "int", "number of records after the start offset that are done; null if not known"),
        (
            "available",
            "bigint",
            "records that were released, or are acquired by a member now: the log does not distinguish them",
        ),
        ("acknowledged", "bigint", "records after the start offset that were accepted"),
        ("archiving", "bigint", "records whose dead letter is being written (Kafka 4.4 and later)"),
        ("archived", "bigint", "records that were rejected or delivered too often, and offsets without a record"),
        ("max_delivery_count", "int", "largest delivery count of a record"),
        (
            "redelivered",
            "bigint",
            "records that were delivered more than once, also those before the start offset whose state the log has",
        ),
        ("given_up", "bigint", "as `archived`, and those before the start offset whose state the log has"),
        (
            "lag_records",
            "bigint",
            "high watermark minus the start offset and the records after it that are done; null if either is not known",
        ),
        ("state_epoch", "int", "number of times that the share partition was initialized again"),
        ("leader_epoch", "int", "epoch of the leader that last read the state"),
        ("snapshot_epoch", "int", "number of the snapshot, which counts up"),
        ("undecoded", "bigint", "number of its records since the last snapshot that cannot be decoded"),
        ("log_partition", "int", "partition of `__share_group_state` that has its newest record"),
        ("log_offset", "bigint", "offset of the record in that partition"),
        ("log_timestamp", "timestamp", "timestamp of the record"),
        *_TIME,
    ),
    "transactions": (
        ("transactional_id", "string", "the transactional id"),
        (
            "status",
            "string",
            "`open`; `committing` or `aborting` if it is decided but not all markers are written; `committed` or "
            "`aborted`",
        ),
        ("producer_id", "bigint", "the producer's id"),
        ("producer_epoch", "smallint", "the producer's epoch"),
        ("started_at", "timestamp", "time at which its first partition was added"),
        ("ended_at", "timestamp", "time of the coordinator's decision; null if it is open"),
        ("completed_at", "timestamp", "time at which all markers were written; null if some are missing"),
        (
            "seconds",
            "double",
            "seconds from its start to the decision, or to `as_of`: the time for which it held readers back",
        ),
        ("timeout_ms", "int", "`transaction.timeout.ms` of the producer"),
        (
            "hanging",
            "boolean",
            "true if it is not complete and more than 10 seconds past its timeout: the coordinator should have "
            "aborted it",
        ),
        ("partitions", "array<struct<topic: string, partition: int>>", "partitions in it, if the log has them"),
        ("log_partition", "int", "partition of `__transaction_state` that has its newest record"),
        ("log_offset", "bigint", "offset of the record in that partition"),
        ("log_timestamp", "timestamp", "timestamp of the record"),
        *_TIME,
    ),
    "held_partitions": (
        ("topic", "string", "the topic"),
        ("partition", "int", "the partition"),
        ("last_stable_offset", "bigint", "read_committed consumers read up to here"),
        ("high_watermark", "bigint", "all other consumers read up to here"),
        ("records_held", "bigint", "number of records between the two"),
        (
            "transactional_id",
            "string",
            "id of the oldest transaction in the partition; null if the coordinator does not know it",
        ),
        ("producer_id", "bigint", "id of its producer"),
        ("producer_epoch", "smallint", "the producer's epoch"),
        ("status", "string", "`open`, `committing` or `aborting`"),
        ("transactions", "bigint", "number of transactions that hold the partition"),
        ("since", "timestamp", "start of the oldest one"),
        ("seconds", "double", "seconds from then to `as_of`"),
        (
            "hanging",
            "boolean",
            "as in `transactions`; also true if no coordinator knows the transaction and nothing was written for "
            "15 minutes (KIP-664); null if not known",
        ),
        *_TIME,
    ),
    "guarantees": (
        ("guarantee", "string", "name of the guarantee (docs/guarantees.md)"),
        ("verdict", "string", "`finding` if the guarantee was not kept, `notice` if Kafka does not promise it"),
        ("group_id", "string", "the group, or null"),
        ("topic", "string", "the topic, or null"),
        ("partition", "int", "the partition"),
        (
            "offsets",
            "array<struct<first: bigint, last: bigint>>",
            "the records concerned, as ranges of offsets; may be empty",
        ),
        ("happened_at", "timestamp", "time of the event, by the broker's clock"),
        ("cause", "string", "what happened, as `kafkastub check` prints it"),
        ("members", "array<string>", "members that were involved"),
        ("entries", "array<bigint>", "numbers of the journal entries that show it"),
        ("as_of", "timestamp", "the moment that the table describes (`--now`)"),
        ("complete_since", "timestamp", "null; `kafkastub check` reports what is undecided"),
    ),
    "protocol_coverage": (
        ("api", "string", "name of the API"),
        ("api_key", "smallint", "number of the API"),
        ("api_version", "smallint", "version of the API"),
        ("error_code", "smallint", "error code in answers; null if there was no answer or no request"),
        ("error", "string", "name of the error"),
        ("requests", "bigint", "number of requests whose answer had the error; 0 if never requested"),
        ("count", "bigint", "number of occurrences in these answers"),
        ("clients", "array<string>", "client software and client ids that sent them, without this pipeline"),
        ("advertised", "boolean", "whether the broker advertises it; null if the broker was not asked"),
        ("exercised", "boolean", "whether there was a request"),
        ("as_of", "timestamp", "the moment that the table describes (`--now`)"),
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
