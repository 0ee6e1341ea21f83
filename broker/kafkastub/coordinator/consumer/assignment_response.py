"""What members and onlookers are told of assignments, in Kafka's order: by the buckets of its maps."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafkastub.coordinator.consumer.records import EpochsOfPartitions
from kafkastub.coordinator.modern.partition_sets import java_order, power_of_two, topics_in_order
from kafkawire.messages.consumer_group_heartbeat_response import Assignment, TopicPartitions


def partitions_in_order(partitions: Collection[int], capacity: int = 16) -> list[int]:
    """Partitions in the order of a `HashMap`, or `HashSet`, that was made for `capacity`."""
    return list(java_order(sorted(partitions), power_of_two(capacity)))


def assignment_of(assigned: EpochsOfPartitions, before: EpochsOfPartitions) -> Assignment:
    """What a heartbeat tells its member that it has. Kafka: ConsumerGroupHeartbeatResponse.createAssignment.

    Args:
        before: what it had. Of such a topic Kafka copies the map, into one that is just large enough.
    """
    topics = []
    for topic_id in topics_in_order(assigned):
        partitions, had = assigned[topic_id], before.get(topic_id)
        capacity = 16 if had is None or had is partitions or assigned is before else int(len(had) / 0.75 + 1)
        topics.append(TopicPartitions(topic_id, partitions_in_order(partitions, capacity)))
    return Assignment(topics)


def merged(*parts: Mapping[bytes, Collection[int]]) -> dict[bytes, list[int]]:
    """Partitions by topic id, of one part after the other."""
    found: dict[bytes, list[int]] = {}
    for part in parts:
        for topic_id, partitions in part.items():
            found.setdefault(topic_id, []).extend(partitions_in_order(partitions))
    return found
