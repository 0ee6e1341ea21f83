"""A classic group: its members and what follows from them. No clock, no deadline of its own. Kafka: ClassicGroup."""

from __future__ import annotations

from collections.abc import Mapping, Set

from kafkastub.coordinator.classic.member import ClassicMember, Protocols
from kafkastub.coordinator.classic.states import PREVIOUS, State
from kafkastub.coordinator.group import NOT_DUE, Consideration, GroupDescription, MemberDescription
from kafkastub.coordinator.records import GroupMetadata, GroupTombstone
from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadline, Deadlines
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import string_map_order
from kafkawire.subscription import subscribed_topics

CONSUMER_PROTOCOL_TYPE = "consumer"

# Looked up once: in Python 3.11 that takes as long as a call.
_EMPTY, _COMPLETING_REBALANCE = State.EMPTY, State.COMPLETING_REBALANCE


class ClassicGroup:
    """A `Group` whose members agree on the assignment among themselves.

    Attributes:
        state_timestamp: when it came into its state, broker milliseconds; None where its record does not say.
        protocol_type: None for a group that only ever committed offsets (a "simple" one).
        protocol: what the members of this generation agreed on; None without a generation.
        leader: member id of the leader.
        pending: members that were given an id and have not joined with it yet (KIP-394), with the end of their time.
        pending_sync: members of this generation that have not synced yet.
        subscribed: the topics that the members of the last generation subscribe to; None where that is not known.
        new_member_added: somebody joined while the first rebalance was waiting for more.
        join, sync: the ends of the time for joining and for syncing.
        check_at: broker milliseconds at which the expiry sweep has to look at the group again.
    """

    group_type = "classic"
    lasting = False

    __slots__ = (
        "_awaiting_join",
        "_named_twice",
        "_peak",
        "_supported",
        "check_at",
        "generation",
        "group_id",
        "join",
        "leader",
        "members",
        "new_member_added",
        "pending",
        "pending_sync",
        "previous_state",
        "protocol",
        "protocol_type",
        "state",
        "state_timestamp",
        "static_members",
        "subscribed",
        "sync",
    )

    def __init__(self, group_id: str, state_timestamp: int | None) -> None:
        self.group_id = group_id
        self.state = State.EMPTY
        self.previous_state = State.DEAD
        self.state_timestamp = state_timestamp
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.static_members: dict[str, str] = {}
        self.pending: dict[str, Deadline[Turn]] = {}
        self.pending_sync: dict[str, None] = {}
        self.subscribed: frozenset[str] | None = None
        self.new_member_added = False
        self.join: Deadline[Turn] | None = None
        self.sync: Deadline[Turn] | None = None
        self.check_at = NOT_DUE
        self._awaiting_join = 0
        self._supported: dict[str, int] = {}
        self._named_twice = 0
        self._peak = 0

    # -- what others ask -----------------------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        """Whether it is in the state Empty."""
        return self.state is State.EMPTY

    @property
    def state_name(self) -> str:
        """As DescribeGroups and ListGroups show it."""
        return self.state.value

    @property
    def size(self) -> int:
        """How many members it has."""
        return len(self.members)

    def consideration(self) -> Consideration | None:
        """The rows of the table in `expiry` about classic groups. Kafka: ClassicGroup.offsetExpirationCondition."""
        if self.protocol_type is None:
            return Consideration(None)
        if self.state is State.EMPTY:
            return Consideration(self.state_timestamp)
        known = self.protocol_type == CONSUMER_PROTOCOL_TYPE and self.subscribed is not None
        return Consideration(None) if known and self.state is State.STABLE else None

    def keep_alive(self, member_id: str, deadlines: Deadlines[Turn], timer_ms: int) -> int | None:
        """The member's session counts anew; in an Empty group there is none, and it matters since when it is Empty."""
        if self.state is _EMPTY:
            return None if self.protocol_type is None else self.state_timestamp
        member = self.members[member_id]
        deadlines.arm(member.session, timer_ms + member.session_timeout_ms)
        return None

    @property
    def can_rebalance(self) -> bool:
        """Whether a rebalance may start in this state."""
        return self.state in PREVIOUS[State.PREPARING_REBALANCE]

    @property
    def all_joined(self) -> bool:
        """Whether everybody whom a rebalance waits for has joined."""
        return len(self.members) == self._awaiting_join and not self.pending

    @property
    def awaiting_join(self) -> int:
        """How many joins are parked."""
        return self._awaiting_join

    def in_order(self) -> list[ClassicMember]:
        """The members in the order in which Kafka goes through them."""
        return [self.members[member_id] for member_id in string_map_order(self.members, self.buckets)]

    @property
    def buckets(self) -> int:
        """How many the HashMap has that the members are in; it never becomes smaller."""
        buckets = 16
        while self._peak > buckets * 3 // 4:
            buckets *= 2
        return buckets

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest of its members'."""
        return max((m.rebalance_timeout_ms for m in self.members.values()), default=0)

    def subscribes(self, topic: str) -> bool:
        """Whether a member subscribes to the topic. A consumer group of which that is not known subscribes to all."""
        if self.subscribed is None:
            return self.protocol_type == CONSUMER_PROTOCOL_TYPE
        return topic in self.subscribed

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether somebody with these protocols can be a member: one of them must be everybody's.

        Kafka is content with one that is named as often as there are members, be it by one of them; and then its
        rebalance fails for good.
        """
        if self.state is State.EMPTY:
            return bool(protocol_type) and bool(protocols)
        size = len(self.members)
        if self.protocol_type != protocol_type or all(self._supported.get(n, 0) != size for n, _ in protocols):
            return False
        return not self._named_twice or not self._common().isdisjoint(name for name, _ in protocols)

    def validate_member(self, member_id: str, group_instance_id: str | None) -> None:
        """Raises UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID where the instance is another member by now (KIP-345)."""
        if group_instance_id is not None:
            known = self.static_members.get(group_instance_id)
            if known is None:
                raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
            if known != member_id:
                raise KafkaError(ErrorCode.FENCED_INSTANCE_ID)
        if member_id not in self.members:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)

    def validate_offset_commit(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation: int,
        *,
        version: int = 9,
        transactional: bool = False,
    ) -> None:
        """Raises what speaks against a commit of this member in this generation; see `Group`."""
        if generation < 0 and self.state is _EMPTY:
            return  # an administrator, or a consumer that assigns its partitions itself
        if generation >= 0 or member_id or group_instance_id is not None:
            self.validate_member(member_id, group_instance_id)
            if generation != self.generation:
                raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
        elif not transactional:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
        if self.state is _COMPLETING_REBALANCE and not transactional:
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)

    def validate_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Anybody may fetch."""

    def validate_offset_delete(self) -> None:
        """Raises NON_EMPTY_GROUP for a live group that is no consumer group: its subscriptions are unknown."""
        if self.state is not State.EMPTY and self.protocol_type != CONSUMER_PROTOCOL_TYPE:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def validate_delete(self) -> None:
        """Raises NON_EMPTY_GROUP while the group has members."""
        if self.state is not State.EMPTY:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def tombstones(self) -> tuple[GroupTombstone]:
        """The one record that ends it."""
        return (GroupTombstone(self.group_id),)

    def end(self, broker_ms: int) -> None:
        """Be Dead; who was given an id and has not joined need not come any more."""
        for deadline in (*self.pending.values(), self.join, self.sync):
            if deadline is not None:
                deadline.end()
        self.transition(State.DEAD, broker_ms)

    def described(self) -> GroupDescription:
        """What it looks like now, for those who look from inside."""
        return GroupDescription(
            self.generation,
            self.protocol,
            self.leader,
            [
                MemberDescription(
                    m.member_id,
                    m.group_instance_id,
                    m.client_id,
                    m.client_host,
                    m.session_timeout_ms,
                    m.rebalance_timeout_ms,
                    _topics(m.protocols),
                )
                for m in self.members.values()
            ],
        )

    def persisted(self, assignments: Mapping[str, bytes]) -> GroupMetadata:
        """The record of the group as it is, with these assignments; members in Kafka's order."""
        protocol = self.protocol or ""
        members = tuple(m.persisted(protocol, assignments.get(m.member_id, b"")) for m in self.in_order())
        timestamp = -1 if self.state_timestamp is None else self.state_timestamp
        return GroupMetadata(
            self.group_id, self.protocol_type or "", self.generation, self.protocol, self.leader, timestamp, members
        )

    # -- members -------------------------------------------------------------------------------------------------

    def add(self, member: ClassicMember) -> None:
        """Take a member in; the first one gives the group its protocol type beforehand, and becomes the leader."""
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = member.member_id
        if self.leader is None:
            self.leader = member.member_id
        self.members[member.member_id] = member
        self._peak = max(self._peak, len(self.members))
        self._count_protocols(member, 1)
        if member.join_token is not None:
            self._awaiting_join += 1
        self.pending.pop(member.member_id, None)

    def remove(self, member_id: str) -> None:
        """Take a member, pending or not, out; its deadlines and parked requests are the caller's to end."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._count_protocols(member, -1)
            if member.join_token is not None:
                self._awaiting_join -= 1
            if member.group_instance_id is not None:
                self.static_members.pop(member.group_instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.pending.pop(member_id, None)
        self.pending_sync.pop(member_id, None)

    def replace_static(self, old: ClassicMember, new: ClassicMember) -> None:
        """Put the same instance's new member into the old one's place, leadership included."""
        del self.members[old.member_id]
        self.members[new.member_id] = new
        if self.leader == old.member_id:
            self.leader = new.member_id
        assert new.group_instance_id is not None
        self.static_members[new.group_instance_id] = new.member_id

    def update(self, member: ClassicMember, protocols: Protocols, rebalance_ms: int, session_ms: int) -> None:
        """A member comes with other protocols and timeouts."""
        self._count_protocols(member, -1)
        member.protocols = protocols
        self._count_protocols(member, 1)
        member.rebalance_timeout_ms = rebalance_ms
        member.session_timeout_ms = session_ms

    def park_join(self, member: ClassicMember, token: object) -> None:
        """Park a member's join; one that it had parked before is never answered, as in Kafka."""
        if member.join_token is None:
            self._awaiting_join += 1
        member.join_token = token

    def take_join(self, member: ClassicMember) -> object | None:
        """Take what the member's join is parked under, to be answered."""
        token, member.join_token = member.join_token, None
        if token is not None:
            self._awaiting_join -= 1
        return token

    def _count_protocols(self, member: ClassicMember, by: int) -> None:
        for name, _ in member.protocols:  # one that is named twice counts twice, as in Kafka
            self._supported[name] = self._supported.get(name, 0) + by
        if len(member.protocols) > 1 and len(dict(member.protocols)) < len(member.protocols):
            self._named_twice += by

    # -- generations ---------------------------------------------------------------------------------------------

    def elect_joined_leader(self) -> bool:
        """Make sure that the leader is somebody who has joined; False where nobody has."""
        if self.leader is None:
            return False
        leader = self.members.get(self.leader)
        if leader is None or leader.join_token is None:
            joined = next((m for m in self.members.values() if m.join_token is not None), None)
            if joined is None:
                return False
            self.leader = joined.member_id
        return True

    def agreed_protocol(self) -> str | None:
        """The protocol with the most votes among those that all members support; of equals the first in a HashMap.

        A protocol that a member names twice counts twice, as in Kafka. None where that leaves a member without a choice
        or chooses what one does not support: Kafka's selection fails there. Kafka: ClassicGroup.selectProtocol.
        """
        size = len(self.members)
        chosen = self._elected({name for name, supporters in self._supported.items() if supporters == size})
        return chosen if chosen in self._common() else None

    def select_protocol(self) -> str:
        """The same, and where Kafka's rebalance would fail for good one that all members support all the same."""
        chosen = self.agreed_protocol() or self._elected(self._common())
        assert chosen is not None, "who joins supports what all others do"
        return chosen

    def _elected(self, candidates: Set[str]) -> str | None:
        votes: dict[str, int] = {}
        for member in self.members.values():
            choice = member.vote(candidates)
            if choice is None:
                return None
            votes[choice] = votes.get(choice, 0) + 1
        return max(string_map_order(votes), key=votes.__getitem__, default=None)

    def _common(self) -> Set[str]:
        """The protocols that all members support."""
        return set.intersection(*({name for name, _ in member.protocols} for member in self.members.values()))

    def next_generation(self, broker_ms: int) -> None:
        """The joins are over: agree on a protocol and wait for the assignment, or be empty."""
        self.generation += 1
        self.protocol = self.select_protocol() if self.members else None
        self.subscribed = self.compute_subscribed()
        self.transition(State.COMPLETING_REBALANCE if self.members else State.EMPTY, broker_ms)
        self.pending_sync.clear()

    def compute_subscribed(self) -> frozenset[str] | None:
        """All topics that the members subscribe to; None where one's subscription cannot be parsed (KIP-496)."""
        if self.protocol_type != CONSUMER_PROTOCOL_TYPE:
            return None
        topics: set[str] = set()
        if self.members and self.protocol is None:
            return None
        for member in self.members.values():
            subscription = subscribed_topics(member.metadata(self.protocol))
            if subscription is None:
                return None
            topics |= subscription
        return frozenset(topics)

    def transition(self, state: State, broker_ms: int) -> None:
        """Change the state, and stamp it."""
        if self.state not in PREVIOUS[state]:
            raise AssertionError(f"group {self.group_id!r} cannot go from {self.state.value} to {state.value}")
        self.previous_state = self.state
        self.state = state
        self.state_timestamp = broker_ms


def _topics(protocols: Protocols) -> list[str] | None:
    found = subscribed_topics(protocols[0][1]) if protocols else None
    return None if found is None else sorted(found)
