"""The columns of the data sources: names, Spark types and meanings. docs/spark.md is compared with this."""

from __future__ import annotations

from typing import Final

Columns = tuple[tuple[str, str, str], ...]

_LOG: Final = (
    ("log_partition", "int", "where the record is: partition of the internal topic"),
    ("log_offset", "bigint", "and offset"),
    ("log_timestamp", "timestamp", "timestamp of the record"),
)
_ERRORS: Final = (
    ("tombstone", "boolean", "whether the record has no value"),
    ("schema_version", "smallint", "of the record's value; null for a tombstone"),
    ("error", "string", "why the record cannot be decoded; null where it can"),
    ("key", "binary", "its key, where it cannot be decoded"),
    ("value", "binary", "its value, where it cannot be decoded"),
)
_OFFSETS: Final = (
    ("group_id", "string", "the group"),
    ("event", "string", "`commit` or `tombstone` of an offset; else the record's type in Kafka's words"),
    ("topic", "string", "the topic of an offset"),
    ("partition", "int", "the partition of an offset"),
    ("committed_offset", "bigint", "the offset that the group committed"),
    ("commit_timestamp", "timestamp", "when, by the broker's clock"),
    ("expire_timestamp", "timestamp", "when a commit with its own retention expires; else null"),
    ("leader_epoch", "int", "leader epoch of the commit, -1 for none"),
    ("metadata", "string", "what the client wrote with the commit"),
    ("topic_id", "string", "id of the topic, where the record has one (Kafka 4.1 and later)"),
)
_ASSIGNED: Final = "array<struct<topic_id: string, partitions: array<int>, epochs: array<int>>>"
_TASKS: Final = "array<struct<role: string, subtopology: string, partitions: array<int>, epochs: array<int>>>"
_GROUPS: Final = (
    ("group_type", "string", "`classic`, `consumer`, `share` or `streams`; null for an offset, which says nothing"),
    ("member_id", "string", "the member, or the regular expression, that the record is about"),
    (
        "classic",
        "struct<protocol_type: string, generation: int, protocol: string, leader: string, state_ms: bigint,"
        " members: array<struct<member_id: string, group_instance_id: string, client_id: string, client_host: string,"
        " rebalance_timeout_ms: int, session_timeout_ms: int, topics: array<string>>>>",
        "a generation of a classic group",
    ),
    ("subscribed_topics", "array<string>", "what a member with epochs subscribes to, or a topology reads"),
    (
        "modern",
        "struct<epoch: int, client: struct<group_instance_id: string, client_id: string, client_host: string,"
        " rack_id: string, rebalance_timeout_ms: int, session_timeout_ms: int, assignor: string,"
        " regular_expression: string, protocols: array<string>, process_id: string>, member_state: string,"
        f" assigned: {_ASSIGNED}, pending_revocation: {_ASSIGNED}, tasks: {_TASKS}, pending_tasks: {_TASKS}>",
        "what else a record of a group with epochs says, as the columns of `group_events` have it",
    ),
)

