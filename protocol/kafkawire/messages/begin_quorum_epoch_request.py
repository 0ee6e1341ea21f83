"""BeginQuorumEpochRequest (key 53), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class PartitionData(Struct):
    __slots__ = ("partition_index", "voter_directory_id", "leader_id", "leader_epoch")
    FIELDS = (
        ("partition_index", "int32", (0, 1), None, None, None),
        ("voter_directory_id", "uuid", (1, 1), None, None, None),
        ("leader_id", "int32", (0, 1), None, None, None),
        ("leader_epoch", "int32", (0, 1), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.voter_directory_id = voter_directory_id
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


class LeaderEndpoint(Struct):
    __slots__ = ("name", "host", "port")
    FIELDS = (
        ("name", "string", (1, 1), None, None, None),
        ("host", "string", (1, 1), None, None, None),
        ("port", "uint16", (1, 1), None, None, None),
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


class BeginQuorumEpochRequest(Message):
    __slots__ = ("cluster_id", "voter_id", "topics", "leader_endpoints")
    API_KEY = 53
    VERSIONS = (0, 1)
    FLEXIBLE = (1, 32767)
    FIELDS = (
        ("cluster_id", "string", (0, 1), (0, 1), None, None),
        ("voter_id", "int32", (1, 1), None, None, None),
        ("topics", "[]TopicData", (0, 1), None, None, None),
        ("leader_endpoints", "[]LeaderEndpoint", (1, 1), None, None, None),
    )

    def __init__(
        self,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: Sequence[TopicData] = (),
        leader_endpoints: Sequence[LeaderEndpoint] = (),
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.topics = topics
        self.leader_endpoints = leader_endpoints
