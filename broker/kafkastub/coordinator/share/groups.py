"""The group type `share`: what its requests do, and how its groups come out of their records and go.

Kafka: GroupMetadataManager (shareGroupHeartbeat, …Leave, …Describe, initializeShareGroupState, alterShareGroupOffsets,
…; replay(ShareGroup…), onLoaded, onUnloaded).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.modern.groups import HeartbeatResult, ModernGroups
from kafkastub.coordinator.modern.membership import LEAVE_GROUP_MEMBER_EPOCH
from kafkastub.coordinator.share import offsets, state_partitions
from kafkastub.coordinator.share.context import ShareContext
from kafkastub.coordinator.share.describe import described
from kafkastub.coordinator.share.group import ShareGroup
from kafkastub.coordinator.share.heartbeat import Heartbeats
from kafkastub.coordinator.share.settings import ShareGroupSettings
from kafkastub.coordinator.share.validation import check
from kafkastub.coordinator.turn import Turn
from kafkawire.messages.alter_share_group_offsets_request import AlterShareGroupOffsetsRequest
from kafkawire.messages.delete_share_group_offsets_request import DeleteShareGroupOffsetsRequest
from kafkawire.messages.share_group_describe_response import DescribedGroup, Member
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.share_group_heartbeat_response import ShareGroupHeartbeatResponse


class ShareGroups(ModernGroups[ShareGroup, ShareGroupSettings]):
    """The group type, and the requests of share groups.

    Args:
        groups: all groups, of every type.
    """

    __slots__ = ("heartbeats",)

    name = ShareGroup.group_type
    heartbeat_response = ShareGroupHeartbeatResponse
    leaving_epochs = (LEAVE_GROUP_MEMBER_EPOCH,)
    context: ShareContext

    def __init__(self, groups: Groups, settings: ShareGroupSettings) -> None:
        context = ShareContext(groups, settings)
        self.heartbeats = Heartbeats(context)
        super().__init__(context, self.heartbeats)

    # -- requests ------------------------------------------------------------------------------------------------

    def check_heartbeat(self, request: ShareGroupHeartbeatRequest, version: int) -> None:
        """Raises INVALID_REQUEST for what can't be said in any group, with Kafka's message."""
        check(request)

    def _heartbeat(
        self,
        request: ShareGroupHeartbeatRequest,
        version: int,
        client_id: str,
        client_host: str,
        may_describe: Callable[[str], bool] | None,
        turn: Turn,
    ) -> HeartbeatResult:
        return self.heartbeats.beat(request, client_id, client_host, turn)

    def repeat_heartbeat(
        self, request: ShareGroupHeartbeatRequest, version: int, client_id: str, client_host: str, timer_ms: int
    ) -> ShareGroupSettings | None:
        return self.heartbeats.repeat(request, client_id, client_host, timer_ms)

    def answer_basis(
        self, request: ShareGroupHeartbeatRequest, answer: ShareGroupHeartbeatResponse
    ) -> ShareGroupSettings | None:
        return None if answer.assignment is not None else self.context.of(request.group_id)

    def _described(self, group: ShareGroup) -> tuple[DescribedGroup, Iterator[Member | None]]:
        return described(group, self.context.assignor.name, self.context.image)

    # -- the share coordinator -----------------------------------------------------------------------------------

    def initialized_partitions(self, group_id: str) -> Mapping[bytes, Collection[int]]:
        """The partitions whose state is there, by topic id; none where there is no such group.

        Kafka: initializedShareGroupPartitions (DescribeShareGroupOffsets of all topics).
        """
        group = self.find(group_id)
        known = None if group is None else group.partition_metadata
        return {} if known is None else {one: topic.partitions for one, topic in known.initialized.items()}

    def initialized(
        self, group_id: str, partitions: Mapping[bytes, Collection[int]], broker_ms: int, timer_ms: int
    ) -> Turn:
        """The share coordinator has made the state of these. Kafka: initializeShareGroupState."""
        turn, group = Turn(broker_ms, timer_ms), self.find(group_id)
        if group is not None and partitions:
            made = state_partitions.with_initialized(group, partitions, self.context.image)
            self.context.write(group, [made], turn)
        return turn

    def uninitialized(
        self, group_id: str, partitions: Mapping[bytes, Collection[int]], broker_ms: int, timer_ms: int
    ) -> Turn:
        """The share coordinator has refused to: a later heartbeat asks again. Kafka: uninitializeShareGroupState."""
        turn, group = Turn(broker_ms, timer_ms), self.find(group_id)
        if group is not None:
            left = state_partitions.without_initializing(group, partitions, self.context.image)
            self.context.write(group, [] if left is None else [left], turn)
        return turn

    def topics_deleted(self, names: Iterable[str], turn: Turn) -> None:
        """Topics are gone: no state is kept of them. Kafka: maybeCleanupShareGroupState."""
        image, gone = self.context.image, frozenset(names)
        for group_id in list(self.context.groups.hard.share):
            group = self.find(group_id)
            if group is not None and group.partition_metadata is not None:
                ids = state_partitions.gone(group.partition_metadata, gone, image)
                left = state_partitions.without_topics(group, ids, image)
                self.context.write(group, [] if left is None else [left], turn)

    # -- offsets -------------------------------------------------------------------------------------------------

    def begin_delete(self, group_id: str, broker_ms: int, timer_ms: int) -> Turn:
        """DeleteGroups of one group begins: the reply is a `Deletion`, None where no state is kept (or no such group).

        Once the state is gone, `GroupCoordinator.delete_group` ends the group. Raises NON_EMPTY_GROUP.
        Kafka: sharePartitionDeleteRequests.
        """
        turn, group = Turn(broker_ms, timer_ms), self.find(group_id)
        if group is not None:
            offsets.begin_delete(self.context, group, turn)
        return turn

    def alter_offsets(self, request: AlterShareGroupOffsetsRequest, broker_ms: int, timer_ms: int) -> Turn:
        """AlterShareGroupOffsets begins; the reply is `Altered`. Raises GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP.

        Once the share coordinator has done it, `initialized` says so.
        """
        turn = Turn(broker_ms, timer_ms)
        turn.reply = offsets.alter(self.context, request, turn)
        return turn

    def begin_delete_offsets(self, request: DeleteShareGroupOffsetsRequest, broker_ms: int, timer_ms: int) -> Turn:
        """DeleteShareGroupOffsets begins; the reply is `OffsetsDeletion`. Raises GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP.

        Kafka: initiateDeleteShareGroupOffsets.
        """
        turn = Turn(broker_ms, timer_ms)
        turn.reply = offsets.begin_delete_offsets(self.context, request, turn)
        return turn

    def complete_delete_offsets(
        self, group_id: str, topics: Mapping[bytes, str], broker_ms: int, timer_ms: int
    ) -> Turn:
        """The state of these topics (names by id) is gone; the reply is a list of answers, one a topic.

        Kafka: completeDeleteShareGroupOffsets.
        """
        turn = Turn(broker_ms, timer_ms)
        turn.reply = offsets.complete_delete_offsets(self.context, group_id, topics, turn)
        return turn

    # -- a group type --------------------------------------------------------------------------------------------

    def revive(self, group_id: str, turn: Turn) -> ShareGroup:
        """The group as its records say."""
        group = super().revive(group_id, turn)
        group.initializing_since = turn.timer_ms
        return group
