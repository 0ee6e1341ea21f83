"""The report of a test that hangs begins with why: ten ways to write one, each named by the first sentence."""

from __future__ import annotations

import re

import pytest

from kafkastub import KafkaStub
from tests.conftest import OF_A_USER

TESTS = """
import asyncio
import time
from contextlib import suppress

import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer, Producer

from kafkastub import GroupTimeout, KafkaStub

pytestmark = pytest.mark.kafka_stub(topics=["orders"])


def reader(stub, group="shipping", **settings):
    settings = {{name.replace("_", "."): value for name, value in settings.items()}}
    common = {{"bootstrap.servers": stub.bootstrap_servers, "group.id": group, "log_level": 0}}
    common["auto.offset.reset"] = "earliest"
    return Consumer({{**common, "client.id": group, **settings}})


def received(consumer, seconds=1.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        message = consumer.poll(0.05)
        if message is not None and not message.error():
            return message.value()
    return None


def test_topic_that_is_not_there(kafka_stub):
    consumer = reader(kafka_stub)
    consumer.subscribe(["order"])
    assert received(consumer) == b"tea"


async def test_topic_made_by_its_reader(kafka_stub):
    kafka_stub.produce("orders", "tea")
    servers = kafka_stub.bootstrap_servers
    async with AIOKafkaConsumer("order", bootstrap_servers=servers, group_id="shipping") as consumer:
        await asyncio.wait_for(consumer.getone(), 1)


def test_forgotten_hold(kafka_stub, kafka_faults):
    kafka_stub.produce("orders", "tea")
    kafka_faults.add(api="JoinGroup", hold="before")
    consumer = reader(kafka_stub)
    consumer.subscribe(["orders"])
    assert received(consumer) == b"tea"


def test_open_transaction(kafka_stub):
    servers = kafka_stub.bootstrap_servers
    producer = Producer({{"bootstrap.servers": servers, "transactional.id": "shop", "log_level": 0}})
    producer.init_transactions(10)
    producer.begin_transaction()
    producer.produce("orders", "tea")
    producer.flush(10)
    consumer = reader(kafka_stub)
    consumer.subscribe(["orders"])
    assert received(consumer) == b"tea"


def test_two_members_for_one_partition(kafka_stub):
    first, second = reader(kafka_stub), reader(kafka_stub)
    first.subscribe(["orders"])
    second.subscribe(["orders"])
    for _ in range(200):
        received(first, 0.05), received(second, 0.05)
        with suppress(GroupTimeout):
            kafka_stub.wait_group("shipping", state="Stable", members=2, timeout=0.01)
            break
    assert len(second.assignment()) == len(first.assignment()) == 1


def test_latest_behind_the_records(kafka_stub):
    kafka_stub.produce("orders", "tea")
    consumer = reader(kafka_stub, auto_offset_reset="latest")
    consumer.subscribe(["orders"])
    assert received(consumer, 2) == b"tea"


async def test_blocked_loop(kafka_stub):
    kafka_stub.produce("orders", "tea")
    consumer = AIOKafkaConsumer(
        "orders", bootstrap_servers=kafka_stub.bootstrap_servers, group_id="shipping", auto_offset_reset="earliest"
    )
    async with consumer:
        await consumer.getone()
        await consumer.commit()
        time.sleep(3)
        assert False


def test_refused_for_ever(kafka_stub, kafka_faults):
    kafka_faults.add(api="FindCoordinator", error="GROUP_AUTHORIZATION_FAILED")
    consumer = reader(kafka_stub)
    consumer.subscribe(["orders"])
    assert received(consumer) == b"tea"


@pytest.mark.kafka_stub(config={{"message.max.bytes": 100}})
def test_record_that_is_too_large(kafka_stub):
    producer = Producer({{"bootstrap.servers": kafka_stub.bootstrap_servers, "client.id": "shop", "log_level": 0}})
    producer.produce("orders", "tea" * 100)
    producer.flush(5)
    assert kafka_stub.records("orders")


def test_broker_of_the_test_itself():
    with KafkaStub(topics=["orders"]) as stub:
        consumer = reader(stub)
        consumer.subscribe(["order"])
        assert received(consumer) == b"tea"
"""
FIRST = {
    "test_topic_that_is_not_there": "Topic 'order' does not exist; shipping asked for it .*Did you mean 'orders'",
    "test_topic_made_by_its_reader": "Topic 'order' is empty, and 'orders' has 1 record: did you mean that one",
    "test_forgotten_hold": "Fault .* holds 1 request until it is released: JoinGroup of shipping",
    "test_open_transaction": "Group 'shipping': .* transaction is open, of transactional id 'shop'",
    "test_two_members_for_one_partition": "Group 'shipping': Member shipping .* has no partitions",
    "test_latest_behind_the_records": "Group 'shipping': .*latest",
    "test_blocked_loop": "No client sent anything for .* a call that blocks",
    "test_refused_for_ever": "shipping got GROUP_AUTHORIZATION_FAILED in the answer to FindCoordinator .*fault",
    "test_record_that_is_too_large": "shop got MESSAGE_TOO_LARGE in the answer to Produce once",
    "test_broker_of_the_test_itself": "Topic 'order' does not exist; shipping asked for it .*Did you mean 'orders'",
}
"""What the first sentence of each test's report says."""


