"""Random records of streams groups, for property tests."""

from __future__ import annotations

from random import Random

from kafkastub.coordinator.records import Tombstone, TypedRecord
from kafkastub.coordinator.streams import records
from kafkastub.coordinator.streams.tasks import TasksTuple, TasksTupleWithEpochs
from kafkastub.coordinator.streams.topology import CopartitionGroup, Subtopology, TopicInfo, Topology


def random_record(random: Random, group_id: str) -> TypedRecord:
    """Any record, a tombstone as likely as the rest of its key's."""
    make = random.choice([_metadata, _topology, _member, _target_metadata, _target, _current, _current])
    return make(random, group_id)


def _name(random: Random) -> str:
    return random.choice(["m1", "m2", "m3"])


def _metadata(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.StreamsGroupMetadata, group_id)
    return records.StreamsGroupMetadata(
        group_id,
        random.randrange(5),
        random.choice([0, -(2**63), 2**63 - 1]),
        random.choice([-1, 0, 7]),
        random.choice([(), (("num.standby.replicas", "1"),)]),
        random.choice([-1, -2, 3]),
        random.choice([-1, 3]),
    )


def _topology(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.StreamsGroupTopology, group_id)
    some = [
        Subtopology(
            str(number),
            random.choice([(), ("a",), ("a", "ü" * 100)]),
            random.choice([(), ("a.*",)]),
            random.choice([(), (TopicInfo("c", 0, 1, (("k", "v"), ("l", ""))),)]),
            random.choice([(), ("b",)]),
            random.choice([(), (TopicInfo("b", 3), TopicInfo("d", 0, 3))]),
            random.choice([(), (CopartitionGroup((0,), (), (1, 0)), CopartitionGroup())]),
        )
        for number in range(random.randrange(4))
    ]
    return records.StreamsGroupTopology(group_id, Topology(random.randrange(3), tuple(some)))


def _member(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.StreamsGroupMemberMetadata, group_id, _name(random))
    return records.StreamsGroupMemberMetadata(
        group_id,
        _name(random),
        random.choice([None, "", "i1"]),
        random.choice([None, "", "r1"]),
        "client",
        "/127.0.0.1",
        random.choice([-1, 0, 300_000]),
        random.choice([-1, 5]),
        random.choice(["", "p"]),
        random.choice([None, records.Endpoint("host", 65_535)]),
        random.choice([(), (("a", "b"), ("c", ""))]),
    )


def _target_metadata(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.StreamsGroupTargetAssignmentMetadata, group_id)
    return records.StreamsGroupTargetAssignmentMetadata(group_id, random.randrange(5), random.choice([0, 2**40]))


def _tasks(random: Random) -> dict[str, frozenset[int]]:
    names = random.sample(["0", "1", "10", "sub"], random.randrange(4))
    return {name: frozenset(random.sample(range(40), random.randrange(20))) for name in names}


def _target(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.StreamsGroupTargetAssignmentMember, group_id, _name(random))
    tasks = TasksTuple(_tasks(random), _tasks(random), _tasks(random))
    return records.StreamsGroupTargetAssignmentMember(group_id, _name(random), tasks)


def _current(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.StreamsGroupCurrentMemberAssignment, group_id, _name(random))
    has, loses = (
        TasksTupleWithEpochs(
            {name: {one: random.randrange(9) for one in some} for name, some in _tasks(random).items()},
            _tasks(random),
            _tasks(random),
        )
        for _ in range(2)
    )
    state = random.choice([1, 2, 3, 127, 5])
    return records.StreamsGroupCurrentMemberAssignment(group_id, _name(random), 3, 2, state, has, loses)
