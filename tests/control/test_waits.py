"""/v1/topics/{name}/wait and /v1/journal/wait-quiet: a test in any language waits, and does not sleep."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from kafkastub import KafkaStub
from tests.control.conftest import Http, commit_for
from tests.waiting import SECONDS, until


def waited_for(stub: KafkaStub) -> bool:
    return bool(stub._thread.running().state.topic_watchers)


def test_a_topic_is_waited_for_and_then_its_partitions(stub: KafkaStub, http: Http):
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(http.good, "GET", f"/v1/topics/audit/wait?partitions=3&timeout={SECONDS:g}")
        until(lambda: waited_for(stub), "somebody who waits")
        stub.create_topic("audit", 3)
        assert asked.result(SECONDS) == {"topic": "audit", "partitions": 3, "records": None}
    assert not waited_for(stub)


def test_records_that_match_are_waited_for(stub: KafkaStub, http: Http):
    query = f"records=2&key=4711&contains=sent&timeout={SECONDS:g}"
    stub.produce("orders", '{"state": "sent"}', key="4711", partition=1)
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(http.good, "GET", f"/v1/topics/orders/wait?{query}")
        until(lambda: waited_for(stub), "somebody who waits")
        stub.produce("orders", '{"state": "sent"}', key="4712")
        stub.produce("orders", '{"state": "new"}', key="4711")
        assert not asked.done()
        stub.produce("orders", '{"state": "sent"}', key="4711", partition=0)
        assert asked.result(SECONDS) == {"topic": "orders", "partitions": 2, "records": 2}


def test_records_of_a_topic_that_comes_are_waited_for(stub: KafkaStub, http: Http):
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(http.good, "GET", f"/v1/topics/audit/wait?records=1&timeout={SECONDS:g}")
        until(lambda: waited_for(stub), "somebody who waits")
        stub.create_topic("audit")
        stub.produce("audit", "v")
        assert asked.result(SECONDS)["records"] == 1


def test_many_megabytes_are_counted(stub: KafkaStub, http: Http):
    for _ in range(6):
        stub.produce("orders", "v" * 900_000, partition=0)
    assert http.good("GET", f"/v1/topics/orders/wait?records=6&timeout={SECONDS:g}")["records"] == 6


@pytest.mark.parametrize(
    ("query", "status", "why"),
    [
        ("audit/wait?timeout=0.01", 408, "topic 'audit' does not exist after 0.01 s"),
        ("orders/wait?partitions=3&timeout=0.01", 408, "has 2 partitions, 3 were expected, after 0.01 s"),
        ("orders/wait?records=1&key=a&timeout=0.01", 408, "has 0 records that match, 1 were expected, after 0.01 s"),
        ("orders/wait?key=a", 400, "give records, their number, too"),
        ("orders/wait?records=0", 400, "records"),
        ("orders/wait?isolation=dirty&records=1", 400, "isolation"),
    ],
)
def test_what_does_not_come_or_cannot_is_told(http: Http, query: str, status: int, why: str):
    answered, said = http.ask("GET", f"/v1/topics/{query}")
    assert answered == status, said
    assert why in said["error"]


def test_quiet_is_waited_for(stub: KafkaStub, http: Http):
    assert http.good("GET", "/v1/journal/wait-quiet?seconds=60&timeout=0") == {"seconds": 60}
    commit_for(stub, "shipping")
    status, said = http.get("/v1/journal/wait-quiet?seconds=60&timeout=0.01")
    assert (status, said["error"]) == (408, "it was not quiet for 60 s within 0.01 s")
    assert http.good("GET", f"/v1/journal/wait-quiet?seconds=0.01&timeout={SECONDS:g}")
    assert "is OffsetCommit meant" in http.refusal("GET", "/v1/journal/wait-quiet?ignoring=OffsetComit")
