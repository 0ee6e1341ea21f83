"""From what a request names to a log, with Kafka's refusals on the way."""

from __future__ import annotations

from typing import Protocol

from kafkastub.config import BrokerConfig, topic_settings
from kafkastub.metadata import Cluster, Endpoint, PartitionState, Topic
from kafkastub.storage import LogManager, LogSettings, PartitionLog
from kafkawire.errors import ErrorCode, KafkaError

NO_EPOCH = -1


class WithLogs(Protocol):
    """The broker's state, as far as logs go."""

    config: BrokerConfig
    cluster: Cluster
    logs: LogManager


def log_of(state: WithLogs, topic: Topic, index: int) -> PartitionLog:
    """The log of a partition that exists, made when it is first asked for."""
    log = state.logs.log(topic.topic_id, index)
    if log is None:
        settings = LogSettings.from_topic(topic_settings(state.config.log_defaults, topic.configs))
        epoch = topic.partitions[index].leader_epoch
        log = state.logs.create(topic.topic_id, index, settings, leader_epoch=epoch)
    if not log.name:
        log.name = f"{topic.name}-{index}"
    return log


def partition_of(topic: Topic | None, index: int) -> PartitionState:
    """KafkaError UNKNOWN_TOPIC_OR_PARTITION where there is no such topic or partition."""
    if topic is None or not 0 <= index < len(topic.partitions):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return topic.partitions[index]


def led_log(
    state: WithLogs,
    node_id: int,
    topic: Topic | None,
    index: int,
    leader_epoch: int = NO_EPOCH,
    *,
    follower: bool = False,
) -> PartitionLog:
    """The log of a partition that the node leads; `leader_epoch` is what the client believes (KIP-320).

    KafkaError: UNKNOWN_TOPIC_OR_PARTITION, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER; in this
    order, as Partition.getLocalLog. A node without a replica knows no epoch and says NOT_LEADER_OR_FOLLOWER. With
    `follower`, any replica will do (KIP-392).
    """
    partition = partition_of(topic, index)
    assert topic is not None
    if leader_epoch != NO_EPOCH and leader_epoch != partition.leader_epoch and _has_replica(node_id, partition):
        fenced = leader_epoch < partition.leader_epoch
        raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH if fenced else ErrorCode.UNKNOWN_LEADER_EPOCH)
    if partition.leader != node_id and not (follower and _has_replica(node_id, partition) and partition.leader >= 0):
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    return log_of(state, topic, index)


def hosted_log(state: WithLogs, node_id: int, topic: Topic | None, index: int) -> PartitionLog:
    """The log of a partition that the node has a replica of, whoever leads it, if anybody does.

    KafkaError: UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER; as ReplicaManager.getPartitionOrError.
    """
    partition = partition_of(topic, index)
    assert topic is not None
    if not _has_replica(node_id, partition):
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    return log_of(state, topic, index)


def _has_replica(node_id: int, partition: PartitionState) -> bool:
    return partition.leader == node_id or node_id in partition.replicas


def leader_hint(state: WithLogs, listener: str, topic: Topic | None, index: int) -> tuple[int, int, Endpoint | None]:
    """(leader id, leader epoch, where clients of the listener find it) for answers that name the leader (KIP-951)."""
    if topic is None or not 0 <= index < len(topic.partitions):
        return -1, -1, None
    partition = topic.partitions[index]
    return partition.leader, partition.leader_epoch, state.cluster.node_seen_from(listener, partition.leader)
