"""OffsetFetchRequest (key 9), versions 1-10. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class OffsetFetchRequestTopic(Struct):
    __slots__ = ("name", "partition_indexes")
    FIELDS = (
        ("name", "string", (1, 7), None, None, None),
        ("partition_indexes", "[]int32", (1, 7), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partition_indexes = partition_indexes


class OffsetFetchRequestTopics(Struct):
    __slots__ = ("name", "topic_id", "partition_indexes")
    FIELDS = (
        ("name", "string", (8, 9), None, None, None),
        ("topic_id", "uuid", (10, 10), None, None, None),
        ("partition_indexes", "[]int32", (8, 10), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_indexes = partition_indexes


class OffsetFetchRequestGroup(Struct):
    __slots__ = ("group_id", "member_id", "member_epoch", "topics")
    FIELDS = (
        ("group_id", "string", (8, 10), None, None, None),
        ("member_id", "string", (9, 10), (9, 10), None, None),
        ("member_epoch", "int32", (9, 10), None, None, None),
        ("topics", "[]OffsetFetchRequestTopics", (8, 10), (8, 10), None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        member_id: str | None = None,
        member_epoch: int = -1,
        topics: Sequence[OffsetFetchRequestTopics] | None = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.topics = topics


class OffsetFetchRequest(Message):
    __slots__ = ("group_id", "topics", "groups", "require_stable")
    API_KEY = 9
    VERSIONS = (1, 10)
    FLEXIBLE = (6, 32767)
    FIELDS = (
        ("group_id", "string", (1, 7), None, None, None),
        ("topics", "[]OffsetFetchRequestTopic", (1, 7), (2, 7), None, None),
        ("groups", "[]OffsetFetchRequestGroup", (8, 10), None, None, None),
        ("require_stable", "bool", (7, 10), None, None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[OffsetFetchRequestTopic] | None = (),
        groups: Sequence[OffsetFetchRequestGroup] = (),
        require_stable: bool = False,
    ) -> None:
        self.group_id = group_id
        self.topics = topics
        self.groups = groups
        self.require_stable = require_stable
