"""The topics as a coordinator of groups sees them: what subscriptions and assignments are made of.

It fulfils `coordinator.cluster.ClusterImage`. Kafka: KRaftCoordinatorMetadataImage.
"""

from __future__ import annotations

from collections.abc import Collection

from kafkastub.metadata import Cluster


class TopicsImage:
    """A view of the cluster, which is always as the cluster is now."""

    __slots__ = ("_cluster",)

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def topic_id(self, name: str) -> bytes | None:
        """None where there is no such topic."""
        topic = self._cluster.topics.get(name)
        return None if topic is None else topic.topic_id

    def topic_name(self, topic_id: bytes) -> str | None:
        """None where no topic has that id, or no longer."""
        topic = self._cluster.topic_by_id(topic_id)
        return None if topic is None else topic.name

    def partition_count(self, name: str) -> int:
        """0 where there is no such topic."""
        topic = self._cluster.topics.get(name)
        return 0 if topic is None else len(topic.partitions)

    def racks(self, name: str, partition: int) -> Collection[str]:
        """The racks of the partition's replicas, one a replica, of nodes that the cluster knows; stopped ones too."""
        cluster = self._cluster
        topic = cluster.topics.get(name)
        if topic is None or not 0 <= partition < len(topic.partitions):
            return ()
        nodes = (cluster.nodes.get(node_id) for node_id in topic.partitions[partition].replicas)
        return [node.rack for node in nodes if node is not None and node.registered and node.rack is not None]

    def names(self) -> Collection[str]:
        """Those of all topics, internal ones too, in the order of their creation."""
        return self._cluster.topics.keys()
