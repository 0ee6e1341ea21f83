"""FetchSnapshotRequest (key 59), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


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


class PartitionSnapshot(Struct):
    __slots__ = ("partition", "current_leader_epoch", "snapshot_id", "position", "replica_directory_id")
    FIELDS = (
        ("partition", "int32", (0, 1), None, None, None),
        ("current_leader_epoch", "int32", (0, 1), None, None, None),
        ("snapshot_id", "SnapshotId", (0, 1), None, None, None),
        ("position", "int64", (0, 1), None, None, None),
        ("replica_directory_id", "uuid", (1, 1), None, 0, (1, 1)),
    )

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = 0,
        snapshot_id: SnapshotId | None = None,
        position: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.snapshot_id = SnapshotId() if snapshot_id is None else snapshot_id
        self.position = position
        self.replica_directory_id = replica_directory_id


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


class FetchSnapshotRequest(Message):
    __slots__ = ("cluster_id", "replica_id", "max_bytes", "topics")
    API_KEY = 59
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("cluster_id", "string", (0, 1), (0, 1), 0, (0, 1)),
        ("replica_id", "int32", (0, 1), None, None, None),
        ("max_bytes", "int32", (0, 1), None, None, None),
        ("topics", "[]TopicSnapshot", (0, 1), None, None, None),
    )

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        max_bytes: int = 2147483647,
        topics: Sequence[TopicSnapshot] = (),
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.max_bytes = max_bytes
        self.topics = topics
