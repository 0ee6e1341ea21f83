"""One share group: what its records say, what follows from that, and what others ask of any group.

`apply` is the one place where a live group changes. Kafka: ModernGroup, ShareGroup.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from kafkastub.coordinator.group import GroupDescription, MemberDescription, PartitionCheck
from kafkastub.coordinator.modern.assignment import Assignment
from kafkastub.coordinator.modern.counts import decrease, increase
from kafkastub.coordinator.modern.group import FIRST_EPOCH, ModernGroup
from kafkastub.coordinator.modern.partition_sets import written_and_read
from kafkastub.coordinator.modern.subscribed import SubscribedTopics
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.share import member as members_of
from kafkastub.coordinator.share.member import ShareMember
from kafkastub.coordinator.share.records import (
    TYPES,
    ShareGroupCurrentMemberAssignment,
    ShareGroupCurrentMemberAssignmentTombstone,
    ShareGroupMemberMetadata,
    ShareGroupMemberMetadataTombstone,
    ShareGroupMetadata,
    ShareGroupStatePartitionMetadata,
    ShareGroupStatePartitionMetadataTombstone,
    ShareGroupTargetAssignmentMember,
    ShareGroupTargetAssignmentMemberTombstone,
    ShareGroupTargetAssignmentMetadata,
    ShareGroupTargetAssignmentMetadataTombstone,
)
from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadline
from kafkawire.errors import ErrorCode, KafkaError

NO_ASSIGNMENT: Final[Assignment] = {}


class ShareGroup(ModernGroup[ShareMember]):
    """One group.

    Attributes:
        epoch: raised by whatever asks for a new target.
        metadata_hash: what the group knows its topics by.
        target: by member id.
        partition_metadata: of which partitions the state is kept; None before the first of them.
        subscribed: how many members subscribe to a topic, by its name.

    Soft, and lost on a reload:
        sessions: by member id.
        session_timeout_ms: of the group, when a session was last armed.
        initializing_since: when `partition_metadata` was written, timer milliseconds.
        quiet: the last heartbeat found nothing to do for the group, and nothing has changed since.
    """

    __slots__ = (
        "_topics",
        "epoch",
        "initializing_since",
        "metadata_hash",
        "partition_metadata",
        "quiet",
        "session_timeout_ms",
        "sessions",
        "subscribed",
        "target",
    )

    group_type: Final = "share"
    protocol_type: Final = "share"
    lasting: Final = True

    def __init__(self, group_id: str, topics: SubscribedTopics) -> None:
        super().__init__(group_id)
        self._topics = topics
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.target: dict[str, Assignment] = {}
        self.partition_metadata: ShareGroupStatePartitionMetadata | None = None
        self.subscribed: dict[str, int] = {}
        self.sessions: dict[str, Deadline[Turn]] = {}
        self.session_timeout_ms = -1
        self.initializing_since = 0
        self.quiet = False

    # -- what it looks like --------------------------------------------------------------------------------------

    @property
    def state_name(self) -> str:
        """Empty or Stable. Kafka: ShareGroup.maybeUpdateGroupState."""
        return "Stable" if self.members else "Empty"

    @property
    def homogeneous(self) -> bool:
        """Whether all members subscribe to the same."""
        return is_homogeneous(self.subscribed, len(self.members))

    def target_of(self, member_id: str) -> Assignment:
        """What the member is to have."""
        return self.target.get(member_id, NO_ASSIGNMENT)

    def subscribed_after(self, old: ShareMember | None, new: ShareMember | None) -> dict[str, int]:
        """How many members subscribe to a topic, once the one is gone and the other one is there."""
        counts = dict(self.subscribed)
        for name in () if old is None else old.subscribed_topic_names:
            decrease(counts, name)
        for name in () if new is None else new.subscribed_topic_names:
            increase(counts, name)
        return counts

    def described(self) -> GroupDescription:
        """What it looks like now, for those who look from inside."""
        members = [
            MemberDescription(
                m.member_id,
                None,
                m.client_id,
                m.client_host,
                self.session_timeout_ms if m.member_id in self.sessions else -1,
                -1,
                sorted(m.subscribed_topic_names),
            )
            for m in self.in_order()
        ]
        return GroupDescription(self.epoch, None, None, members)

    # -- offsets: a share group commits none ---------------------------------------------------------------------

    def consideration(self) -> None:
        """There are none that could expire."""

    def subscribes(self, topic: str) -> bool:
        """Whether a member subscribes to the topic."""
        return topic in self.subscribed

    def validate_offset_commit(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation: int,
        *,
        version: int = 9,
        transactional: bool = False,
    ) -> PartitionCheck | None:
        """Raises GROUP_ID_NOT_FOUND."""
        self._refuse_offsets()

    def validate_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Anybody may fetch what is not there. Kafka: OffsetMetadataManager.fetchOffsets."""

    def validate_offset_delete(self) -> None:
        """Raises GROUP_ID_NOT_FOUND."""
        self._refuse_offsets()

    def _refuse_offsets(self) -> NoReturn:
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {self.group_id} is not a consumer group.")

    # -- the end -------------------------------------------------------------------------------------------------

    def tombstones(self) -> list[Record]:
        """The records that end it. Kafka: createGroupTombstoneRecords."""
        group_id, members = self.group_id, [member.member_id for member in self.in_order()]
        return TYPES.ending(group_id, members, [ShareGroupStatePartitionMetadataTombstone(group_id)])

    def end(self, broker_ms: int) -> None:
        """It is gone: nothing of it happens any more."""
        for session in self.sessions.values():
            session.cancel()
        self.sessions.clear()
        for name in self.subscribed:
            self._topics.discard(name, self.group_id)

    # -- records -------------------------------------------------------------------------------------------------

    def apply(self, record: Record) -> None:
        """Make a record of this group true; those of other types mean nothing here."""
        change = _CHANGES.get(type(record))
        if change is not None:
            self.quiet = False
            change(self, record)

    def _update(self, member: ShareMember) -> None:
        old = self.members.get(member.member_id)
        self._put(member.member_id, member)
        before = frozenset[str]() if old is None else old.subscribed_topic_names
        self._subscribe(before, member.subscribed_topic_names)

    def _subscribe(self, before: frozenset[str], after: frozenset[str]) -> None:
        if before is after or before == after:
            return
        counts = self.subscribed
        for name in after - before:
            if name not in counts:
                self._topics.add(name, self.group_id)
            increase(counts, name)
        for name in before - after:
            decrease(counts, name)
            if name not in counts:
                self._topics.discard(name, self.group_id)

    def _known(self, member_id: str) -> ShareMember:
        return self.members.get(member_id) or ShareMember(member_id)

    def _apply_epoch(self, record: ShareGroupMetadata) -> None:
        self.epoch = record.epoch
        self.metadata_hash = record.metadata_hash

    def _apply_member(self, record: ShareGroupMemberMetadata) -> None:
        self._update(members_of.with_metadata(self._known(record.member_id), record))

    def _apply_no_member(self, record: ShareGroupMemberMetadataTombstone) -> None:
        old = self.members.pop(record.member_id, None)
        if old is not None:
            self._subscribe(old.subscribed_topic_names, frozenset())
        session = self.sessions.pop(record.member_id, None)
        if session is not None:
            session.cancel()

    def _apply_current(self, record: ShareGroupCurrentMemberAssignment) -> None:
        self._update(members_of.with_assignment(self._known(record.member_id), record))

    def _apply_no_current(self, record: ShareGroupCurrentMemberAssignmentTombstone) -> None:
        member = self.members.get(record.member_id)
        if member is not None:
            self._update(members_of.without_assignment(member))

    def _apply_target(self, record: ShareGroupTargetAssignmentMember) -> None:
        self.target[record.member_id] = {t: written_and_read(some) for t, some in record.partitions.items()}

    def _apply_no_target(self, record: ShareGroupTargetAssignmentMemberTombstone) -> None:
        self.target.pop(record.member_id, None)

    def _apply_partition_metadata(self, record: Record) -> None:
        self.partition_metadata = record if isinstance(record, ShareGroupStatePartitionMetadata) else None


