"""A member of a streams group. Kafka: StreamsGroupMember, MemberState."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Final, TypeVar

from kafkastub.coordinator.modern.member import MemberForms, RevokingMember
from kafkastub.coordinator.streams.records import (
    Endpoint,
    EpochsOfKinds,
    Pairs,
    StreamsGroupCurrentMemberAssignment,
    StreamsGroupMemberMetadata,
    TasksOfKinds,
)
from kafkastub.coordinator.streams.tasks import (
    EMPTY_WITH_EPOCHS,
    TasksTuple,
    TasksTupleWithEpochs,
    in_map_order,
)
from kafkawire.java_order import string_map_order, string_order

V = TypeVar("V")
NO_TAGS: Final[Mapping[str, str]] = MappingProxyType({})


class MemberState(IntEnum):
    """How far a member is on its way to its target."""

    STABLE = 1
    UNREVOKED_TASKS = 2
    UNRELEASED_TASKS = 3
    UNKNOWN = 127

    @classmethod
    def _missing_(cls, value: object) -> MemberState:
        return cls.UNKNOWN


@dataclass(frozen=True, slots=True)
class StreamsMember(RevokingMember):
    """One member.

    Attributes:
        process_id: shared by the members that run in one process.
        user_endpoint: where it answers questions about its state; None where it does not.
        client_tags: in the order of Kafka's map.
        assigned: what it has …
        pending_revocation: … and what it has to let go of.
    """

    previous_member_epoch: int = 0
    state: MemberState = MemberState.STABLE
    topology_epoch: int = -1
    process_id: str = ""
    user_endpoint: Endpoint | None = None
    client_tags: Mapping[str, str] = field(default_factory=lambda: NO_TAGS)
    assigned: TasksTupleWithEpochs = EMPTY_WITH_EPOCHS
    pending_revocation: TasksTupleWithEpochs = EMPTY_WITH_EPOCHS

    stable = MemberState.STABLE
    unrevoked = MemberState.UNREVOKED_TASKS


def read_target(tasks: TasksOfKinds) -> TasksTuple:
    """Tasks as they are read from the record that they are written to: in the order of its map."""
    return TasksTuple(*(_in_order(some) for some in tasks))


def _read(tasks: EpochsOfKinds) -> TasksTupleWithEpochs:
    active, standby, warmup = tasks
    return TasksTupleWithEpochs(_in_order(active), _in_order(standby), _in_order(warmup))


def _in_order(tasks: Mapping[str, V]) -> Mapping[str, V]:
    if len(tasks) < 2:
        return tasks
    return in_map_order({subtopology_id: tasks[subtopology_id] for subtopology_id in sorted(tasks, key=string_order)})


def _read_tags(pairs: Pairs) -> Mapping[str, str]:
    tags = dict(pairs)
    return {name: tags[name] for name in string_map_order(tags)}


def _written_tags(tags: Mapping[str, str]) -> Pairs:
    return tuple((name, tags[name]) for name in sorted(tags, key=string_order))


FORMS: Final = MemberForms(
    StreamsMember,
    StreamsGroupMemberMetadata,
    StreamsGroupCurrentMemberAssignment,
    read={"client_tags": _read_tags, "state": MemberState, "assigned": _read, "pending_revocation": _read},
    written={"client_tags": _written_tags},
)
