"""A type of groups with epochs is its package: here a small one, whose members are each given all that they ask for.

Nothing of the coordinator knows its name. It is found by that as the others are, where Python finds this module.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final, NamedTuple

import pytest

from kafkastub.config import BrokerConfig, Profile
from kafkastub.coordinator import GroupCoordinator
from kafkastub.coordinator.group import GroupDescription, PartitionCheck
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.modern.assignment import NO_ASSIGNMENT, Assignment
from kafkastub.coordinator.modern.codec import GroupCodec, form
from kafkastub.coordinator.modern.context import ModernContext
from kafkastub.coordinator.modern.group import ModernGroup
from kafkastub.coordinator.modern.groups import HeartbeatResult, ModernGroups
from kafkastub.coordinator.modern.member import MemberForms, ModernMember
from kafkastub.coordinator.modern.membership import check_room
from kafkastub.coordinator.modern.records import (
    CurrentOfMember,
    GroupEpoch,
    Partitions,
    RecordTypes,
    TargetEpoch,
    TargetOfMember,
)
from kafkastub.coordinator.modern.settings import GroupConfig, ModernSettings
from kafkastub.coordinator.modern.timers import MemberTimers
from kafkastub.coordinator.modern.watching import Sessions
from kafkastub.coordinator.records import GroupMetadata, Record, TypedRecord
from kafkastub.coordinator.turn import Turn
from kafkastub.coordinator.typed_state import PARTS, ModernGroupState
from kafkastub.state.internal_topics.offsets_codec import OffsetsCodec
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.offsets_topic import RecordType, decode_record

NAME: Final = "relay"
NOW: Final = (1_700_000_000_000, 1_000)
"""Broker time and timer time."""


# -- records, and what they leave --------------------------------------------------------------------------------------


class RelayRecord(TypedRecord):
    __slots__ = ()
    group_type = NAME


@dataclass(slots=True, repr=False, eq=False)
class RelayMemberMetadata(RelayRecord):
    part = "members"
    named_by = "member_id"

    group_id: str
    member_id: str
    client_id: str
    names: tuple[str, ...]


@dataclass(slots=True, repr=False, eq=False)
class RelayCurrent(CurrentOfMember, RelayRecord):
    assigned: Partitions


class RelayMetadata(GroupEpoch, RelayRecord):
    __slots__ = ()


class RelayTargetMetadata(TargetEpoch, RelayRecord):
    __slots__ = ()


class RelayTarget(TargetOfMember, RelayRecord):
    __slots__ = ()


TYPES: Final = RecordTypes(
    epoch=RelayMetadata,
    member=RelayMemberMetadata,
    target_epoch=RelayTargetMetadata,
    target=RelayTarget,
    current=RelayCurrent,
)


class RelayState(ModernGroupState):
    __slots__ = PARTS


STATE: Final = RelayState
CODEC: Final = GroupCodec(form(RecordType.SHARE_GROUP_METADATA, RelayMetadata))
"""Kafka has no schemas of such records: one of another type is as good."""


# -- members and groups ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RelayMember(ModernMember):
    names: tuple[str, ...] = ()
    assigned: Partitions = field(default_factory=lambda: NO_ASSIGNMENT)


FORMS: Final = MemberForms(RelayMember, RelayMemberMetadata, RelayCurrent, read={}, written={})


class RelayGroup(ModernGroup[RelayMember, Assignment, MemberTimers]):
    __slots__ = ()

    group_type = NAME
    protocol_type = NAME
    types = TYPES
    forms = FORMS
    nothing = NO_ASSIGNMENT

    @property
    def state_name(self) -> str:
        return "Stable" if self.members else "Empty"

    def described(self) -> GroupDescription:
        return GroupDescription(self.epoch, None, None, [])

    def names(self) -> list[str]:
        return sorted({name for member in self.members.values() for name in member.names})

    def subscribes(self, topic: str) -> bool:
        return topic in self.names()

    def _check_commit(
        self, member: RelayMember, epoch: int, version: int, transactional: bool
    ) -> PartitionCheck | None:
        if epoch != member.member_epoch:
            raise KafkaError(ErrorCode.STALE_MEMBER_EPOCH)
        return None

    def end(self, broker_ms: int) -> None:
        for name in self.names():
            self._topics.discard(name, self.group_id)

    def _replace(self, old: RelayMember | None, new: RelayMember | None) -> None:
        for name in () if new is None else new.names:
            self._topics.add(name, self.group_id)

    def _read_target(self, record: RelayTarget) -> Assignment:
        return record.partitions


class RelayContext(ModernContext[RelayGroup, ModernSettings]):
    __slots__ = ()


class Beat(NamedTuple):
    group_id: str
    member_id: str
    member_epoch: int
    names: tuple[str, ...] | None


class RelayGroups(ModernGroups[RelayGroup, ModernSettings]):
    __slots__ = ("forgotten",)

    name = NAME
    heartbeat_response = RelayMember

    def __init__(self, context: RelayContext, sessions: RelaySessions) -> None:
        super().__init__(context, sessions)
        self.forgotten: list[str] = []

    def topics_deleted(self, names: Iterable[str], turn: Turn) -> None:
        self.forgotten += names

    def _heartbeat(
        self, request: Beat, version: int, client_id: str, client_host: str, may_describe: Any, turn: Turn
    ) -> HeartbeatResult:
        """A member comes (epoch 0), or stays."""
        context, records = self.context, list[Record]()
        group_id, member_id, epoch, names = request
        group = context.get_or_create(group_id, epoch == 0, records)
        check_room(group, context.of(group_id).max_size, has_place=member_id in group.members)
        member = group.get_or_create(member_id) if epoch == 0 else group.member(member_id)
        updated = member if names is None else replace(member, names=names)
        if updated != member:
            records.append(FORMS.metadata_record(group_id, updated))
        raised = context.next_epoch(group, updated != member, {*group.names(), *updated.names}, records)
        if raised > group.target_epoch or raised > group.epoch:
            target = {**group.target, member_id: self._all_of(updated.names)}
            new = group.new_target(target, group.target, target)
            records += group.target_records(new, raised, turn.broker_ms)
            updated = replace(updated, member_epoch=raised, assigned=target[member_id])
            records.append(FORMS.assignment_record(group_id, updated))
        group.metadata_stale = False
        context.write(group, records, turn)
        return HeartbeatResult(updated)

    def _all_of(self, names: Collection[str]) -> Assignment:
        image, ids = self.context.image, {name: self.context.image.topic_id(name) for name in names}
        return {i: frozenset(range(image.partition_count(name))) for name, i in ids.items() if i is not None}


class RelaySessions(Sessions[RelayGroup, MemberTimers]):
    def fence_one(self, group: RelayGroup, member: RelayMember, turn: Turn) -> None:
        self.context.write(group, TYPES.removal(group.group_id, member.member_id), turn)


def make(groups: Groups, config: BrokerConfig, random: Random) -> RelayGroups:
    """As a package of a type has it."""
    context = RelayContext(groups, ModernSettings(max_size=2), RelayGroup)
    return RelayGroups(context, RelaySessions(context, MemberTimers))


# -- what follows from that --------------------------------------------------------------------------------------------


class Topics:
    def __init__(self) -> None:
        self.counts = {"a": 2, "b": 1}

    def topic_id(self, name: str) -> bytes | None:
        return name.encode() * 16 if name in self.counts else None

    def topic_name(self, topic_id: bytes) -> str | None:
        return topic_id[:1].decode()

    def partition_count(self, name: str) -> int:
        return self.counts.get(name, 0)

    def racks(self, name: str, partition: int) -> Collection[str]:
        return ()

    def names(self) -> Collection[str]:
        return self.counts


def new_coordinator() -> GroupCoordinator:
    config = BrokerConfig({}, Profile.named("kafka"))
    coordinator = GroupCoordinator(config, config.profile, Random(1))
    coordinator.image = Topics()
    return coordinator


@pytest.fixture
def coordinator(monkeypatch: pytest.MonkeyPatch) -> GroupCoordinator:
    """In whose package there is the type."""
    for name in (f"kafkastub.coordinator.{NAME}{module}" for module in ("", ".state", ".codec")):
        monkeypatch.setitem(sys.modules, name, sys.modules[__name__])
    return new_coordinator()


def beat(coordinator: GroupCoordinator, member_id: str, epoch: int, *names: str) -> RelayMember:
    relay: RelayGroups = coordinator.modern[NAME]
    beat = Beat("g", member_id, epoch, names or None)
    member: RelayMember = relay.heartbeat(beat, 0, "client", "/127.0.0.1", *NOW).reply.response
    return member


def looks(coordinator: GroupCoordinator) -> tuple[Any, ...]:
    group: RelayGroup = coordinator.modern[NAME].context.existing("g")
    return group.state_name, group.epoch, group.target_epoch, group.metadata_hash, group.in_order(), group.target


def test_its_members_are_given_what_they_are_to_have(coordinator: GroupCoordinator):
    member = beat(coordinator, "m", 0, "a", "b")
    assert member.assigned == {b"a" * 16: frozenset({0, 1}), b"b" * 16: frozenset({0})}
    assert beat(coordinator, "m", member.member_epoch) == member
    assert coordinator.groups["g"].group_type == NAME


def test_its_groups_come_to_life_out_of_their_records(coordinator: GroupCoordinator):
    beat(coordinator, "m", 0, "a")
    beat(coordinator, "n", 0, "b")
    other = new_coordinator()
    other.take_up(coordinator.saved())
    assert other.knows("g")
    other.loaded(*NOW)
    assert looks(other) == looks(coordinator)


def test_its_records_are_written_by_its_codec(coordinator: GroupCoordinator):
    key, value = OffsetsCodec(3).encode(RelayMetadata("g", 7, 11))
    assert (key, value) == CODEC.encode(RelayMetadata("g", 7, 11))
    assert CODEC.decode(decode_record(key, value)).epoch == 7  # type: ignore[attr-defined]


def test_its_groups_look_again_where_topics_have_changed(coordinator: GroupCoordinator):
    before = beat(coordinator, "m", 0, "a")
    assert isinstance(coordinator.image, Topics)
    coordinator.image.counts["a"] = 3
    coordinator.metadata_changed(["a"])
    after = beat(coordinator, "m", before.member_epoch)
    assert after.member_epoch == before.member_epoch + 1
    assert after.assigned == {b"a" * 16: frozenset({0, 1, 2})}
    assert coordinator.modern[NAME].rebalances == 2


def test_it_goes_by_what_a_group_says_itself_as_the_type_has_it(coordinator: GroupCoordinator):
    seen = []
    coordinator.own_configs = lambda group_type, group_id, kind: seen.append((group_type, group_id, kind))
    assert coordinator.modern[NAME].context.of("g").max_size == 2
    assert seen == [(NAME, "g", GroupConfig)]


def test_it_hears_of_topics_that_are_deleted(coordinator: GroupCoordinator):
    beat(coordinator, "m", 0, "a")
    coordinator.on_topics_deleted(["a"], NOW[0])
    assert coordinator.modern[NAME].forgotten == ["a"]


def test_its_groups_are_full_end_with_their_sessions_and_are_deleted(coordinator: GroupCoordinator):
    for member_id in ("m", "n"):
        beat(coordinator, member_id, 0, "a")
    with pytest.raises(KafkaError, match="The relay group has reached its maximum capacity of 2 members"):
        beat(coordinator, "o", 0, "a")
    with pytest.raises(KafkaError) as refused:
        coordinator.delete_group("g", NOW[0])
    assert refused.value.code is ErrorCode.NON_EMPTY_GROUP
    beat(coordinator, "m", -1)
    coordinator.modern[NAME].end_session("g", "n", *NOW)
    assert looks(coordinator)[0] == "Empty"
    coordinator.delete_group("g", NOW[0])
    assert not coordinator.knows("g")
    assert "g" not in coordinator.groups


def test_its_groups_are_not_those_of_another_type(coordinator: GroupCoordinator):
    beat(coordinator, "m", 0, "a")
    with pytest.raises(KafkaError, match="Group g is not a consumer group"):
        coordinator.consumer.context.existing("g")
    with pytest.raises(KafkaError, match="Relay group h not found"):
        coordinator.modern[NAME].heartbeat(Beat("h", "m", 3, None), 0, "client", "/127.0.0.1", *NOW)


def test_an_empty_classic_group_makes_room_for_one_of_its(coordinator: GroupCoordinator):
    coordinator.apply(GroupMetadata("g", "consumer", 3, None, None, NOW[0]))
    coordinator.loaded(*NOW)
    assert coordinator.groups["g"].group_type == "classic"
    beat(coordinator, "m", 0, "a")
    assert coordinator.groups["g"].group_type == NAME
    assert "g" not in coordinator.hard.generations
