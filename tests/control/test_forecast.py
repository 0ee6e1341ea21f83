"""/v1/clock/forecast: what would be gone, and that it is once the clock is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub.client.groups import commit
from kafkastub.views.forecast import KINDS
from tests.conftest import CONFIG
from tests.control.conftest import Http, commit_for
from tests.stub.test_transactions import producing
from tests.waiting import SECONDS

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    config = CONFIG | {"log.retention.ms": 2 * HOUR_MS}
    with KafkaStub(topics={"orders": 2}, config=config, control_port=0) as stub:
        stub.clock.freeze()
        yield stub


def forecast(http: Http, *within: str, **more: Any) -> Any:
    return http.good("GET", "/v1/clock/forecast", within=list(within), **more)


def told(found: Any) -> list[tuple[str, int]]:
    return [(one["kind"], one["in_ms"]) for one in found["due"]]


def test_a_fresh_broker_has_nothing_to_lose(http: Http) -> None:
    found = forecast(http, "7d")
    assert (found["due"], found["total"]) == ([], 0)
    assert (found["sweep_in_ms"], found["clean_in_ms"]) == (None, None)
    assert found["offsets_retention_minutes"] == 10_080
    (horizon,) = found["horizons"]
    assert horizon["counts"] == dict.fromkeys(KINDS, 0)
    assert horizon["until_ms"] == found["now_ms"] + 7 * DAY_MS


def test_what_is_foreseen_is_gone_then_and_not_before(stub: KafkaStub, http: Http) -> None:
    commit_for(stub, "first")
    stub.clock.advance(hours=1)
    with Client(stub.bootstrap_servers) as client:
        commit(client, "second", {("orders", 0): 1, ("orders", 1): 2})
    stub.produce("orders", value="kept for two hours", partition=0)
    found = forecast(http, "1h", "7d")
    assert told(found) == [
        ("records", 2 * HOUR_MS + 1),
        ("offsets", 7 * DAY_MS - HOUR_MS),
        ("group", 7 * DAY_MS - HOUR_MS),
        ("offsets", 7 * DAY_MS),
        ("group", 7 * DAY_MS),
    ]
    nothing, all_of_it = (horizon["counts"] for horizon in found["horizons"])
    assert set(nothing.values()) == {0}
    assert {kind: count for kind, count in all_of_it.items() if count} == {"records": 1, "offsets": 3, "group": 2}
    records, offsets, group, *_ = found["due"]
    assert (records["what"], records["topic"], records["partitions"]) == (
        "1 record of orders-0, offsets 0 to 0",
        "orders",
        [0],
    )
    assert offsets["what"] == "1 committed offset of group 'first' on orders-0"
    assert (offsets["rule"], offsets["why"].split(":")[0]) == ("simple", "the group never had members")
    assert "offsets.retention.minutes (10,080) from" in offsets["why"]
    assert (group["what"], group["group"]) == ("group 'first' itself", "first")

    def left() -> set[str]:
        return {one["group"] for one in http.good("GET", "/v1/groups")["groups"]}

    stub.clock.advance(milliseconds=7 * DAY_MS - HOUR_MS - 1)
    assert left() == {"first", "second"}
    stub.clock.advance(milliseconds=1)
    assert left() == {"second"}
    stub.clock.advance(milliseconds=HOUR_MS)
    assert left() == set()


def test_records_go_batch_by_batch(stub: KafkaStub, http: Http) -> None:
    for _ in range(3):
        stub.produce("orders", value="x", partition=1)
        stub.clock.advance(minutes=10)
    found = forecast(http, "90m", "95m", "2h")
    counts = [horizon["counts"]["records"] for horizon in found["horizons"]]
    (one,) = found["due"]
    # kept for two hours and a millisecond, the first of them thirty minutes old
    assert counts == [0, 1, 3]
    assert (one["first_offset"], one["last_offset"], one["count"]) == (0, 2, 3)
    assert one["at_ms"] == found["now_ms"] + 90 * 60_000 + 1
    stub.clock.advance(minutes=95)
    start = http.good("GET", "/v1/topics/orders")["partition_list"][1]["log_start_offset"]
    assert start == 1


def test_transactional_ids_and_producers(stub: KafkaStub, http: Http) -> None:
    producing(stub, "shop").commit_transaction(SECONDS)
    found = forecast(http, "8d", kind=["transactional_id", "producer"])
    kinds = {one["kind"]: one for one in found["due"]}
    assert kinds["transactional_id"]["transactional_id"] == "shop"
    assert 6 * DAY_MS < kinds["transactional_id"]["in_ms"] <= 7 * DAY_MS
    assert kinds["producer"]["what"].startswith("what orders-")
    assert kinds["producer"]["in_ms"] <= DAY_MS
    stub.clock.advance(milliseconds=kinds["transactional_id"]["in_ms"] - 1)
    assert http.good("GET", "/v1/transactions")["total"] == 1
    stub.clock.advance(milliseconds=1)
    assert http.good("GET", "/v1/transactions")["total"] == 0


def test_what_is_asked_for_alone(stub: KafkaStub, http: Http) -> None:
    for group in ("a", "b", "c"):
        commit_for(stub, group)
        stub.clock.advance(minutes=1)
    assert told(forecast(http, "8d", kind="group", group="b")) == [("group", 7 * DAY_MS - 2 * 60_000)]
    found = forecast(http, "8d", kind="offsets", limit=2)
    assert ([one["group"] for one in found["due"]], found["total"]) == (["a", "b"], 3)
    assert http.refusal("GET", "/v1/clock/forecast", kind="weather").startswith("kind='weather' is refused")
    assert "is not a duration" in http.refusal("GET", "/v1/clock/forecast", within="soon")
    assert "no date is as late" in http.refusal("GET", "/v1/clock/forecast", within="9999999d")
    assert http.refusal("GET", "/v1/clock/forecast", within=["1h"] * 11).startswith("within=")


def test_of_many_offsets_some_are_named(stub: KafkaStub, http: Http) -> None:
    http.good("POST", "/v1/topics", {"name": "wide", "partitions": 300})
    with Client(stub.bootstrap_servers) as client:
        commit(client, "g", {("wide", partition): 1 for partition in range(300)})
    (one,) = forecast(http, "8d", kind="offsets")["due"]
    assert (one["count"], len(one["partitions"])) == (300, 20)
    assert one["what"].endswith("wide-19 and 280 more")
