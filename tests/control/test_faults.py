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
        {"id": "from outside", "rule": {**RULE, "name": "from outside"}, "hits": 0, "matched": 0},
        {"id": mine.id, "rule": {"api": "Fetch", "delay_ms": 5}, "hits": 0, "matched": 0},
    ]
    assert http.good("DELETE", "/v1/faults") == {"removed": 2}
    assert len(stub.faults) == 0


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
