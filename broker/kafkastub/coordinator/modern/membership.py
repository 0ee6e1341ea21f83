"""What is asked of members of a group with epochs that come, stay or go, whatever the type."""

from __future__ import annotations

from typing import Any, Final

from kafkastub.coordinator.modern.group import ModernGroup
from kafkawire.errors import ErrorCode, KafkaError

LEAVE_GROUP_MEMBER_EPOCH: Final = -1
LEAVE_GROUP_STATIC_MEMBER_EPOCH: Final = -2
"""The epochs of a heartbeat by which a member leaves for good, and a static one for a while."""
MOST_NAMES: Final = 10_000
"""Topics that a member may name. Kafka has no such limit, but for the size of the record that they are in."""
_JAVA_WHITESPACE: Final = "".join(map(chr, range(0x21)))
"""What `String.trim` takes away."""


def check_room(group: ModernGroup[Any, Any], most: int, *, has_place: bool) -> None:
    """Raises GROUP_MAX_SIZE_REACHED where a member finds no place that has none yet."""
    if len(group.members) >= most and not has_place:
        what = f"The {group.group_type} group has reached its maximum capacity of {most} members."
        raise KafkaError(ErrorCode.GROUP_MAX_SIZE_REACHED, what)


def check_names(names: frozenset[str]) -> None:
    """Raises INVALID_REQUEST for more names than anybody has, which all others would wait for."""
    if len(names) > MOST_NAMES:
        what = f"SubscribedTopicNames has {len(names)} topics; this broker takes {MOST_NAMES}."
        raise KafkaError(ErrorCode.INVALID_REQUEST, what)


def fenced(group_type: str, how: str, epoch: int, known: int, more: str = "") -> KafkaError:
    """FENCED_MEMBER_EPOCH, for an epoch that is `greater` or `smaller` than the one that is known."""
    return KafkaError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The {group_type} group member has a {how} member epoch ({epoch}) than the one known by the group coordinator "
        f"({known}){more}. The member must abandon all its partitions and rejoin.",
    )


def unreleased(member_id: str, instance_id: str, owner: str) -> KafkaError:
    """UNRELEASED_INSTANCE_ID, for a static member whose instance id another member has."""
    return KafkaError(
        ErrorCode.UNRELEASED_INSTANCE_ID,
        f"Static member {member_id} with instance id {instance_id} cannot join the group because "
        f"the instance id is owned by {owner} member.",
    )


def check_not_empty(value: str | None, name: str) -> None:
    """Raises INVALID_REQUEST for a field of a heartbeat that says nothing but white space."""
    if value is not None and not value.strip(_JAVA_WHITESPACE):
        raise invalid(f"{name} can't be empty.")


def invalid(what: str) -> KafkaError:
    """INVALID_REQUEST, with Kafka's text."""
    return KafkaError(ErrorCode.INVALID_REQUEST, what)
