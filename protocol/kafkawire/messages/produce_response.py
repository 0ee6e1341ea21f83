"""ProduceResponse (key 0), versions 3-13. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class BatchIndexAndErrorMessage(Struct):
    __slots__ = ("batch_index", "batch_index_error_message")
    FIELDS = (
        ("batch_index", "int32", (8, 13), None, None, None),
        ("batch_index_error_message", "string", (8, 13), (8, 13), None, None),
    )

    def __init__(
        self,
        batch_index: int = 0,
        batch_index_error_message: str | None = None,
    ) -> None:
        self.batch_index = batch_index
        self.batch_index_error_message = batch_index_error_message


class LeaderIdAndEpoch(Struct):
    __slots__ = ("leader_id", "leader_epoch")
    FIELDS = (
        ("leader_id", "int32", (10, 13), None, None, None),
        ("leader_epoch", "int32", (10, 13), None, None, None),
    )

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class PartitionProduceResponse(Struct):
    __slots__ = ("index", "error_code", "base_offset", "log_append_time_ms", "log_start_offset", "record_errors", "error_message", "current_leader")
    FIELDS = (
        ("index", "int32", (3, 13), None, None, None),
        ("error_code", "int16", (3, 13), None, None, None),
        ("base_offset", "int64", (3, 13), None, None, None),
        ("log_append_time_ms", "int64", (3, 13), None, None, None),
        ("log_start_offset", "int64", (5, 13), None, None, None),
        ("record_errors", "[]BatchIndexAndErrorMessage", (8, 13), None, None, None),
        ("error_message", "string", (8, 13), (8, 13), None, None),
        ("current_leader", "LeaderIdAndEpoch", (10, 13), None, 0, (10, 13)),
    )

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        record_errors: Sequence[BatchIndexAndErrorMessage] = (),
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.record_errors = record_errors
        self.error_message = error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is None else current_leader


class TopicProduceResponse(Struct):
    __slots__ = ("name", "topic_id", "partition_responses")
    FIELDS = (
        ("name", "string", (3, 12), None, None, None),
        ("topic_id", "uuid", (13, 13), None, None, None),
        ("partition_responses", "[]PartitionProduceResponse", (3, 13), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_responses: Sequence[PartitionProduceResponse] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_responses = partition_responses


class NodeEndpoint(Struct):
    __slots__ = ("node_id", "host", "port", "rack")
    FIELDS = (
        ("node_id", "int32", (10, 13), None, None, None),
        ("host", "string", (10, 13), None, None, None),
        ("port", "int32", (10, 13), None, None, None),
        ("rack", "string", (10, 13), (10, 13), None, None),
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


class ProduceResponse(Message):
    __slots__ = ("responses", "throttle_time_ms", "node_endpoints")
    API_KEY = 0
    VERSIONS = (3, 13)
    FLEXIBLE = (9, 32767)
    FIELDS = (
        ("responses", "[]TopicProduceResponse", (3, 13), None, None, None),
        ("throttle_time_ms", "int32", (3, 13), None, None, None),
        ("node_endpoints", "[]NodeEndpoint", (10, 13), None, 0, (10, 13)),
    )

    def __init__(
        self,
        responses: Sequence[TopicProduceResponse] = (),
        throttle_time_ms: int = 0,
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.responses = responses
        self.throttle_time_ms = throttle_time_ms
        self.node_endpoints = node_endpoints
