"""FetchSnapshotResponse (key 59), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Records, Struct


class SnapshotId(Struct):
    __slots__ = ("end_offset", "epoch")
    FIELDS = (
        ("end_offset", "int64", (0, 1), None, None, None),
        ("epoch", "int32", (0, 1), None, None, None),
    )

    def __init__(
        self,
        end_offset: int = 0,
        epoch: int = 0,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch


class LeaderIdAndEpoch(Struct):
    __slots__ = ("leader_id", "leader_epoch")
    FIELDS = (
        ("leader_id", "int32", (0, 1), None, None, None),
        ("leader_epoch", "int32", (0, 1), None, None, None),
    )

    def __init__(
        self,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class PartitionSnapshot(Struct):
    __slots__ = ("index", "error_code", "snapshot_id", "current_leader", "size", "position", "unaligned_records")
    FIELDS = (
        ("index", "int32", (0, 1), None, None, None),
        ("error_code", "int16", (0, 1), None, None, None),
        ("snapshot_id", "SnapshotId", (0, 1), None, None, None),
        ("current_leader", "LeaderIdAndEpoch", (0, 1), None, 0, (0, 1)),
        ("size", "int64", (0, 1), None, None, None),
        ("position", "int64", (0, 1), None, None, None),
        ("unaligned_records", "records", (0, 1), None, None, None),
    )

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        snapshot_id: SnapshotId | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        size: int = 0,
        position: int = 0,
        unaligned_records: Records | None = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.snapshot_id = SnapshotId() if snapshot_id is None else snapshot_id
        self.current_leader = LeaderIdAndEpoch() if current_leader is None else current_leader
        self.size = size
        self.position = position
        self.unaligned_records = unaligned_records


class TopicSnapshot(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (0, 1), None, None, None),
        ("partitions", "[]PartitionSnapshot", (0, 1), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[PartitionSnapshot] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class NodeEndpoint(Struct):
    __slots__ = ("node_id", "host", "port")
    FIELDS = (
        ("node_id", "int32", (1, 1), None, None, None),
        ("host", "string", (1, 1), None, None, None),
        ("port", "uint16", (1, 1), None, None, None),
    )

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port


class FetchSnapshotResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "topics", "node_endpoints")
    API_KEY = 59
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 1), None, None, None),
        ("error_code", "int16", (0, 1), None, None, None),
        ("topics", "[]TopicSnapshot", (0, 1), None, None, None),
        ("node_endpoints", "[]NodeEndpoint", (1, 1), None, 0, (1, 1)),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: Sequence[TopicSnapshot] = (),
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = topics
        self.node_endpoints = node_endpoints
