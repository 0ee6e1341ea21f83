"""The classic protocol beside the new one: who takes classic members into consumer groups (KIP-848, migration)."""

from __future__ import annotations

from collections.abc import Sequence

from kafkastub.coordinator.classic.groups import ClassicGroups
from kafkastub.coordinator.classic.join import Join
from kafkastub.coordinator.consumer.classic_joins import ClassicJoins
from kafkastub.coordinator.consumer.classic_members import ClassicMembers
from kafkastub.coordinator.consumer.conversions import Conversions
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.groups import ConsumerGroups
from kafkastub.coordinator.group import Group
from kafkastub.coordinator.turn import Token, Turn
from kafkawire.errors import ErrorCode
from kafkawire.messages.join_group_response import JoinGroupResponse
from kafkawire.messages.leave_group_request import MemberIdentity
from kafkawire.messages.leave_group_response import MemberResponse
from kafkawire.messages.sync_group_request import SyncGroupRequest


def connect(consumer: ConsumerGroups, classic: ClassicGroups) -> None:
    """Let groups go from one protocol to the other, and classic members into consumer groups.

    As far as `group.consumer.migration.policy` lets them.
    """
    conversions = Conversions(consumer.context, consumer.fencing, classic)
    consumer.heartbeats.steps.upgrade = conversions.upgrade
    consumer.fencing.downgrade = conversions.after_leaving
    members = ClassicMembers(consumer.context, consumer.fencing)
    joins = ClassicJoins(consumer.heartbeats, conversions, members)
    classic.members_of[consumer.name] = MembersOfConsumerGroups(joins, members)


class MembersOfConsumerGroups:
    """`MembersOfOtherTypes` of consumer groups."""

    __slots__ = ("_joins", "_members")

    def __init__(self, joins: ClassicJoins, members: ClassicMembers) -> None:
        self._joins = joins
        self._members = members

    def join(self, group: Group, join: Join, turn: Turn) -> JoinGroupResponse:
        """See `MembersOfOtherTypes`."""
        assert isinstance(group, ConsumerGroup)
        return self._joins.join(group, join, turn)

    def sync(self, group: Group, request: SyncGroupRequest, token: Token, turn: Turn) -> None:
        """See `MembersOfOtherTypes`."""
        assert isinstance(group, ConsumerGroup)
        self._members.sync(group, request, token, turn)

    def heartbeat(
        self, group: Group, member_id: str, group_instance_id: str | None, generation: int, timer_ms: int
    ) -> ErrorCode:
        """See `MembersOfOtherTypes`."""
        assert isinstance(group, ConsumerGroup)
        return self._members.heartbeat(group, member_id, group_instance_id, generation, timer_ms)

    def leave(self, group: Group, members: Sequence[MemberIdentity], turn: Turn) -> list[MemberResponse]:
        """See `MembersOfOtherTypes`."""
        assert isinstance(group, ConsumerGroup)
        return self._members.leave(group, members, turn)
