"""Faults meet the requests of the consumer protocol where these name groups and topics, at every version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from tests.fronts import FRONTS, front
from tests.nodes.asking import ask

VERSIONS = (0, 1)
CODE = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


@pytest.fixture(params=FRONTS)
def stub(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    with front(request, {"orders": 2, "audit": 1}) as running:
        yield running


def join(stub: KafkaStub, version: int, group: str = "g", *topics: str) -> Any:
    request = ConsumerGroupHeartbeatRequest(
        group, f"member-{group}", 0, None, None, 60_000, topics or ["orders"], topic_partitions=[]
    )
    return ask(stub.bootstrap_servers, request, version)


def describe(stub: KafkaStub, version: int, *groups: str) -> dict[str, int]:
    found = ask(stub.bootstrap_servers, ConsumerGroupDescribeRequest(groups), version).groups
    return {one.group_id: one.error_code for one in found}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_heartbeat_is_answered_with_the_error_and_nobody_joins(stub: KafkaStub, version: int) -> None:
    with stub.faults.add(api="ConsumerGroupHeartbeat", error=CODE.name, group="g") as fault:
        answer = join(stub, version)
        assert (answer.error_code, answer.member_id, answer.assignment) == (CODE, None, None)
        assert join(stub, version, "other").error_code == ErrorCode.NONE
        assert fault.hits == 1
    assert describe(stub, version, "g", "other") == {"g": ErrorCode.GROUP_ID_NOT_FOUND, "other": ErrorCode.NONE}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_heartbeat_is_met_by_the_topics_that_it_subscribes_to(stub: KafkaStub, version: int) -> None:
    with stub.faults.add(api="ConsumerGroupHeartbeat", error=CODE.name, topic="audit"):
        assert join(stub, version, "g", "orders").error_code == ErrorCode.NONE
        assert join(stub, version, "other", "orders", "audit").error_code == CODE


@pytest.mark.parametrize("version", VERSIONS)
def test_one_group_is_not_described_and_the_others_are(stub: KafkaStub, version: int) -> None:
    for group in ("g", "other"):
        join(stub, version, group)
    with stub.faults.add(api="ConsumerGroupDescribe", error=CODE.name, group="g"):
        assert describe(stub, version, "other", "g", "none") == {
            "other": ErrorCode.NONE,
            "g": CODE,
            "none": ErrorCode.GROUP_ID_NOT_FOUND,
        }


@pytest.mark.parametrize("version", VERSIONS)
def test_the_journal_names_group_member_topics_and_errors(stub: KafkaStub, version: int) -> None:
    with stub.faults.add(api="ConsumerGroupHeartbeat", error=CODE.name, times=1) as fault:
        for _ in range(2):
            join(stub, version)
    describe(stub, version, "g", "none")
    first, second = stub.journal.requests(member_id="member-g")
    assert (first.fault, first.error_names) == (fault.id, (CODE.name,))
    assert (second.groups, second.topics, second.error_names) == (("g",), ("orders",), ())
    assert [tuple(one) for one in second.members] == [("member-g", None, 0)]
    assert "group g member member-g epoch 0 orders -> ok" in str(second)
    (described,) = stub.journal.requests(api="ConsumerGroupDescribe")
    assert (described.groups, described.error_names) == (("g", "none"), ("GROUP_ID_NOT_FOUND",))
