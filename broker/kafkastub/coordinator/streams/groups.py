"""The group type `streams`: what its requests do, and how its groups come out of their records and go.

Kafka: GroupMetadataManager (streamsGroupHeartbeat, …Leave, …Describe; replay(StreamsGroup…), onLoaded, onUnloaded).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.modern.groups import HeartbeatResult, ModernGroups
from kafkastub.coordinator.streams.context import StreamsContext
from kafkastub.coordinator.streams.describe import described
from kafkastub.coordinator.streams.fencing import Fencing
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.heartbeat import Heartbeats
from kafkastub.coordinator.streams.settings import StreamsGroupSettings
from kafkastub.coordinator.streams.unchanged_heartbeat import unchanged_answer
from kafkastub.coordinator.streams.validation import check
from kafkastub.coordinator.turn import Turn
from kafkawire.messages.streams_group_describe_response import DescribedGroup, Member
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse


class StreamsGroups(ModernGroups[StreamsGroup, StreamsGroupSettings]):
    """The group type, and the requests of streams groups.

    Args:
        groups: all groups, of every type.
    """

    __slots__ = ("fencing", "heartbeats")

    name = StreamsGroup.group_type
    heartbeat_response = StreamsGroupHeartbeatResponse
    context: StreamsContext

    def __init__(self, groups: Groups, settings: StreamsGroupSettings) -> None:
        context = StreamsContext(groups, settings)
        self.fencing = Fencing(context)
        super().__init__(context, self.fencing)
        self.heartbeats = Heartbeats(context, self.fencing)

    # -- requests ------------------------------------------------------------------------------------------------

    def check_heartbeat(self, request: StreamsGroupHeartbeatRequest, version: int) -> None:
        """Raises INVALID_REQUEST, STREAMS_INVALID_TOPOLOGY for what can't be said in any group, with Kafka's text."""
        check(request, self.settings.rules.has_statics)

    def _heartbeat(
        self,
        request: StreamsGroupHeartbeatRequest,
        version: int,
        client_id: str,
        client_host: str,
        may_describe: Callable[[str], bool] | None,
        turn: Turn,
    ) -> HeartbeatResult:
        return self.heartbeats.beat(request, version, client_id, client_host, turn)

    def repeat_heartbeat(
        self, request: StreamsGroupHeartbeatRequest, version: int, client_id: str, client_host: str, timer_ms: int
    ) -> StreamsGroupHeartbeatResponse | None:
        """The same, and all that is checked before it; gives the answer, which is not to be changed."""
        return unchanged_answer(self.context, request, version, client_id, client_host, timer_ms)

    def answer_basis(
        self, request: StreamsGroupHeartbeatRequest, answer: StreamsGroupHeartbeatResponse
    ) -> StreamsGroupHeartbeatResponse:
        return answer

    def _described(self, group: StreamsGroup) -> tuple[DescribedGroup, Iterator[Member | None]]:
        return described(group, self.context.assignor.name)