FORMATS: Final[dict[str, Columns]] = {
    "kafka_offsets": (*_OFFSETS, *_GROUPS, *_ERRORS, *_LOG),
    "kafka_transactions": (
        ("transactional_id", "string", "the transactional id"),
        ("state", "string", "`Empty`, `Ongoing`, `PrepareCommit`, `CompleteAbort` and so on; null for a tombstone"),
        ("producer_id", "bigint", "the producer's id"),
        ("previous_producer_id", "bigint", "its id before the last change; null for none"),
        ("next_producer_id", "bigint", "the id that follows when the epochs are used up; null for none"),
        ("producer_epoch", "smallint", "the producer's epoch; -1 before the first"),
        ("timeout_ms", "int", "`transaction.timeout.ms` of the producer, in milliseconds"),
        ("partitions", "array<struct<topic: string, partition: int>>", "partitions in the transaction"),
        ("started_at", "timestamp", "when the transaction began; null where there is none"),
        ("updated_at", "timestamp", "when the coordinator wrote this"),
        ("client_transaction_version", "smallint", "0 to 2: 2 raises the epoch at each end (KIP-890)"),
        *_ERRORS,
        *_LOG,
    ),
    "kafka_share_state": (
        ("group_id", "string", "the share group"),
        ("topic_id", "string", "id of the topic"),
        ("partition", "int", "the partition"),
        ("event", "string", "`snapshot`, which has all of a share partition, or `update`, which has what changed"),
        ("snapshot_epoch", "int", "counts the snapshots of a share partition"),
        ("state_epoch", "int", "how often the share partition was begun again; null in an update"),
        ("leader_epoch", "int", "of the leader that has read the state last; null where an update does not say"),
        ("start_offset", "bigint", "before it the group is done with everything; null where it is not said"),
        ("delivery_complete_count", "int", "records behind the start offset that are done with; null: unknown"),
        (
            "batches",
            "array<struct<first_offset: bigint, last_offset: bigint, state: string, delivery_count: int>>",
            "records, by runs of offsets: `available`, `acknowledged`, `archiving` or `archived`",
        ),
        *_ERRORS,
        *_LOG,
    ),
    "kafkastub_journal": (
        ("schema_version", "int", "version of the journal's schema"),
        ("sequence", "bigint", "number of the entry, counted from the start of the journal"),
        ("kind", "string", "`request`, or `clock` where the broker's clock was moved"),
        ("broker_time", "timestamp", "arrival by the broker's clock; for `clock` the time that it was moved to"),
        ("wall_time", "timestamp", "arrival by the machine's clock"),
        ("duration_us", "bigint", "microseconds to the answer; null where there was none"),
        ("connection_id", "bigint", "number of the connection, from 1; -1 for `clock`"),
        ("peer", "string", "HOST:PORT of the client"),
        ("listener", "string", "name of the listener that it came in on"),
        ("node_id", "int", "the node that was asked"),
        ("principal", "string", "who the client is, for example `User:ANONYMOUS`"),
        ("client_id", "string", "of the request's header"),
        ("software_name", "string", "the client's software (KIP-511), `unknown` where it does not say"),
        ("software_version", "string", "and its version"),
        ("api_key", "smallint", "-1 where the frame has none"),
        ("api", "string", "name of the API, for example `OffsetCommit`"),
        ("api_version", "smallint", "-1 where the frame has none"),
        ("correlation_id", "int", "of the request's header"),
        ("groups", "array<string>", "groups that the request names"),
        ("members", "array<struct<member_id: string, instance_id: string, epoch: int>>", "members that ask"),
        (
            "transactions",
            "array<struct<transactional_id: string, producer_id: bigint, producer_epoch: smallint>>",
            "transactions that the request is part of",
        ),
        ("topics", "array<string>", "topics that the request names"),
        ("partitions", "array<struct<topic: string, partition: int>>", "partitions that the request names"),
        ("errors", "array<struct<code: smallint, name: string, count: int>>", "every error code of the answer"),
        ("outcome", "string", "`reply`, `pending`, `no_reply`, `closed`, `refused`, `dropped`; `clock` for a move"),
        ("fault", "string", "id of the fault that fired"),
        ("request", "binary", "the frame as it came, where frames are kept"),
        ("response", "binary", "the answer as it went, where frames are kept"),
    ),
}
"""Format to its columns, in order."""

OF_OFFSETS: Final = tuple(name for name, _, _ in (*_OFFSETS, *_ERRORS, *_LOG))
"""Columns of `kafka_offsets` with the option `records=offsets`: without those that only records of groups have."""


def columns_of(format_: str, names: tuple[str, ...] | None = None) -> Columns:
    """Return the columns of a format, or some of them by their names."""
    return tuple(one for one in FORMATS[format_] if names is None or one[0] in names)


def ddl_of(columns: Columns) -> str:
    """Return columns as Spark's DDL has them."""
    return ", ".join(f"`{name}` {type_}" for name, type_, _ in columns)
