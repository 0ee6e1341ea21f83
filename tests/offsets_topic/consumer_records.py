"""Random records of consumer groups, for property tests."""

from __future__ import annotations

from random import Random

from kafkastub.coordinator.consumer import records
from kafkastub.coordinator.records import Tombstone, TypedRecord

IDS = [bytes(15) + bytes([number]) for number in range(1, 4)]


def random_record(random: Random, group_id: str) -> TypedRecord:
    """Any record, a tombstone as likely as the rest of its key's."""
    make = random.choice(
        [_metadata, _partition_metadata, _member, _member, _target_metadata, _target, _current, _current, _expression]
    )
    return make(random, group_id)


def _name(random: Random) -> str:
    return random.choice(["m1", "m2", "m3"])


def _metadata(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.ConsumerGroupMetadata, group_id)
    return records.ConsumerGroupMetadata(group_id, random.randrange(5), random.choice([0, -(2**63), 2**63 - 1]))


def _partition_metadata(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.6:
        return Tombstone(records.ConsumerGroupPartitionMetadata, group_id)
    return records.ConsumerGroupPartitionMetadata(group_id, random.choice([(), ("a", "b")]))


def _member(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.ConsumerGroupMemberMetadata, group_id, _name(random))
    protocols = (records.ClassicProtocol("range", b"\0\1"),)
    return records.ConsumerGroupMemberMetadata(
        group_id,
        _name(random),
        random.choice([None, "i1"]),
        random.choice([None, "", "r1"]),
        "client",
        "/127.0.0.1",
        random.choice([(), ("a",), ("a", "ü" * 100)]),
        random.choice(["", None, "a.*"]),
        random.choice([-1, 60_000]),
        random.choice([None, "range"]),
        random.choice([None, records.ClassicMemberMetadata(random.randrange(3), protocols)]),
    )


def _target_metadata(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.ConsumerGroupTargetAssignmentMetadata, group_id)
    return records.ConsumerGroupTargetAssignmentMetadata(group_id, random.randrange(5), random.choice([0, 2**40]))


def _target(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.ConsumerGroupTargetAssignmentMember, group_id, _name(random))
    return records.ConsumerGroupTargetAssignmentMember(
        group_id, _name(random), {one: frozenset(_partitions(random)) for one in random.sample(IDS, 2)}
    )


def _partitions(random: Random) -> list[int]:
    return random.sample(range(300), random.randrange(1, 30))


def _epochs(random: Random) -> dict[bytes, dict[int, int]]:
    return {
        one: {partition: random.randrange(5) for partition in _partitions(random)}
        for one in random.sample(IDS, random.randrange(3))
    }


def _current(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.ConsumerGroupCurrentMemberAssignment, group_id, _name(random))
    return records.ConsumerGroupCurrentMemberAssignment(
        group_id,
        _name(random),
        random.choice([-2, 0, 3]),
        random.choice([-1, 2]),
        random.choice([0, 1, 2, 127, 77]),
        _epochs(random),
        _epochs(random),
    )


def _expression(random: Random, group_id: str) -> TypedRecord:
    expression = random.choice(["a.*", "b|c"])
    if random.random() < 0.4:
        return Tombstone(records.ConsumerGroupRegularExpression, group_id, expression)
    return records.ConsumerGroupRegularExpression(group_id, expression, random.choice([(), ("a", "b")]), 7, 2**40)
