"""MetadataResponse (key 3), versions 0-13. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class MetadataResponseBroker(Struct):
    __slots__ = ("node_id", "host", "port", "rack")
    FIELDS = (
        ("node_id", "int32", (0, 13), None, None, None),
        ("host", "string", (0, 13), None, None, None),
        ("port", "int32", (0, 13), None, None, None),
        ("rack", "string", (1, 13), (1, 13), None, None),
    )

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack


class MetadataResponsePartition(Struct):
    __slots__ = ("error_code", "partition_index", "leader_id", "leader_epoch", "replica_nodes", "isr_nodes", "offline_replicas")
    FIELDS = (
        ("error_code", "int16", (0, 13), None, None, None),
        ("partition_index", "int32", (0, 13), None, None, None),
        ("leader_id", "int32", (0, 13), None, None, None),
        ("leader_epoch", "int32", (7, 13), None, None, None),
        ("replica_nodes", "[]int32", (0, 13), None, None, None),
        ("isr_nodes", "[]int32", (0, 13), None, None, None),
        ("offline_replicas", "[]int32", (5, 13), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: Sequence[int] = (),
        isr_nodes: Sequence[int] = (),
        offline_replicas: Sequence[int] = (),
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = replica_nodes
        self.isr_nodes = isr_nodes
        self.offline_replicas = offline_replicas


class MetadataResponseTopic(Struct):
    __slots__ = ("error_code", "name", "topic_id", "is_internal", "partitions", "topic_authorized_operations")
    FIELDS = (
        ("error_code", "int16", (0, 13), None, None, None),
        ("name", "string", (0, 13), (12, 13), None, None),
        ("topic_id", "uuid", (10, 13), None, None, None),
        ("is_internal", "bool", (1, 13), None, None, None),
        ("partitions", "[]MetadataResponsePartition", (0, 13), None, None, None),
        ("topic_authorized_operations", "int32", (8, 13), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: Sequence[MetadataResponsePartition] = (),
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = partitions
        self.topic_authorized_operations = topic_authorized_operations


class MetadataResponse(Message):
    __slots__ = ("throttle_time_ms", "brokers", "cluster_id", "controller_id", "topics", "cluster_authorized_operations", "error_code")
    API_KEY = 3
    VERSIONS = (0, 13)
    FLEXIBLE = (9, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (3, 13), None, None, None),
        ("brokers", "[]MetadataResponseBroker", (0, 13), None, None, None),
        ("cluster_id", "string", (2, 13), (2, 13), None, None),
        ("controller_id", "int32", (1, 13), None, None, None),
        ("topics", "[]MetadataResponseTopic", (0, 13), None, None, None),
        ("cluster_authorized_operations", "int32", (8, 10), None, None, None),
        ("error_code", "int16", (13, 13), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        brokers: Sequence[MetadataResponseBroker] = (),
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: Sequence[MetadataResponseTopic] = (),
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.brokers = brokers
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.topics = topics
        self.cluster_authorized_operations = cluster_authorized_operations
        self.error_code = error_code
