"""When an offset expires: the whole rule on one page.

    group                                               offsets considered          age counted from
    --------------------------------------------------  --------------------------  ---------------------------------
    protocol type present, Empty                        all                         the group's state timestamp,
                                                                                    else the commit's
    consumer, Stable, every subscription known          of topics nobody subscribes the commit's timestamp
    any other non-Empty state, or a subscription that   none                        -
    cannot be parsed
    no protocol type (simple consumer)                  all                         the commit's timestamp

KIP-211, KIP-496; Kafka: ClassicGroup.offsetExpirationCondition, OffsetExpirationConditionImpl,
OffsetMetadataManager.cleanupExpiredOffsets. Everything is broker milliseconds, and every comparison is `>=`.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from kafkastub.coordinator.group import NOT_DUE, Consideration, Group
from kafkastub.coordinator.offsets import OffsetStore
from kafkastub.coordinator.records import NO_TIMESTAMP
from kafkastub.coordinator.topic_offsets import TopicOffsets

NEVER = NOT_DUE


@dataclass(slots=True)
class ExpiryPolicy:
    """How long offsets are kept.

    Attributes:
        retention_ms: of offsets without their own retention; negative for ever, and then for all (KAFKA-20461).
        explicit_ignores_state: a commit's own retention counts whatever its group's state and subscription.
    """

    retention_ms: int
    explicit_ignores_state: bool


def expires_at(
    policy: ExpiryPolicy, considered: Consideration | None, commit_timestamp: int, expire_timestamp: int
) -> int:
    """From when on an offset is expired; NEVER while nothing makes it expire.

    Args:
        considered: the group's consideration, or None where it subscribes to the offset's topic.
        expire_timestamp: of a commit with its own retention, else -1.
    """
    if policy.retention_ms < 0:
        return NEVER
    explicit = expire_timestamp != NO_TIMESTAMP
    if considered is None and not (explicit and policy.explicit_ignores_state):
        return NEVER
    if explicit:
        return expire_timestamp
    assert considered is not None
    return (commit_timestamp if considered.since is None else considered.since) + policy.retention_ms


class Examination(NamedTuple):
    """What a look at one group found.

    Attributes:
        expired: the offsets that are expired, as (topic, partition).
        all_gone: none is left when these are gone, and no transaction has one pending.
        check_at: nothing else of the group expires before this, unless it changes.
    """

    expired: list[tuple[str, int]]
    all_gone: bool
    check_at: int


def examine(policy: ExpiryPolicy, group: Group, offsets: OffsetStore, now: int) -> Examination:
    """Find the expired offsets of a group. A pending transactional offset keeps its partition's offset alive.

    Whoever decides the transaction touches the group: until then there is no time to look at it again for that.
    """
    considered = group.consideration()
    expired: list[tuple[str, int]] = []
    left = offsets.has_pending(group.group_id)
    check_at = NEVER
    for topic, columns in offsets.topics(group.group_id).items():
        of_topic = None if group.subscribes(topic) else considered
        if _none_due(policy, of_topic, columns, now):
            left = True
            if of_topic is not None and policy.retention_ms >= 0:
                base = columns.oldest if of_topic.since is None else of_topic.since
                check_at = min(check_at, base + policy.retention_ms)
            continue
        oldest = NEVER
        for partition in columns.partitions():
            slot = columns.slot(partition)
            committed = columns.commit_timestamp(slot)
            at = expires_at(policy, of_topic, committed, columns.expire_timestamp(slot))
            if at > now:
                check_at = min(check_at, at)
            elif not offsets.is_pending(group.group_id, topic, partition):
                expired.append((topic, partition))
                continue
            left = True
            oldest = min(oldest, committed)
        columns.oldest = oldest
    return Examination(expired, not left, check_at)


def _none_due(policy: ExpiryPolicy, considered: Consideration | None, columns: TopicOffsets, now: int) -> bool:
    """Whether a glance tells that nothing of a topic is expired."""
    if policy.retention_ms < 0:
        return True
    if columns.explicit_expiry:
        return False
    if considered is None:
        return True
    base = columns.oldest if considered.since is None else considered.since
    return base + policy.retention_ms > now


_PRUNE_FROM = 64


class ExpiryIndex:
    """Which groups the sweep has to look at, so that its cost follows what is due and not what lives."""

    __slots__ = ("_heap", "_limit", "_serial")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Group]] = []
        self._serial = count()
        self._limit = _PRUNE_FROM

    def __len__(self) -> int:
        """How many entries it holds, those that count no more included."""
        return len(self._heap)

    def touch(self, group: Group, at: int) -> None:
        """Something of the group may be due at that time."""
        if at < group.check_at:
            group.check_at = at
            heapq.heappush(self._heap, (at, next(self._serial), group))
            if len(self._heap) > self._limit:
                self._prune()

    @staticmethod
    def forget(group: Group) -> None:
        """The group is gone."""
        group.check_at = NEVER

    def _prune(self) -> None:
        """Drop the entries that count no more: they stand for times that may be far away."""
        self._heap = [entry for entry in self._heap if entry[2].check_at == entry[0]]
        heapq.heapify(self._heap)
        self._limit = max(2 * len(self._heap), _PRUNE_FROM)

    def due(self, now: int, most: int | None = None) -> list[Group]:
        """Take the groups that have to be looked at now, at most so many; whoever looks touches them again."""
        groups: list[Group] = []
        while self._heap and self._heap[0][0] <= now and len(groups) != most:
            at, _, group = heapq.heappop(self._heap)
            if group.check_at == at:
                group.check_at = NEVER
                groups.append(group)
        return groups

    def next(self) -> int | None:
        """When there is something to look at, at the earliest; a sweep before that finds nothing."""
        while self._heap and self._heap[0][2].check_at != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None
