"""What groups with epochs have in common, whatever their type. Kafka: ModernGroup, and what StreamsGroup has of it."""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

from kafkastub.coordinator.group import NOT_DUE
from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadlines
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import string_timeline_order

FIRST_EPOCH: Final = 1
Member = TypeVar("Member")


class ModernGroup(Generic[Member]):
    """One group of any such type.

    Attributes:
        members: by member id.
        target_epoch: the epoch that the target was computed for.
        target_timestamp: when it was computed, broker milliseconds.

    Soft, and lost on a reload:
        metadata_stale: the topics may be others than those that the epoch was made for.
        assigned_at: when the target was computed, timer milliseconds; None where nothing keeps from a new one.
    """

    __slots__ = (
        "_peak",
        "assigned_at",
        "check_at",
        "group_id",
        "members",
        "metadata_stale",
        "target_epoch",
        "target_timestamp",
    )

    state_timestamp: Final = None

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.members: dict[str, Member] = {}
        self.target_epoch = FIRST_EPOCH
        self.target_timestamp = 0
        self.metadata_stale = True
        self.assigned_at: int | None = None
        self.check_at = NOT_DUE
        self._peak = 0

    @property
    def is_empty(self) -> bool:
        """Whether it is in the state Empty."""
        return not self.members

    @property
    def size(self) -> int:
        """How many members it has."""
        return len(self.members)

    def in_order(self) -> list[Member]:
        """The members in the order in which Kafka goes through them."""
        return [self.members[member_id] for member_id in string_timeline_order(self.members, self._peak)]

    def member(self, member_id: str) -> Member:
        """A member. Raises UNKNOWN_MEMBER_ID."""
        member = self.members.get(member_id)
        if member is None:
            what = f"Member {member_id} is not a member of group {self.group_id}."
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, what)
        return member

    def keep_alive(self, member_id: str, deadlines: Deadlines[Turn], timer_ms: int) -> int | None:
        """A commit keeps no session alive here, and each offset has its own age."""
        return None

    def validate_delete(self) -> None:
        """Raises NON_EMPTY_GROUP while the group has members."""
        if self.members:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def _put(self, member_id: str, member: Member) -> None:
        self._peak = max(self._peak, len(self.members) + 1)  # Kafka's map makes room before it looks who is there
        self.members[member_id] = member

    def _apply_target_epoch(self, record: Any) -> None:
        self.target_epoch = record.assignment_epoch
        self.target_timestamp = record.assignment_timestamp

    def _apply_no_target_epoch(self, record: Any) -> None:
        self.target_epoch, self.target_timestamp = -1, 0
