"""When each offset of a group is going to expire, and by which rule, as long as nothing happens to the group.

The moment comes from `expiry.expires_at` alone, which the sweep goes by as well; what is added here is why.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from kafkastub.coordinator.expiry import NEVER, ExpiryPolicy, expires_at
from kafkastub.coordinator.group import Group
from kafkastub.coordinator.offsets import OffsetStore
from kafkastub.coordinator.records import NO_TIMESTAMP
from kafkastub.coordinator.topic_offsets import TopicOffsets


class Rule(StrEnum):
    """Which line of the table in `expiry` says when an offset goes, or that it stays."""

    OWN_RETENTION = "own_retention"
    """The commit itself said until when it is kept."""
    GROUP_EMPTY = "group_empty"
    """The group is Empty: its offsets' age counts from then, or from the commit where that is not known."""
    NOT_SUBSCRIBED = "not_subscribed"
    """Nobody in the group subscribes to the topic."""
    SIMPLE = "simple"
    """The group only ever committed: each offset by its own age."""
    SUBSCRIBED = "subscribed"
    """It stays: a member subscribes to the topic."""
    ACTIVE = "active"
    """It stays: the group has members, and is not settled, or what they subscribe to is not known."""
    PENDING = "pending"
    """It stays: a transaction that is not decided has another offset of the same partition."""
    KEPT_FOR_EVER = "kept_for_ever"
    """It stays: the broker keeps offsets for ever (KAFKA-20461)."""


class Foreseen(NamedTuple):
    """What becomes of an offset. `at` is broker milliseconds; NEVER where nothing makes it expire."""

    at: int
    rule: Rule


class OfTopic:
    """The forecast for a group's offsets of one topic, as the group is now."""

    __slots__ = ("_columns", "_considered", "_group", "_offsets", "_policy", "_subscribes", "_topic")

    def __init__(
        self, policy: ExpiryPolicy, group: Group, offsets: OffsetStore, topic: str, columns: TopicOffsets
    ) -> None:
        self._policy = policy
        self._group = group
        self._offsets = offsets
        self._topic = topic
        self._columns = columns
        self._considered = group.consideration()
        self._subscribes = group.subscribes(topic)

    def at(self, partition: int, slot: int) -> Foreseen:
        """Of the partition whose offset is in that slot."""
        policy, columns = self._policy, self._columns
        explicit = columns.expire_timestamp(slot)
        considered = None if self._subscribes else self._considered
        at = expires_at(policy, considered, columns.commit_timestamp(slot), explicit)
        if policy.retention_ms < 0:
            return Foreseen(NEVER, Rule.KEPT_FOR_EVER)
        if self._offsets.is_pending(self._group.group_id, self._topic, partition):
            return Foreseen(NEVER, Rule.PENDING)
        if at == NEVER:
            settled = self._considered is not None
            return Foreseen(NEVER, Rule.SUBSCRIBED if settled and self._subscribes else Rule.ACTIVE)
        if explicit != NO_TIMESTAMP:
            return Foreseen(at, Rule.OWN_RETENTION)
        if self._group.protocol_type is None:
            return Foreseen(at, Rule.SIMPLE)
        return Foreseen(at, Rule.GROUP_EMPTY if self._group.is_empty else Rule.NOT_SUBSCRIBED)
