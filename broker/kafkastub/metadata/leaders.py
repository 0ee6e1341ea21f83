"""Who leads what, as nodes come and go (Kafka: ``ReplicationControlManager``, ``PartitionChangeBuilder``).

All nodes share one log, so that a living replica is always in sync: it leaves the ISR when its node stops and is back
when it starts. A leader that changes brings the next leader epoch; an ISR that shrinks or grows does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .cluster import Cluster, PartitionState, Topic

NO_LEADER = -1
Changed = Iterator[tuple[Topic, PartitionState]]
"""The partitions that have another leader now, or none."""
MinIsr = Callable[[Topic], int]
"""How many replicas of a topic's partitions must be in sync for acks=all."""


def lead(partition: PartitionState, node_id: int) -> None:
    """Make a node the leader."""
    partition.leader = node_id
    partition.leader_epoch += 1


def may_lead(cluster: Cluster, partition: PartitionState, node_id: int) -> bool:
    """Whether a clean election can choose the node: it lives, and is in sync or known to have been (KIP-966)."""
    return cluster.is_alive(node_id) and (node_id in partition.isr or node_id in partition.elr)


def elect(cluster: Cluster, partition: PartitionState, *, unclean: bool = False) -> int:
    """The leader that an election finds, NO_LEADER where there is none: the first replica that may."""
    for node_id in partition.replicas:
        if may_lead(cluster, partition, node_id) or (unclean and cluster.is_alive(node_id)):
            return node_id
    return NO_LEADER


def leave(cluster: Cluster, node_id: int, min_isr: MinIsr) -> Changed:
    """A node has stopped: it leaves every ISR, and others lead what it led."""
    for topic in cluster.topics.values():
        for partition in topic.partitions:
            if node_id in partition.isr:
                partition.isr.remove(node_id)
                if len(partition.isr) < min_isr(topic):
                    partition.elr.append(node_id)
            if partition.leader == node_id:
                lead(partition, elect(cluster, partition))
                yield topic, partition


def come(cluster: Cluster, node_id: int, min_isr: MinIsr) -> Changed:
    """A node has started: it catches up, and leads what nobody could lead without it."""
    for topic in cluster.topics.values():
        for partition in topic.partitions:
            if node_id not in partition.replicas:
                continue
            leaderless = partition.leader == NO_LEADER
            if leaderless and not may_lead(cluster, partition, node_id):
                continue
            least = min_isr(topic)
            rejoin(partition, node_id, least)
            if leaderless:
                lead(partition, node_id)
                for other in partition.replicas:
                    if cluster.is_alive(other):
                        rejoin(partition, other, least)
                yield topic, partition


def rejoin(partition: PartitionState, node_id: int, min_isr: int = 1) -> None:
    """A replica is in sync again."""
    if node_id not in partition.isr:
        partition.isr.append(node_id)
    if node_id in partition.elr:
        partition.elr.remove(node_id)
    if len(partition.isr) >= min_isr:
        partition.elr.clear()


def reassign(cluster: Cluster, partition: PartitionState, replicas: Sequence[int]) -> bool:
    """Give a partition other replicas; they are in sync at once. Whether it has another leader now."""
    removed = set(partition.replicas) - set(replicas)
    partition.replicas = list(replicas)
    partition.isr = [node_id for node_id in replicas if cluster.is_alive(node_id)]
    partition.elr = [node_id for node_id in partition.elr if node_id in replicas and node_id not in partition.isr]
    if partition.leader not in partition.isr:
        lead(partition, elect(cluster, partition))
        return True
    if removed:  # fetchers of replicas that are gone must notice
        partition.leader_epoch += 1
    return bool(removed)
