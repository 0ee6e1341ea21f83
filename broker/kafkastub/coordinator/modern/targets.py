"""The target assignment of a group whose members subscribe to topics: consumer groups and share groups.

Kafka: TargetAssignmentBuilder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from types import MappingProxyType
from typing import Any, Final, Protocol

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.modern.assignment import (
    NO_ASSIGNMENT,
    Assignment,
    GroupSpec,
    MemberSubscription,
    TopicDescriber,
)
from kafkastub.coordinator.modern.assignors.errors import AssignorError, not_computed
from kafkastub.coordinator.modern.context import ModernContext
from kafkastub.coordinator.modern.group import ModernGroup, NewTarget
from kafkastub.coordinator.modern.subscribed import Describer, topic_ids_of
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.turn import Turn
from kafkastub.steps import Pace, no_pause
from kafkawire.java_order import string_map_order

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class Resolved(Protocol):
    """What a regular expression has matched."""

    @property
    def topics(self) -> tuple[str, ...]: ...


class TopicIds:
    """What members subscribe to, as ids of the topics that exist, in the order in which Kafka goes through them.

    Args:
        resolved: by regular expression.
    """

    __slots__ = ("_by_subscription", "_resolved", "image")

    def __init__(self, image: ClusterImage, resolved: Mapping[str, Resolved] = _NONE) -> None:
        self.image = image
        self._resolved = resolved
        self._by_subscription: dict[tuple[frozenset[str], str], Set[bytes]] = {}

    def subscribes(self, member: Any) -> bool:
        """Whether it subscribes to anything, be it to topics that do not exist."""
        matched = self._resolved.get(member.subscribed_topic_regex or "")
        return bool(member.subscribed_topic_names) or (matched is not None and bool(matched.topics))

    def of(self, member: Any) -> Set[bytes]:
        """The topics by id."""
        key = member.subscribed_topic_names, member.subscribed_topic_regex or ""
        found = self._by_subscription.get(key)
        if found is None:
            found = self._by_subscription[key] = dict.fromkeys(self._in_order(member)).keys()
        return found

    def counts(self) -> dict[bytes, int]:
        """How many partitions each topic has to which somebody subscribes whom `of` was asked about."""
        image, found = self.image, dict[bytes, int]()
        for topic_ids in self._by_subscription.values():
            for topic_id in topic_ids:
                if topic_id not in found:
                    name = image.topic_name(topic_id)
                    found[topic_id] = -1 if name is None else image.partition_count(name)
        return found

    def _in_order(self, member: Any) -> list[bytes]:
        matched = self._resolved.get(member.subscribed_topic_regex or "")
        names, topics = member.subscribed_topic_names, () if matched is None else matched.topics
        parts = [topic_ids_of(names, self.image)]
        if topics:
            parts.insert(1 if len(names) > len(topics) else 0, topic_ids_of(topics, self.image))
        return [topic_id for part in parts for topic_id in part]


def new_target(
    context: ModernContext[Any, Any],
    group: ModernGroup[Any, Assignment, Any],
    epoch: int,
    updated: Any,
    homogeneous: bool,
    assign: Callable[[GroupSpec, TopicDescriber, Pace], Mapping[str, Assignment]],
    assigned_by: Any,
    topic_ids: TopicIds,
    records: list[Record],
    turn: Turn,
) -> Assignment:
    """Append the records of what is new in the target, and of its epoch; gives the target of `updated`.

    Args:
        updated: the member whose heartbeat it is, as it is now.
        homogeneous: all members subscribe to the same.
        assign: the assignor.
        assigned_by: what its result depends on beside its arguments; the same where this is equal.

    Raises UNKNOWN_SERVER_ERROR where the assignor fails; NotYet.
    """
    members, replaced = {**group.members, updated.member_id: updated}, group.replaced_by(updated)
    before = group.target_with(updated, replaced)
    if replaced is not None:
        del members[replaced]
    specs: dict[str, MemberSubscription] = {}
    for member_id in string_map_order(members):
        member, assigned = members[member_id], before.get(member_id, NO_ASSIGNMENT)
        specs[member_id] = MemberSubscription(member.rack_id, member.instance_id, topic_ids.of(member), assigned)
    counts = topic_ids.counts()
    spec, topics = GroupSpec(specs, homogeneous), Describer(topic_ids.image, counts)
    results = context.results(group, len(specs) + sum(counts.values()), turn)
    if results is not None:
        before = {one: before[one] for one in specs if one in before}  # it may change before the new one is computed

    def compute(pace: Pace) -> NewTarget[Assignment]:
        return group.new_target(assign(spec, topics, pace), before, specs, pace)

    try:
        if results is None:
            new = compute(no_pause)
        else:
            new = results.of((assigned_by, homogeneous, counts, [*specs.items()], before), compute)
    except AssignorError as error:
        raise not_computed(epoch, error) from error
    records += group.target_records(new, epoch, turn.broker_ms)
    return new.target.get(updated.member_id, NO_ASSIGNMENT)
