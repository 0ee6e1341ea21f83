"""What everything that happens to a streams group needs of its surroundings, and how it is written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kafkastub.coordinator.cluster import ClusterImage, NoTopics
from kafkastub.coordinator.group import Group
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.modern.assignors.sticky_tasks import StickyTaskAssignor
from kafkastub.coordinator.modern.settings import StreamsGroupConfig, StreamsGroupSettings
from kafkastub.coordinator.modern.subscribed import SubscribedTopics
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.records import (
    Pairs,
    StreamsGroupMetadataTombstone,
    StreamsGroupTargetAssignmentMetadata,
)
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import ErrorCode, KafkaError

NUM_STANDBY_REPLICAS: Final = "num.standby.replicas"
RACK_AWARE_ASSIGNMENT_TAGS: Final = "rack.aware.assignment.tags"
"""What the assignor is configured with, as a group's record calls it."""
_MOST_MERGED: Final = 1_000
"""Groups with a configuration of their own that is kept as they go by it."""


class StreamsContext:
    """The surroundings of all streams groups.

    Attributes:
        groups: all groups, of every type.
        settings: the broker's part of the configuration; may be changed while it runs.
        topics: who needs what.
        assignor: who computes targets; Kafka 4.4.0 has one.
        rebalances: how often a heartbeat has raised a group's epoch (streams-group-rebalances).
    """

    __slots__ = ("_merged", "_no_topics", "assignor", "groups", "rebalances", "settings", "topics")

    def __init__(self, groups: Groups, settings: StreamsGroupSettings) -> None:
        self.groups = groups
        self.settings = settings
        self.topics = SubscribedTopics(lambda: self.image)
        self.assignor = StickyTaskAssignor(settings.rules.looks_on, settings.rules.computes)
        self.rebalances = 0
        self._no_topics = NoTopics()
        self._merged: dict[str, tuple[StreamsGroupConfig, StreamsGroupSettings]] = {}

    @property
    def image(self) -> ClusterImage:
        """The topics as they are now."""
        image = self.groups.image
        return self._no_topics if image is None else image

    # -- configuration -------------------------------------------------------------------------------------------

    def of(self, group_id: str) -> StreamsGroupSettings:
        """What the group goes by: its own configuration, else the broker's. The same object while it is the same."""
        own = self.groups.streams_configs(group_id)
        if own is None:
            return self.settings
        known = self._merged.get(group_id)
        if known is None or known[0] is not own:
            if len(self._merged) >= _MOST_MERGED:
                self._merged.clear()
            known = self._merged[group_id] = own, _merged(self.settings, own)
        return known[1]

    def reconfigured(self, assignment_interval_ms: int) -> None:
        """What can be changed while the broker runs has changed."""
        self.settings.assignment_interval_ms = assignment_interval_ms
        self._merged.clear()

    def assignment_configs(self, group_id: str) -> Pairs:
        """What the assignor is configured with, sorted by name. Kafka: streamsGroupAssignmentConfigs."""
        settings = self.of(group_id)
        replicas = (NUM_STANDBY_REPLICAS, str(settings.num_standby_replicas))
        tags = settings.rack_aware_assignment_tags
        return (replicas, (RACK_AWARE_ASSIGNMENT_TAGS, ",".join(tags))) if tags else (replicas,)

    # -- groups --------------------------------------------------------------------------------------------------

    def new(self, group_id: str) -> StreamsGroup:
        """A group that nobody knows of yet."""
        group = StreamsGroup(group_id, self.topics)
        group.target_epoch = self.settings.rules.first_target_epoch
        return group

    def find(self, group_id: str) -> StreamsGroup | None:
        """The group, where there is one of this type."""
        group = self.groups.groups.get(group_id)
        return group if type(group) is StreamsGroup else None

    def known(self, group_id: str, missing: str = "Group {} not found.") -> StreamsGroup:
        """The group. Raises GROUP_ID_NOT_FOUND. Kafka: streamsGroup, getStreamsGroupOrThrow."""
        group = self.groups.groups.get(group_id)
        if type(group) is StreamsGroup:
            return group
        what = missing.format(group_id) if group is None else f"Group {group_id} is not a streams group."
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, what)

    def known_or_new(self, group_id: str, records: list[Record]) -> tuple[StreamsGroup, bool]:
        """The group, or a new one where there is none, and whether it is new. Raises GROUP_ID_NOT_FOUND.

        An empty classic group makes room: its tombstones are appended to `records`. Kafka: getOrCreateStreamsGroup.
        """
        group = self.groups.groups.get(group_id)
        if group is None:
            return self.new(group_id), True
        if group.group_type == "classic" and group.is_empty:
            records += group.tombstones()
            return self.new(group_id), True
        return self.known(group_id), False

    def write(self, group: StreamsGroup, records: Sequence[Record], turn: Turn) -> None:
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
            if type(record) is StreamsGroupTargetAssignmentMetadata and not record.assignment_timestamp:
                group.assigned_at = None
            elif type(record) is StreamsGroupMetadataTombstone:
                self._end(group, turn)
        if not group.members and not groups.is_spared(group, turn):
            groups.index.touch(group, turn.broker_ms)

    def _end(self, group: Group, turn: Turn) -> None:
        group.end(turn.broker_ms)
        self.groups.index.forget(group)
        if self.groups.groups.get(group.group_id) is group:
            del self.groups.groups[group.group_id]
        self.groups.unseen.discard(group.group_id)


def _merged(settings: StreamsGroupSettings, own: StreamsGroupConfig) -> StreamsGroupSettings:
    """The broker's settings, with what a group says itself."""
    said: Mapping[str, object] = {name: value for name, value in own._asdict().items() if value is not None}
    merged = StreamsGroupSettings()
    for name in StreamsGroupSettings.__slots__:
        setattr(merged, name, said.get(name, getattr(settings, name)))
    return merged
