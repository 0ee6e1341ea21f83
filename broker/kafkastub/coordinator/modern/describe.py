"""What descriptions of groups with epochs tell whatever the type, and topics in the order in which Kafka tells them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.modern.group import ModernGroup
from kafkastub.coordinator.modern.member import ModernMember
from kafkastub.coordinator.modern.partition_sets import topics_in_order
from kafkawire.java_order import copied, string_map_order


def group_fields(group: ModernGroup[Any, Any, Any], assignor: str) -> dict[str, Any]:
    """The fields of a `DescribedGroup` that every type has, but for the members."""
    return {
        "group_id": group.group_id,
        "group_state": group.state_name,
        "group_epoch": group.epoch,
        "assignment_epoch": group.target_epoch,
        "assignor_name": assignor,
    }


def member_fields(member: ModernMember) -> dict[str, Any]:
    """The fields of a `Member` that every type has."""
    return {
        "member_id": member.member_id,
        "rack_id": member.rack_id,
        "member_epoch": member.member_epoch,
        "client_id": member.client_id,
        "client_host": member.client_host,
    }


def names_in_order(names: Collection[str]) -> list[str]:
    """Names of a subscription."""
    return string_map_order(sorted(names), copied(len(names)))


def topic_names(partitions: Iterable[Iterable[bytes]], image: ClusterImage) -> Mapping[bytes, str | None]:
    """The names of all topics in these assignments, by topic id; None for a topic that is gone."""
    return {topic_id: image.topic_name(topic_id) for topic_id in frozenset().union(*partitions)}


def named(
    partitions: Mapping[bytes, Collection[int]], names: Mapping[bytes, str | None]
) -> Iterator[tuple[bytes, str, list[int]]]:
    """Partitions by topic, with the topic's name; topics that are gone are left out."""
    for topic_id in topics_in_order(partitions):
        name = names[topic_id]
        if name is not None:
            yield topic_id, name, list(partitions[topic_id])
