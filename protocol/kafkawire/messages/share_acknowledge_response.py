"""ShareAcknowledgeResponse (key 79), versions 1-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class LeaderIdAndEpoch(Struct):
    __slots__ = ("leader_id", "leader_epoch")
    FIELDS = (
        ("leader_id", "int32", (1, 2), None, None, None),
        ("leader_epoch", "int32", (1, 2), None, None, None),
    )

    def __init__(
        self,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class PartitionData(Struct):
    __slots__ = ("partition_index", "error_code", "error_message", "current_leader")
    FIELDS = (
        ("partition_index", "int32", (1, 2), None, None, None),
        ("error_code", "int16", (1, 2), None, None, None),
        ("error_message", "string", (1, 2), (1, 2), None, None),
        ("current_leader", "LeaderIdAndEpoch", (1, 2), None, None, None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is None else current_leader


class ShareAcknowledgeTopicResponse(Struct):
    __slots__ = ("topic_id", "partitions")
    FIELDS = (
        ("topic_id", "uuid", (1, 2), None, None, None),
        ("partitions", "[]PartitionData", (1, 2), None, None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class NodeEndpoint(Struct):
    __slots__ = ("node_id", "host", "port", "rack")
    FIELDS = (
        ("node_id", "int32", (1, 2), None, None, None),
        ("host", "string", (1, 2), None, None, None),
        ("port", "int32", (1, 2), None, None, None),
        ("rack", "string", (1, 2), (1, 2), None, None),
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


class ShareAcknowledgeResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "acquisition_lock_timeout_ms", "responses", "node_endpoints")
    API_KEY = 79
    VERSIONS = (1, 2)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (1, 2), None, None, None),
        ("error_code", "int16", (1, 2), None, None, None),
        ("error_message", "string", (1, 2), (1, 2), None, None),
        ("acquisition_lock_timeout_ms", "int32", (2, 2), None, None, None),
        ("responses", "[]ShareAcknowledgeTopicResponse", (1, 2), None, None, None),
        ("node_endpoints", "[]NodeEndpoint", (1, 2), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: Sequence[ShareAcknowledgeTopicResponse] = (),
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = responses
        self.node_endpoints = node_endpoints
