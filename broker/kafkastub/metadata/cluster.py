"""The cluster's own state: nodes, topics, partitions and their leaders.

Pure state: no I/O, no clock, no randomness but the one passed in. Whether a name, a count or a configuration is allowed
is for the callers to decide (the handlers, with Kafka's error codes); here a topic either exists or not.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .ids import random_uuid, uuid_text
from .names import INTERNAL_TOPICS, collision_key
from .placement import Candidate, place

PLAINTEXT: Final = "PLAINTEXT"
_REMEMBERED: Final = 1000


class Endpoint(NamedTuple):
    """A broker as clients of one listener see it: where they connect to it."""

    node_id: int
    host: str
    port: int
    rack: str | None


class Changes:
    """Of a cluster: how many there have been."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Node:
    """A broker: where it listens, in which rack it is.

    Attributes:
        endpoints: listener name to (host, port) that clients of this listener are told.
        alive: whether it serves; one that does not is what Kafka calls fenced.
        registered: whether the cluster knows it: not from UnregisterBroker on until it starts again.
        left: where it was last seen in the metadata log, and when (broker time), while it is stopped.
    """

    __slots__ = ("_changes", "alive", "endpoints", "left", "node_id", "rack", "registered")

    def __init__(
        self,
        node_id: int,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        endpoints: Mapping[str, tuple[str, int]] | None = None,
    ) -> None:
        """`host` and `port` are the one listener PLAINTEXT where no `endpoints` are given."""
        self._changes: Changes
        self.count_in(Changes())
        self.node_id = node_id
        self.rack = rack
        self.alive = self.registered = True
        self.left: tuple[int, int] | None = None
        self.endpoints: dict[str, tuple[str, int]] = dict(endpoints or {PLAINTEXT: (host, port)})

    def count_in(self, changes: Changes) -> None:
        """It belongs to a cluster, whose changes these are."""
        object.__setattr__(self, "_changes", changes)
        changes.count += 1

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
        self._changes.count += 1

    def seen_from(self, listener: str) -> Endpoint | None:
        """As clients of that listener see it; None where it has no such listener."""
        found = self.endpoints.get(listener)
        return None if found is None else Endpoint(self.node_id, *found, self.rack)


NOBODY: Final[Sequence[int]] = []
"""One for all partitions: most sequences of most partitions are empty, and there may be a hundred thousand."""


def _nobody() -> Sequence[int]:
    return NOBODY