def test_the_first_sentence_of_a_report_names_the_cause(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(TESTS.replace("{{", "{").replace("}}", "}"))
    said = pytester.runpytest_subprocess(*OF_A_USER).stdout.str()
    reports = re.findall(r"^_+ (test_\w+) _+$(.*?)(?=^_+ test_|^=+ short test summary)", said, re.DOTALL | re.MULTILINE)
    found = {
        name: re.findall(r"^-+ why clients of .* may wait -+\n(.*)$", text, re.MULTILINE) for name, text in reports
    }
    assert found.keys() == FIRST.keys()
    wrong = {name: found[name] for name, expected in FIRST.items() if not re.search(expected, "".join(found[name][:1]))}
    assert wrong == {}, said


IN_FRONT = {
    "test_topic_that_is_not_there": "The cluster had no topic 'order' when shipping asked for it",
    "test_forgotten_hold": FIRST["test_forgotten_hold"],
    "test_refused_for_ever": FIRST["test_refused_for_ever"],
}
"""The same in front of a cluster, whose state a proxy does not know."""


def test_in_front_of_a_cluster_it_names_what_a_proxy_can_see(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(TESTS.replace("{{", "{").replace("}}", "}"))
    with KafkaStub(config={"auto.create.topics.enable": False}) as cluster:
        chosen = ["-k", " or ".join(IN_FRONT), f"--kafka-stub-bootstrap={cluster.bootstrap_servers}"]
        said = pytester.runpytest_subprocess(*OF_A_USER, *chosen).stdout.str()
    found = dict(
        re.findall(
            r"^_+ (test_\w+) _+$(?:(?!^_+ test_).)*?^-+ why clients of \S+ may wait -+\n(.*?)$",
            said,
            re.DOTALL | re.MULTILINE,
        )
    )
    assert found.keys() == IN_FRONT.keys(), said
    assert {name: found[name] for name, expected in IN_FRONT.items() if not re.search(expected, found[name])} == {}, (
        said
    )


def test_a_test_that_fails_by_itself_is_not_explained(pytester: pytest.Pytester) -> None:
    """A wrong assertion is no riddle: nothing of the broker is in the way."""
    pytester.makepyfile("def test_it(kafka_stub):\n    kafka_stub.create_topic('orders')\n    assert 1 == 2\n")
    said = pytester.runpytest_subprocess(*OF_A_USER).stdout.str()
    assert "assert 1 == 2" in said
    assert "may wait" not in said
