"""What everything that happens to a streams group needs of its surroundings."""

from __future__ import annotations

from typing import Final

from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.modern.assignors.sticky_tasks import StickyTaskAssignor
from kafkastub.coordinator.modern.context import ModernContext
from kafkastub.coordinator.modern.records import TargetEpoch
from kafkastub.coordinator.streams.group import StreamsGroup
from kafkastub.coordinator.streams.records import Pairs
from kafkastub.coordinator.streams.settings import StreamsGroupSettings
from kafkastub.coordinator.turn import Turn

NUM_STANDBY_REPLICAS: Final = "num.standby.replicas"
RACK_AWARE_ASSIGNMENT_TAGS: Final = "rack.aware.assignment.tags"
"""What the assignor is configured with, as a group's record calls it."""


class StreamsContext(ModernContext[StreamsGroup, StreamsGroupSettings]):
    """The surroundings of all streams groups.

    Attributes:
        assignor: who computes targets; Kafka 4.4.0 has one.
    """

    __slots__ = ("assignor",)

    def __init__(self, groups: Groups, settings: StreamsGroupSettings) -> None:
        super().__init__(groups, settings, StreamsGroup)
        self.assignor = StickyTaskAssignor(settings.rules.looks_on, settings.rules.computes)

    def new(self, group_id: str) -> StreamsGroup:
        """A group that nobody knows of yet."""
        group = super().new(group_id)
        group.target_epoch = self.settings.rules.first_target_epoch
        return group

    def assignment_configs(self, group_id: str) -> Pairs:
        """What the assignor is configured with, sorted by name. Kafka: streamsGroupAssignmentConfigs."""
        settings = self.of(group_id)
        replicas = (NUM_STANDBY_REPLICAS, str(settings.num_standby_replicas))
        tags = settings.rack_aware_assignment_tags
        return (replicas, (RACK_AWARE_ASSIGNMENT_TAGS, ",".join(tags))) if tags else (replicas,)

    def _has_target(self, group: StreamsGroup, record: TargetEpoch, turn: Turn) -> None:
        """Whoever has computed it says when that was: a target may go on in a new epoch."""
        if not record.assignment_timestamp:
            group.assigned_at = None
