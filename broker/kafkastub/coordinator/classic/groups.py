"""The group type `classic`: what its requests do, and how its groups come out of their records and go.

Kafka: GroupMetadataManager (classicGroupJoin, …Sync, …Heartbeat, …Leave; replay(GroupMetadataKey, …), onLoaded,
onUnloaded).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Final, NamedTuple

from kafkastub.coordinator.classic import membership
from kafkastub.coordinator.classic.describe import described
from kafkastub.coordinator.classic.group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from kafkastub.coordinator.classic.join import Join, Joins
from kafkastub.coordinator.classic.member import ClassicMember, Protocols
from kafkastub.coordinator.classic.members_of_other_types import MembersOfOtherTypes
from kafkastub.coordinator.classic.rebalance import Rebalancer
from kafkastub.coordinator.classic.states import State
from kafkastub.coordinator.group import Group, with_members
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.records import GroupMetadata
from kafkastub.coordinator.turn import Token, Turn
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.describe_groups_response import DescribedGroup, DescribedGroupMember
from kafkawire.messages.join_group_request import JoinGroupRequest
from kafkawire.messages.join_group_response import JoinGroupResponse
from kafkawire.messages.leave_group_request import MemberIdentity
from kafkawire.messages.sync_group_request import SyncGroupRequest
from kafkawire.messages.sync_group_response import SyncGroupResponse


class Newcomer(NamedTuple):
    """A member of a group that becomes classic. Timeouts are milliseconds."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: Protocols


