"""ConsumerGroupDescribeResponse (key 69), versions 0-1. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class TopicPartitions(Struct):
    __slots__ = ("topic_id", "topic_name", "partitions")
    FIELDS = (
        ("topic_id", "uuid", (0, 1), None, None, None),
        ("topic_name", "string", (0, 1), None, None, None),
        ("partitions", "[]int32", (0, 1), None, None, None),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = partitions


class Assignment(Struct):
    __slots__ = ("topic_partitions",)
    FIELDS = (
        ("topic_partitions", "[]TopicPartitions", (0, 1), None, None, None),
    )

    def __init__(
        self,
        topic_partitions: Sequence[TopicPartitions] = (),
    ) -> None:
        self.topic_partitions = topic_partitions


class Member(Struct):
    __slots__ = ("member_id", "instance_id", "rack_id", "member_epoch", "client_id", "client_host", "subscribed_topic_names", "subscribed_topic_regex", "assignment", "target_assignment", "member_type")
    FIELDS = (
        ("member_id", "string", (0, 1), None, None, None),
        ("instance_id", "string", (0, 1), (0, 1), None, None),
        ("rack_id", "string", (0, 1), (0, 1), None, None),
        ("member_epoch", "int32", (0, 1), None, None, None),
        ("client_id", "string", (0, 1), None, None, None),
        ("client_host", "string", (0, 1), None, None, None),
        ("subscribed_topic_names", "[]string", (0, 1), None, None, None),
        ("subscribed_topic_regex", "string", (0, 1), (0, 1), None, None),
        ("assignment", "Assignment", (0, 1), None, None, None),
        ("target_assignment", "Assignment", (0, 1), None, None, None),
        ("member_type", "int8", (1, 1), None, None, None),
    )

    def __init__(
        self,
        member_id: str = "",
        instance_id: str | None = None,
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: Sequence[str] = (),
        subscribed_topic_regex: str | None = None,
        assignment: Assignment | None = None,
        target_assignment: Assignment | None = None,
        member_type: int = -1,
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.assignment = Assignment() if assignment is None else assignment
        self.target_assignment = Assignment() if target_assignment is None else target_assignment
        self.member_type = member_type


class DescribedGroup(Struct):
    __slots__ = ("error_code", "error_message", "group_id", "group_state", "group_epoch", "assignment_epoch", "assignor_name", "members", "authorized_operations")
    FIELDS = (
        ("error_code", "int16", (0, 1), None, None, None),
        ("error_message", "string", (0, 1), (0, 1), None, None),
        ("group_id", "string", (0, 1), None, None, None),
        ("group_state", "string", (0, 1), None, None, None),
        ("group_epoch", "int32", (0, 1), None, None, None),
        ("assignment_epoch", "int32", (0, 1), None, None, None),
        ("assignor_name", "string", (0, 1), None, None, None),
        ("members", "[]Member", (0, 1), None, None, None),
        ("authorized_operations", "int32", (0, 1), None, None, None),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        assignor_name: str = "",
        members: Sequence[Member] = (),
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.assignor_name = assignor_name
        self.members = members
        self.authorized_operations = authorized_operations


class ConsumerGroupDescribeResponse(Message):
    __slots__ = ("throttle_time_ms", "groups")
    API_KEY = 69
    VERSIONS = (0, 1)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("throttle_time_ms", "int32", (0, 1), None, None, None),
        ("groups", "[]DescribedGroup", (0, 1), None, None, None),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups
