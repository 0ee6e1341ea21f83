"""Whether a partition has as many replicas in sync as its topic asks for."""

from __future__ import annotations

from kafkastub.config import BrokerConfig, topic_settings
from kafkastub.metadata import PartitionState, Topic
from kafkawire.errors import ErrorCode, KafkaError


def check_in_sync(config: BrokerConfig, topic: Topic, partition: PartitionState) -> None:
    """Raises NOT_ENOUGH_REPLICAS where acks=all cannot be had (Kafka: Partition.appendRecordsToLeader)."""
    wanted: int = topic_settings(config.log_defaults, topic.configs)["min.insync.replicas"]
    if len(partition.isr) < min(wanted, len(partition.replicas)):
        raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
