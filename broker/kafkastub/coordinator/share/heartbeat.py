"""ShareGroupHeartbeat: members that come, stay, leave or lose their session.

Kafka: GroupMetadataManager.shareGroupHeartbeat, shareGroupLeave, shareGroupFenceMember.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from kafkastub.coordinator.cluster import ClusterImage
from kafkastub.coordinator.modern.assignment import Assignment, GroupSpec, TopicDescriber
from kafkastub.coordinator.modern.groups import HeartbeatResult
from kafkastub.coordinator.modern.membership import check_epoch, check_room, subscription, updated
from kafkastub.coordinator.modern.partition_sets import iteration_order, topics_in_order
from kafkastub.coordinator.modern.records import Partitions
from kafkastub.coordinator.modern.targets import TopicIds, new_target
from kafkastub.coordinator.modern.timers import MemberTimers
from kafkastub.coordinator.modern.watching import Sessions
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.share import state_partitions
from kafkastub.coordinator.share.context import ShareContext
from kafkastub.coordinator.share.group import ShareGroup
from kafkastub.coordinator.share.member import ShareMember
from kafkastub.coordinator.share.records import ShareGroupMetadata
from kafkastub.coordinator.share.settings import ShareGroupSettings
from kafkastub.coordinator.share.state_partitions import Initialization
from kafkastub.coordinator.turn import Turn
from kafkastub.steps import Pace
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.share_group_heartbeat_response import (
    Assignment as ToldAssignment,
)
from kafkawire.messages.share_group_heartbeat_response import (
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)


class Heartbeats(Sessions[ShareGroup, MemberTimers]):
    """Answers heartbeats, and watches over sessions."""

    __slots__ = ()
    context: ShareContext

    def __init__(self, context: ShareContext) -> None:
        super().__init__(context, MemberTimers)

    def beat(
        self, request: ShareGroupHeartbeatRequest, client_id: str, client_host: str, turn: Turn
    ) -> HeartbeatResult:
        """One heartbeat of a member that comes or stays. Raises what speaks against it; then nothing has happened.

        Its follow-up is an `Initialization`, where the share coordinator is to be asked for one.
        """
        context, member_id, epoch = self.context, request.member_id, request.member_epoch
        settings = self.repeat(request, client_id, client_host, turn.timer_ms)
        if settings is not None:
            return HeartbeatResult(_answer(member_id, epoch, settings))
        records: list[Record] = []
        create = epoch == 0
        group = context.get_or_create(request.group_id, create, records)
        check_room(group, context.settings.max_size, has_place=member_id in group.members)
        member = group.get_or_create(member_id) if create else group.member(member_id)
        if not create:
            before = member.previous_member_epoch
            why = f", and it does not match the previous member epoch ({before})"
            check_epoch("share", member, epoch, lambda: True, why)
        said = _updated(member, request, client_id, client_host)

        raised = subscription(group, member, said, records)
        if group.target_epoch >= group.epoch:
            raised = state_partitions.assignment_pending(group) or raised
        subscribed, group_epoch, homogeneous = group.subscribed, group.epoch, group.homogeneous
        looked = raised or group.metadata_stale
        if looked:
            counts = group.subscriptions.after([member], said)
            subscribed = counts.by_name
            group_epoch = context.next_epoch(group, raised, subscribed, records)
            raised = group_epoch != group.epoch
            homogeneous = counts.homogeneous(len(group.members) + (member_id not in group.members))
        target_epoch, target = self._target(group, group_epoch, said, homogeneous, records, turn)
        after = self._reconciled(group, said, target_epoch, target, raised, records)
        initialization = self._initialization(group, group_epoch, subscribed, records, turn)

        group.metadata_stale = group.metadata_stale and not looked
        context.write(group, records, turn)
        known = group.partition_metadata
        group.quiet = not records and (known is None or not known.initializing)
        answer = _answer(member_id, after.member_epoch, self.alive(group, member_id, turn.timer_ms))
        if create or request.subscribed_topic_names is not None or member.assigned != after.assigned:
            answer.assignment = _told(after.assigned)
        return HeartbeatResult(answer, initialization)

    def repeat(
        self, request: ShareGroupHeartbeatRequest, client_id: str, client_host: str, timer_ms: int
    ) -> ShareGroupSettings | None:
        """See `ModernGroups.repeat_heartbeat`: gives what the group goes by."""
        group = self.context.find(request.group_id)
        if group is None or not _says_nothing_new(group, request, client_id, client_host):
            return None
        settings: ShareGroupSettings = self.alive(group, request.member_id, timer_ms)
        return settings

    def _target(
        self,
        group: ShareGroup,
        epoch: int,
        updated: ShareMember,
        homogeneous: bool,
        records: list[Record],
        turn: Turn,
    ) -> tuple[int, Assignment]:
        """The epoch of the target and the member's part of it, computed where the group's epoch asks for it.

        Raises UNKNOWN_SERVER_ERROR where the assignor fails; NotYet. Kafka: maybeUpdateTargetAssignment.
        """
        if group.target_epoch >= epoch or not self.context.may_compute(group, turn):
            return group.target_epoch, group.target_of(updated.member_id)
        metadata, assignor = group.partition_metadata, self.context.assignor
        assignable: Mapping[bytes, Collection[int]] = (
            {} if metadata is None else {topic_id: topic.partitions for topic_id, topic in metadata.initialized.items()}
        )

        def assign(spec: GroupSpec, topics: TopicDescriber, pace: Pace) -> Mapping[str, Assignment]:
            return assignor.assign(spec, topics, assignable, pace)

        topic_ids = TopicIds(self.context.image)
        return epoch, new_target(
            self.context, group, epoch, updated, homogeneous, assign, assignable, topic_ids, records, turn
        )

    def _reconciled(
        self,
        group: ShareGroup,
        updated: ShareMember,
        target_epoch: int,
        target: Assignment,
        changed: bool,
        records: list[Record],
    ) -> ShareMember:
        """The member with its target: there is nothing to wait for. Kafka: ShareGroupAssignmentBuilder."""
        if not changed and updated.is_reconciled_to(target_epoch):
            return updated
        names, image = updated.subscribed_topic_names, self.context.image
        if target_epoch != updated.member_epoch:
            after = replace(
                updated,
                state=0,
                assigned=_subscribed_part(target, names, image),
                member_epoch=target_epoch,
                previous_member_epoch=updated.member_epoch,
            )
        elif changed:
            after = replace(updated, assigned=_subscribed_part(target, names, image))
        else:
            return updated
        if after == updated:
            return updated
        records.append(group.forms.assignment_record(group.group_id, after))
        return after

    def _initialization(
        self, group: ShareGroup, epoch: int, subscribed: dict[str, int], records: list[Record], turn: Turn
    ) -> Initialization | None:
        """What the share coordinator is to be asked for; a record says that it is. Kafka: maybeCreateInitialize…"""
        retry_ms = self.context.settings.initialize_retry_interval_ms
        wanted = state_partitions.missing(group, subscribed, self.context.image, turn.timer_ms, retry_ms)
        if not wanted:
            return None
        records.append(state_partitions.with_initializing(group, wanted))
        return state_partitions.initialization(group, epoch, wanted)

    # -- leaving -------------------------------------------------------------------------------------------------

    def fence_one(self, group: ShareGroup, member: ShareMember, turn: Turn) -> None:
        """Take a member out; the group's epoch is raised."""
        metadata_hash = self.context.topics.metadata_hash(group.subscriptions.after([member], None).by_name)
        raised = ShareGroupMetadata(group.group_id, group.epoch + 1, metadata_hash)
        self.context.remove(group, [member.member_id], [raised], turn)

    def arm_session(self, group: ShareGroup, member_id: str, session_timeout_ms: int, timer_ms: int) -> None:
        """The member is alive: its session counts anew."""
        group.session_timeout_ms = session_timeout_ms
        super().arm_session(group, member_id, session_timeout_ms, timer_ms)


