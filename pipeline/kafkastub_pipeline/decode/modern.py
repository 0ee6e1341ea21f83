"""What the records of consumer groups (KIP-848) and share groups (KIP-932) say, one by one."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any, Final

from kafkawire.messages.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue,
)
from kafkawire.messages.consumer_group_member_metadata_value import ConsumerGroupMemberMetadataValue
from kafkawire.messages.consumer_group_metadata_value import ConsumerGroupMetadataValue
from kafkawire.messages.consumer_group_regular_expression_value import ConsumerGroupRegularExpressionValue
from kafkawire.messages.consumer_group_target_assignment_member_value import ConsumerGroupTargetAssignmentMemberValue
from kafkawire.messages.consumer_group_target_assignment_metadata_value import (
    ConsumerGroupTargetAssignmentMetadataValue,
)
from kafkawire.messages.share_group_current_member_assignment_value import ShareGroupCurrentMemberAssignmentValue
from kafkawire.messages.share_group_member_metadata_value import ShareGroupMemberMetadataValue
from kafkawire.messages.share_group_metadata_value import ShareGroupMetadataValue
from kafkawire.messages.share_group_state_partition_metadata_value import ShareGroupStatePartitionMetadataValue
from kafkawire.messages.share_group_target_assignment_member_value import ShareGroupTargetAssignmentMemberValue
from kafkawire.messages.share_group_target_assignment_metadata_value import ShareGroupTargetAssignmentMetadataValue
from kafkawire.schema import Message

STATES: Final = {0: "STABLE", 1: "UNREVOKED_PARTITIONS", 2: "UNRELEASED_PARTITIONS"}
"""Kafka: MemberState; any other number is UNKNOWN."""


def take_modern(found: dict[str, Any], message: Message) -> None:
    """The columns of a value, where it is of a consumer group or of a share group."""
    if isinstance(message, ConsumerGroupMetadataValue | ShareGroupMetadataValue):
        found["modern"] = {"epoch": message.epoch}
    elif isinstance(message, ConsumerGroupTargetAssignmentMetadataValue | ShareGroupTargetAssignmentMetadataValue):
        found["modern"] = {"epoch": message.assignment_epoch}
    elif isinstance(message, ConsumerGroupMemberMetadataValue):
        found["topics"] = list(message.subscribed_topic_names or ())
        found["modern"] = {"client": _client(message)}
    elif isinstance(message, ShareGroupMemberMetadataValue):
        found["topics"] = list(message.subscribed_topic_names)
        client = {"client_id": message.client_id, "client_host": message.client_host, "rack_id": message.rack_id}
        found["modern"] = {"client": client}
    elif isinstance(message, ConsumerGroupTargetAssignmentMemberValue | ShareGroupTargetAssignmentMemberValue):
        found["modern"] = {"assigned": _assigned(message.topic_partitions)}
    elif isinstance(message, ConsumerGroupCurrentMemberAssignmentValue):
        found["modern"] = {
            "epoch": message.member_epoch,
            "member_state": STATES.get(message.state, "UNKNOWN"),
            "assigned": _assigned(message.assigned_partitions),
            "pending_revocation": _assigned(message.partitions_pending_revocation),
        }
    elif isinstance(message, ShareGroupCurrentMemberAssignmentValue):
        found["modern"] = {
            "epoch": message.member_epoch,
            "member_state": STATES.get(message.state, "UNKNOWN"),
            "assigned": _assigned(message.assigned_partitions),
        }
    elif isinstance(message, ShareGroupStatePartitionMetadataValue):
        found["modern"] = {"assigned": _assigned(message.initialized_topics)}
    elif isinstance(message, ConsumerGroupRegularExpressionValue):
        found["topics"] = list(message.topics)


def _client(member: ConsumerGroupMemberMetadataValue) -> dict[str, Any]:
    classic = member.classic_member_metadata
    return {
        "group_instance_id": member.instance_id,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "rack_id": member.rack_id,
        "rebalance_timeout_ms": member.rebalance_timeout_ms,
        "session_timeout_ms": None if classic is None else classic.session_timeout_ms,
        "assignor": member.server_assignor,
        "regular_expression": member.subscribed_topic_regex or None,
        "protocols": None if classic is None else [one.name for one in classic.supported_protocols],
    }


def _assigned(topics: Iterable[Any]) -> list[dict[str, Any]]:
    """`epochs` are null where the record has none: in a target, and where Kafka before 4.4 wrote it."""
    return [
        {
            "topic_id": str(uuid.UUID(bytes=bytes(one.topic_id))),
            "partitions": list(one.partitions),
            "epochs": None if (epochs := getattr(one, "assignment_epochs", None)) is None else list(epochs),
        }
        for one in topics
    ]
