"""What each kind of fault does to the bytes, and to the work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.codec import decoder, encoder
from kafkawire.errors import ErrorCode
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.delete_groups_response import DeleteGroupsResponse
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.join_group_response import JoinGroupResponse
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import OffsetCommitResponse
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestTopic
from kafkawire.messages.offset_fetch_response import OffsetFetchResponse
from tests.fronts import FRONTS, front
from tests.rawclient import RawClient
from tests.waiting import SECONDS

COMMIT, FETCH_OFFSETS, DELETE = ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH, ApiKey.DELETE_GROUPS
NOT_COORDINATOR = int(ErrorCode.NOT_COORDINATOR)


@pytest.fixture(params=FRONTS)
def stub(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    with front(request, {"a": 3, "b": 1}) as running:
        yield running


def ask(client: RawClient, key: ApiKey, version: int, request: Any, answer: type[Any]) -> Any:
    body = client.exchange(key, version, b"".join(encoder(type(request), version)(request)))
    return decoder(answer, version)(body, 0, len(body))[0]


def commit_body(group: str, partitions: dict[str, list[int]], offset: int = 5) -> OffsetCommitRequest:
    topics = [
        OffsetCommitRequestTopic(name, partitions=[OffsetCommitRequestPartition(i, offset) for i in indexes])
        for name, indexes in partitions.items()
    ]
    return OffsetCommitRequest(group_id=group, topics=topics)


def commit(client: RawClient, group: str = "g", partitions: dict[str, list[int]] | None = None) -> dict[Any, int]:
    answer = ask(client, COMMIT, 8, commit_body(group, partitions or {"a": [0]}), OffsetCommitResponse)
    return {(t.name, p.partition_index): p.error_code for t in answer.topics for p in t.partitions}


def committed(client: RawClient, group: str = "g") -> dict[Any, int]:
    topics = [OffsetFetchRequestTopic("a", [0, 1, 2]), OffsetFetchRequestTopic("b", [0])]
    answer = ask(client, FETCH_OFFSETS, 7, OffsetFetchRequest(group_id=group, topics=topics), OffsetFetchResponse)
    found = {(t.name, p.partition_index): p.committed_offset for t in answer.topics for p in t.partitions}
    return {place: offset for place, offset in found.items() if offset >= 0}


def test_an_error_is_answered_so_often_and_the_work_is_not_done(stub: KafkaStub) -> None:
    with RawClient(stub.bootstrap_servers) as client, stub.faults.add(api=8, error=16, times=2) as fault:
        assert commit(client) == commit(client) == {("a", 0): NOT_COORDINATOR}
        assert committed(client) == {}
        assert commit(client) == {("a", 0): 0}
        assert (fault.hits, fault.matched) == (2, 3)


def test_a_rule_that_is_removed_acts_no_more_on_an_open_connection(stub: KafkaStub) -> None:
    with RawClient(stub.bootstrap_servers) as client:
        fault = stub.faults.add(api="OffsetCommit", error="NOT_COORDINATOR")
        assert commit(client) == {("a", 0): NOT_COORDINATOR}
        fault.remove()
        fault.remove()
        assert commit(client) == {("a", 0): 0}
        stub.faults.add(api="OffsetCommit", error="NOT_COORDINATOR")
        stub.faults.clear()
        assert commit(client) == {("a", 0): 0}
        assert stub.faults.list() == []


def test_one_partition_fails_and_the_others_are_committed(stub: KafkaStub) -> None:
    with (
        RawClient(stub.bootstrap_servers) as client,
        stub.faults.add(api="OffsetCommit", topic="a", partition=1, error="UNKNOWN_TOPIC_OR_PARTITION"),
    ):
        assert commit(client, partitions={"a": [0, 1, 2], "b": [0]}) == {
            ("a", 0): 0, ("a", 1): 3, ("a", 2): 0, ("b", 0): 0,
        }  # fmt: skip
        assert sorted(committed(client)) == [("a", 0), ("a", 2), ("b", 0)]
        assert commit(client, partitions={"a": [1]}) == {("a", 1): 3}
        assert commit(client, partitions={"b": [0]}) == {("b", 0): 0}


def test_one_topic_fails_in_an_answer_that_is_read(stub: KafkaStub) -> None:
    with RawClient(stub.bootstrap_servers) as client:
        commit(client, partitions={"a": [0, 1, 2], "b": [0]})
        with stub.faults.add(api="OffsetFetch", topic="a", error="UNSTABLE_OFFSET_COMMIT"):
            assert committed(client) == {("b", 0): 5}
        assert len(committed(client)) == 4


def test_one_group_fails_and_the_others_are_deleted(stub: KafkaStub) -> None:
    with RawClient(stub.bootstrap_servers) as client:
        commit(client, "g")
        commit(client, "h")
        with stub.faults.add(api="DeleteGroups", group="g", error="NOT_COORDINATOR"):
            answer = ask(client, DELETE, 2, DeleteGroupsRequest(groups_names=["g", "h"]), DeleteGroupsResponse)
        assert {one.group_id: one.error_code for one in answer.results} == {"g": NOT_COORDINATOR, "h": 0}
        assert committed(client, "g")
        assert not committed(client, "h")


@pytest.mark.parametrize(
    ("fault", "done"), [({"drop": "before"}, False), ({"drop": "after"}, True), ({"cut": 9}, True)]
)
def test_a_connection_ends_before_the_work_or_after_it(stub: KafkaStub, fault: dict[str, Any], done: bool) -> None:
    with stub.faults.add(api="OffsetCommit", times=1, **fault), RawClient(stub.bootstrap_servers) as client:
        with pytest.raises(ConnectionError):
            commit(client)
        with RawClient(stub.bootstrap_servers) as another:
            assert committed(another) == ({("a", 0): 5} if done else {})


def test_an_answer_is_cut_after_so_many_bytes(stub: KafkaStub) -> None:
    with stub.faults.add(api="OffsetCommit", cut=9), RawClient(stub.bootstrap_servers) as client:
        client.send(COMMIT, 8, b"".join(encoder(OffsetCommitRequest, 8)(commit_body("g", {"a": [0]}))), flexible=True)
        assert client._exactly(9) is not None
        assert client._exactly(1) is None


@pytest.mark.parametrize(("silent", "done"), [("before", False), ("after", True), (True, True)])
def test_a_silent_broker_keeps_the_connection(stub: KafkaStub, silent: Any, done: bool) -> None:
    with (
        stub.faults.add(api="OffsetCommit", silent=silent) as fault,
        RawClient(stub.bootstrap_servers, timeout=0.1) as client,
        RawClient(stub.bootstrap_servers) as another,
    ):
        with pytest.raises(TimeoutError):
            commit(client)
        fault.wait(hits=1, timeout=SECONDS)
        assert bool(committed(another)) == done
        with pytest.raises(TimeoutError):  # a connection that was closed would give None
            client.receive()


def test_a_delay_holds_back_one_connection_and_no_other(stub: KafkaStub) -> None:
    with (
        stub.faults.add(api="OffsetCommit", client_id="ra*", delay_ms=86_400_000) as fault,
        RawClient(stub.bootstrap_servers) as client,
        RawClient(stub.bootstrap_servers) as another,
    ):
        for request in (commit_body("g", {"a": [0]}), commit_body("h", {"a": [0]})):
            client.send(COMMIT, 8, b"".join(encoder(OffsetCommitRequest, 8)(request)), flexible=True)
        fault.wait(timeout=SECONDS)
        assert committed(another) == {}  # answered while the commit still waits
        assert fault.matched == 1, "what came behind it on its connection waits as well"


def test_what_was_delayed_is_done_and_answered(stub: KafkaStub) -> None:
    with stub.faults.add(api="OffsetCommit", delay_ms=100), RawClient(stub.bootstrap_servers) as client:
        began = time.monotonic()
        assert commit(client) == {("a", 0): 0}
        assert time.monotonic() - began >= 0.09
        assert committed(client) == {("a", 0): 5}


@pytest.mark.parametrize("rule", [{"delay_ms": 20}, {"hold": "before"}])
def test_a_join_that_comes_late_is_answered_in_its_own_time(rule: dict[str, Any]) -> None:
    """What a late request waits for comes without anybody else's asking: here the 100 ms in which more may join."""
    config = {"group.initial.rebalance.delay.ms": 100}
    join = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=1_800_000,
        rebalance_timeout_ms=1_800_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol("range", b"")],
    )
    with KafkaStub(config=config) as stub, RawClient(stub.bootstrap_servers, timeout=SECONDS) as client:
        fault = stub.faults.add(api="JoinGroup", **rule)
        client.send(ApiKey.JOIN_GROUP, 1, b"".join(encoder(JoinGroupRequest, 1)(join)))
        if "hold" in rule:
            fault.wait(held=1, timeout=SECONDS)
            fault.release()
        body = client.receive()
        assert body is not None
        assert decoder(JoinGroupResponse, 1)(body, 4, len(body))[0].generation_id == 1


