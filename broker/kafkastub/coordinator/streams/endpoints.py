"""Where the partitions of a group can be asked for: at which address is who has their tasks.

Kafka: EndpointToPartitionsManager. Members with interactive queries tell an address, and are told those of all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.streams.configured import ConfiguredSubtopology
from kafkastub.coordinator.streams.tasks import TasksTupleWithEpochs, merged
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import copied, hash_map_order, string_map_order, string_order
from kafkawire.messages.streams_group_heartbeat_response import Endpoint, EndpointToPartitions, TopicPartition


class Addressed(Protocol):
    """A member, as far as it matters here."""

    @property
    def user_endpoint(self) -> tuple[str, int] | None:
        """Host and port, None where it tells none."""

    @property
    def assigned(self) -> TasksTupleWithEpochs:
        """What it has."""


def endpoint_to_partitions(
    member: Addressed,
    subtopologies: Mapping[str, ConfiguredSubtopology] | None,
    image: ClusterImage,
    in_order: bool = True,
) -> EndpointToPartitions | None:
    """The inputs of a member's tasks, at its address; None for a member without one.

    Args:
        subtopologies: as configured, None where the topics do not do for them.
        in_order: as `StreamsRules.endpoints_in_order` has it.

    Raises UNKNOWN_SERVER_ERROR where Kafka fails: there are no subtopologies, or a topic is gone.

    Kafka has the active tasks in a map whose order differs from start to start; here they are in that of their ids.
    """
    if member.user_endpoint is None:
        return None
    if subtopologies is None:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    active = {name: member.assigned.active[name] for name in sorted(member.assigned.active, key=string_order)}
    kept = merged(member.assigned.standby, member.assigned.warmup)
    host, port = member.user_endpoint
    return EndpointToPartitions(
        Endpoint(host, port),
        _inputs(active, subtopologies, image, in_order),
        _inputs(kept, subtopologies, image, in_order),
    )


def _inputs(
    tasks: Mapping[str, Collection[int]],
    subtopologies: Mapping[str, ConfiguredSubtopology],
    image: ClusterImage,
    ordered: bool,
) -> list[TopicPartition]:
    found = []
    for subtopology_id, partitions in tasks.items():
        subtopology = subtopologies.get(subtopology_id)
        if subtopology is None:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        in_order = sorted(partitions)
        for topic in _topics(subtopology):
            count = image.partition_count(topic)
            if not count:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
            if ordered:
                there = [partition for partition in in_order if partition < count]
            else:
                there = in_order[:count] if count < len(in_order) else _as_hashed(partitions)
            if there or not ordered:
                found.append(TopicPartition(topic, there))
    return found


def _as_hashed(partitions: Collection[int]) -> list[int]:
    """Partitions in the order of a set of Java's."""
    return hash_map_order((partition, partition) for partition in sorted(partitions))


def _topics(subtopology: ConfiguredSubtopology) -> list[str]:
    """What it reads, in the order of Kafka's set: a copy of one set, to which the other is added."""
    names = subtopology.source_topics
    return string_map_order([*names, *subtopology.repartition_source_topics], copied(len(names)))
