"""What both builders of `simple` are made of: Java's maps and sets, as far as their order decides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from math import ceil
from typing import Generic, TypeVar

from kafkastub.coordinator.modern.assignment import TopicDescriber
from kafkastub.coordinator.modern.assignors.errors import AssignorError
from kafkastub.coordinator.modern.assignors.targets import Target
from kafkastub.coordinator.modern.partition_sets import java_order, power_of_two
from kafkawire.java_order import spread

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def sized(entries: int) -> int:
    """The buckets of a map that is made for so many entries. Kafka: AssignorHelpers.newHashMap."""
    return power_of_two(int((entries + 1) / 0.75 + 1))


class Computed(Generic[K, V]):
    """A `HashMap` that is filled by `computeIfAbsent` alone: what comes new is the first in its bucket.

    Args:
        table: so many buckets.
        hash_of: the hash code of a key.
    """

    __slots__ = ("_hash_of", "_table", "entries")

    def __init__(self, table: int, hash_of: Callable[[K], int]) -> None:
        self.entries: dict[K, V] = {}
        self._table = table
        self._hash_of = hash_of

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value, which is made where there is none. The map grows, if it is to, before it is looked up."""
        if len(self.entries) > self._table * 3 // 4:
            self._table *= 2
        found = self.entries.get(key)
        if found is None:
            found = self.entries[key] = make()
        return found

    def in_order(self) -> list[K]:
        """The keys in the order of iteration."""
        mask, hash_of = self._table - 1, self._hash_of
        keys = list(self.entries)
        keys.reverse()
        keys.sort(key=lambda key: spread(hash_of(key)) & mask)
        return keys


class Members:
    """A `HashSet` of members' indexes."""

    __slots__ = ("_added", "_table", "present")

    def __init__(self, table: int = 16) -> None:
        self.present: dict[int, None] = {}
        self._added = 0
        self._table = table

    def add(self, index: int) -> None:
        """One more."""
        self.present[index] = None
        self._added = max(self._added, len(self.present))

    def remove(self, index: int) -> None:
        """One less."""
        self.present.pop(index, None)

    def in_order(self) -> Collection[int]:
        """Those that are in it, in the order of iteration."""
        table = self._table
        while self._added > table * 3 // 4:
            table *= 2
        return list(java_order(self.present, table))


class Unfilled:
    """Members that are to have more, gone through round and round. Kafka: assignRemainingPartitions.

    A round that gives nobody anything is the last.
    """

    __slots__ = ("_at", "_given", "_left", "_round")

    def __init__(self, indexes: Collection[int]) -> None:
        self._left = dict.fromkeys(sorted(indexes))
        self._round = list(self._left)
        self._at = 0
        self._given = False

    def __bool__(self) -> bool:
        return bool(self._left)

    def next(self) -> int | None:
        """The next member; None where nobody can be found for this partition. Raises AssignorError."""
        if self._at >= len(self._round):
            if not self._given:
                return None
            if not self._left:  # what Kafka's class trips over: partitions that may not be assigned any more
                raise AssignorError("No member is left for a partition.")
            self._round, self._at, self._given = list(self._left), 0, False
        self._at += 1
        return self._round[self._at - 1]

    def gave(self, index: int, is_filled: bool) -> None:
        """That member got a partition; it may be the last that it is to have."""
        self._given = True
        if is_filled:
            del self._left[index]


class SharedTarget(Target):
    """A member's target on its way: a topic of which nothing is left stays in it, with no partitions."""

    __slots__ = ()

    def remove(self, topic_id: bytes, partitions: Collection[int]) -> None:
        """It has these no more."""
        found = self._changeable(self._copy(), topic_id)
        if found is not None:
            found.remove(partitions)

    def copy(self) -> None:
        """Make the copy, whether anything changes or not."""
        self._copy()


def desired_counts(sharing: int, partitions: int, members: int) -> list[int]:
    """How many partitions each member is to have, so that each has as many as others, up to one."""
    precise = sharing * partitions / members
    return [ceil(precise * (index + 1)) - ceil(precise * index) for index in range(members)]


def desired_sharing(partitions: int, members: int) -> int:
    """How many members are to have each partition."""
    return (members + partitions - 1) // partitions if partitions else 0


def targets_of(topic_id: bytes, topics: TopicDescriber, assignable: Mapping[bytes, Collection[int]]) -> Sequence[int]:
    """The partitions of a topic that may be assigned. Raises AssignorError where there is no such topic."""
    count = topics.partition_count(topic_id)
    if count < 0:
        raise AssignorError("Members are subscribed to a topic which doesn't exist.")
    may = frozenset(assignable.get(topic_id, ()))
    return [partition for partition in range(count) if partition in may]
