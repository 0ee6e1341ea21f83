"""The group coordinator: every group of the cluster, as one pure state machine.

No clock, no I/O, no loop: each call is given the moment, broker time (stamps, retention) and timer time (sessions,
rebalances), and gives back a `Turn`: the records to append to `__consumer_offsets`, the parked requests that have
their answer now, the reply. Errors are raised as `KafkaError`. What must happen later is a named deadline
(`next_deadline`, `expire`). Kafka: GroupCoordinatorShard.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from kafkastub.config import BrokerConfig, Profile
from kafkastub.coordinator import commits, deletion, loading
from kafkastub.coordinator.classic import membership
from kafkastub.coordinator.classic.group import ClassicGroup
from kafkastub.coordinator.classic.join import Join, Joins
from kafkastub.coordinator.classic.rebalance import Rebalancer
from kafkastub.coordinator.classic.states import State
from kafkastub.coordinator.deadlines import Deadlines
from kafkastub.coordinator.expiry import ExpiryIndex, ExpiryPolicy
from kafkastub.coordinator.hard_state import HardState
from kafkastub.coordinator.offsets import OffsetStore
from kafkastub.coordinator.records import GroupMetadata, GroupTombstone, Record
from kafkastub.coordinator.settings import GroupSettings
from kafkastub.coordinator.turn import Token, Turn
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.join_group_request import JoinGroupRequest
from kafkawire.messages.leave_group_request import MemberIdentity
from kafkawire.messages.offset_commit_request import OffsetCommitRequest
from kafkawire.messages.sync_group_request import SyncGroupRequest


class Meters:
    """How often, counted per offset and not per request (KIP-496)."""

    __slots__ = ("offset_commits", "offset_deletions", "offset_expirations")

    def __init__(self) -> None:
        self.offset_commits = 0
        self.offset_expirations = 0
        self.offset_deletions = 0


class GroupCoordinator:
    """All groups.

    Args:
        config: the broker's configuration, by Kafka's names.
        random: makes member ids.

    Attributes:
        groups: the groups by id; to be read only.
        unseen: those of them that nobody can read yet, as there is no record of them: see `readable`.
    """

    __slots__ = (
        "deadlines",
        "expiry",
        "groups",
        "hard",
        "index",
        "joins",
        "meters",
        "profile",
        "rebalancer",
        "settings",
        "unseen",
    )

    def __init__(self, config: BrokerConfig, profile: Profile, random: Random) -> None:
        self.settings = GroupSettings.of(config)
        self.profile = profile
        self.groups: dict[str, ClassicGroup] = {}
        self.unseen: set[str] = set()
        self.hard = HardState()
        self.deadlines: Deadlines[Turn] = Deadlines()
        self.index = ExpiryIndex()
        self.expiry = ExpiryPolicy(self.settings.retention_ms, profile.explicit_retention_ignores_state)
        self.meters = Meters()
        self.rebalancer = Rebalancer(self.settings, self.deadlines, self.log, self.state_changed)
        self.joins = Joins(self.rebalancer, random)

    @property
    def offsets(self) -> OffsetStore:
        """The committed offsets; to be read only."""
        return self.hard.offsets

    @property
    def completed_rebalances(self) -> int:
        """How many rebalances have ended with an assignment (KIP-496: group-completed-rebalances)."""
        return self.rebalancer.completed_rebalances

    # -- members -------------------------------------------------------------------------------------------------

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
        client = client_id or ""
        join = Join(request, protocols, client, client_host, token, version >= 4, version >= 9)
        settings = self.settings
        if not request.group_id:
            join.fail(turn, ErrorCode.INVALID_GROUP_ID, request.member_id)
        elif not settings.min_session_timeout_ms <= request.session_timeout_ms <= settings.max_session_timeout_ms:
            join.fail(turn, ErrorCode.INVALID_SESSION_TIMEOUT, request.member_id)
        else:
            group = self.groups.get(request.group_id)
            if group is None and request.member_id:
                join.fail(turn, ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
            elif group is None:
                group = self.create(request.group_id, broker_ms)
                self.index.touch(group, broker_ms)  # without offsets or members it is gone with the next sweep
                self.joins.join(group, join, turn)
                self.log(turn, GroupMetadata(group.group_id, "", 0, None, None, broker_ms))
            else:
                self.joins.join(group, join, turn)
        return turn

    def sync(self, request: SyncGroupRequest, token: Token, broker_ms: int, timer_ms: int) -> Turn:
        """SyncGroup. The answer, a `SyncGroupResponse`, is a completion of the token, now or later. Raises errors."""
        if not request.group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID)
        group = self.groups.get(request.group_id)
        if group is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
        turn = Turn(broker_ms, timer_ms)
        membership.sync(group, request, token, self.rebalancer, turn)
        return turn

    def heartbeat(
        self, group_id: str, member_id: str, group_instance_id: str | None, generation: int, timer_ms: int
    ) -> ErrorCode:
        """Heartbeat: NONE or REBALANCE_IN_PROGRESS. Raises what speaks against it."""
        group = self.groups.get(group_id)
        if group is None or not group_id:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID if group_id else ErrorCode.INVALID_GROUP_ID)
        return membership.heartbeat(group, member_id, group_instance_id, generation, self.rebalancer, timer_ms)

    def leave(self, group_id: str, members: Sequence[MemberIdentity], broker_ms: int, timer_ms: int) -> Turn:
        """LeaveGroup; the reply is a `MemberResponse` a member. Raises INVALID_GROUP_ID, UNKNOWN_MEMBER_ID."""
        if not group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID)
        group = self.groups.get(group_id)
        if group is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
        turn = Turn(broker_ms, timer_ms)
        turn.reply = membership.leave(group, list(members), self.rebalancer, turn)
        return turn

    # -- offsets -------------------------------------------------------------------------------------------------

    def commit_offsets(
        self,
        request: OffsetCommitRequest,
        topics: Sequence[commits.TopicCommit],
        version: int,
        broker_ms: int,
        timer_ms: int,
    ) -> Turn:
        """OffsetCommit of those topics and partitions of a request that exist; the reply is what was refused, or None.

        Raises what speaks against the whole commit. See `commits`.
        """
        return commits.commit_offsets(self, request, topics, version, Turn(broker_ms, timer_ms))

    def delete_offsets(self, group_id: str, topics: Iterable[tuple[str, Sequence[int]]], broker_ms: int) -> Turn:
        """OffsetDelete of partitions that exist; the reply is an error code a topic, in order. Raises errors."""
        return deletion.delete_offsets(self, group_id, topics, Turn(broker_ms, 0))

    def delete_group(self, group_id: str, broker_ms: int) -> Turn:
        """DeleteGroups, one group. Raises GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
        return deletion.delete_group(self, group_id, Turn(broker_ms, 0))

    def on_topics_deleted(self, topics: Iterable[str], broker_ms: int) -> Turn:
        """Topics are gone: every group's offsets of them go too, whatever the group's state."""
        return deletion.topics_deleted(self, topics, Turn(broker_ms, 0))

    # -- time ----------------------------------------------------------------------------------------------------

    def next_deadline(self) -> int | None:
        """The next moment, in timer milliseconds, at which something happens by itself."""
        return self.deadlines.next()

    def expire(self, broker_ms: int, timer_ms: int) -> Turn:
        """Let everything happen whose time has come."""
        turn = Turn(broker_ms, timer_ms)
        for deadline in self.deadlines.due(timer_ms):
            deadline.fire(turn)
        return turn

    def expire_offsets(self, broker_ms: int) -> Turn:
        """The sweep: expire the offsets that are due, and remove the empty groups that have none (left)."""
        return deletion.sweep(self, Turn(broker_ms, 0))

    def next_expiry(self) -> int | None:
        """A sweep before this broker time finds nothing, unless something changes."""
        return self.index.next()

    def set_retention(self, retention_ms: int) -> None:
        """Change `offsets.retention.minutes` of a running coordinator; -1 for infinite."""
        self.settings.retention_ms = self.expiry.retention_ms = retention_ms
        for group in self.groups.values():
            self.index.touch(group, 0)

    # -- records -------------------------------------------------------------------------------------------------

    def apply(self, record: Record) -> None:
        """Make a record of `__consumer_offsets` true, on loading; `loaded` follows the last one."""
        self.hard.apply(record)

    def loaded(self, broker_ms: int, timer_ms: int) -> Turn:
        """All records are applied: bring the groups to life, with their members' sessions."""
        return loading.loaded(self, Turn(broker_ms, timer_ms))

    def unload(self, broker_ms: int, timer_ms: int) -> Turn:
        """Forget everything; who is parked is told to look for another coordinator."""
        return loading.unload(self, Turn(broker_ms, timer_ms))

    def reload(self, group_ids: Iterable[str], broker_ms: int, timer_ms: int) -> Turn:
        """These groups move to another coordinator, which knows of them what their records say."""
        return loading.reload(self, list(group_ids), Turn(broker_ms, timer_ms))

    def log(self, turn: Turn, record: Record) -> None:
        """Append a record to the turn, and make it true."""
        self.hard.apply(record)
        turn.records.append(record)

    # -- groups --------------------------------------------------------------------------------------------------

    def readable(self, group_id: str) -> ClassicGroup | None:
        """The group as those see it who only read.

        A commit of which nothing could be written makes a group, and no record. Kafka's readers see what the log has
        made certain: such a group they see once the next record is in its partition, whoever's that is.
        """
        return None if group_id in self.unseen else self.groups.get(group_id)

    def create(self, group_id: str, broker_ms: int) -> ClassicGroup:
        """A new, empty group."""
        group = self.groups[group_id] = ClassicGroup(group_id, broker_ms)
        return group

    def remove(self, group: ClassicGroup, turn: Turn) -> None:
        """Remove a group, with its tombstone; its offsets are the caller's."""
        self.log(turn, GroupTombstone(group.group_id))
        for session in group.pending.values():
            session.cancel()
        group.transition(State.DEAD, turn.broker_ms)
        self.index.forget(group)
        del self.groups[group.group_id]
        self.unseen.discard(group.group_id)

    def state_changed(self, group: ClassicGroup, turn: Turn) -> None:
        """The sweep's view of a group has changed with its state."""
        if group.state is State.EMPTY:
            has_offsets = bool(self.offsets.topics(group.group_id))
            delay = max(self.expiry.retention_ms, 0) if has_offsets and not self._explicit(group) else 0
            self.index.touch(group, turn.broker_ms + delay)
        elif group.state is State.STABLE:
            self.index.touch(group, turn.broker_ms)

    def _explicit(self, group: ClassicGroup) -> bool:
        return any(columns.explicit_expiry for columns in self.offsets.topics(group.group_id).values())
