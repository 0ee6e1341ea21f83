"""The nodes' log directories: which of them each replica is in, and where new ones go (KIP-113, KIP-1066).

They are what clients are told: where records really are is --data-dir's business. Every node has those that the
configuration names, and a replica is put where Kafka puts it (``LogManager.createLog``): into the directory that
somebody asked for, else into the one with the fewest logs, the first of them in ``log.dirs``, cordoned ones left out.
What one request brings comes in the order of a hash map, what the node leads first (``TopicsDelta.localChanges``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Final

from kafkastub.config import BrokerConfig
from kafkastub.config.log_dirs import ANY, CORDONED, absolute, named
from kafkastub.metadata import PartitionState, Topic
from kafkawire.java_order import hash_map_order, string_hash

MOST_PREFERENCES: Final = 10_000
"""Wishes for replicas that are not there yet; the oldest is forgotten (Kafka keeps all until it ends)."""

Replica = tuple[bytes, int]
"""Topic id and partition."""
_Change = tuple[Topic, PartitionState]


class LogDirs:
    """Where the replicas of all nodes are; directories are numbers, those of `paths`.

    Attributes:
        paths: the directories, absolute, in the order of the configuration; each node has them.
    """

    __slots__ = ("_config", "_counts", "_held", "_preferred", "_where", "paths")

    def __init__(self, config: BrokerConfig) -> None:
        self.paths = tuple(dict.fromkeys(map(absolute, named(config))))
        self._config = config
        self._where: dict[int, dict[Replica, int]] = {}
        """Node id to its replicas; nothing where there is one directory only."""
        self._counts: dict[int, list[int]] = {}
        """How many of a node's replicas each directory has."""
        self._preferred: dict[tuple[int, str, int], int] = {}
        """By node id, topic and partition."""
        self._held: list[_Change] | None = None

    @property
    def several(self) -> bool:
        return len(self.paths) > 1

    @property
    def cordoned(self) -> frozenset[int]:
        """Those that take no new replicas."""
        written: Sequence[str] = self._config[CORDONED]
        if not written:
            return frozenset()
        if ANY in written:
            return frozenset(range(len(self.paths)))
        return frozenset(self.paths.index(absolute(one)) for one in written)

    @property
    def all_cordoned(self) -> bool:
        return len(self.cordoned) == len(self.paths)

    def number(self, path: str) -> int | None:
        """The directory that is told under exactly this path."""
        return self.paths.index(path) if path in self.paths else None

    def of(self, node_id: int, topic: Topic, index: int) -> int:
        """The directory of a node's replica."""
        return self._where[node_id].get((topic.topic_id, index), 0) if node_id in self._where else 0

    def move(self, node_id: int, topic: Topic, index: int, number: int) -> bool:
        """Bring a replica into another directory; whether it was not there."""
        if not self.several or self.of(node_id, topic, index) == number:
            return False
        self._put(node_id, (topic.topic_id, index), number)
        return True

    def prefer(self, node_id: int, name: str, index: int, number: int) -> None:
        """Where a replica is to be made that the node does not have yet, should it ever come."""
        if not self.several:
            return
        key = (node_id, name, index)
        self._preferred.pop(key, None)
        self._preferred[key] = number
        if len(self._preferred) > MOST_PREFERENCES:
            del self._preferred[next(iter(self._preferred))]

    def wishes(self) -> list[tuple[int, str, int, str]]:
        """Node, topic, partition and directory of what was preferred and is not there yet."""
        return [(*where, self.paths[number]) for where, number in self._preferred.items()]

    # -- replicas come and go --------------------------------------------------------------------------------------

    @contextmanager
    def together(self) -> Iterator[None]:
        """What comes meanwhile comes at once, as with one request to Kafka's controller."""
        held = self._held = [] if self._held is None else self._held
        try:
            yield
        finally:
            self._held = None
            changes = held.copy()
            held.clear()  # another large request may have come together with this one
            self._settle(changes)

    def follow(self, topic: Topic, partitions: Iterable[PartitionState]) -> None:
        """These partitions are new, or have other replicas."""
        if not self.several:
            return
        changes = [(topic, partition) for partition in partitions]
        if self._held is None:
            self._settle(changes)
        else:
            self._held += changes

    def forget(self, topic: Topic) -> None:
        """The topic is gone."""
        for node_id, where in self._where.items():
            for partition in topic.partitions:
                number = where.pop((topic.topic_id, partition.index), None)
                if number is not None:
                    self._counts[node_id][number] -= 1

    def _settle(self, changes: Sequence[_Change]) -> None:
        for node_id in sorted({*self._where, *(one for _, partition in changes for one in partition.replicas)}):
            where = self._where.setdefault(node_id, {})
            led: list[_Change] = []
            followed: list[_Change] = []
            for topic, partition in changes:
                key = (topic.topic_id, partition.index)
                if node_id not in partition.replicas:
                    if key in where:
                        self._counts[node_id][where.pop(key)] -= 1
                elif key not in where:
                    (led if partition.leader == node_id else followed).append((topic, partition))
            for topic, partition in (*_in_order(led), *_in_order(followed)):
                wish = self._preferred.pop((node_id, topic.name, partition.index), None)
                number = self._least(node_id) if wish is None else wish
                self._put(node_id, (topic.topic_id, partition.index), number)

    def _least(self, node_id: int) -> int:
        """Kafka: LogManager.nextLogDirs."""
        cordoned, counts = self.cordoned, self._counts.get(node_id)
        open_to = [number for number in range(len(self.paths)) if number not in cordoned] or [0]
        return open_to[0] if counts is None else min(open_to, key=counts.__getitem__)

    def _put(self, node_id: int, replica: Replica, number: int) -> None:
        where = self._where.setdefault(node_id, {})
        counts = self._counts.setdefault(node_id, [0] * len(self.paths))
        if replica in where:
            counts[where[replica]] -= 1
        where[replica] = number
        counts[number] += 1

    # -- over a restart --------------------------------------------------------------------------------------------

    def document(self, topic: Topic, partition: PartitionState) -> dict[str, list[str]]:
        """What is to be kept of a partition: the directory of each of its replicas, where there are several."""
        if not self.several:
            return {}
        return {"log_dirs": [self.paths[self.of(one, topic, partition.index)] for one in partition.replicas]}

    def restore(self, topic: Topic, kept: Iterable[Sequence[str] | None]) -> None:
        """What `document` said of each partition; a directory that is no more is as new for its replicas.

        Where nothing was kept there was one directory, which the first one stands for.
        """
        if not self.several:
            return
        for partition, paths in zip(topic.partitions, kept, strict=False):
            for node_id, path in zip(partition.replicas, paths or repeat(self.paths[0]), strict=False):
                number = self.number(path)
                if number is not None:
                    self._put(node_id, (topic.topic_id, partition.index), number)
        self.follow(topic, topic.partitions)


def _in_order(changes: Iterable[_Change]) -> list[_Change]:
    """As a HashMap with a TopicPartition as its key."""
    hashes: dict[str, int] = {}
    keyed = []
    for topic, partition in changes:
        name = hashes.get(topic.name)
        if name is None:
            name = hashes[topic.name] = string_hash(topic.name)
        keyed.append(((31 * (31 + partition.index) + name) & 0xFFFFFFFF, (topic, partition)))
    return hash_map_order(keyed)
