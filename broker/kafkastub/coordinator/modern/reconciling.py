"""What groups have in common whose members let go of what others are to have: consumer groups and streams groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Generic, TypeVar

from kafkastub.coordinator.group import MemberDescription
from kafkastub.coordinator.modern.counts import decrease, increase
from kafkastub.coordinator.modern.group import ModernGroup, Target
from kafkastub.coordinator.modern.member import RevokingMember
from kafkastub.coordinator.modern.subscribed import SubscribedTopics
from kafkastub.coordinator.modern.timers import MemberTimers
from kafkastub.coordinator.records import Record
from kafkawire.errors import ErrorCode, KafkaError

Member = TypeVar("Member", bound=RevokingMember)
Timers = TypeVar("Timers", bound=MemberTimers)


class ReconcilingGroup(ModernGroup[Member, Target], Generic[Member, Target, Timers]):
    """One group of any such type.

    Attributes:
        static_members: member id by group instance id.

    Soft, and lost on a reload:
        timers: by member id.
    """

    __slots__ = ("_reconciled", "static_members", "timers")

    def __init__(self, group_id: str, topics: SubscribedTopics) -> None:
        super().__init__(group_id, topics)
        self.static_members: dict[str, str] = {}
        self.timers: dict[str, Timers] = {}
        self._reconciled: dict[int, int] = {}

    def static_member(self, instance_id: str | None) -> Member | None:
        """The member that has the instance id."""
        member_id = None if instance_id is None else self.static_members.get(instance_id)
        return None if member_id is None else self.members[member_id]

    def known_static_member(self, instance_id: str, member_id: str | None) -> Member:
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

    def in_place_of(self, there: Member, member_id: str, records: list[Record]) -> Member:
        """The member that comes for a static one that is there, with all that one has; records of that (KIP-345)."""
        member = replace(there, member_id=member_id, member_epoch=0, previous_member_epoch=0)
        group_id = self.group_id
        records += self.types.removal(group_id, there.member_id)
        records.append(self.forms.metadata_record(group_id, member))
        records.append(self.types.target(group_id, member_id, self.target_of(there.member_id)))
        records.append(self.forms.assignment_record(group_id, member))
        return member

    def end(self, broker_ms: int) -> None:
        """It is gone: nothing of it happens any more."""
        for timers in self.timers.values():
            timers.cancel()
        self.timers.clear()

    def _all_reconciled(self) -> bool:
        """Whether every member has what the target gives it."""
        return self._reconciled.get(self.target_epoch, 0) == len(self.members)

    def _descriptions(self, topics_of: Callable[[Member], list[str]]) -> list[MemberDescription]:
        """The members, for those who look from inside."""
        return [
            MemberDescription(
                m.member_id,
                m.instance_id,
                m.client_id,
                m.client_host,
                self.timers[m.member_id].session_timeout_ms if m.member_id in self.timers else -1,
                m.rebalance_timeout_ms,
                topics_of(m),
            )
            for m in self.in_order()
        ]

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

    def _forget(self, member_id: str) -> None:
        timers = self.timers.pop(member_id, None)
        if timers is not None:
            timers.cancel()
