"""The cluster's own state: nodes, topics, partitions and their leaders.

Pure state: no I/O, no clock, no randomness but the one passed in. Whether a name, a count or a configuration is allowed
is for the callers to decide (the handlers, with Kafka's error codes); here a topic either exists or not.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .ids import random_uuid, uuid_text
from .names import INTERNAL_TOPICS, collision_key


@dataclass(slots=True)
class Node:
    """A broker as clients see it: where they connect to it."""

    node_id: int
    host: str
    port: int
    rack: str | None = None


@dataclass(slots=True)
class PartitionState:
    """Who leads a partition and who replicates it (node ids)."""

    index: int
    leader: int
    leader_epoch: int = 0
    replicas: list[int] = field(default_factory=list)
    isr: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Topic:
    """A topic. ``configs`` are its overrides, name to text."""

    name: str
    topic_id: bytes
    partitions: list[PartitionState]
    internal: bool = False
    configs: dict[str, str] = field(default_factory=dict)

    @property
    def replication_factor(self) -> int:
        return len(self.partitions[0].replicas)


class Cluster:
    """All nodes and topics.

    Attributes:
        cluster_id: 22 characters of base64.
        nodes: node id to node.
        controller_id: the node that clients are told is the controller.
        topics: name to topic, in the order of creation. Change it through the methods only.
        group_configs, client_metrics_configs: resource name to its overrides (name to text).
        logger_levels: name of a broker's logger to its level.
    """

    def __init__(
        self,
        source: random.Random,
        nodes: Iterable[Node],
        *,
        controller_id: int | None = None,
        cluster_id: str | None = None,
    ) -> None:
        """At least one node; the first is the controller unless told otherwise."""
        self.nodes: dict[int, Node] = {node.node_id: node for node in nodes}
        self.controller_id = next(iter(self.nodes)) if controller_id is None else controller_id
        self.cluster_id = uuid_text(random_uuid(source)) if cluster_id is None else cluster_id
        self.topics: dict[str, Topic] = {}
        self.group_configs: dict[str, dict[str, str]] = {}
        self.client_metrics_configs: dict[str, dict[str, str]] = {}
        self.logger_levels: dict[str, str] = {"root": "INFO"}
        self._random = source
        self._by_id: dict[bytes, Topic] = {}
        self._collisions: dict[str, set[str]] = {}

    def topic(self, name: str) -> Topic | None:
        return self.topics.get(name)

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        return self._by_id.get(topic_id)

    def has_partition(self, name: str, index: int) -> bool:
        topic = self.topics.get(name)
        return topic is not None and 0 <= index < len(topic.partitions)

    def colliding_topic(self, name: str) -> str | None:
        """An existing topic whose name equals this one's but for ``.`` and ``_`` (itself included), if any."""
        if "." not in name and "_" not in name:
            return None
        return min(self._collisions.get(collision_key(name), ()), default=None)

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        replication_factor: int = 1,
        configs: Mapping[str, str] | None = None,
        *,
        assignments: Sequence[Sequence[int]] | None = None,
        topic_id: bytes | None = None,
    ) -> Topic:
        """Add a topic that does not exist yet. ``assignments``: the replicas of each partition, instead of counts.

        Raises ValueError where the name is taken.
        """
        if name in self.topics:
            raise ValueError(f"topic {name} exists")
        placed = assignments if assignments is not None else self._place(0, partitions, replication_factor)
        topic = Topic(
            name=name,
            topic_id=random_uuid(self._random) if topic_id is None else topic_id,
            partitions=[_partition(index, replicas) for index, replicas in enumerate(placed)],
            internal=name in INTERNAL_TOPICS,
            configs=dict(configs or {}),
        )
        self.topics[name] = self._by_id[topic.topic_id] = topic
        self._collisions.setdefault(collision_key(name), set()).add(name)
        return topic

    def add_partitions(
        self, name: str, count: int, assignments: Sequence[Sequence[int]] | None = None
    ) -> list[PartitionState]:
        """Grow a topic by that many partitions, or by those assigned; returns the new ones."""
        topic = self.topics[name]
        first = len(topic.partitions)
        placed = assignments if assignments is not None else self._place(first, count, topic.replication_factor)
        added = [_partition(first + index, replicas) for index, replicas in enumerate(placed)]
        topic.partitions.extend(added)
        return added

    def delete_topic(self, name: str) -> Topic:
        """Remove a topic and return it. Raises KeyError where there is none."""
        topic = self.topics.pop(name)
        del self._by_id[topic.topic_id]
        key = collision_key(name)
        self._collisions[key].discard(name)
        if not self._collisions[key]:
            del self._collisions[key]
        return topic

    def _place(self, first: int, count: int, replication_factor: int) -> list[list[int]]:
        """Replicas in stripes over the nodes, as Kafka's StripedReplicaPlacer does (no racks; it starts anywhere)."""
        ids = sorted(self.nodes)
        return [
            [ids[(partition + replica) % len(ids)] for replica in range(replication_factor)]
            for partition in range(first, first + count)
        ]


def _partition(index: int, replicas: Sequence[int]) -> PartitionState:
    return PartitionState(index=index, leader=replicas[0], replicas=list(replicas), isr=list(replicas))
