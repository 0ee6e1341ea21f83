"""The steps of which heartbeats, and joins of the classic protocol into a consumer group, are made.

Each looks at the group as it was before the request, and adds records to what the request will write. So nothing has
happened where one of them raises. Kafka: GroupMetadataManager (getOrMaybeCreateConsumerGroup and its neighbours).
"""

from __future__ import annotations

from collections.abc import Callable

from kafkastub.coordinator.consumer.context import ConsumerContext
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.member import ConsumerMember
from kafkastub.coordinator.consumer.reconciliation import Reconciliation, ReportedPartitions
from kafkastub.coordinator.consumer.records import ConsumerGroupPartitionMetadata
from kafkastub.coordinator.group import Group
from kafkastub.coordinator.modern.assignment import NO_ASSIGNMENT, Assignment
from kafkastub.coordinator.modern.membership import (
    check_epoch,
    check_room,
    within,
)
from kafkastub.coordinator.modern.targets import TopicIds, new_target
from kafkastub.coordinator.records import Record, Tombstone
from kafkastub.coordinator.turn import Turn


class Steps:
    """The steps.

    Attributes:
        upgrade: makes a consumer group of a classic one that has members, and adds the records for that; raises what
            speaks against it.
    """

    __slots__ = ("context", "upgrade")

    def __init__(self, context: ConsumerContext) -> None:
        self.context = context
        self.upgrade: Callable[[Group, list[Record], Turn], ConsumerGroup] = self._no_upgrade

    def _no_upgrade(self, group: Group, records: list[Record], turn: Turn) -> ConsumerGroup:
        raise self.context.of_another_type(group.group_id)

    # -- who it is -----------------------------------------------------------------------------------------------

    def group(self, group_id: str, create: bool, records: list[Record], turn: Turn) -> ConsumerGroup:
        """The group, for a member that comes (`create`) or is there. Raises GROUP_ID_NOT_FOUND."""
        there = self.context.groups.groups.get(group_id)
        if create and there is not None and there.group_type == "classic" and not there.is_empty:
            return self.upgrade(there, records, turn)
        return self.context.get_or_create(group_id, create, records)

    def check_room(self, group: ConsumerGroup, member_id: str, instance_id: str | None) -> None:
        """Raises GROUP_MAX_SIZE_REACHED where a member that is new finds no place."""
        has_place = instance_id in group.static_members or member_id in group.members
        check_room(group, self.context.settings.max_size, has_place=has_place)

    def member(
        self,
        group: ConsumerGroup,
        member_id: str,
        instance_id: str | None,
        epoch: int,
        reported: ReportedPartitions,
        records: list[Record],
    ) -> ConsumerMember:
        """The member as it is; one that comes is new, or takes the place of its instance's last member (KIP-345).

        Raises UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID, FENCED_MEMBER_EPOCH.
        """
        if epoch == 0:
            there = group.static_member(instance_id)
            is_classic = there is not None and there.classic is not None
            return group.joining(member_id, instance_id, records, takes_over=is_classic)
        member = group.staying(member_id, instance_id)
        check_epoch("consumer", member, epoch, lambda: within(reported, "topic_id", member.assigned))
        return member

    # -- what is new ---------------------------------------------------------------------------------------------

    def assignor_changes(self, group: ConsumerGroup, member: ConsumerMember, updated: ConsumerMember) -> bool:
        """Whether the members now want another assignor, and that matters."""
        if not self.context.settings.assignor_raises_epoch:
            return False
        default = self.context.default_assignor
        return (group.preferred_assignor() or default) != (group.preferred_assignor_after(member, updated) or default)

    def epoch(
        self,
        group: ConsumerGroup,
        raised: bool,
        member: ConsumerMember,
        updated: ConsumerMember,
        records: list[Record],
    ) -> tuple[int, bool]:
        """The group's epoch, raised where it has to be or the topics are others; and whether all subscribe to the same.

        Kafka: updateSubscriptionMetadata.
        """
        counts = group.subscriptions.after([member], updated)
        size = len(group.members)
        if updated.member_id not in group.members and updated.instance_id not in group.static_members:
            size += 1
        epoch = self.context.next_epoch(group, raised, counts.names, records)
        if group.has_partition_metadata:
            records.append(Tombstone(ConsumerGroupPartitionMetadata, group.group_id))
        return epoch, counts.homogeneous(size)

    # -- what the member gets ------------------------------------------------------------------------------------

    def target(
        self,
        group: ConsumerGroup,
        epoch: int,
        member: ConsumerMember,
        updated: ConsumerMember,
        homogeneous: bool,
        records: list[Record],
        turn: Turn,
    ) -> tuple[int, Assignment]:
        """The epoch of the target and the member's part of it, computed where the group's epoch asks for it.

        Raises UNKNOWN_SERVER_ERROR where the assignor fails; NotYet. Kafka: maybeUpdateTargetAssignment.
        """
        context = self.context
        if group.target_epoch >= epoch or not context.may_compute(group, turn):
            static = group.static_member(updated.instance_id)
            before = updated.member_id if updated.instance_id is None else None if static is None else static.member_id
            return group.target_epoch, NO_ASSIGNMENT if before is None else group.target_of(before)
        preferred = group.preferred_assignor_after(member, updated)
        assignor = context.assignors.get(preferred or "") or context.assignors[context.default_assignor]
        topic_ids = TopicIds(context.image, group.subscriptions.resolved)
        return epoch, new_target(
            context, group, epoch, updated, homogeneous, assignor.assign, assignor.name, topic_ids, records, turn
        )

    def reconciled(
        self,
        group: ConsumerGroup,
        updated: ConsumerMember,
        target: tuple[int, Assignment],
        subscription_changed: bool,
        reported: ReportedPartitions,
        records: list[Record],
    ) -> ConsumerMember:
        """The member, as near to its target as it gets in this heartbeat. Raises FENCED_MEMBER_EPOCH.

        Its rebalance timeout is the caller's: see `watched`. Kafka: maybeReconcile.
        """
        if not subscription_changed and updated.is_reconciled_to(target[0]):
            return updated
        topics = TopicIds(self.context.image, group.subscriptions.resolved)
        if group.held is not None:
            reported = group.held.heard(updated.member_id, reported)
        reconciliation = Reconciliation(
            *target, topics.of(updated), topics.subscribes(updated), group.owners, subscription_changed, reported
        )
        after = reconciliation.next(updated)
        if after != updated:
            records.append(group.forms.assignment_record(group.group_id, after))
        return after
