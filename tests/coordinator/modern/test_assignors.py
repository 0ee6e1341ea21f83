"""What users rely on of the assignors; that they are Kafka's to the last partition is asked of Kafka's classes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub.coordinator.modern.assignment import Assignment, GroupSpec, MemberSubscription
from kafkastub.coordinator.modern.assignors import named
from kafkastub.coordinator.modern.assignors.errors import AssignorError
from kafkastub.coordinator.modern.partition_sets import PartitionSet, of_record
from tests.coordinator.modern.random_groups import Group, Topics

A, B = bytes(15) + b"\x07", bytes(15) + b"\x08"


def assign(assignor: str, spec: GroupSpec, **counts: int) -> dict[str, dict[str, list[int]]]:
    """Topics A and B by name."""
    made = named(assignor)
    assert made is not None
    target = made.assign(spec, Topics({{"A": A, "B": B}[name]: count for name, count in counts.items()}))
    names = {A: "A", B: "B"}
    return {member: {names[t]: list(parts) for t, parts in found.items()} for member, found in target.items()}


def member(*topics: bytes, instance: str | None = None, **assigned: set[int]) -> MemberSubscription:
    had = {{"A": A, "B": B}[name]: frozenset(parts) for name, parts in assigned.items()}
    return MemberSubscription(None, instance, dict.fromkeys(topics).keys(), had)


def test_uniform_fills_members_one_after_the_other_and_gives_the_last_ones_more():
    spec = GroupSpec({"one": member(A, B), "two": member(A, B)}, True)
    assert assign("uniform", spec, A=3, B=2) == {"one": {"A": [0, 1]}, "two": {"B": [0, 1], "A": [2]}}


def test_uniform_takes_from_a_member_only_what_others_are_to_have():
    spec = GroupSpec({"new": member(A), "old": member(A, A={0, 1, 2, 3, 4})}, True)
    assert assign("uniform", spec, A=5) == {"new": {"A": [3, 4]}, "old": {"A": [0, 1, 2]}}


def test_uniform_leaves_a_target_that_is_even_as_it_is():
    spec = GroupSpec({"one": member(A, A={1}), "two": member(A, A={0, 2})}, True)
    target = named("uniform").assign(spec, Topics({A: 3}))  # type: ignore[union-attr]
    assert all(target[name] is spec.members[name].assigned for name in spec.members)


def test_uniform_takes_back_topics_that_are_gone():
    spec = GroupSpec({"one": member(A, A={0}, B={0, 1})}, True)
    assert assign("uniform", spec, A=2) == {"one": {"A": [0, 1]}}


def test_uniform_gives_what_only_one_may_have_to_that_one():
    spec = GroupSpec({"both": member(A, B, A={0, 1}, B={0}), "one": member(A)}, False)
    assert assign("uniform", spec, A=2, B=1) == {"both": {"B": [0], "A": [0]}, "one": {"A": [1]}}


def test_range_gives_neighbours_of_each_topic():
    spec = GroupSpec({"c": member(A, B), "b": member(A, B), "a": member(A, B)}, True)
    assert assign("range", spec, A=4, B=2) == {
        "a": {"A": [0, 1], "B": [0]},
        "b": {"A": [2], "B": [1]},
        "c": {"A": [3]},
    }


def test_range_goes_by_instance_id_and_serves_static_members_first():
    spec = GroupSpec({"a": member(A), "x": member(A, instance="2"), "y": member(A, instance="1")}, True)
    assert assign("range", spec, A=3) == {"y": {"A": [0]}, "x": {"A": [1]}, "a": {"A": [2]}}


@pytest.mark.parametrize("name", ["uniform", "range"])
@pytest.mark.parametrize("homogeneous", [True, False])
def test_a_topic_that_does_not_exist_is_refused(name: str, homogeneous: bool):
    with pytest.raises(AssignorError):
        assign(name, GroupSpec({"one": member(A), "two": member(A)}, homogeneous))


@pytest.mark.parametrize("name", ["uniform", "range"])
def test_who_subscribes_to_nothing_gets_nothing(name: str):
    assert assign(name, GroupSpec({}, True)) == {}
    assert not any(assign(name, GroupSpec({"one": member(A={0})}, True), A=1).values())


def test_members_that_share_a_partition_are_refused():
    spec = GroupSpec({"one": member(A, A={0}), "two": member(A, A={0})}, True)
    with pytest.raises(AssignorError, match="left unassigned"):
        assign("uniform", spec, A=2)


def test_assignors_are_found_by_name_and_by_kafkas_class():
    package = "org.apache.kafka.coordinator.group.assignor"
    assert [one and one.name for one in map(named, ("uniform", f"{package}.RangeAssignor", "cooperative-sticky"))] == [
        "uniform",
        "range",
        None,
    ]


@given(st.randoms(use_true_random=False), st.sampled_from(["uniform", "range"]))
def test_every_partition_has_one_owner_that_subscribes_to_it(chance: random.Random, name: str):
    group = Group(chance)
    assignor = named(name)
    assert assignor is not None
    for _ in range(5):
        spec = group.spec()
        target = assignor.assign(spec, Topics(group.counts))
        owned = [
            (topic, partition)
            for member_id, assignment in target.items()
            for topic, partitions in assignment.items()
            for partition in partitions
            if topic in spec.members[member_id].topic_ids
        ]
        wanted = {topic for one in spec.members.values() for topic in one.topic_ids}
        assert sorted(owned) == sorted((topic, p) for topic in wanted for p in range(group.counts[topic]))
        assert sum(len(partitions) for one in target.values() for partitions in one.values()) == len(owned)
        if name == "uniform" and spec.homogeneous and owned:
            sizes = [sum(map(len, target[member_id].values())) for member_id in spec.members]
            assert max(sizes) - min(sizes) <= 1
        group.apply(target)
        again: dict[str, Assignment] = assignor.assign(group.spec(), Topics(group.counts))
        assert again == target
        group.step()


def test_an_id_that_comes_twice_leaves_a_topic_of_a_random_group_as_large_as_it_was():
    """It shrank, which no topic of Kafka's does: partitions with an owner were more than there were."""

    class Repeating(random.Random):
        def randbytes(self, n: int) -> bytes:
            return bytes(n)

    for seed in range(20):
        group = Group(Repeating(seed))
        (count,) = group.counts.values()
        for _ in range(20):
            group.step()
            (now,) = group.counts.values()
            assert count <= now
            count = now


def test_a_partition_set_is_a_set_in_its_order():
    made = PartitionSet((17, 1))
    assert list(made) == [17, 1]
    assert made == frozenset((1, 17))
    assert hash(made) == hash(frozenset((1, 17)))
    assert made - {1} == {17}


def test_a_set_from_a_record_iterates_as_javas():
    assert list(of_record([2, 17, 1])) == [17, 1, 2]
    assert list(of_record(range(0, 160, 16))) == [0, 32, 64, 96, 128, 16, 48, 80, 112, 144]
    assert list(of_record(range(20, 0, -1))) == list(range(1, 21))
