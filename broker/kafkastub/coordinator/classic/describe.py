"""A classic group as those see it who look at it."""

from __future__ import annotations

from kafkastub.coordinator.classic.group import ClassicGroup
from kafkastub.coordinator.classic.states import State
from kafkawire.messages.describe_groups_response import DescribedGroup, DescribedGroupMember


def described(group: ClassicGroup) -> DescribedGroup:
    """As DescribeGroups tells it: protocol and metadata are told of a Stable group. Kafka: asDescribedGroup."""
    stable = group.state is State.STABLE
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol or "") if stable else "",
        members=[
            DescribedGroupMember(
                member_id=m.member_id,
                group_instance_id=m.group_instance_id,
                client_id=m.client_id,
                client_host=m.client_host,
                member_metadata=m.metadata(group.protocol) if stable else b"",
                member_assignment=m.assignment,
            )
            for m in group.in_order()
        ],
    )
