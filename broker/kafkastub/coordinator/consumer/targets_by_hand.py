"""A target assignment that a test has set. Ours; Kafka knows assignors only."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.records import (
    ConsumerGroupMetadata,
)
from kafkastub.coordinator.modern.assignment import Assignment
from kafkastub.coordinator.records import Record
from kafkawire.errors import ErrorCode, KafkaError


def records(
    group: ConsumerGroup, target: Mapping[str, Mapping[str, Collection[int]]], image: ClusterImage, broker_ms: int
) -> list[Record]:
    """The records that make it the group's target, with a new epoch. Raises errors; see `ConsumerGroups.set_target`."""
    given: dict[tuple[str, int], str] = {}
    by_member: dict[str, Assignment] = {}
    for member_id, topics in target.items():
        subscribed = group.topics_of(group.member(member_id))
        some = {topic: frozenset(partitions) for topic, partitions in topics.items() if partitions}
        by_member[member_id] = {_topic_id(image, topic, which): which for topic, which in some.items()}
        for topic, partitions in topics.items():
            if partitions and topic not in subscribed:
                known = ", ".join(subscribed) or "nothing"
                what = f"Member {member_id} does not subscribe to {topic}, only to {known}."
                raise KafkaError(ErrorCode.INVALID_REQUEST, what)
            for partition in partitions:
                first = given.get((topic, partition))
                if first is not None:
                    whom = f"member {first} twice" if first == member_id else f"two members, {first} and {member_id}"
                    raise KafkaError(ErrorCode.INVALID_REQUEST, f"Partition {topic}-{partition} is given to {whom}.")
                given[topic, partition] = member_id
    raised = ConsumerGroupMetadata(group.group_id, group.epoch + 1, group.metadata_hash)
    new = group.new_target(by_member, group.target, group.members)
    return [raised, *group.target_records(new, raised.epoch, broker_ms)]


def _topic_id(image: ClusterImage, topic: str, partitions: Collection[int]) -> bytes:
    topic_id, count = image.topic_id(topic), image.partition_count(topic)
    if topic_id is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {topic}.")
    for partition in partitions:
        if not 0 <= partition < count:
            what = f"Topic {topic} has no partition {partition}; it has {count}."
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, what)
    return topic_id
