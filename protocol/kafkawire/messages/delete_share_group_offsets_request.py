"""DeleteShareGroupOffsetsRequest (key 92), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class DeleteShareGroupOffsetsRequestTopic(Struct):
    __slots__ = ("topic_name",)
    FIELDS = (
        ("topic_name", "string", (0, 0), None, None, None),
    )

    def __init__(
        self,
        topic_name: str = "",
    ) -> None:
        self.topic_name = topic_name


class DeleteShareGroupOffsetsRequest(Message):
    __slots__ = ("group_id", "topics")
    API_KEY = 92
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("group_id", "string", (0, 0), None, None, None),
        ("topics", "[]DeleteShareGroupOffsetsRequestTopic", (0, 0), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[DeleteShareGroupOffsetsRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics
