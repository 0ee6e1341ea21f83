"""Real clients while the clock is moved."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import confluent_kafka
import kafka
import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from kafkastub import KafkaStub
from tests.clients.adapters.with_java import JavaClient
from tests.clients.client import Refused, until
from tests.clients.jvm import Jvm
from tests.expiry.wire import Wire
from tests.waiting import SECONDS

FAST = {"group.initial.rebalance.delay.ms": 0}
WEEK = timedelta(days=7)
MS = timedelta(milliseconds=1)
TOPICS = {"orders": 1, "bills": 1}


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics=TOPICS, config=FAST) as running:
        running.clock.freeze()
        yield running


async def in_thread(work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, lambda: work(*args, **kwargs))


async def assigned(consumer: AIOKafkaConsumer, topic: str) -> None:
    async with asyncio.timeout(SECONDS):
        while {p.topic for p in consumer.assignment()} != {topic}:
            await consumer.getmany(timeout_ms=10)


async def subscribed_elsewhere(stub: KafkaStub, group: str) -> AIOKafkaConsumer:
    """A consumer that has committed on `orders`, and consumes `bills` now."""
    consumer = AIOKafkaConsumer(
        "orders", bootstrap_servers=stub.bootstrap_servers, group_id=group, enable_auto_commit=False
    )
    await consumer.start()
    await assigned(consumer, "orders")
    await consumer.commit({TopicPartition("orders", 0): 42})
    consumer.subscribe(["bills"])
    await assigned(consumer, "bills")
    await consumer.commit({TopicPartition("bills", 0): 7})
    return consumer


async def test_offsets_of_a_topic_that_is_left_expire_after_seven_days_and_those_of_the_other_stay(stub: KafkaStub):
    consumer = await subscribed_elsewhere(stub, "g")
    with Wire(stub.bootstrap_servers) as wire:
        await in_thread(stub.clock.advance, WEEK - MS)
        assert wire.committed("g") == {("bills", 0): 7, ("orders", 0): 42}
        await in_thread(stub.clock.advance, MS)
        assert wire.committed("g") == {("bills", 0): 7}
        await in_thread(stub.clock.advance, days=8)
        assert wire.committed("g") == {("bills", 0): 7}
    await consumer.stop()


async def test_offsets_of_a_topic_that_is_left_can_be_deleted_at_once_by_an_admin_client(stub: KafkaStub, jvm: Jvm):
    admin = JavaClient(stub.bootstrap_servers, jvm)
    consumer = await subscribed_elsewhere(stub, "g")
    try:
        with pytest.raises(Refused, match="GROUP_SUBSCRIBED_TO_TOPIC"):
            await in_thread(admin.delete_offset, "g", ("bills", 0))
        await in_thread(admin.delete_offset, "g", ("orders", 0))
        assert await in_thread(admin.committed, "g") == {("bills", 0): 7}
    finally:
        await consumer.stop()
        await in_thread(admin.close)


def with_confluent(servers: str) -> Callable[[], None]:
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": servers, "group.id": "g", "enable.auto.commit": False, "heartbeat.interval.ms": 100}
    )
    consumer.subscribe(["orders"])

    def is_assigned() -> bool:
        consumer.poll(0.05)
        return bool(consumer.assignment())

    until(is_assigned, "an assignment")
    consumer.commit(offsets=[confluent_kafka.TopicPartition("orders", 0, 42)], asynchronous=False)
    return consumer.close


def with_kafka_python(servers: str) -> Callable[[], None]:
    """A consumer that joins before it has heard of its topic assigns nothing, now and then for ever: then a new one."""
    for _ in range(5):
        consumer = _kafka_python(servers)
        with suppress(AssertionError):
            until(lambda: consumer.poll(timeout_ms=50) or consumer.assignment(), "an assignment", 10)  # noqa: B023
            consumer.commit({kafka.TopicPartition("orders", 0): kafka.OffsetAndMetadata(42, "", -1)})
            return consumer.close
        consumer.close()
    raise AssertionError("five consumers were assigned nothing")


def _kafka_python(servers: str) -> kafka.KafkaConsumer:
    return kafka.KafkaConsumer(
        "orders",
        bootstrap_servers=servers,
        group_id="g",
        enable_auto_commit=False,
        heartbeat_interval_ms=100,
        metadata_max_age_ms=500,
    )


@pytest.mark.parametrize("library", [with_confluent, with_kafka_python])
def test_a_live_group_keeps_its_offsets_and_a_closed_one_loses_them(
    stub: KafkaStub, library: Callable[[str], Callable[[], None]]
):
    close = library(stub.bootstrap_servers)
    with Wire(stub.bootstrap_servers) as wire:
        stub.clock.advance(days=8)
        assert wire.committed("g") == {("orders", 0): 42}
        close()
        stub.wait_group("g", state="Empty", timeout=SECONDS)
        stub.clock.advance(WEEK - MS)
        assert wire.committed("g") == {("orders", 0): 42}
        stub.clock.advance(MS)
        assert wire.committed("g") == {}


def test_a_client_never_sees_a_group_that_is_half_expired():
    partitions = 500
    with KafkaStub(topics={"orders": partitions}, config=FAST) as stub:
        seen: list[int] = []
        over = threading.Event()

        def poll() -> None:
            with Wire(stub.bootstrap_servers) as wire:
                while not over.is_set():
                    seen.append(len(wire.committed("g")))

        poller = threading.Thread(target=poll)
        poller.start()
        try:
            with Wire(stub.bootstrap_servers) as wire:
                for _ in range(20):
                    wire.commit("g", {("orders", n): n for n in range(partitions)})
                    asked = len(seen)
                    until(lambda: len(seen) >= asked + 2, "a question that was asked after the commit")  # noqa: B023
                    stub.clock.advance(WEEK)
                    assert wire.committed("g") == {}
        finally:
            over.set()
            poller.join()
    assert set(seen) == {0, partitions}
