"""Members that leave, are thrown out, or lose their session. Kafka: streamsGroupLeave, streamsGroupFenceMember."""

from __future__ import annotations

from dataclasses import replace

from kafkastub.coordinator.modern.timers import MemberTimers
from kafkastub.coordinator.modern.watching import Watching
from kafkastub.coordinator.streams.context import StreamsContext
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.member import (
    LEAVE_GROUP_STATIC_MEMBER_EPOCH,
    StreamsMember,
    assignment_record,
)
from kafkastub.coordinator.streams.records import TYPES, StreamsGroupTargetAssignmentMetadata
from kafkastub.coordinator.streams.tasks import EMPTY_WITH_EPOCHS
from kafkastub.coordinator.turn import Turn
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse


class Fencing(Watching[StreamsGroup, MemberTimers]):
    """Takes members out of groups, and watches over their deadlines."""

    __slots__ = ("context",)

    def __init__(self, context: StreamsContext) -> None:
        super().__init__(context.find, context.groups.deadlines, MemberTimers)
        self.context = context

    def leave(self, request: StreamsGroupHeartbeatRequest, turn: Turn) -> StreamsGroupHeartbeatResponse:
        """A heartbeat with epoch -1, or -2: a static member that comes back. Raises errors.

        Whoever asks for the shutdown of the application has asked for it, whatever comes of the rest.
        """
        group = self.context.known(request.group_id)
        if request.shutdown_application:
            group.soft.ask_for_shutdown(request.member_id)
        if request.instance_id is None:
            self.fence(group, group.member(request.member_id), turn)
        else:
            member = group.known_static_member(request.instance_id, request.member_id)
            if request.member_epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH:
                self._leave_for_a_while(group, member, turn)
            else:
                self.fence(group, member, turn)
        return StreamsGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)

    def _leave_for_a_while(self, group: StreamsGroup, member: StreamsMember, turn: Turn) -> None:
        """Its session runs on; until it is over, what it has is kept for the instance's next member."""
        left = replace(
            member,
            member_epoch=LEAVE_GROUP_STATIC_MEMBER_EPOCH,
            assigned=member.assigned.with_epochs_of_zero(),
            pending_revocation=EMPTY_WITH_EPOCHS,
        )
        self.context.write(group, [assignment_record(group.group_id, left)], turn)

    def fence(self, group: StreamsGroup, member: StreamsMember, turn: Turn) -> None:
        """Take a member out; the group's epoch is raised."""
        known = group.metadata
        raised = replace(known, epoch=known.epoch + 1)
        records = [*TYPES.removal(group.group_id, member.member_id), raised]
        if len(group.members) == 1 and self.context.settings.empty_is_assigned:
            records.append(StreamsGroupTargetAssignmentMetadata(group.group_id, raised.epoch, 0))
        self.context.write(group, records, turn)

    def _take_out(self, group: StreamsGroup, member: StreamsMember, turn: Turn) -> None:
        self.fence(group, member, turn)
