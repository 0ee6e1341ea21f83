"""/v1/streams-groups: groups of Kafka Streams, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from kafkastub import KafkaStub
from kafkawire.messages.streams_group_heartbeat_request import Endpoint, TaskOffset
from tests.control.conftest import Http
from tests.streams_instance import QUICK, Instance, settle, words
from tests.waiting import SECONDS


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"lines": 1}, config=QUICK, control_port=0) as stub:
        yield stub


@pytest.fixture
def one(stub: KafkaStub) -> Iterator[Instance]:
    with Instance(stub.bootstrap_servers, "one") as instance:
        yield instance


def task(subtopology: str, partition: int = 0) -> dict[str, object]:
    return {"subtopology": subtopology, "partition": partition}


def test_a_group_with_what_it_runs(http: Http, one: Instance) -> None:
    assert http.good("GET", "/v1/streams-groups") == {"groups": [], "total": 0}
    one.beat(user_endpoint=Endpoint("localhost", 8080))
    settle(one)
    one.tell_offsets([TaskOffset("1", 0, 7)], [TaskOffset("1", 0, 9)])
    (listed,) = http.good("GET", "/v1/streams-groups")["groups"]
    assert (listed["group"], listed["state"], listed["members"], listed["tasks"]) == ("app", "Stable", 1, 2)
    found = http.good("GET", "/v1/streams-groups/app")
    (member,), (first, second) = found["member_list"], found["subtopologies"]
    both = [task("0"), task("1")]
    assert (member["client_id"], member["tasks"]) == ("one", {"active": both, "standby": [], "warmup": []})
    assert (member["user_endpoint"], member["process_id"]) == ("localhost:8080", "process-one")
    assert member["task_offsets"] == [task("1") | {"offset": 7, "end_offset": 9}]
    assert (first["source_topics"], first["tasks"]) == (["lines"], 1)
    (changelog,) = second["state_changelog_topics"]
    assert changelog == {
        "name": "app-counts-changelog",
        "partitions": 1,
        "replication_factor": None,
        "configs": {"cleanup.policy": "compact"},
    }
    groups = http.good("GET", "/v1/groups")["groups"]
    assert [(one["group"], one["type"]) for one in groups] == [("app", "streams")]
    (as_any,) = http.good("GET", "/v1/groups/app")["member_list"]
    assert {"topic": "lines", "partition": 0} in as_any["assigned"]


def test_tasks_are_waited_for(stub: KafkaStub, http: Http) -> None:
    configured = http.good("PUT", "/v1/streams-groups/app/configs", {"configs": {"streams.num.standby.replicas": 1}})
    assert configured == {"group": "app", "configs": {"streams.num.standby.replicas": "1"}}
    path = "/v1/streams-groups/app/wait"
    with ThreadPoolExecutor() as threads, Instance(stub.bootstrap_servers, "one", topology=words("pages")) as one:
        settle(one)
        lacking = http.good("POST", path, {"status": "MISSING_SOURCE_TOPICS"})
        assert (lacking["state"], lacking["status"]) == ("NotReady", "MISSING_SOURCE_TOPICS")
        status, said = http.post(path, {"timeout": 0})
        assert (status, "is NotReady (MISSING_SOURCE_TOPICS: Source topics pages" in said["error"]) == (408, True)
        waiting = threads.submit(http.good, "POST", path, {"timeout": SECONDS})
        stub.create_topic("pages", 1)
        settle(one)
        assert waiting.result()["state"] == "Stable"
        http.good("POST", path, {"active": {"one": [task("0"), task("1")]}, "standby": {"one": []}})
        assert http.good("GET", path, members=1) == http.good("POST", path, {"members": 1})
        status, said = http.get(path, members=2, timeout=0)
        assert (status, "with 1 members instead of 2" in said["error"]) == (408, True)


def test_ends(http: Http, one: Instance) -> None:
    settle(one)
    assert http.good("POST", "/v1/streams-groups/app/shut-down", {"member": "one"})["shutdown_by"] == "one"
    assert http.good("POST", "/v1/streams-groups/app/end-session", {"member": "one"}) == {"member_id": "one"}
    mistaken = http.refusal("POST", "/v1/streams-groups/app/end-session", {"members": "one"})
    assert mistaken == "member is missing, and 'members' is not known here"
    for verb in ("end-session", "shut-down"):
        status, said = http.post(f"/v1/streams-groups/app/{verb}", {"member": "one"})
        assert (status, said["code"]) == (404, "UNKNOWN_MEMBER_ID")


def test_what_is_refused(http: Http) -> None:
    for method, path, body in (
        ("GET", "/v1/streams-groups/nobody", None),
        ("POST", "/v1/streams-groups/nobody/shut-down", {"member": "one"}),
        ("POST", "/v1/streams-groups/nobody/end-session", {"member": "one"}),
    ):
        status, said = http.ask(method, path, body)
        assert (status, said["error"]) == (404, "streams group 'nobody' does not exist"), path
    status, said = http.post("/v1/streams-groups/nobody/wait", {"timeout": 0})
    assert (status, said["error"]) == (408, "streams group 'nobody' does not exist after 0 s")
    assert "status" in http.refusal("POST", "/v1/streams-groups/g/wait", {"status": "LATE"})
    refused = http.refusal("PUT", "/v1/streams-groups/g/configs", {"configs": {"streams.num.standby.replicas": 300}})
    assert "streams.num.standby.replicas" in refused
