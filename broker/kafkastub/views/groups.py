"""Groups as those see them who look from outside, and what they may do to them past the protocol.

What an administrator has of Kafka goes over the protocol: DescribeGroups, ConsumerGroupDescribe (KIP-848). This is the
same at once and for groups of both protocols alike, for the stub's own faces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kafkastub.state.broker_state import BrokerState
from kafkastub.views.of_groups import CLASSIC, CONSUMER, STREAMS, AnyGroup, AnyMember, of_member
from kafkawire.assigned import assigned_partitions
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.coordinator.consumer.groups import ConsumerGroups
    from kafkastub.coordinator.group import Group
    from kafkawire.messages import consumer_group_describe_response as consumer_described
    from kafkawire.messages import share_group_describe_response as share_described


TopicPartition = tuple[str, int]
Partitions = tuple[TopicPartition, ...]

_MEMBER_STATES = {0: "STABLE", 1: "UNREVOKED_PARTITIONS", 2: "UNRELEASED_PARTITIONS"}
"""Kafka: MemberState."""


@dataclass(frozen=True, kw_only=True)
class MemberView(AnyMember):
    """A member of a group. Attributes that only the consumer protocol has are None, or empty, in a classic group.

    Attributes:
        epoch: the member's epoch; -2 for a static member that has left temporarily.
        state: "STABLE", "UNREVOKED_PARTITIONS" or "UNRELEASED_PARTITIONS"; in a streams group "…_TASKS".
        subscribed: the names of its topics, sorted; None if they cannot be read.
        expression: the regular expression that it subscribes to.
        assigned: the partitions that the member has now, as the broker has sent them or sends them with its next
            answer. In a streams group these are the partitions that its active tasks read; the same holds for
            `pending_revocation` and `target`.
        pending_revocation: the partitions that the member must revoke and has not revoked yet. ConsumerGroupDescribe
            lists them as part of its assignment.
        target: the partitions of its target assignment.
        upgraded: False for a member that uses the classic protocol in a group of the consumer protocol.
        held: whether a test holds its revocations: `hold_revocation`.
    """

    epoch: int | None = None
    state: str | None = None
    subscribed: tuple[str, ...] | None
    expression: str | None = None
    assigned: Partitions
    pending_revocation: Partitions = ()
    target: Partitions | None = None
    upgraded: bool | None = None
    held: bool = False


@dataclass(frozen=True, kw_only=True)
class GroupView(AnyGroup[MemberView]):
    """A group of any type.

    Attributes:
        type: "classic", "consumer", "share" or "streams".
    """

    type: str


def view(state: BrokerState, group_id: str) -> GroupView | None:
    """Return a group; None if there is none with this id, or none that uses or has used one of the protocols."""
    group = state.coordinator.groups.get(group_id)
    if group is None:
        return None
    return _VIEWS.get(group.group_type, _described)(state, group)


def _classic(state: BrokerState, group: Group) -> GroupView | None:
    rows = state.coordinator.classic.describe(group)
    if rows is None:
        return None
    assigned = {row.member_id: assigned_partitions(row.member_assignment) for row in rows.members}
    told = group.described()
    members = [
        MemberView(
            **of_member(one),
            subscribed=None if one.subscribed is None else tuple(one.subscribed),
            assigned=tuple(sorted(assigned[one.member_id])),
        )
        for one in told.members
    ]
    return _group(group, members, group.state_name, told.generation, None, told.protocol)


def _described(state: BrokerState, group: Group) -> GroupView | None:
    """A group of a type that describes its groups as those with epochs are described."""
    rows = state.coordinator.types[group.group_type].describe(group)
    if rows is None:
        return None
    more = _of_consumer if group.group_type == CONSUMER else _of_share
    members = [
        MemberView(
            **of_member(row),
            epoch=row.member_epoch,
            subscribed=tuple(sorted(row.subscribed_topic_names)),
            **more(state, group.group_id, row),
        )
        for row in rows.members
    ]
    return _group(group, members, rows.group_state, rows.group_epoch, rows.assignment_epoch, rows.assignor_name or None)


def _group(
    group: Group, members: Iterable[MemberView], state: str, epoch: int, target_epoch: int | None, assignor: str | None
) -> GroupView:
    return GroupView(
        group_id=group.group_id,
        type=group.group_type,
        state=state,
        epoch=epoch,
        target_epoch=target_epoch,
        assignor=assignor,
        members={one.member_id: one for one in members},
    )


def _of_consumer(state: BrokerState, group_id: str, row: consumer_described.Member) -> dict[str, Any]:
    hard = state.coordinator.hard.consumer.get(group_id)
    current = None if hard is None else hard.current.get(row.member_id)
    group = consumer_groups(state).find(group_id)
    told = {
        "expression": row.subscribed_topic_regex or None,
        "assigned": (),
        "target": _named(row.target_assignment.topic_partitions),
        "upgraded": row.member_type != 0,
        "held": group is not None and group.held is not None and group.held.holds(row.member_id),
    }
    if current is None:
        return told
    return told | {
        "state": _MEMBER_STATES.get(current.state),
        "assigned": by_name(state, current.assigned),
        "pending_revocation": by_name(state, current.pending_revocation),
    }


def _of_share(state: BrokerState, group_id: str, row: Any) -> dict[str, Any]:
    """Of a share group (KIP-932): what is a member's may be another one's as well."""
    return {"assigned": _named(row.assignment.topic_partitions)}


def _streams(state: BrokerState, group: Group) -> GroupView | None:
    """A streams group (KIP-1071), by the partitions that its active tasks read."""
    from kafkastub.views.streams_groups import reads
    from kafkastub.views.streams_groups import view as streams_view

    found = streams_view(state, group.group_id)
    if found is None:
        return None
    subscribed = tuple(sorted({topic for one in found.subtopologies.values() for topic in one.inputs}))
    members = [
        MemberView(
            **of_member(one),
            epoch=one.epoch,
            state=one.state,
            subscribed=subscribed,
            assigned=reads(state, found, one.tasks.active),
            pending_revocation=reads(state, found, one.pending_revocation.active),
            target=reads(state, found, one.target.active),
        )
        for one in found.members.values()
    ]
    return _group(group, members, found.state, found.epoch, found.target_epoch, found.assignor)


_VIEWS: Final[Mapping[str, Callable[[BrokerState, Group], GroupView | None]]] = {CLASSIC: _classic, STREAMS: _streams}
"""Of the types whose groups are not as `_described` has them."""


def _named(rows: Iterable[consumer_described.TopicPartitions | share_described.TopicPartitions]) -> Partitions:
    return tuple(sorted((row.topic_name, index) for row in rows for index in row.partitions))


def by_name(state: BrokerState, by_id: Mapping[bytes, Iterable[int]]) -> Partitions:
    """Partitions by topic id as they are told, of topics that are still there."""
    found = ((state.cluster.topic_by_id(topic_id), rows) for topic_id, rows in by_id.items())
    return tuple(sorted((topic.name, index) for topic, rows in found if topic is not None for index in rows))


def consumer_groups(state: BrokerState) -> ConsumerGroups:
    """The groups of the consumer protocol; they are loaded where nothing else has done so."""
    return state.coordinator.consumer


def set_target(
    state: BrokerState, group_id: str, target: Mapping[str, Iterable[TopicPartition]], broker_ms: int, timer_ms: int
) -> None:
    """Let the target assignment of a group be this, by any name of a member (`GroupView.member`), at once.

    Who is not named is to have nothing. It stays until the group's next epoch. Raises KeyError for a member that there
    is not, KafkaError: GROUP_ID_NOT_FOUND, UNKNOWN_TOPIC_OR_PARTITION, INVALID_REQUEST for a partition given twice.
    """
    found = _of_consumers(state, group_id)
    by_id: dict[str, dict[str, list[int]]] = {}
    for name, partitions in target.items():
        topics = by_id.setdefault(found.member(name).member_id, {})
        for topic, index in partitions:
            topics.setdefault(topic, []).append(index)
    state.settle(consumer_groups(state).set_target(group_id, by_id, broker_ms, timer_ms))


def hold_revocation(state: BrokerState, group_id: str, name: str) -> str:
    """What this member says it has let go of does not count until it is released; gives the member id.

    Raises KeyError for a member that there is not, KafkaError GROUP_ID_NOT_FOUND.
    """
    member_id = _of_consumers(state, group_id).member(name).member_id
    consumer_groups(state).hold_revocation(group_id, member_id)
    return member_id


def held_revocations(state: BrokerState) -> Iterator[tuple[str, str] | None]:
    """(group id, member id) of every hold, one by one, and None on the way."""
    if not state.coordinator.has_consumer:
        return
    for group_id in list(state.coordinator.groups):
        group = consumer_groups(state).find(group_id)
        if group is not None and group.held is not None:
            yield from ((group_id, member_id) for member_id in group.held.members)
        yield None


def release_revocation(state: BrokerState, group_id: str, member_id: str) -> None:
    """End a hold. One that is not held, or gone, is no error."""
    group = state.coordinator.groups.get(group_id)
    if group is not None and group.group_type == CONSUMER:
        consumer_groups(state).release_revocation(group_id, member_id)


def end_session(state: BrokerState, group_id: str, name: str, broker_ms: int, timer_ms: int) -> str:
    """Do at once what the end of this member's session does, in a group of any type; gives the member id.

    Raises KeyError for a member that there is not, KafkaError: GROUP_ID_NOT_FOUND, INVALID_REQUEST for a member that
    waits for a rebalance of a classic group, which keeps its session alive.
    """
    found = _known(state, group_id)
    member_id = found.member(name).member_id
    groups = state.coordinator.types[found.type]
    state.settle(groups.end_session(group_id, member_id, broker_ms, timer_ms))
    return member_id


def _known(state: BrokerState, group_id: str) -> GroupView:
    found = view(state, group_id)
    if found is None:
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id!r} does not exist.")
    return found


def _of_consumers(state: BrokerState, group_id: str) -> GroupView:
    found = _known(state, group_id)
    if found.type != CONSUMER:
        said = f"Group {group_id} is not a consumer group: its members assign the partitions themselves."
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, said)
    return found