def test_a_throttle_time_is_told_and_the_work_done(stub: KafkaStub) -> None:
    with RawClient(stub.bootstrap_servers) as client:
        with stub.faults.add(api="OffsetCommit", throttle_time_ms=77):
            answer = ask(client, COMMIT, 8, commit_body("g", {"a": [0]}), OffsetCommitResponse)
        assert answer.throttle_time_ms == 77
        assert ask(client, COMMIT, 8, commit_body("g", {"a": [0]}), OffsetCommitResponse).throttle_time_ms == 0
        assert committed(client) == {("a", 0): 5}


def failed(client: RawClient, times: int) -> list[int]:
    return [number for number in range(1, times + 1) if commit(client) != {("a", 0): 0}]


def test_the_nth_each_nth_and_a_seeded_share(stub: KafkaStub) -> None:
    error = {"api": "OffsetCommit", "error": "NOT_COORDINATOR"}
    with RawClient(stub.bootstrap_servers) as client:
        with stub.faults.add(**error, after=2, every=3, times=2):
            assert failed(client, 12) == [5, 8]
        with stub.faults.add(**error, share=0.5, seed=1):
            once = failed(client, 40)
        with stub.faults.add(**error, share=0.5, seed=1):
            assert failed(client, 40) == once
        assert 8 < len(once) < 32


