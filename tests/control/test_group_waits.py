"""/v1/groups/{group}/wait and …/wait-assigned: a test in any language waits for a group, and does not sleep."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Consumer

from kafkastub import KafkaStub
from tests.control.conftest import Http
from tests.waiting import SECONDS, until


def joined(stub: KafkaStub, group: str, **settings: Any) -> Consumer:
    consumer = Consumer(
        {"bootstrap.servers": stub.bootstrap_servers, "group.id": group, "client.id": "one",
         "auto.offset.reset": "earliest", "enable.auto.commit": False, **settings}
    )  # fmt: skip
    consumer.subscribe(["orders"])
    return consumer


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_is_waited_for(stub: KafkaStub, http: Http, protocol: str):
    group = f"waited/for-{protocol}"
    consumer = joined(stub, group, **{"group.protocol": protocol})
    with ThreadPoolExecutor() as threads:
        stable = threads.submit(http.good, "GET", f"/v1/groups/{group}/wait?state=stable&members=1&timeout={SECONDS:g}")
        until(lambda: consumer.poll(0.05) or stable.done(), "a Stable group")
        assert stable.result(SECONDS) == {"group": group, "state": "Stable", "members": 1}
        partitions = [{"topic": "orders", "partition": one} for one in range(len(consumer.assignment()) or 2)]
        body = {"assignment": {"one": partitions}, "timeout": SECONDS}
        assert http.good("POST", f"/v1/groups/{group}/wait-assigned", body)["members"] == 1
    consumer.close()


def test_a_lag_is_waited_for(stub: KafkaStub, http: Http):
    stub.create_topic("lagging")
    stub.produce("lagging", "v")
    stub.commit("late", {("lagging", 0): 0})
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(http.good, "GET", f"/v1/groups/late/wait?lag=0&topic=lagging&timeout={SECONDS:g}")
        stub.commit("late", {("lagging", 0): 1})
        assert asked.result(SECONDS)["state"] == "Empty"


@pytest.mark.parametrize(
    ("query", "status", "why"),
    [
        ("", 400, "there is no condition to wait for"),
        ("?state=Stable&timeout=0.01", 408, "group 'nobody' after 0.01 s: does not exist"),
        ("?lag=0&timeout=0.01", 408, "group 'nobody' after 0.01 s: does not exist"),
        ("?state=Stable&timeout=61", 400, "timeout"),
        ("?stat=Stable", 400, "there is no parameter stat here"),
    ],
)
def test_what_does_not_come_or_cannot_is_told(http: Http, query: str, status: int, why: str):
    answered, said = http.ask("GET", f"/v1/groups/nobody/wait{query}")
    assert answered == status
    assert why in said["error"]
    assert http.ask("GET", "/v1/groups/nobody/wait?state=dead")[0] == 200
    body: dict[str, Any] = {"assignment": {"one": [{"topic": "orders", "partition": 0}]}, "timeout": 0.01}
    assert http.ask("POST", "/v1/groups/nobody/wait-assigned", body)[0] == 408
    assert "assignment" in http.refusal("POST", "/v1/groups/nobody/wait-assigned", {"assignment": {}})
