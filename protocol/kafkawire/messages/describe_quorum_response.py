"""DescribeQuorumResponse (key 55), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class ReplicaState(Struct):
    __slots__ = ("replica_id", "replica_directory_id", "log_end_offset", "last_fetch_timestamp", "last_caught_up_timestamp")
    FIELDS = (
        ("replica_id", "int32", (0, 2), None, None, None),
        ("replica_directory_id", "uuid", (2, 2), None, None, None),
        ("log_end_offset", "int64", (0, 2), None, None, None),
        ("last_fetch_timestamp", "int64", (1, 2), None, None, None),
        ("last_caught_up_timestamp", "int64", (1, 2), None, None, None),
    )

    def __init__(
        self,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,
        last_caught_up_timestamp: int = -1,
    ) -> None:
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.log_end_offset = log_end_offset
        self.last_fetch_timestamp = last_fetch_timestamp
        self.last_caught_up_timestamp = last_caught_up_timestamp


class PartitionData(Struct):
    __slots__ = ("partition_index", "error_code", "error_message", "leader_id", "leader_epoch", "high_watermark", "current_voters", "observers")
    FIELDS = (
        ("partition_index", "int32", (0, 2), None, None, None),
        ("error_code", "int16", (0, 2), None, None, None),
        ("error_message", "string", (2, 2), (2, 2), None, None),
        ("leader_id", "int32", (0, 2), None, None, None),
        ("leader_epoch", "int32", (0, 2), None, None, None),
        ("high_watermark", "int64", (0, 2), None, None, None),
        ("current_voters", "[]ReplicaState", (0, 2), None, None, None),
        ("observers", "[]ReplicaState", (0, 2), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: Sequence[ReplicaState] = (),
        observers: Sequence[ReplicaState] = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.high_watermark = high_watermark
        self.current_voters = current_voters
        self.observers = observers


class TopicData(Struct):
    __slots__ = ("topic_name", "partitions")
    FIELDS = (
        ("topic_name", "string", (0, 2), None, None, None),
        ("partitions", "[]PartitionData", (0, 2), None, None, None),
    )

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class Listener(Struct):
    __slots__ = ("name", "host", "port")
    FIELDS = (
        ("name", "string", (2, 2), None, None, None),
        ("host", "string", (2, 2), None, None, None),
        ("port", "uint16", (2, 2), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port


class Node(Struct):
    __slots__ = ("node_id", "listeners")
    FIELDS = (
        ("node_id", "int32", (2, 2), None, None, None),
        ("listeners", "[]Listener", (2, 2), None, None, None),
    )

    def __init__(
        self,
        node_id: int = 0,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self.node_id = node_id
        self.listeners = listeners


class DescribeQuorumResponse(Message):
    __slots__ = ("error_code", "error_message", "topics", "nodes")
    API_KEY = 55
    VERSIONS = (0, 2)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("error_code", "int16", (0, 2), None, None, None),
        ("error_message", "string", (2, 2), (2, 2), None, None),
        ("topics", "[]TopicData", (0, 2), None, None, None),
        ("nodes", "[]Node", (2, 2), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        topics: Sequence[TopicData] = (),
        nodes: Sequence[Node] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topics = topics
        self.nodes = nodes