@dataclass(slots=True)
class PartitionState:
    """Who leads a partition and who replicates it (node ids). Others may have its sequences, too: each is replaced by
    another one, and never changed.
    """

    index: int
    leader: int
    leader_epoch: int = 0
    replicas: Sequence[int] = field(default_factory=_nobody)
    isr: Sequence[int] = field(default_factory=_nobody)
    elr: Sequence[int] = field(default_factory=_nobody)
    """Eligible leader replicas: out of the ISR, and yet with everything in their logs (KIP-966)."""
    adding: Sequence[int] = field(default_factory=_nobody)
    """Of a reassignment under way: the replicas that have to come into the ISR before it is complete (KIP-455)."""
    removing: Sequence[int] = field(default_factory=_nobody)
    """Of a reassignment under way: the replicas that go when it is complete."""
    last_leader: Sequence[int] = field(default_factory=_nobody)
    """Of a partition without ISR: who led last (Kafka: the last known ELR)."""


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
        nodes: node id to node. Change it through the methods only.
        controller_id: the node that clients are told is the controller.
        topics: name to topic, in the order of creation. Change it through the methods only.
        group_configs, client_metrics_configs: resource name to its overrides (name to text).
        changes: what changes in nodes, their addresses, topics, partitions and leaders counts there.
        logger_levels: name of a broker's logger to its level, where it has one of its own; the empty
            one where that was taken away again.
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
        self.changes = Changes()
        self.nodes: dict[int, Node] = {}
        for node in nodes:
            self.add_node(node)
        self.controller_id = next(iter(self.nodes)) if controller_id is None else controller_id
        self.cluster_id = uuid_text(random_uuid(source)) if cluster_id is None else cluster_id
        self.topics: dict[str, Topic] = {}
        self.group_configs: dict[str, dict[str, str]] = {}
        self.client_metrics_configs: dict[str, dict[str, str]] = {}
        self.logger_levels: dict[str, str] = {"root": "INFO"}
        self._random = source
        self._by_id: dict[bytes, Topic] = {}
        self._gone: dict[bytes, str] = {}
        """The names of the topics that were deleted last."""
        self._collisions: dict[str, set[str]] = {}

    @property
    def version(self) -> int:
        """As long as it is the same, so are nodes, their addresses, topics, partitions and their leaders.

        What changes them counts it before anybody else has a turn: an answer of before is not good any more.
        """
        return self.changes.count

    def add_node(self, node: Node) -> None:
        """One more, or another one in its place."""
        self.nodes[node.node_id] = node
        node.count_in(self.changes)

    def remove_node(self, node_id: int) -> None:
        """It is none of the cluster's any more. Raises KeyError."""
        del self.nodes[node_id]
        self.changes.count += 1

    def seen_from(self, listener: str, *, alive: bool = True) -> list[Endpoint]:
        """The living nodes that clients of a listener can connect to; or those that could, if they lived."""
        nodes = self.registered.values()
        return [seen for node in nodes if node.alive is alive and (seen := node.seen_from(listener)) is not None]

    @property
    def registered(self) -> dict[int, Node]:
        """The nodes that the cluster knows: all but those that were taken out of it (UnregisterBroker)."""
        return {node_id: node for node_id, node in self.nodes.items() if node.registered}

    @property
    def has_living_node(self) -> bool:
        """Whether any node runs: without one nothing can be placed."""
        return any(node.alive for node in self.nodes.values())

    def is_alive(self, node_id: int) -> bool:
        node = self.nodes.get(node_id)
        return node is not None and node.alive

    def node_seen_from(self, listener: str, node_id: int) -> Endpoint | None:
        """One node, None where clients of the listener cannot connect to it."""
        node = self.nodes.get(node_id)
        return node.seen_from(listener) if node is not None and node.alive else None

    def topic(self, name: str) -> Topic | None:
        return self.topics.get(name)

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        return self._by_id.get(topic_id)

    def name_of(self, topic_id: bytes) -> str | None:
        """The name that a topic has, or had until it was deleted not long ago."""
        topic = self._by_id.get(topic_id)
        return self._gone.get(topic_id) if topic is None else topic.name

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
        placed = _lists(assignments) if assignments is not None else self._place(partitions, replication_factor)
        topic = Topic(
            name=name,
            topic_id=random_uuid(self._random) if topic_id is None else topic_id,
            partitions=[self._partition(index, replicas) for index, replicas in enumerate(placed)],
            internal=name in INTERNAL_TOPICS,
            configs=dict(configs or {}),
        )
        self.put_back(topic)
        return topic

    def put_back(self, topic: Topic) -> None:
        """Add a topic as it is; there is none of its name or its id."""
        self.changes.count += 1
        self.topics[topic.name] = self._by_id[topic.topic_id] = topic
        self._collisions.setdefault(collision_key(topic.name), set()).add(topic.name)

    def let_go(self) -> None:
        """Nobody asks for any topic any more."""
        self.changes.count += 1
        self.topics.clear()
        self._by_id.clear()

    def follow(self, before: Cluster) -> None:
        """It takes another one's place: names of topics that are gone with it are remembered."""
        self._gone = before._gone.copy()
        for topic_id, topic in before._by_id.items():
            if topic_id not in self._by_id:
                self._gone[topic_id] = topic.name
        while len(self._gone) > _REMEMBERED:
            del self._gone[next(iter(self._gone))]

    def add_partitions(
        self, name: str, count: int, assignments: Sequence[Sequence[int]] | None = None
    ) -> list[PartitionState]:
        """Grow a topic by that many partitions, or by those assigned; returns the new ones."""
        topic = self.topics[name]
        first = len(topic.partitions)
        placed = _lists(assignments) if assignments is not None else self._place(count, topic.replication_factor)
        added = [self._partition(first + index, replicas) for index, replicas in enumerate(placed)]
        topic.partitions.extend(added)
        self.changes.count += 1
        return added

    def delete_topic(self, name: str) -> Topic:
        """Remove a topic and return it. Raises KeyError where there is none."""
        topic = self.topics.pop(name)
        del self._by_id[topic.topic_id]
        self.changes.count += 1
        self._gone[topic.topic_id] = name
        if len(self._gone) > _REMEMBERED:
            del self._gone[next(iter(self._gone))]
        key = collision_key(name)
        self._collisions[key].discard(name)
        if not self._collisions[key]:
            del self._collisions[key]
        return topic

    def _place(self, count: int, replication_factor: int) -> list[list[int]]:
        nodes = (Candidate(node.node_id, node.rack, node.alive) for node in self.registered.values())
        return place(nodes, count, replication_factor, self._random)

    def _partition(self, index: int, replicas: Sequence[int]) -> PartitionState:
        isr: Sequence[int] = [node_id for node_id in replicas if self.is_alive(node_id)]
        if len(isr) == len(replicas):
            isr = replicas
        return PartitionState(index, isr[0] if isr else -1, 0, replicas, isr)


def _lists(assignments: Sequence[Sequence[int]]) -> Sequence[Sequence[int]]:
    return [list(replicas) for replicas in assignments]
