"""What groups with epochs have in common, whatever their type. Kafka: ModernGroup, and what StreamsGroup has of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeVar

from kafkastub.coordinator.group import NOT_DUE, Consideration, GroupDescription, MemberDescription, PartitionCheck
from kafkastub.coordinator.modern.member import MemberForms, ModernMember
from kafkastub.coordinator.modern.records import (
    CurrentOfMember,
    GroupEpoch,
    RecordTypes,
    TargetEpoch,
)
from kafkastub.coordinator.modern.subscribed import SubscribedTopics
from kafkastub.coordinator.modern.timers import MemberTimers
from kafkastub.coordinator.records import Record, Tombstone, TypedRecord
from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadlines
from kafkastub.steps import Pace, no_pause
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import TimelineOrder, string_hash, string_timeline_order

FIRST_EPOCH: Final = 1
NOTHING_READ: Final[Mapping[str, Any]] = MappingProxyType({})
_SOME: Final = 32
"""Members that are put in order together."""


Member = TypeVar("Member", bound=ModernMember)
Target = TypeVar("Target")
Timers = TypeVar("Timers", bound=MemberTimers)


class Change(NamedTuple):
    """What the records of one part do to a live group.

    Attributes:
        end: what a tombstone does.
    """

    apply: Callable[[Any, Any], None]
    end: Callable[[Any, Tombstone], None]


class NewTarget(NamedTuple, Generic[Target]):
    """A target that was computed.

    Attributes:
        target: by member id; who is missing has nothing.
        records: those of the members to whom it is new.
        read: these records, and the target that is read from each, by member id.
    """

    target: Mapping[str, Target]
    records: list[Record]
    read: dict[str, tuple[Record, Target]]


class ModernGroup(Generic[Member, Target, Timers]):
    """One group of any such type: a `Group`.

    Attributes:
        members: by member id.
        epoch: raised by whatever asks for a new target.
        metadata_hash: what the group knows its topics by.
        target: what each member is to have, by member id.
        target_epoch: the epoch that the target was computed for.
        target_timestamp: when it was computed, broker milliseconds.

    In no record, and lost on a reload:
        metadata_stale: the topics may be others than those that the epoch was made for.
        assigned_at: when the target was computed, timer milliseconds; None where nothing keeps from a new one.
        timers: the members' deadlines, by member id.
        read_ahead: the records of a target that are written next, and what is read from them, by member id.
    """

    __slots__ = (
        "_peak",
        "_topics",
        "assigned_at",
        "check_at",
        "epoch",
        "group_id",
        "members",
        "metadata_hash",
        "metadata_stale",
        "read_ahead",
        "target",
        "target_epoch",
        "target_timestamp",
        "timers",
    )

    group_type: ClassVar[str]
    protocol_type: ClassVar[str]
    lasting: ClassVar[bool] = False
    commits: ClassVar[bool] = True
    """Whether its members commit offsets; else everything about them is refused with GROUP_ID_NOT_FOUND."""
    types: ClassVar[RecordTypes]
    """The records of its type."""
    forms: ClassVar[MemberForms]
    """The members of its type."""
    nothing: ClassVar[Any]
    """The target of a member that has none."""
    state_timestamp: Final = None

    def __init__(self, group_id: str, topics: SubscribedTopics) -> None:
        self.group_id = group_id
        self.members: dict[str, Member] = {}
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.target: dict[str, Target] = {}
        self.target_epoch = FIRST_EPOCH
        self.target_timestamp = 0
        self.metadata_stale = True
        self.assigned_at: int | None = None
        self.timers: dict[str, Timers] = {}
        self.read_ahead: Mapping[str, tuple[Record, Target]] = NOTHING_READ
        self.check_at = NOT_DUE
        self._topics = topics
        self._peak = 0

    # -- what it looks like --------------------------------------------------------------------------------------

    @property
    def state_name(self) -> str:
        """As the type has it."""
        raise NotImplementedError

    @property
    def is_empty(self) -> bool:
        """Whether it is in the state Empty."""
        return not self.members

    @property
    def size(self) -> int:
        """How many members it has."""
        return len(self.members)

    def in_order(self) -> list[Member]:
        """The members in the order in which Kafka goes through them."""
        return [self.members[member_id] for member_id in string_timeline_order(self.members, self._peak)]

    def members_now(self) -> Iterator[Member | None]:
        """The same, however the group changes while they are taken; None wherever others may have their turn."""
        if len(self.members) <= _SOME:
            return iter(self.in_order())
        return _in_order(dict(self.members), self._peak)

    def member(self, member_id: str) -> Member:
        """A member. Raises UNKNOWN_MEMBER_ID."""
        member = self.members.get(member_id)
        if member is None:
            what = f"Member {member_id} is not a member of group {self.group_id}."
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, what)
        return member

    def get_or_create(self, member_id: str) -> Member:
        """A member; one that is not there is new."""
        return self.members.get(member_id) or self.forms.new(member_id)

    def target_of(self, member_id: str) -> Target:
        """What the member is to have."""
        target: Target = self.target.get(member_id, self.nothing)
        return target

    def replaced_by(self, updated: Member) -> str | None:
        """The member whose place it takes, which goes out of the group; None for none."""
        return None

    def target_with(self, updated: Member, replaced: str | None) -> Mapping[str, Target]:
        """The target, where a member has that of the one whose place it takes."""
        return self.target

    def may_compute(self, interval_ms: int, timer_ms: int) -> bool:
        """Whether it is time for a new target. Kafka: canComputeNextTargetAssignment.

        Kafka counts from the record's timestamp. Here the interval runs on timer time, so that a test which has stopped
        the broker's clock still sees its groups settle.
        """
        return self.assigned_at is None or timer_ms >= self.assigned_at + interval_ms

    def new_target(
        self, target: Mapping[str, Target], before: Mapping[str, Target], order: Iterable[str], pace: Pace = no_pause
    ) -> NewTarget[Target]:
        """What is new in a target.

        Args:
            before: the target until now; both by member id.
            order: the members, as their records come.
        """
        group_id, nothing = self.group_id, self.nothing
        found = NewTarget[Target](target, [], {})
        for member_id in order:
            new, known = target.get(member_id, nothing), before.get(member_id)
            if known is None or new != known:
                record = self.types.target(group_id, member_id, new)
                found.records.append(record)
                found.read[member_id] = record, self._read_target(record)
                pace(2)
        return found

    def target_records(self, new: NewTarget[Target], epoch: int, timestamp: int) -> list[Record]:
        """The records that write a new target, which are written next, and that of its epoch.

        Args:
            timestamp: when it was computed, broker milliseconds.
        """
        self.read_ahead = new.read
        return [*new.records, self.types.target_epoch(self.group_id, epoch, timestamp)]

    def described(self) -> GroupDescription:
        """What it looks like now, for those who look from inside."""
        raise NotImplementedError

    def _descriptions(self, topics_of: Callable[[Member], list[str]]) -> list[MemberDescription]:
        """The members, for those who look from inside."""
        return [
            MemberDescription(
                m.member_id,
                getattr(m, "instance_id", None),
                m.client_id,
                m.client_host,
                self._session_timeout_ms(self.timers[m.member_id]) if m.member_id in self.timers else -1,
                getattr(m, "rebalance_timeout_ms", -1),
                topics_of(m),
            )
            for m in self.in_order()
        ]

    def _session_timeout_ms(self, timers: Timers) -> int:
        return timers.session_timeout_ms

    # -- offsets -------------------------------------------------------------------------------------------------

    def consideration(self) -> Consideration | None:
        """Each offset has its own age, whatever the state; where none are committed, none could expire."""
        return Consideration(None) if self.commits else None

    def subscribes(self, topic: str) -> bool:
        """Whether a member subscribes to the topic."""
        raise NotImplementedError

    def validate_offset_commit(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation: int,
        *,
        version: int = 9,
        transactional: bool = False,
    ) -> PartitionCheck | None:
        """Raises what speaks against a commit of this member in this epoch; see `Group`."""
        if not self.commits:
            raise self._commits_none()
        if generation < 0 and not self.members:
            return None  # an administrator
        if transactional and generation == -1 and not member_id and group_instance_id is None:
            return None
        return self._check_commit(self.member(member_id), generation, version, transactional)

    def validate_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Raises UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH, ILLEGAL_GENERATION; who names neither may fetch.

        Anybody may fetch what is not there. Kafka: OffsetMetadataManager.fetchOffsets.
        """
        if not self.commits:
            return
        if member_id is None:
            if member_epoch >= 0:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # Kafka trips over the missing id
            return
        self._check_fetch(self.member(member_id), member_epoch)

    def _check_commit(self, member: Member, epoch: int, version: int, transactional: bool) -> PartitionCheck | None:
        raise NotImplementedError

    def _check_fetch(self, member: Member, epoch: int) -> None:
        raise NotImplementedError

    def validate_offset_delete(self) -> None:
        """Offsets of topics to which nobody subscribes may be deleted at any time."""
        if not self.commits:
            raise self._commits_none()

    def _commits_none(self) -> KafkaError:
        return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {self.group_id} is not a consumer group.")

    def frees_offsets(self) -> bool:
        """Whether offsets of it may be due that were not before what has just been written."""
        return self.commits and not self.members

    def keep_alive(self, member_id: str, deadlines: Deadlines[Turn], timer_ms: int) -> int | None:
        """A commit keeps no session alive here, and each offset has its own age."""
        return None

    # -- the end -------------------------------------------------------------------------------------------------

    def validate_delete(self) -> None:
        """Raises NON_EMPTY_GROUP while the group has members."""
        if self.members:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def tombstones(self) -> list[Record]:
        """The records that end it, but for those of its offsets. Kafka: createGroupTombstoneRecords."""
        return self.types.ending(
            self.group_id, [member.member_id for member in self.in_order()], self._own_tombstones()
        )

    def _own_tombstones(self) -> list[Record]:
        """Those of what only its type has."""
        return []

    def end(self, broker_ms: int) -> None:
        """It is gone: nothing of it happens any more."""
        for timers in self.timers.values():
            timers.cancel()
        self.timers.clear()

    # -- records -------------------------------------------------------------------------------------------------

    def apply(self, record: Record) -> None:
        """Make a record of this group true; those of other types mean nothing here."""
        if isinstance(record, TypedRecord) and record.group_type == self.group_type:
            if type(record) is Tombstone:
                self.changes[record.of.part].end(self, record)
            else:
                self.changes[record.part].apply(self, record)
            self._changed()

    def _changed(self) -> None:
        """A record has been made true."""

    def update(self, member: Member) -> None:
        """A member has changed, or come."""
        member_id = member.member_id
        self._replace(self.members.get(member_id), member)
        self._peak = max(self._peak, len(self.members) + 1)  # Kafka's map makes room before it looks who is there
        self.members[member_id] = member

    def _replace(self, old: Member | None, new: Member | None) -> None:
        """A member is about to be another one, or has come, or is gone."""
        raise NotImplementedError

    def _forget(self, member_id: str) -> None:
        """A member is gone: what is soft of it is."""
        timers = self.timers.pop(member_id, None)
        if timers is not None:
            timers.cancel()

    def _apply_epoch(self, record: GroupEpoch) -> None:
        self.epoch = record.epoch
        self.metadata_hash = record.metadata_hash

    def _apply_member(self, record: Any) -> None:
        self.update(self.forms.with_record(self.get_or_create(record.member_id), record))

    def _end_member(self, record: Tombstone) -> None:
        old = self.members.pop(record.name, None)
        if old is not None:
            self._replace(old, None)
            self._forget(record.name)

    def _apply_current(self, record: CurrentOfMember) -> None:
        self.update(self.forms.with_record(self.get_or_create(record.member_id), record))

    def _end_current(self, record: Tombstone) -> None:
        member = self.members.get(record.name)
        if member is not None:
            self.update(self.forms.without_assignment(member))

    def _apply_target_epoch(self, record: TargetEpoch) -> None:
        self.target_epoch = record.assignment_epoch
        self.target_timestamp = record.assignment_timestamp

    def _end_target_epoch(self, record: Tombstone) -> None:
        self.target_epoch, self.target_timestamp = -1, 0

    def _apply_target(self, record: Any) -> None:
        known = self.read_ahead.get(record.member_id)
        read = self._read_target(record) if known is None or known[0] is not record else known[1]
        self.target[record.member_id] = read

    def _end_target(self, record: Tombstone) -> None:
        self.target.pop(record.name, None)

    def _read_target(self, record: Any) -> Target:
        """The target as it is read from the record that it is written to."""
        raise NotImplementedError

    def _end_nothing(self, record: Tombstone) -> None:
        """What is over with it needs no change."""

    changes: ClassVar[Mapping[str, Change]] = {
        "metadata": Change(_apply_epoch, _end_nothing),
        "members": Change(_apply_member, _end_member),
        "target_metadata": Change(_apply_target_epoch, _end_target_epoch),
        "target": Change(_apply_target, _end_target),
        "current": Change(_apply_current, _end_current),
    }
    """By the part of the group's state that a record is in; a type adds its own."""


def _in_order(members: Mapping[str, Member], peak: int) -> Iterator[Member | None]:
    order = TimelineOrder[str](len(members), peak)
    left = iter(members)
    while some := tuple(islice(left, _SOME)):
        order.add((string_hash(member_id), member_id) for member_id in some)
        yield None
    for member_id in order.in_order():
        yield members[member_id]
