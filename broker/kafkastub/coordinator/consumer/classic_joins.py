"""JoinGroup of a classic member into a consumer group (KIP-848, migration). It is never parked.

Kafka: GroupMetadataManager.classicGroupJoinToConsumerGroup.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from kafkastub.coordinator.classic.group import CONSUMER_PROTOCOL_TYPE
from kafkastub.coordinator.classic.join import Join
from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.consumer import embedded
from kafkastub.coordinator.consumer.classic_members import ClassicMembers
from kafkastub.coordinator.consumer.conversions import Conversions
from kafkastub.coordinator.consumer.expressions import Change
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.heartbeat import Heartbeats
from kafkastub.coordinator.consumer.member import ConsumerMember
from kafkastub.coordinator.consumer.records import ClassicMemberMetadata, ClassicProtocol
from kafkastub.coordinator.modern.member_ids import random_member_id
from kafkastub.coordinator.modern.membership import subscription as subscribes_anew
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import ErrorCode, KafkaError, MalformedMessage
from kafkawire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkawire.messages.join_group_response import JoinGroupResponse


class ClassicJoins:
    """Takes classic members into consumer groups, of which at least one member is there."""

    __slots__ = ("beats", "conversions", "members")

    def __init__(self, beats: Heartbeats, conversions: Conversions, members: ClassicMembers) -> None:
        self.beats = beats
        self.conversions = conversions
        self.members = members

    def join(self, group: ConsumerGroup, join: Join, turn: Turn) -> JoinGroupResponse:
        """The answer to a join; a new dynamic member is only given its id. Raises what speaks against it."""
        request, steps = join.request, self.beats.steps
        if steps.context.settings.migration_policy == "disabled":
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        is_new = not request.member_id
        member_id = request.member_id or random_member_id(self.beats.random)
        instance_id = request.group_instance_id
        steps.check_room(group, member_id, instance_id)
        _check_protocols(group, join)
        if is_new and instance_id is None and join.requires_member_id:
            return JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id, protocol_name=None)
        records: list[Record] = []
        if instance_id is None or is_new:
            member = group.joining(member_id, instance_id, records, takes_over=True)
        else:
            member = group.existing_static_member(instance_id, member_id)
        try:
            subscription = embedded.subscription(join.protocols[0][1])
        except MalformedMessage:
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL) from None
        after = self._update(group, member, _updated(member, join, subscription), subscription, records, turn)
        return JoinGroupResponse(
            generation_id=after.member_epoch,
            protocol_type=CONSUMER_PROTOCOL_TYPE,
            protocol_name=join.protocols[0][0],
            member_id=member_id,
        )

    def _update(
        self,
        group: ConsumerGroup,
        member: ConsumerMember,
        updated: ConsumerMember,
        subscription: ConsumerProtocolSubscription,
        records: list[Record],
        turn: Turn,
    ) -> ConsumerMember:
        """Bring the member as near to its target as it gets; the group may become classic with it."""
        steps, expressions = self.beats.steps, self.beats.expressions
        replaced = group.static_member(updated.instance_id)
        downgrade = replaced is not None and self.conversions.is_last(replaced, group)
        reported = owned_partitions(subscription, steps.context.image)
        names_changed = subscribes_anew(group, member, updated, records)
        change, needs_look = expressions.update(group, member, updated, records)
        raised = names_changed or change is not Change.NONE
        epoch, homogeneous, looked = group.epoch, group.homogeneous, raised or group.metadata_stale
        if looked:
            epoch, homogeneous = steps.epoch(group, raised, member, updated, records)
        rebalance = group.target_epoch < epoch
        if downgrade:
            after = updated
            if not rebalance:
                instance = updated.member_id if replaced is None else replaced.member_id
                target = group.target_epoch, group.target_of(instance)
                after = steps.reconciled(group, updated, target, raised, reported, records)
            self.conversions.after_replacing(group, after, rebalance, records, turn)
            return after
        target = steps.target(group, epoch, member, updated, homogeneous, records, turn)
        after = steps.reconciled(group, updated, target, raised, reported, records)
        expressions.refresh(group, member, updated, needs_look, None, turn)
        group.metadata_stale = group.metadata_stale and not looked
        steps.context.write(group, records, turn)
        self.members.joined(group, after, turn)
        return after


class OwnedTopic(NamedTuple):
    """What a classic member says that it has of one topic."""

    topic_id: bytes
    partitions: tuple[int, ...]


def owned_partitions(subscription: ConsumerProtocolSubscription, image: ClusterImage) -> list[OwnedTopic]:
    """What a subscription says that the member has, of topics that exist; nothing in version 0."""
    return [
        OwnedTopic(topic_id, tuple(one.partitions))
        for one in subscription.owned_partitions
        if (topic_id := image.topic_id(one.topic)) is not None
    ]


def _check_protocols(group: ConsumerGroup, join: Join) -> None:
    """Raises INCONSISTENT_GROUP_PROTOCOL where the classic members have no protocol in common with this one.

    Kafka: ConsumerGroup.supportsClassicProtocols.
    """
    members, supported = group.classic_members, group.classic_protocols
    if join.request.protocol_type != CONSUMER_PROTOCOL_TYPE or not any(
        supported.get(name, 0) == members for name, _ in join.protocols
    ):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _updated(member: ConsumerMember, join: Join, subscription: ConsumerProtocolSubscription) -> ConsumerMember:
    """The member, with what the join says of it."""
    request = join.request
    timeout = request.rebalance_timeout_ms
    return replace(
        member,
        instance_id=member.instance_id if request.group_instance_id is None else request.group_instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout == -1 else timeout,
        subscribed_topic_names=frozenset(subscription.topics),
        subscribed_topic_regex="",
        client_id=join.client_id,
        client_host=join.client_host,
        classic=ClassicMemberMetadata(
            request.session_timeout_ms, tuple(ClassicProtocol(*protocol) for protocol in join.protocols)
        ),
    )
