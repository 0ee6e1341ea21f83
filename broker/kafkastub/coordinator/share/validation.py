"""What a ShareGroupHeartbeat must say, whatever the group. Kafka: throwIfShareGroupHeartbeatRequestIsInvalid."""

from __future__ import annotations

from kafkastub.coordinator.modern.membership import LEAVE_GROUP_MEMBER_EPOCH, check_not_empty, invalid
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest


def check(request: ShareGroupHeartbeatRequest) -> None:
    """Raises INVALID_REQUEST, with Kafka's texts."""
    check_not_empty(request, "member_id", "group_id", "rack_id")
    if request.member_epoch == 0:
        if not request.subscribed_topic_names:
            raise invalid("SubscribedTopicNames must be set in first request.")
    elif request.member_epoch < LEAVE_GROUP_MEMBER_EPOCH:
        raise invalid("MemberEpoch is invalid.")