class ClassicGroups:
    """A `GroupType`, and the requests of the classic protocol.

    Args:
        groups: all groups, of every type.
        random: makes member ids.

    Attributes:
        members_of: who takes in classic members, by the type of the group that is not classic.
    """

    __slots__ = ("_groups", "joins", "members_of", "rebalancer")

    name: Final = ClassicGroup.group_type

    def __init__(self, groups: Groups, random: Random) -> None:
        self._groups = groups
        self.members_of: dict[str, MembersOfOtherTypes] = {}
        self.rebalancer = Rebalancer(groups.settings, groups.deadlines, groups.log, self._changed)
        self.joins = Joins(self.rebalancer, random)

    @property
    def completed_rebalances(self) -> int:
        """How many rebalances have ended with an assignment."""
        return self.rebalancer.completed_rebalances

    def find(self, group_id: str) -> ClassicGroup | None:
        """The group, where there is one of this type."""
        group = self._groups.groups.get(group_id)
        return group if type(group) is ClassicGroup else None

    # -- requests ------------------------------------------------------------------------------------------------

    def join(
        self,
        request: JoinGroupRequest,
        version: int,
        client_id: str | None,
        client_host: str,
        token: Token,
        broker_ms: int,
        timer_ms: int,
    ) -> Turn:
        """JoinGroup. The answer, a `JoinGroupResponse`, is always a completion of the token, now or later."""
        turn = Turn(broker_ms, timer_ms)
        protocols = tuple((p.name, bytes(p.metadata)) for p in request.protocols)
        join = Join(request, protocols, client_id or "", client_host, token, version >= 4, version >= 9)
        settings = self._groups.settings
        if not request.group_id:
            join.fail(turn, ErrorCode.INVALID_GROUP_ID, request.member_id)
            return turn
        if not settings.min_session_timeout_ms <= request.session_timeout_ms <= settings.max_session_timeout_ms:
            join.fail(turn, ErrorCode.INVALID_SESSION_TIMEOUT, request.member_id)
            return turn
        group = self._groups.groups.get(request.group_id)
        if type(group) is ClassicGroup:
            self.joins.join(group, join, turn)
        elif group is not None and (not group.is_empty or group.lasting):
            self._join_elsewhere(group, join, turn)
        elif request.member_id:
            join.fail(turn, ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
        else:
            if group is not None:  # empty: it becomes a classic group, and keeps its offsets
                self._groups.remove(group, turn)
            group = self._groups.groups[request.group_id] = self.new(request.group_id, broker_ms)
            self._groups.index.touch(group, broker_ms)  # without offsets or members it is gone with the next sweep
            self.joins.join(group, join, turn)
            self._groups.log(turn, GroupMetadata(group.group_id, "", 0, None, None, broker_ms))
        return turn

    def _join_elsewhere(self, group: Group, join: Join, turn: Turn) -> None:
        """A join into a live group of another type: it may take classic members in."""
        members = self.members_of.get(group.group_type)
        if members is None:
            join.fail(turn, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "")
            return
        try:
            turn.complete(join.token, members.join(group, join, turn))
        except KafkaError as error:
            join.fail(turn, error.code, "")

    def sync(self, request: SyncGroupRequest, token: Token, broker_ms: int, timer_ms: int) -> Turn:
        """SyncGroup. The answer, a `SyncGroupResponse`, is a completion of the token, now or later. Raises errors."""
        turn = Turn(broker_ms, timer_ms)
        group = self._known(request.group_id)
        if isinstance(group, ClassicGroup):
            membership.sync(group, request, token, self.rebalancer, turn)
        else:
            self._members_of(group).sync(group, request, token, turn)
        return turn

    def end_session(self, group_id: str, member_id: str, broker_ms: int, timer_ms: int) -> Turn:
        """What the end of the member's session does, at once; ours, for tests.

        Raises GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, and INVALID_REQUEST while the member waits for its answer to a
        JoinGroup or SyncGroup, which keeps its session alive.
        """
        turn, group = Turn(broker_ms, timer_ms), self.find(group_id)
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND)
        member = group.members.get(member_id)
        if member is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
        if member.satisfies_session:
            what = f"Member {member_id} of group {group_id} waits for the rebalance: its session cannot end meanwhile."
            raise KafkaError(ErrorCode.INVALID_REQUEST, what)
        member.session.cancel()
        member.session.fire(turn)
        return turn

    def heartbeat(
        self, group_id: str, member_id: str, group_instance_id: str | None, generation: int, timer_ms: int
    ) -> ErrorCode:
        """Heartbeat: NONE or REBALANCE_IN_PROGRESS. Raises what speaks against it."""
        group = self._known(group_id)
        if isinstance(group, ClassicGroup):
            return membership.heartbeat(group, member_id, group_instance_id, generation, self.rebalancer, timer_ms)
        return self._members_of(group).heartbeat(group, member_id, group_instance_id, generation, timer_ms)

    def leave(self, group_id: str, members: Sequence[MemberIdentity], broker_ms: int, timer_ms: int) -> Turn:
        """LeaveGroup; the reply is a `MemberResponse` a member. Raises INVALID_GROUP_ID, UNKNOWN_MEMBER_ID."""
        group = self._known(group_id)
        turn = Turn(broker_ms, timer_ms)
        if isinstance(group, ClassicGroup):
            turn.reply = membership.leave(group, list(members), self.rebalancer, turn)
        else:
            turn.reply = self._members_of(group).leave(group, members, turn)
        return turn

    def describe(self, group: Group) -> DescribedGroup | None:
        """DescribeGroups of one group, None where it is of another type."""
        found: DescribedGroup | None = with_members(self.description(group))
        return found

    def description(self, group: Group) -> tuple[DescribedGroup, Iterator[DescribedGroupMember | None]] | None:
        """See `GroupType`."""
        return described(group) if type(group) is ClassicGroup else None

    def _known(self, group_id: str) -> Group:
        """A group of any type. Raises INVALID_GROUP_ID, UNKNOWN_MEMBER_ID."""
        group = self._groups.groups.get(group_id)
        if group is None or not group_id:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID if group_id else ErrorCode.INVALID_GROUP_ID)
        return group

    def _members_of(self, group: Group) -> MembersOfOtherTypes:
        """Who takes classic members into this group of another type. Raises UNKNOWN_MEMBER_ID where nobody does."""
        members = self.members_of.get(group.group_type)
        if members is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
        return members

    def _changed(self, group: ClassicGroup, turn: Turn) -> None:
        """The sweep's view of a group has changed with its state."""
        if group.state is State.EMPTY:
            self._groups.emptied(group, turn)
        elif group.state is State.STABLE:
            self._groups.index.touch(group, turn.broker_ms)

    # -- to another type and back --------------------------------------------------------------------------------

    def send_away(self, group: ClassicGroup, turn: Turn) -> None:
        """Whoever is parked shall join again; all else stays. Kafka: GroupMetadataManager.convertToConsumerGroup."""
        self._answer_all(group, ErrorCode.REBALANCE_IN_PROGRESS, turn)

    def give_way(self, group: Group, turn: Turn) -> None:
        """A group of another type takes the group's place: who is parked shall join again."""
        assert isinstance(group, ClassicGroup)
        self._dismiss_all(group, ErrorCode.REBALANCE_IN_PROGRESS, turn)

    def prospect(self, group_id: str, generation: int, members: Iterable[Newcomer], turn: Turn) -> ClassicGroup:
        """A Stable group of members that are in a group of another type; for `take_over`, nothing has happened yet.

        Its protocol is selected, the first of the members leads.

        Args:
            members: at least one.

        Raises UNKNOWN_SERVER_ERROR, as Kafka does, where they cannot agree on a protocol.
        Kafka: ClassicGroup.fromConsumerGroup.
        """
        group = ClassicGroup(group_id, turn.broker_ms)
        group.generation, group.protocol_type = generation, CONSUMER_PROTOCOL_TYPE
        for newcomer in members:
            group.add(ClassicMember(*newcomer, self.rebalancer.session(group, newcomer.member_id)))
        group.protocol = group.agreed_protocol()
        if group.protocol is None:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        group.subscribed = group.compute_subscribed()
        group.state = State.STABLE
        return group

    def take_over(self, group: ClassicGroup, rebalance: bool, turn: Turn) -> None:
        """Let a prospect be the group, in the place of one that is removed.

        Args:
            rebalance: whether its members are to agree on an assignment at once.

        Kafka: GroupMetadataManager.convertToClassicGroup.
        """
        self._groups.groups[group.group_id] = group
        self._groups.index.touch(group, turn.broker_ms)
        self._groups.log(turn, group.persisted({i: m.assignment for i, m in group.members.items()}))
        for member in group.members.values():
            self.rebalancer.arm_session(member, turn)
        if rebalance:
            self.rebalancer.prepare(group, turn)

    # -- groups out of records, and away -------------------------------------------------------------------------

    def new(self, group_id: str, broker_ms: int) -> ClassicGroup:
        """An empty group."""
        return ClassicGroup(group_id, broker_ms)

    def group_ids(self) -> Iterable[str]:
        """The groups with a record of a generation."""
        return self._groups.hard.generations

    def revive(self, group_id: str, turn: Turn) -> ClassicGroup:
        """The group with the members of its last generation."""
        record = self._groups.hard.generations.get(group_id)
        return self.new(group_id, turn.broker_ms) if record is None else self._out_of(record)

    def revived(self, group: Group, turn: Turn) -> None:
        """The members' sessions begin; where they are more than may be, the group rebalances."""
        assert isinstance(group, ClassicGroup)
        for member in group.members.values():
            self.rebalancer.arm_session(member, turn)
        if len(group.members) > self._groups.settings.max_size:
            self.rebalancer.prepare(group, turn)

    def _out_of(self, record: GroupMetadata) -> ClassicGroup:
        timestamp = None if record.current_state_timestamp == -1 else record.current_state_timestamp
        group = ClassicGroup(record.group_id, timestamp)
        group.generation = record.generation
        group.protocol_type = record.protocol_type or None
        group.protocol = record.protocol
        group.leader = record.leader
        for m in record.members:
            rebalance_timeout = m.session_timeout if m.rebalance_timeout == -1 else m.rebalance_timeout
            member = ClassicMember(
                m.member_id,
                m.group_instance_id,
                m.client_id,
                m.client_host,
                rebalance_timeout,
                m.session_timeout,
                ((record.protocol or "", m.subscription),),
                self.rebalancer.session(group, m.member_id),
                m.assignment,
            )
            group.add(member)
        if record.members:
            group.state = State.STABLE
        group.subscribed = group.compute_subscribed()
        return group

    def unload(self, group: Group, turn: Turn) -> None:
        """Answer everything that is parked with NOT_COORDINATOR; the group is Dead."""
        assert isinstance(group, ClassicGroup)
        self._dismiss_all(group, ErrorCode.NOT_COORDINATOR, turn)
        group.end(turn.broker_ms)

    def _dismiss_all(self, group: ClassicGroup, error: ErrorCode, turn: Turn) -> None:
        """Answer everything that is parked with an error; nothing of the group's is due any more."""
        self._answer_all(group, error, turn)
        for member in group.members.values():
            member.session.cancel()
        for deadline in (group.join, group.sync):
            if deadline is not None:
                deadline.cancel()

    def _answer_all(self, group: ClassicGroup, error: ErrorCode, turn: Turn) -> None:
        for member in group.members.values():
            response = JoinGroupResponse(error_code=error, member_id=member.member_id, protocol_name=None)
            self.rebalancer.answer_join(group, member, response, turn)
            self.rebalancer.answer_sync(member, SyncGroupResponse(error_code=error), turn)
