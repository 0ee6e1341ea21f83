"""What descriptions of groups with epochs tell of topics, in the order in which Kafka tells it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.modern.partition_sets import topics_in_order
from kafkawire.java_order import copied, string_map_order


def names_in_order(names: Collection[str]) -> list[str]:
    """Names of a subscription."""
    return string_map_order(sorted(names), copied(len(names)))


def named(partitions: Mapping[bytes, Collection[int]], image: ClusterImage) -> Iterator[tuple[bytes, str, list[int]]]:
    """Partitions by topic, with the topic's name; topics that are gone are left out."""
    for topic_id in topics_in_order(partitions):
        name = image.topic_name(topic_id)
        if name is not None:
            yield topic_id, name, list(partitions[topic_id])
