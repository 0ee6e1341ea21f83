"""Streams groups in a cluster: which node answers, and what a new coordinator knows of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.errors import ErrorCode
from tests.handlers.streams_club import AT_ONCE, topology
from tests.nodes.asking import ask
from tests.streams_groups.asking import beat, describe, tasks_of

NONE, NOT_COORDINATOR = ErrorCode.NONE, ErrorCode.NOT_COORDINATOR


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}, nodes=3, config=AT_ONCE) as running:
        running.move_coordinator("g", 1)
        running.move_coordinator("other", 2)
        yield running


def to(stub: KafkaStub, node: int) -> Any:
    return lambda *asked: ask(stub.nodes[node].bootstrap_servers, *asked)


def states(stub: KafkaStub, node: int, *groups: str) -> dict[str, tuple[int, str]]:
    return {one.group_id: (one.error_code, one.group_state) for one in describe(to(stub, node), *groups)}


def test_a_wrong_node_says_so_and_lets_nobody_in(stub: KafkaStub) -> None:
    answer = beat(to(stub, 2))
    assert (answer.error_code, answer.error_message, answer.member_id) == (NOT_COORDINATOR, None, "")
    assert states(stub, 1, "g")["g"] == (ErrorCode.GROUP_ID_NOT_FOUND, "")


@pytest.mark.behaviour("TH-1")
def test_a_wrong_node_says_first_what_cannot_be(stub: KafkaStub) -> None:
    answer = beat(to(stub, 2), member="")
    assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_REQUEST, "MemberId can't be empty.")
    answer = beat(to(stub, 2), topology=topology(one="__consumer_offsets"))
    assert answer.error_code == ErrorCode.STREAMS_INVALID_TOPOLOGY


@pytest.mark.behaviour("KS-4")
def test_each_node_describes_its_groups(stub: KafkaStub) -> None:
    beat(to(stub, 1))
    beat(to(stub, 2), group="other")
    elsewhere, invalid = (NOT_COORDINATOR, ""), (ErrorCode.INVALID_GROUP_ID, "")
    assert states(stub, 1, "g", "other", "") == {"g": (NONE, "Stable"), "other": elsewhere, "": invalid}
    assert states(stub, 3, "g", "other", "") == {"g": elsewhere, "other": elsewhere, "": invalid}


def test_another_coordinator_goes_on_where_the_first_one_was(stub: KafkaStub) -> None:
    joined = beat(to(stub, 1))
    assert joined.member_epoch == 2
    stub.move_coordinator("g", 3)
    assert beat(to(stub, 1), epoch=2).error_code == NOT_COORDINATOR
    answer = beat(to(stub, 3), epoch=2)
    assert (answer.error_code, answer.member_epoch, answer.active_tasks) == (NONE, 2, None)
    (group,) = describe(to(stub, 3), "g")
    assert (group.group_state, [tasks_of(one) for one in group.members]) == ("Stable", [{"one": [0, 1]}])


def test_members_of_a_coordinator_that_stops_go_on_with_the_next(stub: KafkaStub) -> None:
    beat(to(stub, 1))
    stub.nodes[1].stop()
    (node,) = (number for number in (2, 3) if beat(to(stub, number), epoch=2).error_code == NONE)
    assert beat(to(stub, node), member="second").member_epoch == 3
    kept = beat(to(stub, node), epoch=2, tasks={"one": [0, 1]})
    assert [len(one.partitions) for one in kept.active_tasks] == [1]


def test_internal_topics_are_made_with_a_coordinator_that_has_just_come(stub: KafkaStub) -> None:
    known = topology(one="orders -app-changelog")
    with stub.faults.add(api="StreamsGroupHeartbeat", error="NOT_COORDINATOR", times=1):
        assert beat(to(stub, 1), topology=known).error_code == NOT_COORDINATOR
    stub.move_coordinator("g", 3)
    assert [one.status_code for one in beat(to(stub, 3), topology=known).status] == [3]
    stub.move_coordinator("g", 2)
    answer = beat(to(stub, 2), epoch=2)
    assert (answer.member_epoch, [[*one.partitions] for one in answer.active_tasks]) == (3, [[0, 1]])
