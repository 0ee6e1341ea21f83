"""The shape of a decoded record, as Arrow and Spark have it."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

_OF_GROUPS_DDL: Final = (
    "member_id string,"
    " `group` struct<protocol_type: string, generation: int, protocol: string, leader: string, state_ms: bigint,"
    " members: array<struct<member_id: string, group_instance_id: string, client_id: string, client_host: string,"
    " rebalance_timeout_ms: int, session_timeout_ms: int, topics: array<string>>>>,"
    " topics array<string>, modern struct<epoch: int, client: struct<group_instance_id: string, client_id: string,"
    " client_host: string, rack_id: string, rebalance_timeout_ms: int, session_timeout_ms: int, assignor: string,"
    " regular_expression: string, protocols: array<string>, process_id: string>, member_state: string,"
    " assigned: array<struct<topic_id: string, partitions: array<int>, epochs: array<int>>>,"
    " pending_revocation: array<struct<topic_id: string, partitions: array<int>, epochs: array<int>>>,"
    " tasks: array<struct<role: string, subtopology: string, partitions: array<int>, epochs: array<int>>>,"
    " pending_tasks: array<struct<role: string, subtopology: string, partitions: array<int>, epochs: array<int>>>>"
)
_FRONT_DDL: Final = (
    "log_partition int, log_offset bigint, log_ms bigint, record_type smallint, group_id string, topic string,"
    " `partition` int, tombstone boolean, schema_version smallint, committed_offset bigint, leader_epoch int,"
    " metadata string, commit_ms bigint, expire_ms bigint, topic_id string"
)
_BACK_DDL: Final = "error string, key binary, value binary"
OFFSET_DDL: Final = f"{_FRONT_DDL}, error string"
NARROW_DDL: Final = f"{_FRONT_DDL}, {_BACK_DDL}, about_group array<struct<{_OF_GROUPS_DDL}>>, place binary"
RECORD_DDL: Final = f"{_FRONT_DDL}, {_OF_GROUPS_DDL}, {_BACK_DDL}"
"""What `decoded` gives. Milliseconds are as Kafka wrote them; `group` is of classic groups' generations, `topics` what
a member of a KIP-848 group subscribes to, or a streams group reads, `modern` what else the records of such a group say;
`error`, `key` and `value` are of records that cannot be decoded."""

MEMBER: Final = pa.struct(
    [
        pa.field("member_id", pa.string()),
        pa.field("group_instance_id", pa.string()),
        pa.field("client_id", pa.string()),
        pa.field("client_host", pa.string()),
        pa.field("rebalance_timeout_ms", pa.int32()),
        pa.field("session_timeout_ms", pa.int32()),
        pa.field("topics", pa.list_(pa.string())),
    ]
)
GROUP: Final = pa.struct(
    [
        pa.field("protocol_type", pa.string()),
        pa.field("generation", pa.int32()),
        pa.field("protocol", pa.string()),
        pa.field("leader", pa.string()),
        pa.field("state_ms", pa.int64()),
        pa.field("members", pa.list_(MEMBER)),
    ]
)
CLIENT: Final = pa.struct(
    [
        pa.field("group_instance_id", pa.string()),
        pa.field("client_id", pa.string()),
        pa.field("client_host", pa.string()),
        pa.field("rack_id", pa.string()),
        pa.field("rebalance_timeout_ms", pa.int32()),
        pa.field("session_timeout_ms", pa.int32()),
        pa.field("assignor", pa.string()),
        pa.field("regular_expression", pa.string()),
        pa.field("protocols", pa.list_(pa.string())),
        pa.field("process_id", pa.string()),
    ]
)
ASSIGNED: Final = pa.list_(
    pa.struct(
        [
            pa.field("topic_id", pa.string()),
            pa.field("partitions", pa.list_(pa.int32())),
            pa.field("epochs", pa.list_(pa.int32())),
        ]
    )
)
TASKS: Final = pa.list_(
    pa.struct(
        [
            pa.field("role", pa.string()),
            pa.field("subtopology", pa.string()),
            pa.field("partitions", pa.list_(pa.int32())),
            pa.field("epochs", pa.list_(pa.int32())),
        ]
    )
)
MODERN: Final = pa.struct(
    [
        pa.field("epoch", pa.int32()),
        pa.field("client", CLIENT),
        pa.field("member_state", pa.string()),
        pa.field("assigned", ASSIGNED),
        pa.field("pending_revocation", ASSIGNED),
        pa.field("tasks", TASKS),
        pa.field("pending_tasks", TASKS),
    ]
)
RECORD: Final = pa.schema(
    [
        ("log_partition", pa.int32()),
        ("log_offset", pa.int64()),
        ("log_ms", pa.int64()),
        ("record_type", pa.int16()),
        ("group_id", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("tombstone", pa.bool_()),
        ("schema_version", pa.int16()),
        ("committed_offset", pa.int64()),
        ("leader_epoch", pa.int32()),
        ("metadata", pa.string()),
        ("commit_ms", pa.int64()),
        ("expire_ms", pa.int64()),
        ("topic_id", pa.string()),
        ("member_id", pa.string()),
        ("group", GROUP),
        ("topics", pa.list_(pa.string())),
        ("modern", MODERN),
        ("error", pa.string()),
        ("key", pa.binary()),
        ("value", pa.binary()),
    ]
)
OF_GROUPS: Final = ("member_id", "group", "topics", "modern")
"""What only records of groups have: one in twenty, and two thirds of the columns, counted to the last leaf."""
OFFSET: Final = pa.schema([field for field in RECORD if field.name not in (*OF_GROUPS, "key", "value")])
"""A record about an offset that could be decoded, without what is null in all of these but `error`: who asks for
errors learns from that that there are none."""
ABOUT_GROUP: Final = pa.list_(pa.struct([RECORD.field(name) for name in OF_GROUPS]))
"""These in one column, a list of one or none: where there is none, nothing is written for any of them."""
NARROW: Final = pa.schema(
    [field for field in RECORD if field.name not in OF_GROUPS]
    + [pa.field("about_group", ABOUT_GROUP), pa.field("place", pa.binary())]
)
"""Decoded records, and the candidates of `decode.latest` behind them, as a run keeps them. `place` is null in decoded
records; candidates have the columns of `CANDIDATE` and no other."""
