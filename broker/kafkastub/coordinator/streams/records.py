"""The records of streams groups (KIP-1071), named as Kafka's schemas without Key and Value: what is their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from kafkastub.coordinator.modern.records import (
    CurrentOfMember,
    GroupEpoch,
    RecordTypes,
    TargetEpoch,
)
from kafkastub.coordinator.records import TypedRecord

Tasks = Mapping[str, frozenset[int]]
"""Partitions by subtopology id."""
EpochsOfTasks = Mapping[str, Mapping[int, int]]
"""By subtopology id and partition the epoch in which the member was given it."""
TasksOfKinds = tuple[Tasks, Tasks, Tasks]
"""Active ones, standby ones, warm-up ones: `streams.tasks.TasksTuple`."""
EpochsOfKinds = tuple[EpochsOfTasks, Tasks, Tasks]
"""The same: `streams.tasks.TasksTupleWithEpochs`."""
Pairs = tuple[tuple[str, str], ...]
"""Names and values."""
NO_TOPOLOGY_EPOCH = -1
"""Instead of a topology's epoch: of none."""


class Endpoint(NamedTuple):
    """Where a member answers questions about its state (`application.server`)."""

    host: str
    port: int


class WrittenTopology(Protocol):
    """`streams.topology.Topology`, which compares as Kafka's does."""

    @property
    def epoch(self) -> int: ...

    @property
    def subtopologies(self) -> Sequence[Any]: ...


class StreamsRecord(TypedRecord):
    """What the records of streams groups have in common."""

    __slots__ = ()
    group_type = "streams"


@dataclass(slots=True, repr=False, eq=False)
class StreamsGroupMetadata(GroupEpoch, StreamsRecord):
    """A group's epoch, and what else its targets hang on.

    Attributes:
        validated_topology_epoch: of the topology, where all its topics were there and fit; else -1.
        assignment_configs: what the assignor was configured with, sorted by name.
        stored_description_topology_epoch, failed_description_topology_epoch: which description of the topology a
            plugin of the broker has taken, or refused for good; -1 for none. There is no plugin here: what another
            broker has written is kept.
    """

    validated_topology_epoch: int = NO_TOPOLOGY_EPOCH
    assignment_configs: Pairs = ()
    stored_description_topology_epoch: int = NO_TOPOLOGY_EPOCH
    failed_description_topology_epoch: int = NO_TOPOLOGY_EPOCH


@dataclass(slots=True, repr=False, eq=False)
class StreamsGroupTopology(StreamsRecord):
    """What the group runs."""

    part = "topology"

    group_id: str
    topology: WrittenTopology


@dataclass(slots=True, repr=False, eq=False)
class StreamsGroupMemberMetadata(StreamsRecord):
    """What a member has said of itself.

    Attributes:
        client_host: with a slash: `/127.0.0.1`.
        rebalance_timeout_ms: milliseconds.
        process_id: shared by the members that run in one process.
        client_tags: sorted by name.
    """

    part = "members"
    named_by = "member_id"

    group_id: str
    member_id: str
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    topology_epoch: int
    process_id: str
    user_endpoint: Endpoint | None = None
    client_tags: Pairs = ()


@dataclass(slots=True, repr=False, eq=False)
class StreamsGroupTargetAssignmentMember(StreamsRecord):
    """What a member is to have."""

    part = "target"
    named_by = "member_id"

    group_id: str
    member_id: str
    tasks: TasksOfKinds


@dataclass(slots=True, repr=False, eq=False)
class StreamsGroupCurrentMemberAssignment(CurrentOfMember, StreamsRecord):
    """What a member has.

    Attributes:
        state: a `MemberState`, or a number that is none.
        assigned: what it has …
        pending_revocation: … and what it has to let go of.
    """

    assigned: EpochsOfKinds
    pending_revocation: EpochsOfKinds


# -- what every type has: see `modern.records` -------------------------------------------------------------------------


class StreamsGroupTargetAssignmentMetadata(TargetEpoch, StreamsRecord):
    __slots__ = ()


TYPES: Final = RecordTypes(
    epoch=StreamsGroupMetadata,
    member=StreamsGroupMemberMetadata,
    target_epoch=StreamsGroupTargetAssignmentMetadata,
    target=StreamsGroupTargetAssignmentMember,
    current=StreamsGroupCurrentMemberAssignment,
)
