"""The consumer protocol inside the classic one: what members' metadata and assignments say. Kafka: ConsumerProtocol.

Each begins with its version, a 16-bit number; one that is higher than the highest known is read as that, and what is
behind the message is ignored.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Protocol, TypeVar

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.consumer.assignment_response import partitions_in_order
from kafkastub.coordinator.modern.partition_sets import topics_in_order
from kafkawire.codec import decode_from, encode
from kafkawire.errors import MalformedMessage
from kafkawire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from kafkawire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkawire.schema import Message

M = TypeVar("M", bound=Message)

HIGHEST: Final = 3
"""The highest version of both messages."""

_int16 = struct.Struct(">h")


def version_of(data: bytes) -> int:
    """The version of metadata or of an assignment, the highest known at most. Raises MalformedMessage."""
    if len(data) < 2:
        raise MalformedMessage("ConsumerProtocol", "version", 0, "there are not two bytes")
    version: int = _int16.unpack_from(data)[0]
    if version < 0:
        raise MalformedMessage("ConsumerProtocol", "version", 0, f"{version} is not a version")
    return min(version, HIGHEST)


def subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    """What a member subscribes to and owns. Raises MalformedMessage."""
    return _decoded(ConsumerProtocolSubscription, metadata)


def assignment(data: bytes) -> ConsumerProtocolAssignment:
    """What a leader has assigned to a member. Raises MalformedMessage."""
    return _decoded(ConsumerProtocolAssignment, data)


def _decoded(cls: type[M], data: bytes) -> M:
    return decode_from(cls, version_of(data), data, 2)[0]


class TopicPartitions(Protocol):
    """A topic with partitions, in either message."""

    @property
    def topic(self) -> str: ...

    @property
    def partitions(self) -> Sequence[int]: ...


def by_topic_id(topics: Iterable[TopicPartitions], cluster: ClusterImage) -> dict[bytes, frozenset[int]]:
    """Partitions by topic id, of those topics that exist; of a topic named twice the last ones."""
    found: dict[bytes, frozenset[int]] = {}
    for one in topics:
        topic_id = cluster.topic_id(one.topic)
        if topic_id is not None:
            found[topic_id] = frozenset(one.partitions)
    return found


def assignment_bytes(partitions: Mapping[bytes, Collection[int]], cluster: ClusterImage, version: int) -> bytes:
    """An assignment for a classic member, in the order of Kafka's maps; topics that are gone are left out."""
    topics = [
        TopicPartition(name, partitions_in_order(partitions[topic_id]))
        for topic_id in topics_in_order(partitions)
        if (name := cluster.topic_name(topic_id)) is not None
    ]
    return _int16.pack(version) + encode(ConsumerProtocolAssignment(topics, None), version)
