"""CreateTopicsResponse (key 19), versions 2-7. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class CreatableTopicConfigs(Struct):
    __slots__ = ("name", "value", "read_only", "config_source", "is_sensitive")
    FIELDS = (
        ("name", "string", (5, 7), None, None, None),
        ("value", "string", (5, 7), (5, 7), None, None),
        ("read_only", "bool", (5, 7), None, None, None),
        ("config_source", "int8", (5, 7), None, None, None),
        ("is_sensitive", "bool", (5, 7), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive


class CreatableTopicResult(Struct):
    __slots__ = ("name", "topic_id", "error_code", "error_message", "topic_config_error_code", "num_partitions", "replication_factor", "configs")
    FIELDS = (
        ("name", "string", (2, 7), None, None, None),
        ("topic_id", "uuid", (7, 7), None, None, None),
        ("error_code", "int16", (2, 7), None, None, None),
        ("error_message", "string", (2, 7), (2, 7), None, None),
        ("topic_config_error_code", "int16", (5, 7), None, 0, (5, 7)),
        ("num_partitions", "int32", (5, 7), None, None, None),
        ("replication_factor", "int16", (5, 7), None, None, None),
        ("configs", "[]CreatableTopicConfigs", (5, 7), (5, 7), None, None),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = "",
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: Sequence[CreatableTopicConfigs] | None = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.topic_config_error_code = topic_config_error_code
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.configs = configs


class CreateTopicsResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    API_KEY = 19
    VERSIONS = (2, 7)
    FLEXIBLE = (5, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (2, 7), None, None, None),
        ("topics", "[]CreatableTopicResult", (2, 7), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[CreatableTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
