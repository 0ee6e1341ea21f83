"""Leaders change, nodes come and go: what follows for logs, waiting fetches and coordinators.

`now` is (broker time, timer time), in ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kafkastub.config import topic_settings
from kafkastub.metadata import Node, PartitionState, Topic, leaders
from kafkastub.metadata.features import ELIGIBLE
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState

Now = tuple[int, int]


def rules_of(state: BrokerState, topic: Topic) -> leaders.Rules:
    """What the topic's configuration says of its leaders."""
    settings = topic_settings(state.config.log_defaults, topic.configs)
    wanted: int = settings["min.insync.replicas"]
    return leaders.Rules(
        min(wanted, topic.replication_factor),
        settings["unclean.leader.election.enable"],
        bool(state.features.level(ELIGIBLE)),
    )


def leaders_changed(state: BrokerState, changed: Iterable[tuple[Topic, PartitionState]], now: Now) -> None:
    """These partitions have other leaders, or none."""
    by_topic: dict[str, tuple[Topic, list[PartitionState]]] = {}
    for topic, partition in changed:
        by_topic.setdefault(topic.name, (topic, []))[1].append(partition)
        state.log_dirs.follow(topic, [partition])
        state.logs.become_leader(topic.topic_id, partition.index, partition.leader_epoch)
    for topic, partitions in by_topic.values():
        if state.has_share_partitions:
            state.share_partitions.leaders_changed(topic.topic_id, {partition.index for partition in partitions})
        state.fetch_purgatory.topic_changed(topic.topic_id)
        runtime = state.runtimes.get(topic.name)
        if runtime is not None and runtime.loading is None:
            runtime.leaders_changed({partition.index for partition in partitions}, len(topic.partitions), *now)
    state.topics_changed(by_topic)
    for runtime in state.runtimes.values():
        if runtime.loading is None:
            runtime.retry_waiting(*now)
    state.changed()


def elect(
    state: BrokerState,
    topic: Topic,
    partition: PartitionState,
    now: Now,
    *,
    preferred: bool = False,
    unclean: bool = False,
) -> bool:
    """Hold an election; whether it has brought another leader."""
    before = partition.leader
    if leaders.elect(state.cluster, partition, rules_of(state, topic), preferred=preferred, unclean=unclean):
        leaders_changed(state, [(topic, partition)], now)
    return partition.leader != before


def node_stopped(state: BrokerState, node_id: int, now: Now) -> None:
    """The node is out: others lead what it led, as far as there are any."""
    cluster = state.cluster
    node = cluster.nodes[node_id]
    node.left = state.metadata_offset, now[0]
    state.fetch_purgatory.node_stopped(node_id)
    if state.has_share_partitions:
        state.share_partitions.node_stopped(node_id)
    _fence(state, node, now)


def node_unregistered(state: BrokerState, node_id: int, now: Now) -> None:
    """The cluster forgets the node, which may go on running and is back when it starts again. Raises KafkaError."""
    node = state.cluster.nodes.get(node_id)
    if node is None or not node.registered:
        raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker ID {node_id} is not currently registered")
    node.registered = False
    _fence(state, node, now)
    if not state.cluster.has_living_node:
        state.cluster.controller_id = leaders.NO_LEADER


def _fence(state: BrokerState, node: Node, now: Now) -> None:
    cluster, node_id = state.cluster, node.node_id
    node.alive = False
    if cluster.controller_id == node_id:
        cluster.controller_id = next((node.node_id for node in cluster.nodes.values() if node.alive), node_id)
    leaders_changed(state, list(leaders.leave(cluster, node_id, lambda topic: rules_of(state, topic))), now)


def node_started(state: BrokerState, node_id: int, now: Now) -> None:
    """The node is back, with all that was written meanwhile."""
    cluster = state.cluster
    node = cluster.nodes[node_id]
    node.alive = node.registered = True
    node.left = None
    if not cluster.is_alive(cluster.controller_id):
        cluster.controller_id = node_id
    leaders_changed(state, list(leaders.come(cluster, node_id, lambda topic: rules_of(state, topic))), now)


def node_added(state: BrokerState, node: Node) -> None:
    """A new node, without any replicas."""
    state.cluster.add_node(node)


def reassign(
    state: BrokerState, topic: Topic, partition: PartitionState, replicas: Sequence[int] | None, now: Now
) -> None:
    """Other replicas for a partition, or none: the reassignment that is under way is cancelled.

    Raises ValueError where that cannot be.
    """
    rules, cluster = rules_of(state, topic), state.cluster
    if replicas is None:
        changed = leaders.cancel(cluster, partition, rules)
    else:
        changed = leaders.reassign(cluster, partition, replicas, rules)
    state.log_dirs.follow(topic, [partition])
    leaders_changed(state, [(topic, partition)] if changed else [], now)


def settle_leaders(state: BrokerState, now: Now) -> None:
    """After a restart: nodes that are not there any more lead nothing, and the others are in sync."""
    cluster = state.cluster
    replicas = {node_id for topic in cluster.topics.values() for one in topic.partitions for node_id in one.replicas}
    changed: list[tuple[Topic, PartitionState]] = []
    for node_id in sorted(replicas):
        follow = leaders.come if cluster.is_alive(node_id) else leaders.leave
        changed += follow(cluster, node_id, lambda topic: rules_of(state, topic))
    if changed:
        leaders_changed(state, changed, now)


def move_leader(state: BrokerState, topic: Topic, index: int, node_id: int, now: Now) -> None:
    """Let a living node lead a partition, with a replica of it or without. Raises ValueError."""
    if not state.cluster.is_alive(node_id):
        living = ", ".join(str(node.node_id) for node in state.cluster.nodes.values() if node.alive)
        raise ValueError(f"node {node_id} cannot lead {topic.name}-{index}: running are the nodes {living or 'none'}")
    partition = topic.partitions[index]
    if partition.leader != node_id:
        leaders.put(state.cluster, partition, node_id)
        leaders_changed(state, [(topic, partition)], now)
