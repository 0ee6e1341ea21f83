"""ConsumerGroupHeartbeat of a member that comes or stays. Kafka: GroupMetadataManager.consumerGroupHeartbeat."""

from __future__ import annotations

from random import Random

from kafkastub.coordinator.consumer.assignment_response import assignment_of
from kafkastub.coordinator.consumer.context import ConsumerContext
from kafkastub.coordinator.consumer.expressions import Change, Expressions, MayDescribe
from kafkastub.coordinator.consumer.fencing import Fencing
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.member import ConsumerMember, MemberState
from kafkastub.coordinator.consumer.settings import ConsumerSettings
from kafkastub.coordinator.consumer.steps import Steps
from kafkastub.coordinator.modern.member_ids import random_member_id
from kafkastub.coordinator.modern.membership import subscription, updated
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.turn import Turn
from kafkawire.errors import KafkaError
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse


class Heartbeats:
    """Answers heartbeats.

    Args:
        random: makes member ids.
    """

    __slots__ = ("context", "expressions", "fencing", "random", "steps")

    def __init__(self, context: ConsumerContext, fencing: Fencing, random: Random) -> None:
        self.context = context
        self.fencing = fencing
        self.steps = Steps(context)
        self.expressions = Expressions(context)
        self.random = random

    def beat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        client_id: str,
        client_host: str,
        may_describe: MayDescribe | None,
        turn: Turn,
    ) -> ConsumerGroupHeartbeatResponse:
        """One heartbeat. Raises what speaks against it; then nothing has happened, but see `Conversions.upgrade`."""
        settings = self.repeat(request, client_id, client_host, turn.timer_ms)
        if settings is not None:
            return _answer(request.member_id, request.member_epoch, settings)
        records = list[Record]()
        group = self.steps.group(request.group_id, request.member_epoch == 0, records, turn)
        try:
            return self._beat_into(group, request, client_id, client_host, may_describe, records, turn)
        except KafkaError:
            if self.context.find(request.group_id) is not group:  # it was to become a consumer group
                group.end(turn.broker_ms)
            raise

    def repeat(
        self, request: ConsumerGroupHeartbeatRequest, client_id: str, client_host: str, timer_ms: int
    ) -> ConsumerSettings | None:
        """See `ModernGroups.repeat_heartbeat`: gives what the group goes by."""
        group = self.context.find(request.group_id)
        if group is None or not _says_nothing_new(group, request, client_id, client_host):
            return None
        settings: ConsumerSettings = self.fencing.alive(group, request.member_id, timer_ms)
        return settings

    def _beat_into(
        self,
        group: ConsumerGroup,
        request: ConsumerGroupHeartbeatRequest,
        client_id: str,
        client_host: str,
        may_describe: MayDescribe | None,
        records: list[Record],
        turn: Turn,
    ) -> ConsumerGroupHeartbeatResponse:
        steps, epoch, reported = self.steps, request.member_epoch, request.topic_partitions
        create = epoch == 0
        steps.check_room(group, request.member_id, request.instance_id)
        member_id = request.member_id or random_member_id(self.random)
        member = steps.member(group, member_id, request.instance_id, epoch, reported, records)
        said = _updated(member, request, client_id, client_host)
        names_changed = subscription(group, member, said, records)
        change, needs_look = self.expressions.update(group, member, said, records)
        raised = names_changed or change is Change.UPDATED_AND_RESOLVED
        raised = raised or steps.assignor_changes(group, member, said)
        group_epoch, homogeneous = group.epoch, group.homogeneous
        looked = raised or group.metadata_stale
        if looked:
            group_epoch, homogeneous = steps.epoch(group, raised, member, said, records)
        target = steps.target(group, group_epoch, member, said, homogeneous, records, turn)
        changed = names_changed or change is not Change.NONE
        after = steps.reconciled(group, said, target, changed, reported, records)

        self.expressions.refresh(group, member, said, needs_look, may_describe, turn)
        group.metadata_stale = group.metadata_stale and not looked
        self.context.write(group, records, turn)
        if after is not said:
            self.fencing.watch(group, after, turn)
        answer = _answer(member_id, after.member_epoch, self.fencing.alive(group, member_id, turn.timer_ms))
        if create or _is_full(request) or member.assigned != after.assigned:
            answer.assignment = assignment_of(after.assigned, member.assigned)
        return answer


def _answer(member_id: str, epoch: int, settings: ConsumerSettings) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(
        member_id=member_id, member_epoch=epoch, heartbeat_interval_ms=settings.heartbeat_interval_ms
    )


def _says_nothing_new(
    group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, client_id: str, client_host: str
) -> bool:
    """Whether it is what members send over and over: all is well, and there is nothing to be told."""
    member = group.members.get(request.member_id)
    return (
        member is not None
        and member.member_epoch == request.member_epoch == group.target_epoch
        and member.member_epoch > 0
        and member.state is MemberState.STABLE
        and request.topic_partitions is None
        and request.subscribed_topic_names is None
        and request.rebalance_timeout_ms in (-1, member.rebalance_timeout_ms)
        and request.subscribed_topic_regex is None
        and request.server_assignor is None
        and (member.server_assignor is None or not group.assignors_compete)  # else it may raise the epoch
        and request.rack_id is None
        and (request.instance_id is None or request.instance_id == member.instance_id)
        and member.classic is None
        and member.client_id == client_id
        and member.client_host == client_host
        and group.epoch <= group.target_epoch
        and not group.metadata_stale
        and not group.subscriptions.now.expressions
    )


def _updated(
    member: ConsumerMember, request: ConsumerGroupHeartbeatRequest, client_id: str, client_host: str
) -> ConsumerMember:
    """The member, with what the request says of it; null and -1 say nothing."""
    names = request.subscribed_topic_names
    after: ConsumerMember = updated(
        member,
        request,
        client_id,
        client_host,
        ("instance_id", "rack_id", "rebalance_timeout_ms", "server_assignor", "subscribed_topic_regex"),
        subscribed_topic_names=member.subscribed_topic_names if names is None else frozenset(names),
        classic=None,
    )
    return after


def _is_full(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the member says all that it can say: it wants to be told everything."""
    subscribes = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    return request.rebalance_timeout_ms != -1 and subscribes and request.topic_partitions is not None
