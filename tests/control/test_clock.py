"""/v1/clock: what a test in any language does with the broker's time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from kafkastub import KafkaStub
from kafkastub.config.durations import LAST_MS
from tests.control.conftest import Http, commit_for
from tests.waiting import SECONDS, until


def committed(stub: KafkaStub, group: str) -> int:
    consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": group})
    try:
        found = consumer.committed([TopicPartition("orders", 0)], timeout=SECONDS)
        return int(found[0].offset)
    finally:
        consumer.close()


def test_the_clock_that_is_shown_is_that_of_the_stub(stub: KafkaStub, http: Http):
    stub.clock.freeze()
    shown = http.good("GET", "/v1/clock")
    assert shown["frozen"] is True
    assert shown["now_ms"] == stub.clock.now_ms()
    assert datetime.fromisoformat(shown["now"]) == stub.clock.now()


def test_freezing_and_letting_go(stub: KafkaStub, http: Http):
    frozen = http.good("POST", "/v1/clock/freeze")
    assert frozen["frozen"] is True
    assert http.good("GET", "/v1/clock") == frozen
    assert http.good("POST", "/v1/clock/unfreeze")["frozen"] is False


@pytest.mark.parametrize("to", ["2030-01-01T00:00:00Z", 1893456000000, "2030-01-01T01:00:00+01:00"])
def test_setting_it(stub: KafkaStub, http: Http, to: Any):
    http.good("POST", "/v1/clock/freeze")
    assert http.good("POST", "/v1/clock/set", {"to": to})["now"] == "2030-01-01T00:00:00.000Z"
    assert stub.clock.now() == datetime(2030, 1, 1, tzinfo=UTC)


def test_a_broker_with_groups_is_not_set_back(stub: KafkaStub, http: Http):
    commit_for(stub, "shipping")
    assert "the clock cannot go back" in http.refusal("POST", "/v1/clock/set", {"to": 0})


@pytest.mark.parametrize(
    ("body", "ms"),
    [
        ({"by": "1h30m"}, 5_400_000),
        ({"days": 1, "hours": 0.5}, 88_200_000),
        ({"by": "1s", "milliseconds": 5}, 1005),
        ({"by": "0s"}, 0),
    ],
)
def test_advancing_by(http: Http, body: Any, ms: int):
    before = http.good("POST", "/v1/clock/freeze")["now_ms"]
    assert http.good("POST", "/v1/clock/advance", body)["now_ms"] == before + ms


def test_a_real_client_sees_that_its_offset_is_gone(stub: KafkaStub, http: Http):
    http.good("POST", "/v1/clock/freeze")
    commit_for(stub, "shipping")
    http.good("POST", "/v1/clock/advance", {"by": "6d23h"})
    assert committed(stub, "shipping") == 42
    http.good("POST", "/v1/clock/advance", {"hours": 1})
    assert committed(stub, "shipping") < 0


def test_with_timers_a_silent_member_is_thrown_out(stub: KafkaStub, http: Http):
    consumer = Consumer(
        {
            "bootstrap.servers": stub.bootstrap_servers,
            "group.id": "g",
            "session.timeout.ms": 45000,
            "heartbeat.interval.ms": 40000,
        }
    )
    consumer.subscribe(["orders"])
    until(lambda: consumer.poll(0.05) or consumer.assignment(), "an assignment")
    http.good("POST", "/v1/clock/advance", {"by": "10m"})
    assert http.good("GET", "/v1/groups/g")["members"] == 1
    http.good("POST", "/v1/clock/advance", {"by": "10m", "timers": True})
    assert http.get("/v1/groups/g")[0] == 404  # empty, without offsets: the sweep took the group as well
    consumer.close()


@pytest.mark.parametrize(
    ("path", "body", "names"),
    [
        ("advance", {"by": "7x"}, "by='7x'"),
        ("advance", {"by": "1m1h"}, "longer units come first"),
        ("advance", {"by": "-1d"}, "by='-1d'"),
        ("advance", {"days": "7"}, "days='7'"),
        ("advance", {"days": -1}, "days: the clock only moves forward"),
        ("advance", {"days": 1e300}, "days: the clock cannot advance"),
        ("advance", {"by": "9999999999w"}, "by='9999999999w' is refused: broker time ends with the year 9999"),
        ("advance", {"by": "99999999999d"}, "by='99999999999d' is refused: broker time ends with the year 9999"),
        ("advance", {"by": "3000000d"}, "at most: broker time lies between 1970 and the end of the year 9999"),
        ("advance", {"by": "3000000d", "timers": True}, "at most: broker time lies between"),
        ("advance", {"milliseconds": 1e300}, "broker time lies between 1970 and the end of the year 9999"),
        ("advance", {"timers": True}, "by is missing"),
        ("advance", {"by": "1d", "timers": "yes"}, "timers='yes'"),
        ("advance", {"dayz": 1}, "dayz"),
        ("advance", [], "the body"),
        ("advance", None, "a body is missing"),
        ("set", {}, "to is missing"),
        ("set", {"to": "tomorrow"}, "to='tomorrow'"),
        ("set", {"to": "2030-01-01T00:00:00"}, "no time zone"),
        ("set", {"to": True}, "to=True"),
        ("set", {"to": 10**18}, "year 9999"),
        ("set", {"to": 10**4000}, "year 9999"),
        ("set", {"to": -1}, "between 1970 and"),
        ("set", {"to": "0001-01-01T00:00:00Z"}, "between 1970 and"),
        ("set", {"to": "1970-01-01T00:00:00+00:01"}, "between 1970 and"),
        ("set", {"to": "9999-12-31T23:59:59.999-14:00"}, "the end of the year 9999, in UTC"),
        ("set", {"to": [[["x"] * 10_000]]}, "expected a time in ISO 8601"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(http: Http, path: str, body: Any, names: str):
    before = http.good("POST", "/v1/clock/freeze")
    assert names in http.refusal("POST", f"/v1/clock/{path}", body)
    assert http.good("GET", "/v1/clock") == before


@pytest.mark.parametrize(
    ("to", "now"),
    [
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("9999-12-31T09:59:59.999-14:00", "9999-12-31T23:59:59.999Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
        ("1969-12-31T10:00:00-14:00", "1970-01-01T00:00:00.000Z"),
    ],
)
def test_the_first_and_the_last_moment_however_they_are_written(http: Http, to: str, now: str):
    http.good("POST", "/v1/clock/freeze")
    assert http.good("POST", "/v1/clock/set", {"to": to})["now"] == now


def test_a_clock_that_goes_on_at_its_end_is_shown_all_the_same(stub: KafkaStub, http: Http):
    """No date is later, and it was once answered with 500 from then on."""
    http.good("POST", "/v1/clock/set", {"to": "9999-12-31T23:59:59.999Z"})
    until(lambda: stub.clock.now_ms() > LAST_MS, "a time that has no date")
    assert http.good("GET", "/v1/clock")["now"] == "9999-12-31T23:59:59.999Z"
    assert stub.clock.now() == stub.snapshot().now == datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=UTC)
    assert http.good("GET", "/v1/journal")["entries"][-1]["broker_time"].startswith("9999-12-31T23:59:59.999")
