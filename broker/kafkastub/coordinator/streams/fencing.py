"""Members that leave, are thrown out, or lose their session. Kafka: streamsGroupLeave, streamsGroupFenceMember."""

from __future__ import annotations

from dataclasses import replace

from kafkastub.coordinator.modern.membership import LEAVE_GROUP_STATIC_MEMBER_EPOCH
from kafkastub.coordinator.modern.timers import MemberTimers
from kafkastub.coordinator.modern.watching import Watching
from kafkastub.coordinator.streams.context import StreamsContext
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.member import StreamsMember
from kafkastub.coordinator.streams.tasks import EMPTY_WITH_EPOCHS
from kafkastub.coordinator.turn import Turn
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest


class Fencing(Watching[StreamsGroup, MemberTimers]):
    """Takes members out of groups, and watches over their deadlines."""

    __slots__ = ()

    def __init__(self, context: StreamsContext) -> None:
        super().__init__(context, MemberTimers)

    def let_leave(self, group: StreamsGroup, request: StreamsGroupHeartbeatRequest, turn: Turn) -> None:
        """The same. Whoever asks for the shutdown of the application has asked for it, whatever comes of the rest."""
        if request.shutdown_application:
            group.volatile.ask_for_shutdown(request.member_id)
        super().let_leave(group, request, turn)

    def _left_for_a_while(self, member: StreamsMember) -> StreamsMember:
        assigned, epoch = member.assigned.with_epochs_of_zero(), LEAVE_GROUP_STATIC_MEMBER_EPOCH
        return replace(member, member_epoch=epoch, assigned=assigned, pending_revocation=EMPTY_WITH_EPOCHS)

    def fence_one(self, group: StreamsGroup, member: StreamsMember, turn: Turn) -> None:
        """Take a member out; the group's epoch is raised."""
        raised = replace(group.metadata, epoch=group.epoch + 1)
        self.context.remove(group, [member.member_id], [raised], turn)
