"""Real clients under quotas: they are slowed down, and lose nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from kafkastub import KafkaStub

SIZE, COUNT, RATE = 50_000, 8, 200_000
"""Records of so many bytes, so many of them, and how many bytes a second are allowed: all take two seconds then."""
CONFIG: dict[str, object] = {"quota.window.num": 2, "group.initial.rebalance.delay.ms": 0}
"""One window at once, that is what one second allows."""


def with_confluent(servers: str) -> int:
    from confluent_kafka import Consumer, Producer

    producer = Producer({"bootstrap.servers": servers, "client.id": "app", "linger.ms": 0})
    for _ in range(COUNT):
        producer.produce("t", bytes(SIZE))
        producer.flush(30)
    consumer = Consumer(
        {"bootstrap.servers": servers, "client.id": "app", "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["t"])
    messages = [consumer.poll(30) for _ in range(COUNT)]
    consumer.close()
    return sum(len(one.value() or b"") for one in messages if one is not None)


def with_kafka_python(servers: str) -> int:
    from kafka import KafkaConsumer, KafkaProducer

    producer = KafkaProducer(bootstrap_servers=servers, client_id="app")
    for _ in range(COUNT):
        producer.send("t", bytes(SIZE)).get(30)
    producer.close()
    consumer = KafkaConsumer(
        "t", bootstrap_servers=servers, client_id="app", auto_offset_reset="earliest", consumer_timeout_ms=30_000
    )
    read = 0
    for _ in range(COUNT):
        read += len(next(consumer).value)
    consumer.close()
    return read


def with_aiokafka(servers: str) -> int:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    async def both() -> int:
        async with AIOKafkaProducer(bootstrap_servers=servers, client_id="app") as producer:
            for _ in range(COUNT):
                await producer.send_and_wait("t", bytes(SIZE))
        async with AIOKafkaConsumer(
            "t", bootstrap_servers=servers, client_id="app", auto_offset_reset="earliest"
        ) as consumer:
            return sum([len((await consumer.getone()).value or b"") for _ in range(COUNT)])

    return asyncio.run(both())


@pytest.mark.parametrize("client", [with_confluent, with_kafka_python, with_aiokafka])
def test_a_client_that_is_slowed_down_sends_and_reads_everything(client: Callable[[str], int]):
    with KafkaStub(topics={"t": 1}, config=CONFIG) as stub:
        stub.set_quota(client_id="app", producer_byte_rate=RATE, consumer_byte_rate=RATE)
        began = time.monotonic()
        assert client(stub.bootstrap_servers) == SIZE * COUNT
        # what one window allows is free, to write and to read
        assert time.monotonic() - began > 2 * (SIZE * COUNT / RATE - 1) - 0.2
        for api in ("Produce", "Fetch"):
            answers = [entry.response for entry in stub.journal.requests(api=api)]
            assert any(one is not None and one.throttle_time_ms > 0 for one in answers), api
