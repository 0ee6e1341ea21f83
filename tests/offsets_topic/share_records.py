"""Random records of share groups, for property tests."""

from __future__ import annotations

from random import Random

from kafkastub.coordinator.records import Tombstone, TypedRecord
from kafkastub.coordinator.share import records
from kafkastub.coordinator.share.records import TopicPartitions

IDS = [bytes(15) + bytes([number]) for number in range(1, 4)]


def random_record(random: Random, group_id: str) -> TypedRecord:
    """Any record, a tombstone as likely as the rest of its key's."""
    make = random.choice([_metadata, _member, _target_metadata, _target, _current, _current, _state, _state])
    return make(random, group_id)


def _name(random: Random) -> str:
    return random.choice(["m1", "m2", "m3"])


def _metadata(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.ShareGroupMetadata, group_id)
    return records.ShareGroupMetadata(group_id, random.randrange(5), random.choice([0, -(2**63), 2**63 - 1]))


def _member(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.ShareGroupMemberMetadata, group_id, _name(random))
    return records.ShareGroupMemberMetadata(
        group_id,
        _name(random),
        random.choice([None, "", "r1"]),
        "client",
        "/127.0.0.1",
        random.choice([(), ("a",), ("a", "ü" * 100)]),
    )


def _target_metadata(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.ShareGroupTargetAssignmentMetadata, group_id)
    return records.ShareGroupTargetAssignmentMetadata(group_id, random.randrange(5), random.choice([0, 2**40]))


def _partitions(random: Random) -> dict[bytes, frozenset[int]]:
    return {one: frozenset(random.sample(range(40), random.randrange(20))) for one in random.sample(IDS, 2)}


def _target(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.ShareGroupTargetAssignmentMember, group_id, _name(random))
    return records.ShareGroupTargetAssignmentMember(group_id, _name(random), _partitions(random))


def _current(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.ShareGroupCurrentMemberAssignment, group_id, _name(random))
    return records.ShareGroupCurrentMemberAssignment(group_id, _name(random), 3, 2, 0, _partitions(random))


def _state(random: Random, group_id: str) -> TypedRecord:
    if random.random() < 0.3:
        return Tombstone(records.ShareGroupStatePartitionMetadata, group_id)
    made, making = ({one: TopicPartitions("t", some) for one, some in _partitions(random).items()} for _ in range(2))
    return records.ShareGroupStatePartitionMetadata(group_id, making, made, dict.fromkeys(random.sample(IDS, 1), "t"))
