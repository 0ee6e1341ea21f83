"""What a ConsumerGroupHeartbeat must say, whatever the group. Kafka: throwIfConsumerGroupHeartbeatRequestIsInvalid."""

from __future__ import annotations

from collections.abc import Sequence

from kafkastub.coordinator.modern.membership import (
    LEAVE_GROUP_MEMBER_EPOCH,
    LEAVE_GROUP_STATIC_MEMBER_EPOCH,
    check_not_empty,
    invalid,
)
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import string_map_order
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest


def check(request: ConsumerGroupHeartbeatRequest, version: int, assignors: Sequence[str]) -> None:
    """Raises INVALID_REQUEST, UNSUPPORTED_ASSIGNOR, with Kafka's texts."""
    epoch = request.member_epoch
    if version >= 1 or epoch > 0 or epoch == LEAVE_GROUP_MEMBER_EPOCH:
        check_not_empty(request, "member_id")
    check_not_empty(request, "group_id", "instance_id", "rack_id")
    if epoch == 0:
        if request.rebalance_timeout_ms == -1:
            raise invalid("RebalanceTimeoutMs must be provided in first request.")
        if request.topic_partitions is None or request.topic_partitions:
            raise invalid("TopicPartitions must be empty when (re-)joining.")
        if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
            what = "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
            raise invalid(what)
    elif epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        if request.instance_id is None:
            raise invalid("InstanceId can't be null.")
    elif epoch < LEAVE_GROUP_STATIC_MEMBER_EPOCH:
        raise invalid("MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        names = ", ".join(string_map_order(assignors))
        raise KafkaError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {names}.",
        )
