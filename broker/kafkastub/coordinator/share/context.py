"""What everything that happens to a share group needs of its surroundings, and how it is written down."""

from __future__ import annotations

from collections.abc import Sequence

from kafkastub.coordinator.cluster import ClusterImage, NoTopics
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.modern.assignors.simple import SimpleAssignor
from kafkastub.coordinator.modern.settings import ShareGroupConfig, ShareGroupSettings
from kafkastub.coordinator.modern.subscribed import SubscribedTopics
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.share.group import ShareGroup
from kafkastub.coordinator.share.records import (
    ShareGroupStatePartitionMetadata,
    ShareGroupTargetAssignmentMetadata,
)
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import ErrorCode, KafkaError


class ShareContext:
    """The surroundings of all share groups.

    Attributes:
        groups: all groups, of every type.
        settings: the broker's part of the configuration; may be changed while it runs.
        topics: who subscribes to what.
        assignor: who computes targets; there is one.
        rebalances: how often a group's epoch was raised by a heartbeat (KIP-932: share-group-rebalances).
    """

    __slots__ = ("_no_topics", "assignor", "groups", "rebalances", "settings", "topics")

    def __init__(self, groups: Groups, settings: ShareGroupSettings) -> None:
        self.groups = groups
        self.settings = settings
        self.topics = SubscribedTopics(lambda: self.image)
        self.assignor = SimpleAssignor()
        self.rebalances = 0
        self._no_topics = NoTopics()

    @property
    def image(self) -> ClusterImage:
        """The topics as they are now."""
        image = self.groups.image
        return self._no_topics if image is None else image

    # -- configuration -------------------------------------------------------------------------------------------

    def _of(self, group_id: str) -> ShareGroupConfig:
        return self.groups.share_configs(group_id) or _NO_CONFIG

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

    def new(self, group_id: str) -> ShareGroup:
        """A group that nobody knows of yet."""
        return ShareGroup(group_id, self.topics)

    def find(self, group_id: str) -> ShareGroup | None:
        """The group, where there is one of this type."""
        group = self.groups.groups.get(group_id)
        return group if type(group) is ShareGroup else None

    def known(self, group_id: str) -> ShareGroup:
        """The group. Raises GROUP_ID_NOT_FOUND. Kafka: GroupMetadataManager.shareGroup."""
        group = self.groups.groups.get(group_id)
        if type(group) is ShareGroup:
            return group
        what = f"Group {group_id} not found." if group is None else f"Group {group_id} is not a share group."
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, what)

    def known_or_new(self, group_id: str, create: bool) -> ShareGroup:
        """The group, or with `create` a new one where there is none of any type. Raises GROUP_ID_NOT_FOUND.

        Kafka: getOrMaybeCreateShareGroup.
        """
        if group_id in self.groups.groups:
            return self.known(group_id)
        if create:
            return self.new(group_id)
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {group_id} not found.")

    def write(self, group: ShareGroup, records: Sequence[Record], turn: Turn) -> None:
        """Make records of a group true: they are appended to the turn, in order, and change the group."""
        if not records:
            return
        groups, log = self.groups, self.groups.log
        groups.groups.setdefault(group.group_id, group)
        for record in records:
            log(turn, record)
            group.apply(record)
            if type(record) is ShareGroupTargetAssignmentMetadata:
                group.assigned_at = turn.timer_ms if record.assignment_timestamp else None
            elif type(record) is ShareGroupStatePartitionMetadata:
                group.initializing_since = max(group.initializing_since, turn.timer_ms)


_NO_CONFIG = ShareGroupConfig()