def _answer(member_id: str, epoch: int, settings: ShareGroupSettings) -> ShareGroupHeartbeatResponse:
    return ShareGroupHeartbeatResponse(
        member_id=member_id, member_epoch=epoch, heartbeat_interval_ms=settings.heartbeat_interval_ms
    )


def _says_nothing_new(group: ShareGroup, request: ShareGroupHeartbeatRequest, client_id: str, client_host: str) -> bool:
    """Whether it is what members send over and over: all is well, and there is nothing to be told."""
    member = group.members.get(request.member_id)
    return (
        member is not None
        and group.quiet
        and member.member_epoch == request.member_epoch == group.target_epoch == group.epoch
        and member.member_epoch > 0
        and request.subscribed_topic_names is None
        and request.rack_id is None
        and member.client_id == client_id
        and member.client_host == client_host
        and not group.metadata_stale
    )


def _updated(member: ShareMember, request: ShareGroupHeartbeatRequest, client_id: str, client_host: str) -> ShareMember:
    """The member, with what the request says of it; null says nothing."""
    names = request.subscribed_topic_names
    known = member.subscribed_topic_names if names is None else frozenset(names)
    after: ShareMember = updated(member, request, client_id, client_host, ("rack_id",), subscribed_topic_names=known)
    return after


def _subscribed_part(target: Assignment, names: frozenset[str], image: ClusterImage) -> Partitions:
    """What of its target a member is told: topics to which it subscribes. Kafka: filterAssignedPartitions."""
    topic_ids = {image.topic_id(name) for name in names}
    if all(topic_id in topic_ids for topic_id in target):
        return target
    return {topic_id: partitions for topic_id, partitions in target.items() if topic_id in topic_ids}


def _told(assigned: Partitions) -> ToldAssignment:
    """What a heartbeat tells its member that it has, in Kafka's order: by the buckets of its maps."""
    topics = topics_in_order(assigned)
    return ToldAssignment([TopicPartitions(one, list(iteration_order(assigned[one]))) for one in topics])
