"""The columns of the data sources: names, Spark types and meanings. docs/spark.md is compared with this."""

from __future__ import annotations

from typing import Final

Columns = tuple[tuple[str, str, str], ...]

_LOG: Final = (
    ("log_partition", "int", "partition of the internal topic that has the record"),
    ("log_offset", "bigint", "offset of the record in that partition"),
    ("log_timestamp", "timestamp", "timestamp of the record"),
)
_ERRORS: Final = (
    ("tombstone", "boolean", "whether the record has no value"),
    ("schema_version", "smallint", "schema version of the record's value; null for a tombstone"),
    ("error", "string", "why the record cannot be decoded; null if it can"),
    ("key", "binary", "key of a record that cannot be decoded"),
    ("value", "binary", "value of a record that cannot be decoded"),
)
_OFFSETS: Final = (
    ("group_id", "string", "the group"),
    ("event", "string", "`commit` or `tombstone` for an offset; otherwise the record's type in Kafka's words"),
    ("topic", "string", "the topic of an offset"),
    ("partition", "int", "the partition of an offset"),
    ("committed_offset", "bigint", "the offset that the group committed"),
    ("commit_timestamp", "timestamp", "time of the commit, by the broker's clock"),
    ("expire_timestamp", "timestamp", "expiry of a commit with its own retention; otherwise null"),
    ("leader_epoch", "int", "leader epoch of the commit, -1 for none"),
    ("metadata", "string", "metadata that the client committed"),
    ("topic_id", "string", "id of the topic, if the record has one (Kafka 4.1 and later)"),
)
_ASSIGNED: Final = "array<struct<topic_id: string, partitions: array<int>, epochs: array<int>>>"
_TASKS: Final = "array<struct<role: string, subtopology: string, partitions: array<int>, epochs: array<int>>>"
_GROUPS: Final = (
    (
        "group_type",
        "string",
        "`classic`, `consumer`, `share` or `streams`; null for an offset, whose record has no type",
    ),
    ("member_id", "string", "the member or regular expression that the record describes"),
    (
        "classic",
        "struct<protocol_type: string, generation: int, protocol: string, leader: string, state_ms: bigint,"
        " members: array<struct<member_id: string, group_instance_id: string, client_id: string, client_host: string,"
        " rebalance_timeout_ms: int, session_timeout_ms: int, topics: array<string>>>>",
        "a generation of a classic group",
    ),
    (
        "subscribed_topics",
        "array<string>",
        "topics that a member of a consumer, share or streams group subscribes to, or a topology reads",
    ),
    (
        "modern",
        "struct<epoch: int, client: struct<group_instance_id: string, client_id: string, client_host: string,"
        " rack_id: string, rebalance_timeout_ms: int, session_timeout_ms: int, assignor: string,"
        " regular_expression: string, protocols: array<string>, process_id: string>, member_state: string,"
        f" assigned: {_ASSIGNED}, pending_revocation: {_ASSIGNED}, tasks: {_TASKS}, pending_tasks: {_TASKS}>",
        "the other fields of a record of a consumer, share or streams group, as in the columns of `group_events`",
    ),
)

FORMATS: Final[dict[str, Columns]] = {
    "kafka_offsets": (*_OFFSETS, *_GROUPS, *_ERRORS, *_LOG),
    "kafka_transactions": (
        ("transactional_id", "string", "the transactional id"),
        ("state", "string", "`Empty`, `Ongoing`, `PrepareCommit`, `CompleteAbort` and so on; null for a tombstone"),
        ("producer_id", "bigint", "the producer's id"),
        ("previous_producer_id", "bigint", "the producer's previous id; null for none"),
        ("next_producer_id", "bigint", "the id that follows when all epochs are used; null for none"),
        ("producer_epoch", "smallint", "the producer's epoch; -1 before the first"),
        ("timeout_ms", "int", "`transaction.timeout.ms` of the producer, in milliseconds"),
        ("partitions", "array<struct<topic: string, partition: int>>", "partitions in the transaction"),
        ("started_at", "timestamp", "start of the transaction; null for none"),
        ("updated_at", "timestamp", "time at which the coordinator wrote the record"),
        ("client_transaction_version", "smallint", "0 to 2: 2 raises the epoch at each end (KIP-890)"),
        *_ERRORS,
        *_LOG,
    ),
    "kafka_share_state": (
        ("group_id", "string", "the share group"),
        ("topic_id", "string", "id of the topic"),
        ("partition", "int", "the partition"),
        (
            "event",
            "string",
            "`snapshot`, which has the whole state of a share partition, or `update`, which has the changes",
        ),
        ("snapshot_epoch", "int", "number of the snapshot, which counts up per share partition"),
        ("state_epoch", "int", "number of times that the share partition was initialized again; null in an update"),
        ("leader_epoch", "int", "epoch of the leader that last read the state; null if an update has none"),
        ("start_offset", "bigint", "the group is done with all records before it; null if the record does not say"),
        ("delivery_complete_count", "int", "number of records after the start offset that are done; null if not known"),
        (
            "batches",
            "array<struct<first_offset: bigint, last_offset: bigint, state: string, delivery_count: int>>",
            "ranges of offsets with their states: `available`, `acknowledged`, `archiving` or `archived`",
        ),
        *_ERRORS,
        *_LOG,
    ),
    "kafkastub_journal": (
        ("schema_version", "int", "version of the journal's schema"),
        ("sequence", "bigint", "number of the entry, counted from the start of the journal"),
        ("kind", "string", "`request`, or `clock` for a move of the broker's clock"),
        ("broker_time", "timestamp", "arrival by the broker's clock; for `clock` the new time"),
        ("wall_time", "timestamp", "arrival by the machine's clock"),
        ("duration_us", "bigint", "microseconds to the answer; null if there was none"),
        ("connection_id", "bigint", "number of the connection, from 1; -1 for `clock`"),
        ("peer", "string", "HOST:PORT of the client"),
        ("listener", "string", "name of the listener that received it"),
        ("node_id", "int", "the node that received it"),
        ("principal", "string", "principal of the client, for example `User:ANONYMOUS`"),
        ("client_id", "string", "from the request's header"),
        ("software_name", "string", "the client's software (KIP-511), or `unknown`"),
        ("software_version", "string", "version of the client's software"),
        ("api_key", "smallint", "number of the API; -1 if the frame has none"),
        ("api", "string", "name of the API, for example `OffsetCommit`"),
        ("api_version", "smallint", "version of the API; -1 if the frame has none"),
        ("correlation_id", "int", "from the request's header"),
        ("groups", "array<string>", "groups that the request names"),
        (
            "members",
            "array<struct<member_id: string, instance_id: string, epoch: int>>",
            "members that send the request",
        ),
        (
            "transactions",
            "array<struct<transactional_id: string, producer_id: bigint, producer_epoch: smallint>>",
            "transactions that the request belongs to",
        ),
        ("topics", "array<string>", "topics that the request names"),
        ("partitions", "array<struct<topic: string, partition: int>>", "partitions that the request names"),
        ("errors", "array<struct<code: smallint, name: string, count: int>>", "error codes in the answer"),
        ("outcome", "string", "`reply`, `pending`, `no_reply`, `closed`, `refused`, `dropped`; `clock` for a move"),
        ("fault", "string", "id of the fault rule that fired"),
        ("request", "binary", "the request frame, if frames are kept"),
        ("response", "binary", "the response frame, if frames are kept"),
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
