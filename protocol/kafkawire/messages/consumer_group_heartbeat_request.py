"""ConsumerGroupHeartbeatRequest (key 68), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class TopicPartitions(Struct):
    __slots__ = ("topic_id", "partitions")
    FIELDS = (
        ("topic_id", "uuid", (0, 1), None, None, None),
        ("partitions", "[]int32", (0, 1), None, None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ConsumerGroupHeartbeatRequest(Message):
    __slots__ = ("group_id", "member_id", "member_epoch", "instance_id", "rack_id", "rebalance_timeout_ms", "subscribed_topic_names", "subscribed_topic_regex", "server_assignor", "topic_partitions")
    API_KEY = 68
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("group_id", "string", (0, 1), None, None, None),
        ("member_id", "string", (0, 1), None, None, None),
        ("member_epoch", "int32", (0, 1), None, None, None),
        ("instance_id", "string", (0, 1), (0, 1), None, None),
        ("rack_id", "string", (0, 1), (0, 1), None, None),
        ("rebalance_timeout_ms", "int32", (0, 1), None, None, None),
        ("subscribed_topic_names", "[]string", (0, 1), (0, 1), None, None),
        ("subscribed_topic_regex", "string", (1, 1), (1, 1), None, None),
        ("server_assignor", "string", (0, 1), (0, 1), None, None),
        ("topic_partitions", "[]TopicPartitions", (0, 1), (0, 1), None, None),
    )

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        subscribed_topic_names: Sequence[str] | None = None,
        subscribed_topic_regex: str | None = None,
        server_assignor: str | None = None,
        topic_partitions: Sequence[TopicPartitions] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.server_assignor = server_assignor
        self.topic_partitions = topic_partitions
