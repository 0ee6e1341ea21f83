"""A consumer group becomes a classic group when the last member of the new protocol is gone (KIP-848, migration).

The classic members stay, with their targets as assignments; the epoch becomes the generation. Kafka:
GroupMetadataManager.validateOnlineDowngrade…, convertToClassicGroup; ClassicGroup.fromConsumerGroup.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from kafkastub.coordinator.classic.group import ClassicGroup
from kafkastub.coordinator.classic.groups import ClassicGroups, Newcomer
from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.consumer import embedded
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.member import ConsumerMember
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import ErrorCode, KafkaError, MalformedMessage

POLICIES: Final = frozenset({"downgrade", "bidirectional"})
"""The migration policies that let consumer groups become classic groups."""


def downgrades_without(group: ConsumerGroup, leaving: Collection[str], policy: str, classic_max_size: int) -> bool:
    """Whether the group becomes classic once these members of it are gone: some are left, and all of them classic."""
    left = [member for member_id, member in group.members.items() if member_id not in leaving]
    return 0 < len(left) <= classic_max_size and policy in POLICIES and all(m.classic is not None for m in left)


def downgrades_with(group: ConsumerGroup, replaced: ConsumerMember, policy: str, classic_max_size: int) -> bool:
    """Whether the group becomes classic once a classic member has replaced this static one."""
    last = replaced.classic is None and group.classic_members == group.size - 1
    return last and policy in POLICIES and group.size <= classic_max_size


def downgraded(
    group: ConsumerGroup,
    leaving: Collection[str],
    joining: ConsumerMember | None,
    classic: ClassicGroups,
    cluster: ClusterImage,
    turn: Turn,
) -> ClassicGroup:
    """The classic group that this one becomes; nothing has happened yet.

    Args:
        leaving: members that will be gone.
        joining: a classic member that takes the place of the static one with its instance id; it comes last.

    Raises GROUP_ID_NOT_FOUND, as Kafka does, where the metadata of one has no version, and UNKNOWN_SERVER_ERROR where
    they cannot agree on a protocol.
    """
    replaced = None if joining is None else group.static_member(joining.instance_id)
    out = {*leaving} if replaced is None else {*leaving, replaced.member_id}
    members = [member for member in group.in_order() if member.member_id not in out]
    if joining is not None:
        members.append(joining)
    epoch = group.epoch
    prospect = classic.prospect(group.group_id, epoch, map(_newcomer, members), turn)
    for member in prospect.members.values():
        target = member.member_id
        if joining is not None and replaced is not None and target == joining.member_id:
            target = replaced.member_id
        try:
            version = embedded.version_of(member.metadata(prospect.protocol))
        except MalformedMessage as malformed:
            what = f"Cannot downgrade the classic group {group.group_id}: {malformed}."
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, what) from None
        member.assignment = embedded.assignment_bytes(group.target_of(target), cluster, version)
    return prospect


def _newcomer(member: ConsumerMember) -> Newcomer:
    assert member.classic is not None
    return Newcomer(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        member.classic.session_timeout_ms,
        tuple((protocol.name, protocol.metadata) for protocol in member.classic.supported_protocols),
    )
