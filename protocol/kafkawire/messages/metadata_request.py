"""MetadataRequest (key 3), versions 0-13. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class MetadataRequestTopic(Struct):
    __slots__ = ("topic_id", "name")
    FIELDS = (
        ("topic_id", "uuid", (10, 13), None, None, None),
        ("name", "string", (0, 13), (10, 13), None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        name: str | None = "",
    ) -> None:
        self.topic_id = topic_id
        self.name = name


class MetadataRequest(Message):
    __slots__ = ("topics", "allow_auto_topic_creation", "include_cluster_authorized_operations", "include_topic_authorized_operations")
    API_KEY = 3
    VERSIONS = (0, 13)
    FLEXIBLE = (9, 32767)
    FIELDS = (
        ("topics", "[]MetadataRequestTopic", (0, 13), (1, 13), None, None),
        ("allow_auto_topic_creation", "bool", (4, 13), None, None, None),
        ("include_cluster_authorized_operations", "bool", (8, 10), None, None, None),
        ("include_topic_authorized_operations", "bool", (8, 13), None, None, None),
    )

    def __init__(
        self,
        topics: Sequence[MetadataRequestTopic] | None = (),
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
    ) -> None:
        self.topics = topics
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.include_topic_authorized_operations = include_topic_authorized_operations