def is_homogeneous(subscribed: dict[str, int], members: int) -> bool:
    """Whether so many members all subscribe to the same. Kafka: ModernGroup.subscriptionType."""
    return all(count == members for count in subscribed.values())


_CHANGES: Final[dict[type[Record], Callable[[ShareGroup, Any], None]]] = {
    ShareGroupMetadata: ShareGroup._apply_epoch,
    ShareGroupMemberMetadata: ShareGroup._apply_member,
    ShareGroupMemberMetadataTombstone: ShareGroup._apply_no_member,
    ShareGroupCurrentMemberAssignment: ShareGroup._apply_current,
    ShareGroupCurrentMemberAssignmentTombstone: ShareGroup._apply_no_current,
    ShareGroupTargetAssignmentMetadata: ShareGroup._apply_target_epoch,
    ShareGroupTargetAssignmentMetadataTombstone: ShareGroup._apply_no_target_epoch,
    ShareGroupTargetAssignmentMember: ShareGroup._apply_target,
    ShareGroupTargetAssignmentMemberTombstone: ShareGroup._apply_no_target,
    ShareGroupStatePartitionMetadata: ShareGroup._apply_partition_metadata,
    ShareGroupStatePartitionMetadataTombstone: ShareGroup._apply_partition_metadata,
}
