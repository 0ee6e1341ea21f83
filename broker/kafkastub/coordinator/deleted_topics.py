"""Offsets of deleted topics: gone for everybody, while their tombstones are still being written.

One topic may have offsets in a hundred thousand groups. They all go at once; their tombstones follow part by part, so
that others are served between.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

from kafkastub.coordinator.offsets import OffsetStore
from kafkastub.coordinator.records import OffsetTombstone


class OffsetsOfDeletedTopics:
    """What is to have a tombstone, topic by topic."""

    __slots__ = ("_topics",)

    def __init__(self) -> None:
        self._topics: deque[_OfTopic] = deque()

    def __bool__(self) -> bool:
        return bool(self._topics)

    def clear(self) -> None:
        """None is to have one: there are no such records any more, or they are to be read again."""
        self._topics.clear()

    def take(self, offsets: OffsetStore, topics: Iterable[str]) -> None:
        """Drop all offsets of these topics, the pending ones too."""
        for topic in topics:
            of_topic = _OfTopic(offsets, topic)
            if of_topic:
                self._topics.append(of_topic)

    def some(self, offsets: OffsetStore, most: int) -> Iterator[tuple[str, list[OffsetTombstone]]]:
        """So many tombstones at most, group by group."""
        while self._topics and most > 0:
            found = self._topics[0].next(most)
            if found is None:
                self._topics.popleft()
                continue
            group_id, partitions = found
            most -= len(partitions)
            yield group_id, list(_tombstones(offsets, group_id, self._topics[0].topic, partitions))
            offsets.forget_empty(group_id)

    def all_of(self, offsets: OffsetStore, group_id: str) -> Iterator[OffsetTombstone]:
        """Those of one group, which go before anything else is said of it."""
        for of_topic in self._topics:
            yield from _tombstones(offsets, group_id, of_topic.topic, of_topic.pop(group_id))
        offsets.forget_empty(group_id)


class _OfTopic:
    """Partitions by group: those with a committed offset, then those with pending ones, each as often as it has any,
    which is how Kafka does it.
    """

    __slots__ = ("_committed", "_order", "_pending", "_rest", "topic")

    def __init__(self, offsets: OffsetStore, topic: str) -> None:
        self.topic = topic
        self._committed = offsets.drop(topic)
        self._pending: dict[str, list[int]] = {}
        pending = offsets.pending
        for group_id in [one for one, topics in pending.groups.items() if topic in topics]:
            partitions = [partition for name, partition, _ in pending.each(group_id) if name == topic]
            for partition in partitions:
                pending.remove(group_id, topic, partition)
            self._pending[group_id] = partitions
        self._rest: dict[str, list[int]] = {}
        """Of a group that has had some of its tombstones."""
        self._order: Iterator[str] | None = None

    def __bool__(self) -> bool:
        return bool(self._committed or self._pending)

    def pop(self, group_id: str) -> list[int]:
        """What is left of a group."""
        columns = self._committed.pop(group_id, None)
        partitions = self._rest.pop(group_id, []) if columns is None else columns.partitions()
        return partitions + self._pending.pop(group_id, [])

    def next(self, most: int) -> tuple[str, list[int]] | None:
        """The next group, with so many of its partitions at most; None where there is none."""
        if self._order is None:  # of keys that stay where they are: each other way through a dict looks at what is gone
            self._order = iter(list(dict.fromkeys((*self._committed, *self._pending))))
        for group_id in self._order:
            partitions = self.pop(group_id)
            if len(partitions) > most:
                self._rest[group_id] = partitions[most:]
                self._order = chain((group_id,), self._order)
            if partitions:
                return group_id, partitions[:most]
        return None


def _tombstones(
    offsets: OffsetStore, group_id: str, topic: str, partitions: Iterable[int]
) -> Iterator[OffsetTombstone]:
    """But for what was committed since, to a topic of that name that is there again: behind the old record stands a new
    one.
    """
    since = offsets.topic(group_id, topic)
    for partition in partitions:
        if since is not None and since.slot(partition) >= 0:
            continue
        if not offsets.is_pending(group_id, topic, partition):
            yield OffsetTombstone(group_id, topic, partition)
