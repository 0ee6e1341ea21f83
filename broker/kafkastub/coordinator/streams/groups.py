"""The group type `streams`: what its requests do, and how its groups come out of their records and go.

Kafka: GroupMetadataManager (streamsGroupHeartbeat, …Leave, …Describe; replay(StreamsGroup…), onLoaded, onUnloaded).
"""

from __future__ import annotations

from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.modern.groups import ModernGroups
from kafkastub.coordinator.modern.membership import LEAVE_GROUP_MEMBER_EPOCH, LEAVE_GROUP_STATIC_MEMBER_EPOCH
from kafkastub.coordinator.modern.settings import StreamsGroupSettings
from kafkastub.coordinator.streams.context import StreamsContext
from kafkastub.coordinator.streams.describe import described
from kafkastub.coordinator.streams.fencing import Fencing
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.heartbeat import Beat, Heartbeats
from kafkastub.coordinator.streams.unchanged_heartbeat import unchanged_answer
from kafkastub.coordinator.streams.validation import check
from kafkastub.coordinator.turn import Turn
from kafkawire.messages.streams_group_describe_response import DescribedGroup
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest


class StreamsGroups(ModernGroups[StreamsGroup, StreamsGroupSettings]):
    """The group type, and the requests of streams groups.

    Args:
        groups: all groups, of every type.
    """

    __slots__ = ("fencing", "heartbeats")

    name = StreamsGroup.group_type
    context: StreamsContext

    def __init__(self, groups: Groups, settings: StreamsGroupSettings) -> None:
        context = StreamsContext(groups, settings)
        self.fencing = Fencing(context)
        super().__init__(context, self.fencing)
        self.heartbeats = Heartbeats(context, self.fencing)

    # -- requests ------------------------------------------------------------------------------------------------

    def check_heartbeat(self, request: StreamsGroupHeartbeatRequest) -> None:
        """Raises INVALID_REQUEST, STREAMS_INVALID_TOPOLOGY for what can't be said in any group, with Kafka's text."""
        check(request, self.settings.rules.has_statics)

    def heartbeat_again(
        self,
        request: StreamsGroupHeartbeatRequest,
        version: int,
        client_id: str,
        client_host: str,
        broker_ms: int,
        timer_ms: int,
    ) -> Turn | None:
        """`heartbeat`, and all that is checked before it, where the member's last one changed nothing, nor does this.

        None, and nothing has happened, for all others. The reply is not to be changed: it is given again.
        """
        turn = Turn(broker_ms, timer_ms)
        answer = unchanged_answer(self.context, request, version, client_id, client_host, turn)
        if answer is None:
            return None
        turn.reply = Beat(answer)
        return turn

    def heartbeat(
        self,
        request: StreamsGroupHeartbeatRequest,
        version: int,
        client_id: str,
        client_host: str,
        broker_ms: int,
        timer_ms: int,
    ) -> Turn:
        """StreamsGroupHeartbeat; the reply is a `Beat`. Raises KafkaError with Kafka's message.

        What `check_heartbeat` raises is not looked for again.

        Args:
            client_host: as Kafka shows it, with its slash: `/127.0.0.1`.
        """
        turn = Turn(broker_ms, timer_ms)
        if request.member_epoch in (LEAVE_GROUP_MEMBER_EPOCH, LEAVE_GROUP_STATIC_MEMBER_EPOCH):
            turn.reply = Beat(self.fencing.leave(request, turn))
        else:
            turn.reply = self.heartbeats.beat(request, version, client_id, client_host, turn)
        return turn

    def _described(self, group: StreamsGroup) -> DescribedGroup:
        return described(group, self.context.assignor.name)
