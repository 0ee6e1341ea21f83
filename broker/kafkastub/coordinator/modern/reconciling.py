"""What groups have in common whose members let go of what others are to have: consumer groups and streams groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from kafkastub.coordinator.modern.counts import decrease, increase
from kafkastub.coordinator.modern.group import ModernGroup, Target, Timers
from kafkastub.coordinator.modern.member import RevokingMember
from kafkastub.coordinator.modern.membership import LEAVE_GROUP_STATIC_MEMBER_EPOCH, unreleased
from kafkastub.coordinator.modern.subscribed import SubscribedTopics
from kafkastub.coordinator.records import Record
from kafkawire.errors import ErrorCode, KafkaError

Member = TypeVar("Member", bound=RevokingMember)


class ReconcilingGroup(ModernGroup[Member, Target, Timers]):
    """One group of any such type.

    Attributes:
        static_members: member id by group instance id.
    """

    __slots__ = ("_reconciled", "static_members")

    def __init__(self, group_id: str, topics: SubscribedTopics) -> None:
        super().__init__(group_id, topics)
        self.static_members: dict[str, str] = {}
        self._reconciled: dict[int, int] = {}

    def static_member(self, instance_id: str | None) -> Member | None:
        """The member that has the instance id."""
        member_id = None if instance_id is None else self.static_members.get(instance_id)
        return None if member_id is None else self.members[member_id]

    def existing_static_member(self, instance_id: str, member_id: str | None) -> Member:
        """The same, who is to be that member, or any where it is None.

        Raises UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID where it is another one by now.
        """
        member = self.static_member(instance_id)
        if member is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        if member_id is not None and member.member_id != member_id:
            what = f"Static member {member_id} with instance id {instance_id} was fenced by member {member.member_id}."
            raise KafkaError(ErrorCode.FENCED_INSTANCE_ID, what)
        return member

    def staying(self, member_id: str, instance_id: str | None) -> Member:
        """A member that is there. Raises UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        return self.member(member_id) if instance_id is None else self.existing_static_member(instance_id, member_id)

    def joining(
        self, member_id: str, instance_id: str | None, records: list[Record], *, takes_over: bool = False
    ) -> Member:
        """A member that comes, new or again; a static one takes the place of the instance's last member (KIP-345).

        Raises UNRELEASED_INSTANCE_ID where that one has not left, and is not to be taken over.
        """
        there = self.static_member(instance_id)
        if there is None or instance_id is None:
            return self.get_or_create(member_id)
        if not takes_over and there.member_epoch != LEAVE_GROUP_STATIC_MEMBER_EPOCH:
            raise unreleased(member_id, instance_id, there.member_id)
        member = replace(there, member_id=member_id, member_epoch=0, previous_member_epoch=0)
        group_id = self.group_id
        records += self.types.removal(group_id, there.member_id)
        records.append(self.forms.metadata_record(group_id, member))
        records.append(self.types.target(group_id, member_id, self.target_of(there.member_id)))
        records.append(self.forms.assignment_record(group_id, member))
        return member

    def replaced_by(self, updated: Member) -> str | None:
        """The member of the same static instance whose place it takes, which goes out of the group; None for none."""
        there = None if updated.instance_id is None else self.static_members.get(updated.instance_id)
        return None if there == updated.member_id else there

    def target_with(self, updated: Member, replaced: str | None) -> Mapping[str, Target]:
        """The target, where a member has that of the one whose place it takes.

        Kafka: UpdatedMembersAndTargetAssignmentView.
        """
        if replaced is None:
            return self.target
        target = dict(self.target)
        if replaced in target:
            target[updated.member_id] = target.pop(replaced)
        return target

    def _all_reconciled(self) -> bool:
        """Whether every member has what the target gives it."""
        return self._reconciled.get(self.target_epoch, 0) == len(self.members)

    def _recount(self, old: Member | None, new: Member | None) -> None:
        """A member has changed, or come, or is gone."""
        if old is not None:
            if old.instance_id is not None:
                self.static_members.pop(old.instance_id, None)
            if old.is_reconciled_to(old.member_epoch):
                decrease(self._reconciled, old.member_epoch)
        if new is not None:
            if new.instance_id is not None:
                self.static_members[new.instance_id] = new.member_id
            if new.is_reconciled_to(new.member_epoch):
                increase(self._reconciled, new.member_epoch)
