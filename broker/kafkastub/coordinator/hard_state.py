"""The coordinator's hard state: what survives it, because it is in `__consumer_offsets`.

Offsets, and the last persisted generation of every group. `apply` is the one place where it changes, live and at load
alike. Members' sessions, parked joins and rebalances in progress are soft state and live in the group types' packages.
"""

from __future__ import annotations

from kafkastub.coordinator.offsets import OffsetStore
from kafkastub.coordinator.records import (
    GroupMetadata,
    GroupTombstone,
    OffsetCommit,
    OffsetTombstone,
    PendingOffsets,
    Record,
    TransactionMarker,
)


class HardState:
    """Offsets and generations, as the records say.

    Attributes:
        generations: the last persisted generation of each group that has one.
    """

    __slots__ = ("generations", "offsets")

    def __init__(self) -> None:
        self.offsets = OffsetStore()
        self.generations: dict[str, GroupMetadata] = {}

    def apply(self, record: Record) -> None:
        """Make a record true."""
        if type(record) is OffsetCommit:
            self.offsets.apply_commit(record)
        elif isinstance(record, OffsetTombstone):
            self.offsets.apply_tombstone(record)
        elif isinstance(record, GroupMetadata):
            self.generations[record.group_id] = record
        elif isinstance(record, GroupTombstone):
            self.generations.pop(record.group_id, None)
        elif isinstance(record, PendingOffsets):
            self.offsets.apply_pending(record)

    def complete(self, marker: TransactionMarker) -> None:
        """Make a marker true, in its groups."""
        self.offsets.apply_marker(marker)

    def knows(self, group_id: str) -> bool:
        """Whether there is anything of the group."""
        offsets = self.offsets
        return group_id in self.generations or bool(offsets.topics(group_id)) or offsets.has_pending(group_id)
