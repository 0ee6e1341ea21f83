"""One share group: what its records say, what follows from that, and what others ask of any group.

`apply` is the one place where a live group changes. Kafka: ModernGroup, ShareGroup.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kafkastub.coordinator.group import GroupDescription
from kafkastub.coordinator.modern.assignment import NO_ASSIGNMENT, Assignment
from kafkastub.coordinator.modern.group import Change, ModernGroup
from kafkastub.coordinator.modern.partition_sets import written_and_read
from kafkastub.coordinator.modern.subscribed import SubscribedTopics
from kafkastub.coordinator.modern.subscriptions import Subscriptions
from kafkastub.coordinator.modern.timers import MemberTimers
from kafkastub.coordinator.records import Record, Tombstone
from kafkastub.coordinator.share import member as members_of
from kafkastub.coordinator.share.member import ShareMember
from kafkastub.coordinator.share.records import (
    TYPES,
    ShareGroupStatePartitionMetadata,
    ShareGroupTargetAssignmentMember,
)


class ShareGroup(ModernGroup[ShareMember, Assignment, MemberTimers]):
    """One group.

    Attributes:
        partition_metadata: of which partitions the state is kept; None before the first of them.
        subscriptions: the topics, counted.

    In no record, and lost on a reload:
        session_timeout_ms: of the group, when a session was last armed.
        initializing_since: when `partition_metadata` was written, timer milliseconds.
        quiet: the last heartbeat found nothing to do for the group, and nothing has changed since.
    """

    __slots__ = (
        "initializing_since",
        "partition_metadata",
        "quiet",
        "session_timeout_ms",
        "subscriptions",
    )

    group_type = "share"
    protocol_type = "share"
    lasting = True
    commits = False
    types = TYPES
    forms = members_of.FORMS
    nothing = NO_ASSIGNMENT

    def __init__(self, group_id: str, topics: SubscribedTopics) -> None:
        super().__init__(group_id, topics)
        self.partition_metadata: ShareGroupStatePartitionMetadata | None = None
        self.subscriptions = Subscriptions(group_id, topics)
        self.session_timeout_ms = -1
        self.initializing_since = 0
        self.quiet = False

    # -- what it looks like --------------------------------------------------------------------------------------

    @property
    def state_name(self) -> str:
        """Empty or Stable. Kafka: ShareGroup.maybeUpdateGroupState."""
        return "Stable" if self.members else "Empty"

    @property
    def subscribed(self) -> dict[str, int]:
        """How many members subscribe to a topic, by its name; to be read only."""
        return self.subscriptions.now.by_name

    @property
    def homogeneous(self) -> bool:
        """Whether all members subscribe to the same."""
        return self.subscriptions.now.homogeneous(len(self.members))

    def described(self) -> GroupDescription:
        """What it looks like now, for those who look from inside."""
        members = self._descriptions(lambda member: sorted(member.subscribed_topic_names))
        return GroupDescription(self.epoch, None, None, members)

    def _session_timeout_ms(self, timers: MemberTimers) -> int:
        return self.session_timeout_ms

    # -- offsets: a share group commits none ---------------------------------------------------------------------

    def subscribes(self, topic: str) -> bool:
        """Whether a member subscribes to the topic."""
        return topic in self.subscribed

    # -- the end -------------------------------------------------------------------------------------------------

    def _own_tombstones(self) -> list[Record]:
        return [Tombstone(ShareGroupStatePartitionMetadata, self.group_id)]

    def end(self, broker_ms: int) -> None:
        """It is gone: nothing of it happens any more."""
        super().end(broker_ms)
        self.subscriptions.forget()

    # -- records -------------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        self.quiet = False

    def _replace(self, old: ShareMember | None, new: ShareMember | None) -> None:
        self.subscriptions.replace(old, new)

    def _read_target(self, record: ShareGroupTargetAssignmentMember) -> Assignment:
        return {topic_id: written_and_read(some) for topic_id, some in record.partitions.items()}

    def _apply_partition_metadata(self, record: ShareGroupStatePartitionMetadata) -> None:
        self.partition_metadata = record

    def _end_partition_metadata(self, record: Tombstone) -> None:
        self.partition_metadata = None

    changes: ClassVar[Mapping[str, Change]] = {
        **ModernGroup.changes,
        "partition_metadata": Change(_apply_partition_metadata, _end_partition_metadata),
    }
