"""What a ShareGroupHeartbeat must say, whatever the group. Kafka: throwIfShareGroupHeartbeatRequestIsInvalid."""

from __future__ import annotations

from kafkastub.coordinator.share.member import LEAVE_GROUP_MEMBER_EPOCH
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest

_JAVA_WHITESPACE = "".join(map(chr, range(0x21)))
"""What `String.trim` takes away."""


def check(request: ShareGroupHeartbeatRequest) -> None:
    """Raises INVALID_REQUEST, with Kafka's texts."""
    _not_empty(request.member_id, "MemberId")
    _not_empty(request.group_id, "GroupId")
    _not_empty(request.rack_id, "RackId")
    if request.member_epoch == 0:
        if not request.subscribed_topic_names:
            raise _invalid("SubscribedTopicNames must be set in first request.")
    elif request.member_epoch < LEAVE_GROUP_MEMBER_EPOCH:
        raise _invalid("MemberEpoch is invalid.")


def _not_empty(value: str | None, name: str) -> None:
    if value is not None and not value.strip(_JAVA_WHITESPACE):
        raise _invalid(f"{name} can't be empty.")


def _invalid(what: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, what)
