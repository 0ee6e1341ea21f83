"""What the records say of consumer groups beyond what they say of any with epochs: see `typed_state`."""

from __future__ import annotations

from typing import Final

from kafkastub.coordinator.consumer.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerRecord,
)
from kafkastub.coordinator.typed_state import A_RECORD, A_TEXT, PARTS, ModernGroupState, weight_of


class ConsumerGroupState(ModernGroupState):
    """One group.

    Attributes:
        expressions: resolved regular expressions.
        partition_metadata: the old record that Kafka before 4.1 wrote, while it is there.
    """

    __slots__ = (*PARTS, "expressions", "partition_metadata")
    once = ModernGroupState.once | {"partition_metadata"}

    @staticmethod
    def weight(record: ConsumerRecord) -> int:
        """Bytes that a record takes in memory, roughly."""
        if isinstance(record, ConsumerGroupCurrentMemberAssignment):
            return A_RECORD + sum(map(weight_of, (record.assigned, record.pending_revocation)))
        if isinstance(record, ConsumerGroupTargetAssignmentMember):
            return A_RECORD + weight_of(record.partitions)
        if isinstance(record, ConsumerGroupMemberMetadata):
            protocols = record.classic.supported_protocols if record.classic is not None else ()
            texts = (*record.subscribed_topic_names, record.subscribed_topic_regex or "", record.client_id)
            return A_RECORD + sum(A_TEXT + len(one) for one in texts) + sum(len(one.metadata) for one in protocols)
        if isinstance(record, ConsumerGroupRegularExpression):
            return A_RECORD + len(record.regular_expression) + sum(A_TEXT + len(one) for one in record.topics)
        return A_RECORD


STATE: Final = ConsumerGroupState
