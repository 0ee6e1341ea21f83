"""Who leads what, as nodes come and go (Kafka: ``ReplicationControlManager``, ``PartitionChangeBuilder``).

All nodes share one log, so that a living replica of a partition that is led is always in sync: it leaves the ISR when
its node stops and is back when it starts. A leader that changes brings the next leader epoch, and so does a replica
that is taken away; an ISR that shrinks or grows does not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from .cluster import NOBODY, Cluster, PartitionState, Topic

NO_LEADER = -1
Changed = Iterator[tuple[Topic, PartitionState]]
"""The partitions that have another leader epoch now."""


class Rules(NamedTuple):
    """What a topic's configuration says of its leaders.

    Attributes:
        min_isr: how many replicas must be in sync for acks=all, at most as many as there are; with fewer, those that
            leave stay eligible leaders (KIP-966).
        unclean: whether a replica that is not in sync may lead before nobody does.
        eligible: whether there are eligible leaders; else the last one in sync stays in the ISR though it stops.
    """

    min_isr: int
    unclean: bool = False
    eligible: bool = True


RulesOf = Callable[[Topic], Rules]


class _Plan:
    """A partition as it is about to be. Applied, it is true at once."""

    def __init__(self, cluster: Cluster, partition: PartitionState) -> None:
        self._cluster = cluster
        self._partition = partition
        self.replicas: Sequence[int] = partition.replicas
        self.isr: Sequence[int] = partition.isr
        self.adding: Sequence[int] = partition.adding
        self.removing: Sequence[int] = partition.removing
        self._elr: Sequence[int] = partition.elr

    def apply(self, rules: Rules, *, preferred: bool = False, unclean: bool = False) -> bool:
        """See to a leader; whether there is another leader epoch now (Kafka: PartitionChangeBuilder.build)."""
        partition = self._partition
        self._complete_reassignment()
        if rules.eligible:
            self._elr = [] if len(self.isr) >= rules.min_isr else self._eligible()
        leader = self._elect(preferred=preferred, unclean=unclean)
        if leader not in (partition.leader, NO_LEADER) and leader not in self.isr:
            was_eligible = leader in self._elr
            self.isr = [leader]
            self._elr = [node_id for node_id in self._elr if was_eligible and node_id != leader]
        other_epoch = leader != partition.leader or not set(partition.replicas) <= set(self.replicas)
        if not rules.eligible:
            self.isr, self._elr = self.isr or partition.isr, ()
        elif partition.isr and not self.isr:
            partition.last_leader = [partition.leader]
        elif leader != NO_LEADER:
            partition.last_leader = NOBODY
        partition.replicas, partition.isr = list(self.replicas), list(self.isr)
        partition.elr = list(self._elr) or NOBODY
        partition.adding, partition.removing = list(self.adding) or NOBODY, list(self.removing) or NOBODY
        partition.leader = leader
        partition.leader_epoch += other_epoch
        self._cluster.changes.count += 1
        return other_epoch

    def _complete_reassignment(self) -> None:
        """Take the old replicas away once the new ones are in sync (Kafka: PartitionReassignmentReplicas).

        Where there are to be fewer, all that stay have to be in sync.
        """
        if not (self.adding or self.removing):
            return
        replicas, isr = _without(self.replicas, self.removing), _without(self.isr, self.removing)
        needed = replicas if len(self.adding) < len(self.removing) else self.adding
        if isr and replicas and set(needed) <= set(isr):
            self.replicas, self.isr, self.adding, self.removing = replicas, isr, (), ()

    def _eligible(self) -> list[int]:
        return sorted({*self._elr, *self._partition.isr}.difference(self.isr).intersection(self.replicas))

    def _elect(self, *, preferred: bool, unclean: bool) -> int:
        """The leader to be, NO_LEADER where there is none."""
        leader, replicas = self._partition.leader, self.replicas
        if preferred and self._may_lead(replicas[0]):
            return replicas[0]
        if self._may_lead(leader):
            return leader
        for node_id in replicas:
            if self._may_lead(node_id):
                return node_id
        if unclean:
            return next((node_id for node_id in replicas if self._cluster.is_alive(node_id)), NO_LEADER)
        return NO_LEADER

    def _may_lead(self, node_id: int) -> bool:
        """Whether a clean election can choose the node: it lives, and is in sync or, with nobody in sync, eligible."""
        return self._cluster.is_alive(node_id) and node_id in (self.isr or self._elr)


def _without(node_ids: Sequence[int], gone: Collection[int]) -> list[int]:
    return [node_id for node_id in node_ids if node_id not in gone]


def elect(
    cluster: Cluster, partition: PartitionState, rules: Rules, *, preferred: bool = False, unclean: bool = False
) -> bool:
    """Hold an election; whether it has brought another leader."""
    elected = _Plan(cluster, partition).apply(rules, preferred=preferred, unclean=unclean)
    return _catch_up(cluster, partition, rules) or elected


def leave(cluster: Cluster, node_id: int, rules_of: RulesOf) -> Changed:
    """A node has stopped: it leaves every ISR, and others lead what it led."""
    for topic in cluster.topics.values():
        for partition in topic.partitions:
            if node_id in partition.isr:
                rules, plan = rules_of(topic), _Plan(cluster, partition)
                plan.isr = _without(partition.isr, (node_id,))
                if plan.apply(rules, unclean=rules.unclean):
                    yield topic, partition


def come(cluster: Cluster, node_id: int, rules_of: RulesOf) -> Changed:
    """A node has started: it catches up, and leads what nobody could lead without it."""
    for topic in cluster.topics.values():
        for partition in topic.partitions:
            if node_id in partition.replicas:
                rules = rules_of(topic)
                if elect(cluster, partition, rules, unclean=rules.unclean):
                    yield topic, partition


def reassign(cluster: Cluster, partition: PartitionState, replicas: Sequence[int], rules: Rules) -> bool:
    """Let a partition have other replicas; whether it has another leader epoch now.

    Those that run are in sync at once. While one of them does not, the old replicas stay and the reassignment is
    under way (`PartitionState.adding`, `removing`).
    """
    plan = _Plan(cluster, partition)
    removed = sorted(set(partition.replicas).difference(replicas))
    added = sorted(set(replicas).difference(partition.replicas))
    plan.replicas = [*replicas, *removed]
    plan.removing, plan.adding = removed or plan.removing, added or plan.adding
    changed = plan.apply(rules)
    return _catch_up(cluster, partition, rules) or changed


def cancel(cluster: Cluster, partition: PartitionState, rules: Rules) -> bool:
    """Take back the reassignment that is under way; whether there is another leader epoch now.

    Raises ValueError where only an unclean election could, and may not be held (Kafka: PartitionReassignmentRevert).
    """
    plan = _Plan(cluster, partition)
    plan.replicas, plan.isr = _without(plan.replicas, plan.adding), _without(plan.isr, plan.adding)
    if not plan.isr:
        if not rules.unclean:
            raise ValueError("it would require an unclean leader election")
        plan.isr = plan.replicas[:1]
    plan.adding = plan.removing = ()
    return plan.apply(rules, unclean=rules.unclean)


def _catch_up(cluster: Cluster, partition: PartitionState, rules: Rules) -> bool:
    """All living replicas of a partition that is led are in sync; whether there is another leader epoch now."""
    changed = False
    while partition.leader != NO_LEADER and (lagging := _lagging(cluster, partition)):
        plan = _Plan(cluster, partition)
        plan.isr = [*partition.isr, lagging[0]]
        changed = plan.apply(rules) or changed
    return changed


def _lagging(cluster: Cluster, partition: PartitionState) -> list[int]:
    return [one for one in partition.replicas if one not in partition.isr and cluster.is_alive(one)]


def put(cluster: Cluster, partition: PartitionState, node_id: int) -> None:
    """Make a living node the leader, whoever led before; one without a replica takes the place of the leader's.

    Kafka has nothing of the kind: a test wants to see a leader move.
    """
    if node_id not in partition.replicas:
        gives_way = partition.leader if partition.leader in partition.replicas else partition.replicas[0]
        partition.replicas = [node_id if one == gives_way else one for one in partition.replicas]
        partition.adding, partition.removing = NOBODY, NOBODY
    partition.isr = [one for one in partition.replicas if cluster.is_alive(one)]
    partition.elr = [one for one in partition.elr if one in partition.replicas and one not in partition.isr]
    partition.last_leader = NOBODY
    partition.leader = node_id
    partition.leader_epoch += 1
    cluster.changes.count += 1
