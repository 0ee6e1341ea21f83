"""Members of a consumer group that use the classic protocol: SyncGroup, Heartbeat, LeaveGroup (KIP-848, migration).

Nothing of theirs is ever parked: a member's epoch is its generation, and a heartbeat that answers REBALANCE_IN_PROGRESS
makes it join and sync once more for every step that others are told in heartbeats. Kafka: GroupMetadataManager
(classicGroupSyncToConsumerGroup, …HeartbeatToConsumerGroup, …LeaveToConsumerGroup).
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkastub.coordinator.consumer import embedded
from kafkastub.coordinator.consumer.context import ConsumerContext
from kafkastub.coordinator.consumer.fencing import Fencing
from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.member import ConsumerMember, MemberState
from kafkastub.coordinator.consumer.records import ClassicMemberMetadata
from kafkastub.coordinator.turn import Token, Turn
from kafkastub.deadlines import Deadline
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.leave_group_request import MemberIdentity
from kafkawire.messages.leave_group_response import MemberResponse
from kafkawire.messages.sync_group_request import SyncGroupRequest
from kafkawire.messages.sync_group_response import SyncGroupResponse


class ClassicMembers:
    """What classic members ask, but for joining. Every method raises KafkaError with what speaks against it."""

    __slots__ = ("context", "fencing")

    def __init__(self, context: ConsumerContext, fencing: Fencing) -> None:
        self.context = context
        self.fencing = fencing

    def sync(self, group: ConsumerGroup, request: SyncGroupRequest, token: Token, turn: Turn) -> None:
        """Tell a member what it has, in the form of its subscription. Raises REBALANCE_IN_PROGRESS too."""
        member, classic = _classic(group, request.member_id, request.group_instance_id)
        _check_generation(member, request.generation_id)
        protocol = classic.supported_protocols[0]
        if request.protocol_type not in (None, group.protocol_type) or request.protocol_name not in (
            None,
            protocol.name,
        ):
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        if group.target_epoch > member.member_epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
            self._await_join(group, member, turn.timer_ms)
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)
        timers = self.fencing.timers(group, member.member_id)
        if timers.sync is not None:
            timers.sync.cancel()
        self._arm_session(group, member, turn.timer_ms)
        assignment = embedded.assignment_bytes(
            member.assigned, self.context.image, embedded.version_of(protocol.metadata)
        )
        response = SyncGroupResponse(
            protocol_type=request.protocol_type, protocol_name=request.protocol_name, assignment=assignment
        )
        turn.complete(token, response)

    def heartbeat(
        self, group: ConsumerGroup, member_id: str, group_instance_id: str | None, generation: int, timer_ms: int
    ) -> ErrorCode:
        """A member is alive. REBALANCE_IN_PROGRESS where there is something that it can only be told by joining."""
        member, _ = _classic(group, member_id, group_instance_id)
        _check_generation(member, generation)
        self._arm_session(group, member, timer_ms)
        state = member.state
        if (
            member.member_epoch < group.target_epoch
            or state is MemberState.UNREVOKED_PARTITIONS
            or (state is MemberState.UNRELEASED_PARTITIONS and not _waits(group, member))
        ):
            self._await_join(group, member, timer_ms)
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def leave(self, group: ConsumerGroup, members: Sequence[MemberIdentity], turn: Turn) -> list[MemberResponse]:
        """Take members out, of either protocol, each judged by itself; the epoch is raised once."""
        leaving: dict[str, ConsumerMember] = {}
        responses = []
        for identity in members:
            error = ErrorCode.NONE
            try:
                member = _named(group, identity)
                leaving[member.member_id] = member
            except KafkaError as refused:
                error = refused.code
            responses.append(MemberResponse(identity.member_id, identity.group_instance_id, error))
        self.fencing.fence(group, list(leaving.values()), turn)
        return responses

    # -- deadlines -----------------------------------------------------------------------------------------------

    def _await_join(self, group: ConsumerGroup, member: ConsumerMember, timer_ms: int) -> None:
        """The member was told to join: it has its rebalance timeout for it, counted from the first time."""
        timers, member_id = self.fencing.timers(group, member.member_id), member.member_id
        if timers.join is None:
            timers.join = Deadline(
                ("join", group.group_id, member_id), lambda later: self.fencing.expel(group, member_id, later)
            )
        if timers.join.at is None:
            self.context.groups.deadlines.arm(timers.join, timer_ms + member.rebalance_timeout_ms)

    def joined(self, group: ConsumerGroup, member: ConsumerMember, turn: Turn) -> None:
        """The member has joined: its session counts anew, and it has the rebalance timeout to sync."""
        timers, member_id = self.fencing.timers(group, member.member_id), member.member_id
        if timers.join is not None:
            timers.join.cancel()
        if timers.sync is None:
            timers.sync = Deadline(
                ("sync", group.group_id, member_id), lambda later: self.fencing.expel(group, member_id, later)
            )
        self._arm_session(group, member, turn.timer_ms)
        self.context.groups.deadlines.arm(timers.sync, turn.timer_ms + member.rebalance_timeout_ms)

    def _arm_session(self, group: ConsumerGroup, member: ConsumerMember, timer_ms: int) -> None:
        """The member is alive."""
        assert member.classic is not None
        timers = self.fencing.timers(group, member.member_id)
        timers.session_timeout_ms = member.classic.session_timeout_ms
        self.context.groups.deadlines.arm(timers.session, timer_ms + member.classic.session_timeout_ms)


def _classic(
    group: ConsumerGroup, member_id: str, group_instance_id: str | None
) -> tuple[ConsumerMember, ClassicMemberMetadata]:
    """A member that uses the classic protocol. Raises UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
    if group_instance_id is None:
        member = group.member(member_id)
    else:
        member = group.existing_static_member(group_instance_id, member_id)
    if member.classic is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} does not use the classic protocol.")
    return member, member.classic


def _check_generation(member: ConsumerMember, generation: int) -> None:
    """Raises ILLEGAL_GENERATION."""
    if generation != member.member_epoch:
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION)


def _waits(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether others still have something of the member's target. Kafka: waitingOnUnreleasedPartition."""
    for topic_id, partitions in group.target_of(member.member_id).items():
        has, owned = member.assigned.get(topic_id, {}), group.owners.of_topic(topic_id)
        if any(partition in owned for partition in partitions if partition not in has):
            return True
    return False


def _named(group: ConsumerGroup, identity: MemberIdentity) -> ConsumerMember:
    """The member that a LeaveGroup names; a static one may be named by its instance alone. Raises errors."""
    if identity.group_instance_id is None:
        return group.member(identity.member_id)
    return group.existing_static_member(identity.group_instance_id, identity.member_id or None)
