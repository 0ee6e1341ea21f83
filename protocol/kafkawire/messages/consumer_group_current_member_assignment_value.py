"""ConsumerGroupCurrentMemberAssignmentValue (key 8), version 0. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import ZERO_UUID, Message, Struct


class TopicPartitions(Struct):
    __slots__ = ("topic_id", "partitions", "assignment_epochs")
    FIELDS = (
        ("topic_id", "uuid", (0, 0), None, None, None),
        ("partitions", "[]int32", (0, 0), None, None, None),
        ("assignment_epochs", "[]int32", (0, 0), (0, 0), 0, (0, 0)),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[int] = (),
        assignment_epochs: Sequence[int] | None = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions
        self.assignment_epochs = assignment_epochs


class ConsumerGroupCurrentMemberAssignmentValue(Message):
    __slots__ = ("member_epoch", "previous_member_epoch", "state", "assigned_partitions", "partitions_pending_revocation")
    API_KEY = 8
    VERSIONS = (0, 0)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("member_epoch", "int32", (0, 0), None, None, None),
        ("previous_member_epoch", "int32", (0, 0), None, None, None),
        ("state", "int8", (0, 0), None, None, None),
        ("assigned_partitions", "[]TopicPartitions", (0, 0), None, None, None),
        ("partitions_pending_revocation", "[]TopicPartitions", (0, 0), None, None, None),
    )

    def __init__(
        self,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: Sequence[TopicPartitions] = (),
        partitions_pending_revocation: Sequence[TopicPartitions] = (),
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.assigned_partitions = assigned_partitions
        self.partitions_pending_revocation = partitions_pending_revocation
