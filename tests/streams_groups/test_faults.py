"""Faults meet the requests about streams groups where these name groups and topics; the journal shows who asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.faults import FaultError
from kafkawire.errors import ErrorCode
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.messages.streams_group_heartbeat_request import Topology
from tests.handlers.streams_club import AT_ONCE, repartitioned, subtopology
from tests.nodes.asking import ask
from tests.streams_groups.asking import beat

CODE = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2, "customers": 2}, config=AT_ONCE) as running:
        yield running


def join(stub: KafkaStub, group: str = "g", topology: Topology | None = None) -> Any:
    more = {} if topology is None else {"topology": topology}
    return beat(lambda *asked: ask(stub.bootstrap_servers, *asked), f"member-{group}", group=group, **more)


def describe(stub: KafkaStub, version: int, *groups: str) -> dict[str, int]:
    found = ask(stub.bootstrap_servers, StreamsGroupDescribeRequest(groups), version).groups
    return {one.group_id: one.error_code for one in found}


def test_a_heartbeat_is_answered_with_the_error_and_nobody_joins(stub: KafkaStub) -> None:
    with stub.faults.add(api="StreamsGroupHeartbeat", error=CODE.name, group="g") as fault:
        answer = join(stub)
        assert (answer.error_code, answer.member_id, answer.active_tasks) == (CODE, "", None)
        assert join(stub, "other").error_code == ErrorCode.NONE
        assert fault.hits == 1
    assert describe(stub, 1, "g", "other") == {"g": ErrorCode.GROUP_ID_NOT_FOUND, "other": ErrorCode.NONE}


@pytest.mark.parametrize(
    "topic", ["orders", "customers", "app-by-customer-repartition", "app-join-changelog"], ids=lambda name: name
)
def test_a_heartbeat_is_met_by_any_topic_of_its_topology(stub: KafkaStub, topic: str) -> None:
    with stub.faults.add(api="StreamsGroupHeartbeat", error=CODE.name, topic=topic):
        assert join(stub, topology=Topology(0, [subtopology("0", "other")])).error_code == ErrorCode.NONE
        assert join(stub, "another", repartitioned()).error_code == CODE


def test_a_sink_is_a_topic_too(stub: KafkaStub) -> None:
    part = subtopology("0", "orders")
    part.repartition_sink_topics = ["sink"]
    with stub.faults.add(api="StreamsGroupHeartbeat", error=CODE.name, topic="sink"):
        assert join(stub, topology=Topology(0, [part])).error_code == CODE


def test_a_heartbeat_names_no_partition(stub: KafkaStub) -> None:
    with pytest.raises(FaultError, match="StreamsGroupHeartbeat v0-1 names no partition"):
        stub.faults.add(api="StreamsGroupHeartbeat", error=CODE.name, topic="orders", partition=0)


@pytest.mark.parametrize("version", [0, 1])
def test_one_group_is_not_described_and_the_others_are(stub: KafkaStub, version: int) -> None:
    for group in ("g", "other"):
        join(stub, group)
    with stub.faults.add(api="StreamsGroupDescribe", error=CODE.name, group="g"):
        assert describe(stub, version, "other", "g", "none") == {
            "other": ErrorCode.NONE,
            "g": CODE,
            "none": ErrorCode.GROUP_ID_NOT_FOUND,
        }


def test_the_journal_names_group_member_topics_and_errors(stub: KafkaStub) -> None:
    with stub.faults.add(api="StreamsGroupHeartbeat", error=CODE.name, times=1) as fault:
        for _ in range(2):
            join(stub, topology=repartitioned())
    describe(stub, 1, "g", "none")
    first, second = stub.journal.requests(member_id="member-g")
    assert (first.fault, first.error_names) == (fault.id, (CODE.name,))
    topics = ("orders", "app-by-customer-repartition", "customers", "app-join-changelog")
    assert (second.groups, sorted(second.topics), second.error_names) == (("g",), sorted(topics), ())
    assert [tuple(one) for one in second.members] == [("member-g", None, 0)]
    assert "group g member member-g epoch 0 orders" in str(second)
    (described,) = stub.journal.requests(api="StreamsGroupDescribe")
    assert (described.groups, described.error_names) == (("g", "none"), ("GROUP_ID_NOT_FOUND",))
