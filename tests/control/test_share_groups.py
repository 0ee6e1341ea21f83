"""/v1/share-groups: share groups record by record, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import ShareConsumer

from kafkastub import KafkaStub
from tests.control.conftest import Http
from tests.stub.test_share_groups import QUICK, read
from tests.waiting import SECONDS


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1}, config=QUICK, control_port=0) as stub:
        yield stub


@pytest.fixture
def worker(stub: KafkaStub, http: Http) -> Iterator[ShareConsumer]:
    """A member of group g, which reads from the start."""
    configured = http.good("PUT", "/v1/share-groups/g/configs", {"configs": {"share.auto.offset.reset": "earliest"}})
    assert configured == {"group": "g", "configs": {"share.auto.offset.reset": "earliest"}}
    settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "client.id": "one"}
    made = ShareConsumer({**settings, "share.acknowledgement.mode": "explicit"})
    made.subscribe(["orders"])
    yield made
    made.close()


def test_a_group_with_its_members_and_records(stub: KafkaStub, http: Http, worker: ShareConsumer) -> None:
    assert http.good("GET", "/v1/share-groups") == {"groups": [], "total": 0}
    for number in range(3):
        stub.produce("orders", f"{number}")
    messages = read(worker)
    worker.acknowledge(messages[0])
    worker.commit_sync()
    (listed,) = http.good("GET", "/v1/share-groups")["groups"]
    assert (listed["group"], listed["state"], listed["members"], listed["partitions"]) == ("g", "Stable", 1, 1)
    found = http.good("GET", "/v1/share-groups/g")
    (member,), (orders,) = found["member_list"], found["partition_list"]
    assert (member["client_id"], member["assigned"]) == ("one", [{"topic": "orders", "partition": 0}])
    assert (orders["start"], orders["end"], orders["lag"], orders["counts"]["acquired"]) == (1, 3, 2, 2)
    (kept,) = orders["records"]
    assert (kept["first"], kept["last"], kept["state"], kept["deliveries"]) == (1, 2, "acquired", 1)
    assert (kept["member_id"], kept["client_id"], kept["held"]) == (member["member_id"], "one", False)
    assert 0 < kept["lock_left_ms"] <= 30_000
    groups = http.good("GET", "/v1/groups")["groups"]
    assert [(one["group"], one["type"]) for one in groups] == [("g", "share")]
    assert http.good("GET", "/v1/groups/g")["member_list"][0]["client_id"] == "one"


def test_acknowledgements_are_held_and_waited_for(stub: KafkaStub, http: Http, worker: ShareConsumer) -> None:
    stub.produce("orders", "1")
    (message,) = read(worker)
    assert http.good("GET", "/v1/share-groups/g/wait", acquired=1) == {"group": "g"}
    assert http.good("POST", "/v1/share-groups/g/wait", {"acquired": 1}) == {"group": "g"}
    for path, body in (("share-groups/g/wait", {"lag": 0}), ("streams-groups/g/wait", {})):
        assert "timeout=61 is refused" in http.refusal("POST", f"/v1/{path}", {**body, "timeout": 61})
    assert http.good("POST", "/v1/share-groups/g/hold-acknowledgements")["holds_acknowledgements"]
    worker.acknowledge(message)
    with ThreadPoolExecutor() as threads:
        told = threads.submit(worker.commit_sync, SECONDS)
        http.good("GET", "/v1/share-groups/g/wait", held=1, timeout=SECONDS)
        done = threads.submit(http.good, "GET", "/v1/share-groups/g/wait", lag=0, topic="orders", timeout=SECONDS)
        assert not http.good("POST", "/v1/share-groups/g/release-acknowledgements")["holds_acknowledgements"]
        assert done.result() == {"group": "g"}
        assert list(told.result().values()) == [None]


def test_the_end_of_a_session(stub: KafkaStub, http: Http, worker: ShareConsumer) -> None:
    stub.produce("orders", "1")
    read(worker)
    with stub.faults.add(api="ShareGroupHeartbeat", hold="before"):
        member_id = stub.share_groups["g"].member("one").member_id
        assert http.good("POST", "/v1/share-groups/g/end-session", {"member": "one"}) == {"member_id": member_id}
        status, said = http.post("/v1/share-groups/g/end-session", {"member": "one"})
        assert (status, said["code"]) == (404, "UNKNOWN_MEMBER_ID")


def test_what_is_refused(http: Http) -> None:
    for method, path, body in (
        ("GET", "/v1/share-groups/nobody", None),
        ("POST", "/v1/share-groups/nobody/hold-acknowledgements", {}),
        ("POST", "/v1/share-groups/nobody/release-acknowledgements", {}),
        ("POST", "/v1/share-groups/nobody/end-session", {"member": "one"}),
    ):
        status, said = http.ask(method, path, body)
        assert (status, said["error"]) == (404, "share group 'nobody' does not exist"), path
    status, said = http.get("/v1/share-groups/nobody/wait", lag=0, timeout=0)
    assert (status, said["error"]) == (408, "share group 'nobody' does not exist after 0 s")
    assert "there is no condition to wait for" in http.refusal("GET", "/v1/share-groups/g/wait")
    refused = http.refusal("PUT", "/v1/share-groups/g/configs", {"configs": {"share.delivery.count.limit": 300}})
    assert "share.delivery.count.limit" in refused
    assert "no.such" in http.refusal("PUT", "/v1/share-groups/g/configs", {"configs": {"no.such": "1"}})
