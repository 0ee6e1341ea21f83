"""`uniform` where members subscribe to different topics. Kafka: UniformHeterogeneousAssignmentBuilder.

Topics with many partitions for each subscriber come first. What is free goes to the subscriber with the fewest
partitions of all; then, topic by topic, partitions move from members with the most to those with the fewest, until a
whole round moves nothing, or after 16 rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from kafkastub.coordinator.modern.assignment import Assignment, GroupSpec, TopicDescriber
from kafkastub.coordinator.modern.assignors.balancer import Balancer
from kafkastub.coordinator.modern.assignors.errors import AssignorError
from kafkastub.coordinator.modern.assignors.targets import Target, results
from kafkastub.steps import Pace
from kafkawire.java_order import uuid_order

_MOST_ROUNDS = 16


def assign_heterogeneous(spec: GroupSpec, topics: TopicDescriber, pace: Pace) -> dict[str, Assignment]:
    """The new target of each member.

    Raises: AssignorError for a topic that does not exist.
    """
    group = _Group(spec, topics, pace)
    if not group.counts:
        return {}
    group.assign_free()
    group.balance()
    return results(dict(zip(spec.members, group.targets, strict=True)), pace)


class _Group:
    """Members by their index, in the order of the group.

    Attributes:
        counts: partitions of each topic.
        targets: of each member.
    """

    def __init__(self, spec: GroupSpec, topics: TopicDescriber, pace: Pace) -> None:
        self._pace = pace
        self.counts: dict[bytes, int] = {}
        self._subscribers: dict[bytes, list[int]] = {}
        for index, member in enumerate(spec.members.values()):
            for topic in member.topic_ids:
                if topic not in self.counts:
                    self.counts[topic] = topics.partition_count(topic)
                    if self.counts[topic] < 0:
                        raise AssignorError("Members are subscribed to a topic which doesn't exist.")
                    self._subscribers[topic] = []
                self._subscribers[topic].append(index)
            pace(1)
        self.targets = [Target(member.assigned) for member in spec.members.values()]
        self._sizes = [0] * len(self.targets)
        self._owners: dict[bytes, dict[int, int]] = {topic: {} for topic in self.counts}
        for index, member in enumerate(spec.members.values()):
            self._keep(index, member.topic_ids)
            pace(1)

    def _keep(self, index: int, topic_ids: Set[bytes]) -> None:
        """A member keeps what it has of the topics to which it subscribes."""
        target = self.targets[index]
        for topic, partitions in target.old.items():
            if topic in topic_ids:
                self._sizes[index] += len(partitions)
                self._owners[topic].update(dict.fromkeys(partitions, index))
            else:
                target.forget(topic)

    def assign_free(self) -> None:
        """What nobody has gets an owner."""
        free = {}
        for topic, count in self.counts.items():
            owners = self._owners[topic]
            if len(owners) < count:
                free[topic] = [partition for partition in range(count) if partition not in owners]
        for topic in self._sorted(free):
            least_loaded = Balancer(self._subscribers[topic], self._sizes).least_loaded()
            for partition, index in zip(free[topic], least_loaded, strict=False):
                self._assign(topic, partition, index)
                self._pace(1)

    def balance(self) -> None:
        """Let members with many partitions give to those with few."""
        topic_ids = self._sorted(topic for topic, members in self._subscribers.items() if len(members) > 1)
        last_moved = -1
        for _ in range(_MOST_ROUNDS):
            for position, topic in enumerate(topic_ids):
                if position == last_moved:
                    return
                if self._balance_topic(topic) or last_moved < 0:
                    last_moved = position

    def _balance_topic(self, topic: bytes) -> bool:
        """Whether a partition moved."""
        balancer = Balancer(self._subscribers[topic], self._sizes)
        self._pace(1 + len(self._subscribers[topic]) // 20)
        if balancer.imbalance <= 1:
            return False
        has: dict[int, list[int]] = {}
        for partition, owner in sorted(self._owners[topic].items()):
            has.setdefault(owner, []).append(partition)
        self._pace(1 + len(self._owners[topic]) // 20)
        least_loaded = balancer.least_loaded()
        moved = False
        for giver in balancer.most_loaded(has):
            taker = next(least_loaded)
            if balancer.balanced:
                break
            self._assign(topic, has[giver].pop(), taker)
            moved = True
            self._pace(1)
        return moved

    def _assign(self, topic: bytes, partition: int, index: int) -> None:
        owners = self._owners[topic]
        owner = owners.get(partition)
        if owner is not None:
            self.targets[owner].remove(topic, (partition,))
            self._sizes[owner] -= 1
        self.targets[index].add(topic, (partition,), -(-self.counts[topic] // len(self._subscribers[topic])))
        owners[partition] = index
        self._sizes[index] += 1

    def _sorted(self, topic_ids: Iterable[bytes]) -> list[bytes]:
        """Those with the most partitions for each subscriber first, then those with the fewest subscribers."""
        return sorted(topic_ids, key=self._place)

    def _place(self, topic: bytes) -> tuple[float, int, tuple[int, int]]:
        subscribers = len(self._subscribers[topic])
        return -self.counts[topic] / subscribers, subscribers, uuid_order(topic)
