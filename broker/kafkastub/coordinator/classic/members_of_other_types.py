"""What classic members ask of a group of another type, as far as that type takes them in (KIP-848)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kafkastub.coordinator.classic.join import Join
from kafkastub.coordinator.group import Group
from kafkastub.coordinator.turn import Token, Turn
from kafkawire.errors import ErrorCode
from kafkawire.messages.join_group_response import JoinGroupResponse
from kafkawire.messages.leave_group_request import MemberIdentity
from kafkawire.messages.leave_group_response import MemberResponse
from kafkawire.messages.sync_group_request import SyncGroupRequest


class MembersOfOtherTypes(Protocol):
    """The classic members of groups of another type. The groups given are of that type.

    Every method raises KafkaError with what speaks against the request.
    """

    def join(self, group: Group, join: Join, turn: Turn) -> JoinGroupResponse:
        """JoinGroup into a group that is not empty; the answer to the join."""

    def sync(self, group: Group, request: SyncGroupRequest, token: Token, turn: Turn) -> None:
        """SyncGroup; the answer is a completion of the token."""

    def heartbeat(
        self, group: Group, member_id: str, group_instance_id: str | None, generation: int, timer_ms: int
    ) -> ErrorCode:
        """Heartbeat: NONE or REBALANCE_IN_PROGRESS."""

    def leave(self, group: Group, members: Sequence[MemberIdentity], turn: Turn) -> list[MemberResponse]:
        """LeaveGroup, each member judged by itself."""
