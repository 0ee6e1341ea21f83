"""What is asked of members of a group with epochs that come, stay or go, whatever the type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from kafkastub.coordinator.modern.group import ModernGroup
from kafkastub.coordinator.modern.member import ModernMember
from kafkastub.coordinator.records import Record
from kafkawire.errors import ErrorCode, KafkaError

LEAVE_GROUP_MEMBER_EPOCH: Final = -1
LEAVE_GROUP_STATIC_MEMBER_EPOCH: Final = -2
"""The epochs of a heartbeat by which a member leaves for good, and a static one for a while."""
MOST_NAMES: Final = 10_000
"""Topics that a member may name. Kafka has no such limit, but for the size of the record that they are in."""
_JAVA_WHITESPACE: Final = "".join(map(chr, range(0x21)))
"""What `String.trim` takes away."""


def check_room(group: ModernGroup[Any, Any, Any], most: int, *, has_place: bool) -> None:
    """Raises GROUP_MAX_SIZE_REACHED where a member finds no place that has none yet."""
    if len(group.members) >= most and not has_place:
        what = f"The {group.group_type} group has reached its maximum capacity of {most} members."
        raise KafkaError(ErrorCode.GROUP_MAX_SIZE_REACHED, what)


def updated(member: Any, request: Any, client_id: str, client_host: str, names: Iterable[str], **others: Any) -> Any:
    """The member, with what a heartbeat says of it, by fields of these names; null and -1 say nothing.

    Args:
        others: what it says in another form.
    """
    said = {name: value for name in names if (value := getattr(request, name)) not in (None, -1)}
    return replace(member, client_id=client_id, client_host=client_host, **said, **others)


def subscription(group: ModernGroup[Any, Any, Any], member: Any, updated: Any, records: list[Record]) -> bool:
    """Whether the member subscribes to other names; a record where it says anything else than before.

    Raises INVALID_REQUEST for more names than anybody has, which all others would wait for.
    """
    if member == updated:
        return False
    names: frozenset[str] = updated.subscribed_topic_names
    if len(names) > MOST_NAMES:
        what = f"SubscribedTopicNames has {len(names)} topics; this broker takes {MOST_NAMES}."
        raise KafkaError(ErrorCode.INVALID_REQUEST, what)
    records.append(group.forms.metadata_record(group.group_id, updated))
    return bool(member.subscribed_topic_names != names)


def check_epoch(
    group_type: str, member: ModernMember, epoch: int, is_lost: Callable[[], bool], otherwise: str = ""
) -> None:
    """Raises FENCED_MEMBER_EPOCH where it is not the member's epoch, nor the one before.

    Args:
        is_lost: whether the answer with the new epoch may have been lost, for all that the member says.
        otherwise: what else is said of an epoch that is too small.
    """
    known = member.member_epoch
    if epoch > known:
        raise fenced(group_type, "greater", epoch, known)
    if epoch != known and not (epoch == member.previous_member_epoch and is_lost()):
        raise fenced(group_type, "smaller", epoch, known, otherwise)


def within(reported: Sequence[Any] | None, key: str, assigned: Mapping[Any, Collection[int]]) -> bool:
    """Whether a member says what it has, and has no other partitions than it was assigned.

    Args:
        key: the attribute of what is reported by which `assigned` is.
    """
    return reported is not None and all(
        getattr(one, key) in assigned and all(partition in assigned[getattr(one, key)] for partition in one.partitions)
        for one in reported
    )


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


def check_not_empty(request: Any, *names: str) -> None:
    """Raises INVALID_REQUEST for the first field of a heartbeat that says nothing but white space."""
    for name in names:
        value: str | None = getattr(request, name)
        if value is not None and not value.strip(_JAVA_WHITESPACE):
            raise invalid(f"{''.join(word.capitalize() for word in name.split('_'))} can't be empty.")


def invalid(what: str) -> KafkaError:
    """INVALID_REQUEST, with Kafka's text."""
    return KafkaError(ErrorCode.INVALID_REQUEST, what)
