"""/v1/faults: rules that come over HTTP are those of `stub.faults`, and real clients meet them."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from kafkastub import KafkaStub
from tests.control.conftest import Http

RULE = {"api": "OffsetCommit", "error": "GROUP_AUTHORIZATION_FAILED"}


def test_a_real_client_meets_a_fault_until_it_is_removed(stub: KafkaStub, http: Http):
    consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "shipping"})
    offsets = [TopicPartition("orders", 0, 42)]
    consumer.commit(offsets=offsets, asynchronous=False)

    added = http.good("POST", "/v1/faults", RULE)
    with pytest.raises(KafkaException) as refused:
        consumer.commit(offsets=offsets, asynchronous=False)
    assert refused.value.args[0].code() == KafkaError.GROUP_AUTHORIZATION_FAILED
    assert http.good("GET", f"/v1/faults/{added['id']}")["hits"] >= 1

    http.good("DELETE", f"/v1/faults/{added['id']}")
    consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()


def test_rules_are_shared_with_python(stub: KafkaStub, http: Http):
    http.good("POST", "/v1/faults", {**RULE, "name": "from outside"})
    mine = stub.faults.add(api="Fetch", delay_ms=5)
    assert [fault.id for fault in stub.faults] == ["from outside", mine.id]
    assert http.good("GET", "/v1/faults")["faults"] == [
        {"id": "from outside", "rule": {**RULE, "name": "from outside"}, "hits": 0, "matched": 0, "held": []},
        {"id": mine.id, "rule": {"api": "Fetch", "delay_ms": 5}, "hits": 0, "matched": 0, "held": []},
    ]
    assert http.good("DELETE", "/v1/faults") == {"removed": 2}
    assert len(stub.faults) == 0


def test_requests_are_held_and_released_over_http(stub: KafkaStub, http: Http):
    """Who commits first is decided by who is let go first, whatever language the test is in."""
    rule = http.good("POST", "/v1/faults", {"api": "OffsetCommit", "hold": "before", "name": "the door"})
    assert rule["held"] == []
    consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "shipping", "client.id": "me"})
    consumer.commit(offsets=[TopicPartition("orders", 0, 42)], asynchronous=True)
    (held,) = http.good("GET", "/v1/faults/the%20door/wait?held=1&timeout=50")["held"]
    assert (held["api"], held["client_id"]) == ("OffsetCommit", "me")
    assert http.good("POST", "/v1/faults/the%20door/release", {"connection": held["connection"] + 1}) == {"released": 0}
    assert http.good("POST", "/v1/faults/the%20door/release", {"n": 1}) == {"released": 1}
    assert http.good("GET", "/v1/faults/the%20door/wait")["hits"] == 1
    assert http.good("POST", "/v1/faults/the%20door/release") == {"released": 0}
    consumer.close()


def test_a_wait_for_what_does_not_come_is_told_how_far_it_is(http: Http):
    http.good("POST", "/v1/faults", {"api": "OffsetCommit", "hold": "before"})
    status, told = http.ask("GET", "/v1/faults/fault-1/wait?held=2&timeout=0.01")
    assert (status, told) == (408, {"error": "fault fault-1 was met by 0 requests after 0.01 s and holds 0"})
    assert "timeout" in http.refusal("GET", "/v1/faults/fault-1/wait?timeout=61")
    assert "n" in http.refusal("POST", "/v1/faults/fault-1/release", {"n": -1})


def test_a_name_with_a_slash_can_be_removed(http: Http):
    http.good("POST", "/v1/faults", {**RULE, "name": "a/b c"})
    http.good("DELETE", "/v1/faults/a%2Fb%20c")
    assert http.good("GET", "/v1/faults") == {"faults": []}


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        ({"api": "OffsetComit", "error": "NOT_COORDINATOR"}, "OffsetCommit is meant"),
        ({"api": "Fetch", "error": "NO_SUCH"}, "error='NO_SUCH'"),
        ({"api": "Fetch"}, "the rule does nothing"),
        ({"api": "Fetch", "delay": 5}, "'delay'"),
        ({"api": "Fetch", "delay_ms": "5"}, "delay_ms='5'"),
        ({"api": "Heartbeat", "topic": "orders", "drop": "before"}, "topic='orders' can never match"),
        ([], "the body"),
        (None, "a body is missing"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(http: Http, rule: Any, names: str):
    assert names in http.refusal("POST", "/v1/faults", rule)
    assert http.good("GET", "/v1/faults") == {"faults": []}


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_rule_that_is_not_there(http: Http, method: str):
    assert http.ask(method, "/v1/faults/fault-9") == (404, {"error": "there is no fault 'fault-9'"})
