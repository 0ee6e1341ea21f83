"""The cluster's own state: topics, configurations, nodes, leaders."""

from . import leaders
from .cluster import NOBODY, Cluster, Endpoint, Node, PartitionState, Topic
from .features import Features
from .ids import random_uuid, uuid_text
from .names import (
    CLUSTER_METADATA,
    CONSUMER_OFFSETS,
    INTERNAL_TOPICS,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
    invalid_topic_name,
)

__all__ = [
    "CLUSTER_METADATA",
    "CONSUMER_OFFSETS",
    "INTERNAL_TOPICS",
    "NOBODY",
    "SHARE_GROUP_STATE",
    "TRANSACTION_STATE",
    "Cluster",
    "Endpoint",
    "Features",
    "Node",
    "PartitionState",
    "Topic",
    "invalid_topic_name",
    "leaders",
    "random_uuid",
    "uuid_text",
]
