"""What everything that happens to a share group needs of its surroundings."""

from __future__ import annotations

from collections.abc import Sequence

from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.modern.assignors.simple import SimpleAssignor
from kafkastub.coordinator.modern.context import ModernContext
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.share.group import ShareGroup
from kafkastub.coordinator.share.records import ShareGroupStatePartitionMetadata
from kafkastub.coordinator.share.settings import ShareGroupSettings
from kafkastub.coordinator.turn import Turn


class ShareContext(ModernContext[ShareGroup, ShareGroupSettings]):
    """The surroundings of all share groups.

    Attributes:
        assignor: who computes targets; there is one.
    """

    __slots__ = ("assignor",)

    replaces_classic = False

    def __init__(self, groups: Groups, settings: ShareGroupSettings) -> None:
        super().__init__(groups, settings, ShareGroup)
        self.assignor = SimpleAssignor()

    def write(self, group: ShareGroup, records: Sequence[Record], turn: Turn) -> None:
        """Make records of a group true: they are appended to the turn, in order, and change the group."""
        super().write(group, records, turn)
        if any(type(record) is ShareGroupStatePartitionMetadata for record in records):
            group.initializing_since = max(group.initializing_since, turn.timer_ms)
