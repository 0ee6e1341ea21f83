"""A member's target on its way from the old one to the new one, as `uniform` changes it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafkastub.coordinator.modern.assignment import Assignment
from kafkastub.coordinator.modern.partition_sets import Growing, copy_of, power_of_two, written_and_read
from kafkastub.steps import Pace
from kafkawire.java_order import hash_map_order, spread, uuid_hash


class Target:
    """What a member had, and a copy that is made when it first changes. Kafka: AssignorHelpers.deepCopyAssignment.

    The copy iterates as Kafka's: a map made for as many topics as there were, in which a topic that comes new is before
    those that share its bucket (HashMap.computeIfAbsent), and which grows with what comes next when it is full.

    Attributes:
        old: what it had.
    """

    __slots__ = ("_added", "_new", "_table", "old")

    def __init__(self, old: Assignment) -> None:
        self.old = old
        self._new: dict[bytes, frozenset[int] | Growing] | None = None
        self._added: list[bytes] = []
        self._table = 0

    def forget(self, topic_id: bytes) -> None:
        """It has nothing of the topic."""
        self._copy().pop(topic_id, None)

    def remove(self, topic_id: bytes, partitions: Collection[int]) -> None:
        """It has these no more; it had them."""
        new = self._copy()
        found = self._changeable(new, topic_id)
        if found is not None:
            found.remove(partitions)
            if not found.partitions:
                del new[topic_id]

    def add(self, topic_id: bytes, partitions: Collection[int], expected: int = 0) -> None:
        """It gets these. Where they are the first of the topic, the set is made for `expected` partitions."""
        new = self._copy()
        found = self._changeable(new, topic_id)
        self._grow(new)
        if found is None:
            self._added.append(topic_id)
            if len(partitions) == 1 and not expected:
                new[topic_id] = frozenset(partitions)
            else:
                found = new[topic_id] = Growing((), power_of_two(int(expected / 0.75 + 1)) if expected else 16)
        if found is not None:
            found.add(partitions)
        if len(partitions) > 1:
            self._grow(new)

    def result(self) -> Assignment:
        """What it has now: the old target itself where nothing has changed."""
        new = self._new
        if new is None:
            return self.old
        result = {}
        for topic in self._in_order(new) if len(new) > 1 else new:
            partitions = new[topic]
            if isinstance(partitions, Growing):
                result[topic] = partitions.frozen()
            else:
                result[topic] = written_and_read(partitions) if len(partitions) > 1 else partitions
        return result

    def _in_order(self, new: Collection[bytes]) -> list[bytes]:
        added = dict.fromkeys(reversed(self._added))
        mask = self._table - 1
        in_order = [topic for topic in (*added, *(topic for topic in new if topic not in added)) if topic in new]
        return sorted(in_order, key=lambda topic: spread(uuid_hash(topic)) & mask)

    def _grow(self, new: Collection[bytes]) -> None:
        """What a map does when it is asked for a topic: once for each partition, whether it has the topic or not."""
        if len(new) > self._table * 3 // 4:
            self._table *= 2

    def _copy(self) -> dict[bytes, frozenset[int] | Growing]:
        if self._new is None:
            old = self.old
            in_order = hash_map_order((uuid_hash(topic), topic) for topic in old) if len(old) > 1 else old
            self._new = {topic: old[topic] for topic in in_order}
            self._table = power_of_two(len(self._new))
            while len(self._new) > self._table * 3 // 4:
                self._table *= 2
        return self._new

    @staticmethod
    def _changeable(new: dict[bytes, frozenset[int] | Growing], topic_id: bytes) -> Growing | None:
        partitions = new.get(topic_id)
        if partitions is not None and not isinstance(partitions, Growing):
            partitions = new[topic_id] = copy_of(partitions)
        return partitions


def results(targets: Mapping[str, Target], pace: Pace) -> dict[str, Assignment]:
    """What each of these members has now."""
    found: dict[str, Assignment] = {}
    for member_id, target in targets.items():
        found[member_id] = target.result()
        pace(1)
    return found
