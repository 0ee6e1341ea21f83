"""What a test hands over by mistake is refused in one sentence that says what is wanted."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

import kafkastub
from kafkastub import KafkaStub, TopicError
from kafkastub.client import Client
from kafkastub.client.topics import describe, names


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({"topics": [["a"]]}, TypeError, r"topic \['a'\] is refused: its name has to be a string"),
        ({"topics": ["a:3"]}, ValueError, r"topics=\['a:3'\] is refused: .*; 'a:3' is \{'a': 3\} there"),
        ({"topics": ["a", 3]}, TypeError, "topic 3 is refused: its name has to be a string"),
        ({"topics": "a"}, TypeError, r'topics=\'a\' is refused: .*, \{"orders": 3\}, or a list of names, \["orders"\]'),
        ({"topics": {"a": "3"}}, TypeError, "topic 'a' is refused: its number of partitions has to be an int, not '3'"),
        ({"topics": {"a": True}}, TypeError, "topic 'a' is refused"),
        ({"topics": {1: 1}}, TypeError, "topic 1 is refused: its name has to be a string"),
        ({"topics": {"a": -1}}, ValueError, "topic 'a' is refused: it needs at least one partition"),
        ({"config": ["a"]}, TypeError, r"config=\['a'\] is refused: expected a mapping"),
        ({"config": {1: 2}}, TypeError, "1 is not a name of a configuration"),
        (
            {"users": {"alice": "secret"}, "config": {"listeners": "PLAINTEXT://127.0.0.1:0"}},
            ValueError,
            "kafkastub.users is refused: no listener authenticates clients",
        ),
        ({"host": 5}, TypeError, "host=5 is refused: expected a string"),
        ({"host": ""}, ValueError, "host='' is refused"),
        ({"port": "9092"}, TypeError, "port='9092' is refused: expected an int"),
        ({"port": 70000}, ValueError, "port=70000 is refused: 0 to 65535 is allowed"),
        ({"advertised": 9092}, TypeError, "advertised=9092 is refused: expected a string"),
        (
            {"nodes": 2, "racks": ["a", "b", "c"]},
            ValueError,
            "racks names 3 racks: at most 2 are allowed, one for each node; leave some out, or raise nodes",
        ),
        ({"data_dir": ""}, ValueError, "data_dir='' is refused: name a folder"),
        ({"data_dir": 5}, TypeError, "data_dir=5 is refused: expected a path"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], kind: type[Exception], said: str):
    with pytest.raises(kind, match=said) as refused:
        KafkaStub(**arguments)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("given", [["orders", "payments"], ("orders", "payments"), {"orders", "payments"}])
def test_a_list_of_topics_has_one_partition_each(given: Any):
    with KafkaStub(topics=given) as stub, Client(stub.bootstrap_servers) as client:
        described = describe(client, names(client))
        assert {name: len(topic.partitions) for name, topic in described.items()} == {"orders": 1, "payments": 1}


@pytest.mark.parametrize(("name", "partitions"), [("a b", 1), ("none", 0), ("many", 10**9)])
def test_a_refused_topic_is_named(name: str, partitions: int):
    with pytest.raises(TopicError, match=f"'{name}'"):
        KafkaStub(topics={"good": 1, name: partitions}).start()
    with KafkaStub() as stub, pytest.raises(TopicError, match=f"'{name}'"):
        stub.create_topic(name, partitions)


def test_a_topic_with_a_refused_setting_is_named():
    with KafkaStub() as stub, pytest.raises(TopicError, match=r"topic 'orders' is refused: .*retention\.ms"):
        stub.create_topic("orders", configs={"retention.ms": "never"})


@pytest.mark.parametrize(
    ("setting", "meant"), [("retention.m", "retention.ms"), ("log.retention.ms", "retention.ms"), ("x.y", None)]
)
def test_a_mistyped_setting_of_a_topic_is_refused_with_the_name_that_is_meant(setting: str, meant: str | None):
    with KafkaStub() as stub, pytest.raises(TopicError) as refused:
        stub.create_topic("orders", configs={setting: "1"})
    assert str(refused.value).endswith(f"name: {setting}" + (f"; is {meant} meant?" if meant else ""))


@pytest.mark.parametrize("partitions", ["3", None, 1.5])
def test_create_topic_wants_a_number(partitions: Any):
    with KafkaStub() as stub, pytest.raises(TypeError, match="topic 'orders' is refused: its number of partitions"):
        stub.create_topic("orders", partitions)


@pytest.mark.parametrize("to", ["2030-01-01", 1e12, True, None])
def test_the_clock_is_set_to_a_time(to: Any):
    with KafkaStub() as stub, pytest.raises(TypeError, match="expected an aware datetime or Unix milliseconds"):
        stub.clock.set(to)


@pytest.mark.parametrize(
    "to",
    [
        10**18,
        pytest.param(10**5000, id="thousands of digits"),
        -1,
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1970, 1, 1, tzinfo=timezone(timedelta(minutes=1))),
        datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=timezone(timedelta(hours=-14))),
    ],
)
def test_the_clock_is_set_to_a_time_that_can_be_shown(to: int | datetime):
    with KafkaStub() as stub:
        stub.clock.freeze()
        before = stub.clock.now()
        with pytest.raises(ValueError, match="between 1970 and the end of the year 9999, in UTC"):
            stub.clock.set(to)
        assert stub.clock.now() == before


@pytest.mark.parametrize(
    "step",
    [
        {"days": 10**8},
        {"days": 10**30},
        {"days": float("nan")},
        {"hours": float("inf")},
        {"by": timedelta(days=3_000_000)},
        {"by": timedelta.max},
        {"by": timedelta.max, "days": 1},
    ],
)
def test_a_step_beyond_the_end_of_time_is_refused(step: dict[str, Any]):
    with KafkaStub() as stub:
        with pytest.raises(ValueError, match="the year 9999"):
            stub.clock.advance(**step)
        assert stub.clock.now()


@pytest.mark.parametrize("step", [{"by": 7}, {"days": "7"}, {"days": None}, {"seconds": True}])
def test_a_step_is_a_length_of_time(step: dict[str, Any]):
    with KafkaStub() as stub, pytest.raises(TypeError, match="the clock cannot advance by"):
        stub.clock.advance(**step)


def test_the_package_shows_what_it_has_before_it_is_loaded():
    code = "import kafkastub, sys; print('KafkaStub' in dir(kafkastub), 'kafkastub.stub.stub' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True False\n"
    assert set(kafkastub.__all__) <= set(dir(kafkastub))


def test_a_defect_of_the_stub_does_not_make_its_test_wait_for_ever(monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr("kafkastub.stub.stub.Broker", broken)
    with pytest.raises(RuntimeError, match="a defect"):
        KafkaStub().start()
