"""BeginQuorumEpochResponse (key 53), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class PartitionData(Struct):
    __slots__ = ("partition_index", "error_code", "leader_id", "leader_epoch")
    FIELDS = (
        ("partition_index", "int32", (0, 1), None, None, None),
        ("error_code", "int16", (0, 1), None, None, None),
        ("leader_id", "int32", (0, 1), None, None, None),
        ("leader_epoch", "int32", (0, 1), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class TopicData(Struct):
    __slots__ = ("topic_name", "partitions")
    FIELDS = (
        ("topic_name", "string", (0, 1), None, None, None),
        ("partitions", "[]PartitionData", (0, 1), None, None, None),
    )

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_name = topic_name
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


class BeginQuorumEpochResponse(Message):
    __slots__ = ("error_code", "topics", "node_endpoints")
    API_KEY = 53
    VERSIONS = (0, 1)
    FLEXIBLE = (1, 32767)
    FIELDS = (
        ("error_code", "int16", (0, 1), None, None, None),
        ("topics", "[]TopicData", (0, 1), None, None, None),
        ("node_endpoints", "[]NodeEndpoint", (1, 1), None, 0, (1, 1)),
    )

    def __init__(
        self,
        error_code: int = 0,
        topics: Sequence[TopicData] = (),
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.error_code = error_code
        self.topics = topics
        self.node_endpoints = node_endpoints
