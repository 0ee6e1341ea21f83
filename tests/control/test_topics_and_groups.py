"""/v1/topics and /v1/groups."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from kafkastub import KafkaStub
from kafkastub.client import Client, topics
from tests.control.conftest import Http, commit_for
from tests.waiting import SECONDS, until


def test_a_topic_comes_and_goes_for_clients(stub: KafkaStub, http: Http):
    made = http.good("POST", "/v1/topics", {"name": "payments", "partitions": 3, "configs": {"retention.ms": "60000"}})
    assert (made["partitions"], made["replication_factor"], made["configs"]) == (3, 1, {"retention.ms": "60000"})
    with Client(stub.bootstrap_servers) as client:
        assert set(topics.names(client)) == {"orders", "payments"}
        http.good("DELETE", "/v1/topics/payments")
        assert set(topics.names(client)) == {"orders"}


def test_topics_are_listed_and_described(stub: KafkaStub, http: Http):
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers})
    producer.produce("orders", b"one", partition=1)
    producer.flush()
    stub.create_topic("audit")
    assert [topic["name"] for topic in http.good("GET", "/v1/topics")["topics"]] == ["orders", "audit"]
    assert http.good("GET", "/v1/topics", limit=1)["total"] == 2
    described = http.good("GET", "/v1/topics/orders")["partition_list"]
    assert [(row["partition"], row["leader"], row["log_end_offset"]) for row in described] == [(0, 1, 0), (1, 1, 1)]


def test_a_deleted_topic_takes_its_offsets_along(stub: KafkaStub, http: Http):
    commit_for(stub, "shipping")
    http.good("DELETE", "/v1/topics/orders")
    assert http.good("GET", "/v1/groups/shipping")["offset_list"] == []


@pytest.mark.parametrize(
    ("body", "status", "names"),
    [
        ({"name": "orders"}, 409, "'orders' already exists"),
        ({"name": "a/b"}, 400, "a/b"),
        ({"name": ""}, 400, "topic ''"),
        ({"name": "new", "partitions": 0}, 400, "topic 'new': Number of partitions"),
        ({"name": "new", "partitions": "3"}, 400, "partitions='3'"),
        ({"name": "new", "partitions": 10**9}, 400, "topic 'new'"),
        ({"name": "new", "replication_factor": 3}, 400, "topic 'new': Unable to replicate"),
        ({"name": "new", "configs": {"no.such": "1"}}, 400, "no.such"),
        ({"name": "new", "configs": {"retention.ms": 5}}, 400, "configs.retention.ms=5"),
        ({"topic": "new"}, 400, "name is missing"),
    ],
)
def test_a_topic_that_kafka_would_refuse(http: Http, body: Any, status: int, names: str):
    got, said = http.post("/v1/topics", body)
    assert (got, names in said["error"]) == (status, True), said
    assert [topic["name"] for topic in http.good("GET", "/v1/topics")["topics"]] == ["orders"]


def test_a_topic_that_is_not_there(http: Http):
    missing = (404, {"error": "topic 'nope' does not exist"})
    assert http.get("/v1/topics/nope") == missing
    assert http.delete("/v1/topics/nope") == missing
    assert "limit='0'" in http.refusal("GET", "/v1/topics", limit=0)


def test_a_group_with_its_members_and_offsets(stub: KafkaStub, http: Http):
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers})
    for _ in range(3):
        producer.produce("orders", b"one", partition=0)
    producer.flush()
    consumer = Consumer(
        {
            "bootstrap.servers": stub.bootstrap_servers,
            "group.id": "shipping",
            "client.id": "c1",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["orders"])
    message = until(lambda: consumer.poll(0.1), "a record")
    assert message is not None
    consumer.commit(message, asynchronous=False)
    group = http.good("GET", "/v1/groups/shipping")
    assert (group["state"], group["type"], group["protocol_type"], group["members"]) == (
        "Stable", "classic", "consumer", 1,
    )  # fmt: skip
    (member,) = group["member_list"]
    assert (member["client_id"], member["host"], member["subscribed"]) == ("c1", "/127.0.0.1", ["orders"])
    (offset,) = group["offset_list"]
    assert (offset["topic"], offset["partition"], offset["offset"], offset["lag"]) == ("orders", 0, 1, 2)
    assert offset["expires"] is None
    assert http.delete("/v1/groups/shipping") == (
        409, {"error": "group 'shipping' has members", "code": "NON_EMPTY_GROUP"},
    )  # fmt: skip
    consumer.close()
    stub.wait_group("shipping", state="Empty", timeout=SECONDS)
    assert http.good("DELETE", "/v1/groups/shipping")["offsets"] == 1
    assert http.get("/v1/groups/shipping") == (
        404, {"error": "group 'shipping' does not exist", "code": "GROUP_ID_NOT_FOUND"},
    )  # fmt: skip


def test_groups_of_any_name(stub: KafkaStub, http: Http):
    stub.create_topic("audit")
    for name in ("a/b,c:d", "ü %", "expire"):
        commit_for(stub, name)
    listed = http.good("GET", "/v1/groups")
    assert [group["group"] for group in listed["groups"]] == ["a/b,c:d", "ü %", "expire"]
    assert listed["total"] == 3
    assert len(http.good("GET", "/v1/groups", limit=2)["groups"]) == 2
    assert http.good("GET", "/v1/groups/a%2Fb,c:d")["offsets"] == 1
    assert http.good("GET", "/v1/groups/%C3%BC%20%25", limit=1)["offset_list"][0]["offset"] == 42
    assert http.good("DELETE", "/v1/groups/expire")["group"] == "expire"
    assert http.delete("/v1/groups/") == (404, {"error": "group '' does not exist", "code": "GROUP_ID_NOT_FOUND"})


def test_expiring_now(stub: KafkaStub, http: Http):
    commit_for(stub, "shipping")
    assert http.good("POST", "/v1/groups/expire") == {"expired_offsets": 0, "groups": 1}
    # one that another test's clock could not reach by itself: the sweep has not come round yet
    stub._call(lambda: stub._running().clock.set(stub._running().clock.broker_ms() + 8 * 86_400_000))
    assert http.good("POST", "/v1/groups/expire") == {"expired_offsets": 1, "groups": 0}


def test_while_the_coordinator_is_loading(stub: KafkaStub, http: Http):
    commit_for(stub, "shipping")
    with stub.coordinator_loading():
        for method, path in (("GET", "/v1/groups"), ("DELETE", "/v1/groups/shipping"), ("POST", "/v1/groups/expire")):
            status, said = http.ask(method, path)
            assert (status, said["code"]) == (503, "COORDINATOR_LOAD_IN_PROGRESS")
    assert http.good("GET", "/v1/groups")["total"] == 1
