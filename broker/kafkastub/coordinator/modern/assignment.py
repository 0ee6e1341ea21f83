"""What an assignor is given and gives back. Kafka: the package org.apache.kafka.coordinator.group.api.assignor."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Final, NamedTuple, Protocol

from kafkastub.steps import Pace, no_pause

Assignment = Mapping[bytes, frozenset[int]]
"""Topic id to partitions; none is empty. Never changed once made."""
NO_ASSIGNMENT: Final[Assignment] = {}


class MemberSubscription(NamedTuple):
    """One member, for an assignor. Kafka: MemberSubscription, MemberAssignment.

    Attributes:
        topic_ids: what it subscribes to, of the topics that exist; iterates in Kafka's order.
        assigned: its target as it was.
    """

    rack_id: str | None
    instance_id: str | None
    topic_ids: Set[bytes]
    assigned: Assignment


class GroupSpec(NamedTuple):
    """A group, for an assignor.

    Attributes:
        members: by member id, in the order in which Kafka's map iterates.
        homogeneous: all members subscribe to the same topics.
    """

    members: Mapping[str, MemberSubscription]
    homogeneous: bool


class TopicDescriber(Protocol):
    """The topics that a group subscribes to, for an assignor. Kafka: SubscribedTopicDescriber."""

    def partition_count(self, topic_id: bytes) -> int:
        """-1 where there is no such topic."""

    def racks(self, topic_id: bytes, partition: int) -> frozenset[str]:
        """The racks that have a replica of the partition; empty where that is not known."""


class Assignor(Protocol):
    """Computes targets."""

    @property
    def name(self) -> str:
        """As clients and `group.consumer.assignors` name it: `uniform`."""

    def assign(self, spec: GroupSpec, topics: TopicDescriber, pace: Pace = no_pause) -> dict[str, Assignment]:
        """The new target of each member, by member id; who is not in it is assigned nothing.

        `pace` is called wherever a piece of the work is done.
        """
