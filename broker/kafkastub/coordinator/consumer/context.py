"""What everything that happens to a consumer group needs of its surroundings, and how it is written down."""

from __future__ import annotations

from collections.abc import Sequence

from kafkastub.coordinator.cluster import ClusterImage, NoTopics
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.records import (
    ConsumerGroupMetadataTombstone,
    ConsumerGroupTargetAssignmentMetadata,
)
from kafkastub.coordinator.group import Group
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.modern import assignors
from kafkastub.coordinator.modern.assignment import Assignor
from kafkastub.coordinator.modern.settings import ConsumerGroupConfig, ConsumerSettings
from kafkastub.coordinator.modern.subscribed import SubscribedTopics
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import ErrorCode, KafkaError


class ConsumerContext:
    """The surroundings of all consumer groups.

    Attributes:
        groups: all groups, of every type.
        settings: the broker's part of the configuration; may be changed while it runs.
        topics: who subscribes to what.
        rebalances: how often a group's epoch was raised because of a subscription or of the topics (KIP-848:
            consumer-group-rebalances).
    """

    __slots__ = ("_assignors", "_no_topics", "groups", "rebalances", "settings", "topics")

    def __init__(self, groups: Groups, settings: ConsumerSettings) -> None:
        self.groups = groups
        self.settings = settings
        self.topics = SubscribedTopics(lambda: self.image)
        self.rebalances = 0
        self._no_topics = NoTopics()
        self._assignors: dict[str, Assignor] | None = None

    @property
    def image(self) -> ClusterImage:
        """The topics as they are now."""
        image = self.groups.image
        return self._no_topics if image is None else image

    @property
    def assignors(self) -> dict[str, Assignor]:
        """Those that are configured, the default first."""
        if self._assignors is None:
            found = [assignors.named(name) for name in self.settings.assignors]
            self._assignors = {one.name: one for one in found if one is not None}
        return self._assignors

    @property
    def default_assignor(self) -> str:
        """Its name."""
        return next(iter(self.assignors))

    # -- configuration -------------------------------------------------------------------------------------------

    def _of(self, group_id: str) -> ConsumerGroupConfig:
        return self.groups.group_configs(group_id) or _NO_CONFIG

    def session_timeout_ms(self, group_id: str) -> int:
        """The group's own, else the broker's."""
        own = self._of(group_id).session_timeout_ms
        return self.settings.session_timeout_ms if own is None else own

    def heartbeat_interval_ms(self, group_id: str) -> int:
        """The group's own, else the broker's."""
        own = self._of(group_id).heartbeat_interval_ms
        return self.settings.heartbeat_interval_ms if own is None else own

    def assignment_interval_ms(self, group_id: str) -> int:
        """The group's own, else the broker's."""
        own = self._of(group_id).assignment_interval_ms
        return self.settings.assignment_interval_ms if own is None else own

    # -- groups --------------------------------------------------------------------------------------------------

    def new(self, group_id: str) -> ConsumerGroup:
        """A group that nobody knows of yet."""
        return ConsumerGroup(group_id, self.topics)

    def find(self, group_id: str) -> ConsumerGroup | None:
        """The group, where there is one of this type."""
        group = self.groups.groups.get(group_id)
        return group if type(group) is ConsumerGroup else None

    def known(self, group_id: str) -> ConsumerGroup:
        """The group. Raises GROUP_ID_NOT_FOUND."""
        group = self.groups.groups.get(group_id)
        if type(group) is ConsumerGroup:
            return group
        raise KafkaError(
            ErrorCode.GROUP_ID_NOT_FOUND,
            f"Group {group_id} not found." if group is None else f"Group {group_id} is not a consumer group.",
        )

    def write(self, group: ConsumerGroup, records: Sequence[Record], turn: Turn) -> None:
        """Make records of a group true: they are appended to the turn, in order, and change the group.

        A group that is new here takes the place of another type's of the same id, which is over.
        """
        if not records:
            return
        groups, log = self.groups, self.groups.log
        there = groups.groups.get(group.group_id)
        if there is not group:
            if there is not None:
                groups.types[there.group_type].give_way(there, turn)
                self._end(there, turn)
            groups.groups[group.group_id] = group
            groups.index.touch(group, turn.broker_ms)
        for record in records:
            log(turn, record)
            group.apply(record)
            if type(record) is ConsumerGroupTargetAssignmentMetadata:
                group.assigned_at = turn.timer_ms if record.assignment_timestamp else None
            elif type(record) is ConsumerGroupMetadataTombstone:
                self._end(group, turn)
        if group.subscriptions.lost or not group.members:
            group.subscriptions.lost = False
            if group.members or not groups.is_spared(group, turn):
                groups.index.touch(group, turn.broker_ms)

    def _end(self, group: Group, turn: Turn) -> None:
        group.end(turn.broker_ms)
        self.groups.index.forget(group)
        if self.groups.groups.get(group.group_id) is group:
            del self.groups.groups[group.group_id]
        self.groups.unseen.discard(group.group_id)


_NO_CONFIG = ConsumerGroupConfig()
