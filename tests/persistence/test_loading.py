"""The coordinator is loading: what it answers meanwhile, and that it is the same afterwards."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kafkastub import KafkaStub
from kafkastub.server import data_directory
from kafkastub.state import loading
from kafkawire.errors import ErrorCode
from kafkawire.messages.delete_groups_request import DeleteGroupsRequest
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.list_groups_request import ListGroupsRequest
from kafkawire.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafkawire.messages.sync_group_request import SyncGroupRequest
from tests.conftest import CONFIG
from tests.persistence.speaker import Speaker
from tests.waiting import until

LOADING = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


@pytest.fixture(params=["memory", "disk"])
def stub(request: pytest.FixtureRequest, tmp_path: Path) -> KafkaStub:
    return KafkaStub(topics={"orders": 2}, config=CONFIG, data_dir=tmp_path if request.param == "disk" else None)


def test_every_group_api_says_that_it_is_loading(stub: KafkaStub):
    protocols = [JoinGroupRequestProtocol("range", b"")]
    join = JoinGroupRequest(
        group_id="g", session_timeout_ms=10_000, rebalance_timeout_ms=1, protocol_type="consumer", protocols=protocols
    )
    delete = OffsetDeleteRequest(
        group_id="g", topics=[OffsetDeleteRequestTopic("orders", [OffsetDeleteRequestPartition(0)])]
    )
    with stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.commit("g", "orders", {0: 1}) == [0]
        with stub.coordinator_loading():
            assert speaker.ask(FindCoordinatorRequest(key="g"), 3).error_code == 0
            assert speaker.commit("g", "orders", {0: 2, 7: 1}) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, LOADING]
            assert speaker.fetch_error("g") == LOADING
            assert speaker.ask(join, 5).error_code == LOADING
            assert speaker.ask(SyncGroupRequest(group_id="g"), 3).error_code == LOADING
            assert speaker.ask(HeartbeatRequest(group_id="g"), 3).error_code == LOADING
            leave = LeaveGroupRequest(group_id="g", members=[MemberIdentity("m")])
            assert speaker.ask(leave, 4).error_code == LOADING
            assert speaker.ask(DescribeGroupsRequest(groups=["g"]), 5).groups[0].error_code == LOADING
            assert speaker.ask(ListGroupsRequest(), 4).error_code == LOADING
            assert speaker.ask(DeleteGroupsRequest(groups_names=["g"]), 2).results[0].error_code == LOADING
            assert speaker.ask(delete, 0).error_code == LOADING
        assert speaker.committed("g", "orders", [0]) == [1]
        assert speaker.commit("g", "orders", {0: 2}) == [0]


def test_a_topic_deleted_meanwhile_takes_its_offsets_along(stub: KafkaStub):
    with stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.commit("g", "orders", {0: 1})
        with stub.coordinator_loading():
            speaker.ask(DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000), 5)
            stub.create_topic("orders", 2)
        assert speaker.committed("g", "orders", [0]) == [-1]


def test_the_offsets_topic_deleted_meanwhile_leaves_nothing(stub: KafkaStub):
    with stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.commit("g", "orders", {0: 1})
        with stub.coordinator_loading():
            speaker.ask(DeleteTopicsRequest(topic_names=["__consumer_offsets"], timeout_ms=1000), 5)
            assert speaker.committed("g", "orders", [0]) == [-1]
        assert speaker.commit("g", "orders", {0: 2}) == [0]
        assert speaker.committed("g", "orders", [0]) == [2]


def test_a_clock_that_is_moved_meanwhile_expires_what_is_due(stub: KafkaStub):
    with stub, Speaker(stub.bootstrap_servers) as speaker:
        speaker.commit("g", "orders", {0: 1})
        with stub.coordinator_loading():
            stub.clock.advance(days=7)
            assert speaker.committed("g", "orders", [0]) == [-1]


def test_a_reloaded_coordinator_is_the_same(stub: KafkaStub):
    with stub, Speaker(stub.bootstrap_servers) as speaker:
        for group in range(20):
            speaker.commit(f"g{group}", "orders", {group % 2: group})
        before = speaker.ask(ListGroupsRequest(), 4)
        stub.reload_coordinator()
        after = speaker.ask(ListGroupsRequest(), 4)
        assert sorted(group.group_id for group in after.groups) == sorted(group.group_id for group in before.groups)
        assert [speaker.committed(f"g{group}", "orders", [group % 2]) for group in range(20)] == [
            [group] for group in range(20)
        ]


def test_a_start_does_not_wait_for_many_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with KafkaStub(topics={"orders": 1000}, data_dir=tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        for group in range(50):
            speaker.commit(f"g{group}", "orders", dict.fromkeys(range(1000), group))
    may_load = threading.Event()
    monkeypatch.setattr(data_directory, "_AT_ONCE_MS", 0)
    monkeypatch.setattr(data_directory, "load", lambda *args: may_load.is_set() and loading.load(*args))
    with KafkaStub(data_dir=tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.fetch_error("g49") == LOADING
        assert speaker.values("orders", 0) == []
        may_load.set()
        until(lambda: speaker.fetch_error("g49") == 0, "all is loaded")
        assert speaker.committed("g49", "orders", [0, 999]) == [49, 49]
