"""Groups of the consumer protocol in a cluster: which node answers, and what a new coordinator knows of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from tests.nodes.asking import ask

NONE, NOT_COORDINATOR = ErrorCode.NONE, ErrorCode.NOT_COORDINATOR


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    config = {"group.consumer.assignment.interval.ms": 0}
    with KafkaStub(topics={"orders": 2}, nodes=3, config=config) as running:
        running.move_coordinator("g", 1)
        running.move_coordinator("other", 2)
        yield running


def beat(stub: KafkaStub, node: int, epoch: int = 0, group: str = "g", member: str = "m", **more: Any) -> Any:
    if epoch == 0:
        more = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": ["orders"], "topic_partitions": []} | more
    request = ConsumerGroupHeartbeatRequest(group, member, epoch, **more)
    return ask(stub.nodes[node].bootstrap_servers, request, 1)


def describe(stub: KafkaStub, node: int, *groups: str) -> dict[str, tuple[int, str]]:
    found = ask(stub.nodes[node].bootstrap_servers, ConsumerGroupDescribeRequest(groups), 1).groups
    return {one.group_id: (one.error_code, one.group_state) for one in found}


def test_a_wrong_node_says_so_and_lets_nobody_in(stub: KafkaStub) -> None:
    answer = beat(stub, 2)
    assert (answer.error_code, answer.error_message, answer.member_id) == (NOT_COORDINATOR, None, None)
    assert describe(stub, 1, "g")["g"] == (ErrorCode.GROUP_ID_NOT_FOUND, "")


@pytest.mark.behaviour("CG-1")
def test_a_wrong_node_says_first_what_cannot_be(stub: KafkaStub) -> None:
    answer = beat(stub, 2, member="")
    assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_REQUEST, "MemberId can't be empty.")


@pytest.mark.behaviour("CD-3")
def test_each_node_describes_its_groups(stub: KafkaStub) -> None:
    beat(stub, 1)
    beat(stub, 2, group="other")
    invalid = ErrorCode.INVALID_GROUP_ID, ""
    assert describe(stub, 1, "g", "other", "") == {"g": (NONE, "Stable"), "other": (NOT_COORDINATOR, ""), "": invalid}
    assert describe(stub, 3, "g", "other", "") == {
        "g": (NOT_COORDINATOR, ""),
        "other": (NOT_COORDINATOR, ""),
        "": invalid,
    }


def test_another_coordinator_goes_on_where_the_first_one_was(stub: KafkaStub) -> None:
    assert beat(stub, 1).member_epoch == 2
    stub.move_coordinator("g", 3)
    assert beat(stub, 1, 2).error_code == NOT_COORDINATOR
    answer = beat(stub, 3, 2)
    assert (answer.error_code, answer.member_epoch, answer.assignment) == (NONE, 2, None)
    assert describe(stub, 3, "g")["g"] == (NONE, "Stable")


def test_members_of_a_coordinator_that_stops_go_on_with_the_next(stub: KafkaStub) -> None:
    beat(stub, 1)
    stub.nodes[1].stop()
    (node,) = (number for number in (2, 3) if beat(stub, number, 2).error_code == NONE)
    assert beat(stub, node, member="second").member_epoch == 3
    kept = beat(stub, node, 2)
    assert [len(one.partitions) for one in kept.assignment.topic_partitions] == [1]
