"""The group type `streams`: what its requests do, and how its groups come out of their records and go.

Kafka: GroupMetadataManager (streamsGroupHeartbeat, …Leave, …Describe; replay(StreamsGroup…), onLoaded, onUnloaded).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kafkastub.config import BrokerConfig
from kafkastub.coordinator.group import Group
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.modern.settings import StreamsGroupSettings
from kafkastub.coordinator.streams.again import answered_again
from kafkastub.coordinator.streams.context import StreamsContext
from kafkastub.coordinator.streams.describe import described
from kafkastub.coordinator.streams.fencing import Fencing
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.heartbeat import Beat, Heartbeats
from kafkastub.coordinator.streams.member import (
    LEAVE_GROUP_MEMBER_EPOCH,
    LEAVE_GROUP_STATIC_MEMBER_EPOCH,
    MemberState,
)
from kafkastub.coordinator.streams.validation import check
from kafkastub.coordinator.turn import Turn
from kafkawire.messages.streams_group_describe_response import DescribedGroup
from kafkawire.messages.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest


class StreamsGroups:
    """A `GroupType`, and the requests of streams groups.

    Args:
        groups: all groups, of every type.
    """

    __slots__ = ("context", "fencing", "heartbeats")

    name: Final = StreamsGroup.group_type

    def __init__(self, groups: Groups, settings: StreamsGroupSettings) -> None:
        self.context = StreamsContext(groups, settings)
        self.fencing = Fencing(self.context)
        self.heartbeats = Heartbeats(self.context, self.fencing)

    @property
    def settings(self) -> StreamsGroupSettings:
        """The broker's part of the configuration; may be changed while it runs."""
        return self.context.settings

    def reconfigured(self, config: BrokerConfig) -> None:
        """What can be changed while the broker runs has changed. Kafka: GroupCoordinatorConfig's dynamic values."""
        self.context.reconfigured(StreamsGroupSettings.of(config))

    @property
    def rebalances(self) -> int:
        """How often a heartbeat has raised a group's epoch."""
        return self.context.rebalances

    def find(self, group_id: str) -> StreamsGroup | None:
        """The group, where there is one of this type."""
        return self.context.find(group_id)

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
        answer = answered_again(self.context, request, version, client_id, client_host, turn)
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

    def describe(self, group: Group) -> DescribedGroup | None:
        """StreamsGroupDescribe of one group, None where it is of another type. Authorized operations are not in it.

        Raises UNKNOWN_SERVER_ERROR.
        """
        if type(group) is not StreamsGroup:
            return None
        return described(group, self.context.assignor.name)

    def metadata_changed(self, names: Iterable[str]) -> None:
        """Topics were created, grown or deleted: groups that need them look again at their next heartbeat.

        Kafka: onMetadataUpdate.
        """
        for group_id in self.context.topics.changed(names):
            group = self.find(group_id)
            if group is not None:
                group.metadata_stale = True

    def end_session(self, group_id: str, member_id: str, broker_ms: int, timer_ms: int) -> Turn:
        """What the end of the member's session does, at once. Raises GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID."""
        turn, group = Turn(broker_ms, timer_ms), self.context.known(group_id)
        self.fencing.expel(group, group.member(member_id).member_id, turn)
        return turn

    # -- a group type --------------------------------------------------------------------------------------------

    def new(self, group_id: str, broker_ms: int) -> StreamsGroup:
        """An empty group."""
        return self.context.new(group_id)

    def group_ids(self) -> Iterable[str]:
        """The groups with records."""
        return self.context.groups.hard.streams

    def revive(self, group_id: str, turn: Turn) -> StreamsGroup:
        """The group as its records say."""
        group, state = self.context.new(group_id), self.context.groups.hard.streams.get(group_id)
        if state is None:
            return group
        for record in state.records():
            group.apply(record)
        if group.target_timestamp:
            group.assigned_at = turn.timer_ms - max(turn.broker_ms - group.target_timestamp, 0)
        return group

    def revived(self, group: Group, turn: Turn) -> None:
        """The members' sessions begin, and the rebalance timeouts of those that have to let go of tasks."""
        assert isinstance(group, StreamsGroup)
        session_timeout_ms = self.context.of(group.group_id).session_timeout_ms
        for member in list(group.members.values()):
            self.fencing.arm_session(group, member.member_id, session_timeout_ms, turn)
            if member.state is MemberState.UNREVOKED_TASKS:
                self.fencing.arm_rebalance(group, member, turn)

    def give_way(self, group: Group, turn: Turn) -> None:
        """Nobody is parked in it."""

    def unload(self, group: Group, turn: Turn) -> None:
        """The group is forgotten; nobody is parked in it."""
        group.end(turn.broker_ms)