def test_the_first_rule_that_is_due_acts_and_all_count(stub: KafkaStub) -> None:
    with (
        RawClient(stub.bootstrap_servers) as client,
        stub.faults.add(api="OffsetCommit", error="NOT_COORDINATOR", times=1) as first,
        stub.faults.add(api="OffsetCommit", error="REBALANCE_IN_PROGRESS", times=1) as second,
    ):
        codes = [commit(client)["a", 0] for _ in range(3)]
        assert codes == [NOT_COORDINATOR, int(ErrorCode.REBALANCE_IN_PROGRESS), 0]
        assert (first.matched, second.matched) == (3, 3)


def test_a_rule_ends_by_the_brokers_clock(stub: KafkaStub) -> None:
    stub.clock.freeze()
    with RawClient(stub.bootstrap_servers) as client, stub.faults.add(api="OffsetCommit", error=16, until=60):
        stub.clock.advance(seconds=59)
        assert failed(client, 1)
        stub.clock.advance(seconds=1)
        assert not failed(client, 1)


def test_a_group_a_connection_a_node_and_versions_narrow_a_rule(stub: KafkaStub) -> None:
    with RawClient(stub.bootstrap_servers) as client:
        commit(client)
        connection = stub.journal.requests(api="OffsetCommit")[0].sender.connection_id
        for fitting in (
            {"group": "g"},
            {"node": 1},
            {"versions": "7-8"},
            {"connection": connection},
            {"listener": "PLAINTEXT"},
        ):
            with stub.faults.add(api="OffsetCommit", error="NOT_COORDINATOR", **fitting):
                assert commit(client) == {("a", 0): NOT_COORDINATOR}, fitting
        for narrowed in ({"group": "other"}, {"node": 99}, {"versions": "9-10"}, {"connection": 99}, {"listener": "X"}):
            with stub.faults.add(api="OffsetCommit", drop="before", **narrowed) as fault:
                assert commit(client) == {("a", 0): 0}
                assert fault.hits == 0


def test_waiting_in_vain_is_said(stub: KafkaStub) -> None:
    with (
        stub.faults.add(api="OffsetCommit", drop="before", name="mine") as fault,
        pytest.raises(TimeoutError, match="mine was met by 0 requests"),
    ):
        fault.wait(timeout=0.01)


def test_a_fault_outlives_its_stub_without_harm() -> None:
    with KafkaStub() as stub:
        fault = stub.faults.add(api="OffsetCommit", drop="before")
    fault.remove()
    with stub:
        assert stub.faults.list() == []
