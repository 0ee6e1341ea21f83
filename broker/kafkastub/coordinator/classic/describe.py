"""A classic group as those see it who look at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from kafkastub.coordinator.classic.group import ClassicGroup
from kafkastub.coordinator.classic.member import metadata_of
from kafkastub.coordinator.classic.states import State
from kafkawire.java_order import hash_map_order, string_hash
from kafkawire.messages.describe_groups_response import DescribedGroup, DescribedGroupMember

_SOME: Final = 32
"""Members that are put in order together."""


def described(group: ClassicGroup) -> tuple[DescribedGroup, Iterator[DescribedGroupMember | None]]:
    """See `GroupType.description`. Protocol and metadata are told of a Stable group. Kafka: asDescribedGroup."""
    protocol = group.protocol if group.state is State.STABLE else None
    found = DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol or "",
    )
    members = {
        m.member_id: (m.group_instance_id, m.client_id, m.client_host, m.protocols, m.assignment)
        for m in group.members.values()
    }
    return found, _members(members, group.buckets, protocol)


def _members(
    members: Mapping[str, tuple[Any, ...]], buckets: int, protocol: str | None
) -> Iterator[DescribedGroupMember | None]:
    keys: list[tuple[int, str]] = []
    left = iter(members)
    while some := tuple(islice(left, _SOME)):
        keys += [(string_hash(member_id), member_id) for member_id in some]
        yield None
    for member_id in hash_map_order(keys, buckets):
        instance_id, client_id, client_host, protocols, assignment = members[member_id]
        metadata = b"" if protocol is None else metadata_of(protocols, protocol)
        yield DescribedGroupMember(member_id, instance_id, client_id, client_host, metadata, assignment)
