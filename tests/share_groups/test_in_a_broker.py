"""Share groups in whole brokers: nodes, faults, the journal, metrics, a data directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.coordinator import GroupCoordinator
from kafkastub.handlers import k76_share_group_heartbeat as k76
from kafkastub.state import lazy_imports
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from tests.nodes.asking import ask
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving
from tests.rawclient import RawClient

NONE, NOT_COORDINATOR = ErrorCode.NONE, ErrorCode.NOT_COORDINATOR
CONFIG: dict[str, object] = {"group.share.assignment.interval.ms": 0}


@pytest.fixture
def cluster() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}, nodes=3, config=CONFIG) as running:
        running.move_coordinator("g", 1)
        running.move_coordinator("other", 2)
        yield running


def beat(servers: str, epoch: int = 0, group: str = "g", member: str = "m", *topics: str) -> Any:
    names = list(topics or ["orders"]) if epoch == 0 else None
    return ask(servers, ShareGroupHeartbeatRequest(group, member, epoch, None, names), 1)


def describe(servers: str, *groups: str) -> dict[str, tuple[int, str]]:
    found = ask(servers, ShareGroupDescribeRequest(groups), 1).groups
    return {one.group_id: (one.error_code, one.group_state) for one in found}


def on(stub: KafkaStub, node: int) -> str:
    return stub.nodes[node].bootstrap_servers


# -- nodes -----------------------------------------------------------------------------------------------------------


def test_a_wrong_node_says_so_and_lets_nobody_in(cluster: KafkaStub):
    answer = beat(on(cluster, 2))
    assert (answer.error_code, answer.error_message, answer.member_id) == (NOT_COORDINATOR, None, None)
    assert describe(on(cluster, 1), "g")["g"] == (ErrorCode.GROUP_ID_NOT_FOUND, "")


@pytest.mark.behaviour("GH-1")
def test_a_wrong_node_says_first_what_cannot_be(cluster: KafkaStub):
    answer = beat(on(cluster, 2), group="")
    assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_REQUEST, "GroupId can't be empty.")


@pytest.mark.behaviour("SD-3")
def test_each_node_describes_its_groups(cluster: KafkaStub):
    beat(on(cluster, 1))
    beat(on(cluster, 2), group="other")
    nameless = ErrorCode.INVALID_GROUP_ID, ""
    assert describe(on(cluster, 1), "g", "other", "") == {
        "g": (NONE, "Stable"),
        "other": (NOT_COORDINATOR, ""),
        "": nameless,
    }


def test_another_coordinator_goes_on_where_the_first_one_was(cluster: KafkaStub):
    assert beat(on(cluster, 1)).member_epoch == 2
    cluster.move_coordinator("g", 3)
    assert beat(on(cluster, 1), 2).error_code == NOT_COORDINATOR
    answer = beat(on(cluster, 3), 2)
    assert (answer.error_code, answer.member_epoch) == (NONE, 3)
    assert [len(one.partitions) for one in answer.assignment.topic_partitions] == [2]


def test_members_of_a_coordinator_that_stops_go_on_with_the_next(cluster: KafkaStub):
    beat(on(cluster, 1))
    cluster.nodes[1].stop()
    (node,) = (number for number in (2, 3) if beat(on(cluster, number), 2).error_code == NONE)
    assert beat(on(cluster, node), member="second").error_code == NONE
    assert describe(on(cluster, node), "g")["g"] == (NONE, "Stable")


# -- faults, journal, metrics ----------------------------------------------------------------------------------------


def test_a_heartbeat_is_met_by_group_and_topic_and_answered_with_the_error():
    code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    with KafkaStub(topics={"orders": 1, "audit": 1}) as stub:
        servers = stub.bootstrap_servers
        with stub.faults.add(api="ShareGroupHeartbeat", error=code.name, group="g") as fault:
            answer = beat(servers)
            assert (answer.error_code, answer.member_id, answer.assignment) == (code, None, None)
            assert beat(servers, group="other").error_code == NONE
            assert fault.hits == 1
        with stub.faults.add(api="ShareGroupHeartbeat", error=code.name, topic="audit"):
            assert beat(servers, 0, "g", "m", "orders").error_code == NONE
            assert beat(servers, 0, "g", "m", "orders", "audit").error_code == code
        with stub.faults.add(api="ShareGroupDescribe", error=code.name, group="g"):
            assert describe(servers, "g", "other") == {"g": (code, ""), "other": (NONE, "Stable")}


def test_the_journal_tells_groups_members_and_topics():
    with KafkaStub(topics={"orders": 1}) as stub:
        beat(stub.bootstrap_servers)
        describe(stub.bootstrap_servers, "g", "none")
        joined, described = (
            entry
            for entry in stub.journal
            if entry.api_key in (ApiKey.SHARE_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_DESCRIBE)
        )
    assert (list(joined.groups), list(joined.topics)) == (["g"], ["orders"])
    assert [(one.member_id, one.epoch) for one in joined.members] == [("m", 0)]
    assert "member m" in str(joined)
    assert list(described.groups) == ["g", "none"]
    assert "GROUP_ID_NOT_FOUND" in described.error_names


def test_epochs_of_share_groups_are_counted():
    with KafkaStub(topics={"orders": 1}, config=CONFIG) as stub:
        beat(stub.bootstrap_servers)
        beat(stub.bootstrap_servers, 2)
        beat(stub.bootstrap_servers, 3)
        assert stub.metrics()["share-group-rebalances"] == 2


# -- starting --------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("GH-16")
def test_the_first_heartbeat_brings_its_code_in_part_by_part(monkeypatch: pytest.MonkeyPatch):
    brought: list[str] = []
    with KafkaStub(topics={"orders": 1}) as stub, RawClient(stub.bootstrap_servers) as client:
        with RawClient(stub.bootstrap_servers) as other:

            def slowly(name: str) -> None:
                if not brought:  # comes while the server is busy with that
                    other.send(ApiKey.API_VERSIONS, 0, b"")
                brought.append(name)

            def answered(state: object) -> GroupCoordinator:
                other.socket.setblocking(False)
                assert other.socket.recv(10)
                return coordinator_of(state)  # type: ignore[arg-type]

            monkeypatch.setattr(lazy_imports, "import_module", slowly)
            coordinator_of = lazy_imports.coordinator_of
            monkeypatch.setattr(lazy_imports, "coordinator_of", answered)
            request = ShareGroupHeartbeatRequest("g", "m", 0, None, ["orders"])
            client.exchange(ApiKey.SHARE_GROUP_HEARTBEAT, 1, encode(request, 1))
        assert brought == k76.HEARTBEATS.modules


# -- a data directory ------------------------------------------------------------------------------------------------


def test_members_go_on_after_a_crash(tmp_path: Path):
    options = ["--data-dir", str(tmp_path), "--topic", "orders:2", "--config", "group.share.assignment.interval.ms=0"]
    joining = ShareGroupHeartbeatRequest("g", "m", 0, None, ["orders"])
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        assert speaker.ask(joining, 1).member_epoch == 2
        assert speaker.ask(ShareGroupHeartbeatRequest("g", "m", 2), 1).member_epoch == 3
        process.process.kill()
    with Serving(*options) as process, Speaker(process.servers) as speaker:
        answer = speaker.ask_loaded(ShareGroupHeartbeatRequest("g", "m", 3), 1)
        assert (answer.error_code, answer.member_epoch, answer.assignment) == (NONE, 3, None)
        (group,) = speaker.ask(ShareGroupDescribeRequest(["g"]), 1).groups
        assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Stable", 3, 3)
        assert [list(one.partitions) for m in group.members for one in m.assignment.topic_partitions] == [[0, 1]]
