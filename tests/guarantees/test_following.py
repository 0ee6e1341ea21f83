"""What a check sets aside while the broker serves: requests and answers, without the records that fetches return."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from confluent_kafka import Consumer

from kafkastub import KafkaStub
from tests.guarantees.reader import consumer_of, read
from tests.waiting import until

SIZE: Final = 20_000
"""Bytes of a record."""
COUNT: Final = 40


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1}, check=True) as running:
        yield running


@pytest.fixture
def consumer(stub: KafkaStub) -> Iterator[Consumer]:
    made = consumer_of(stub)
    made.subscribe(["orders"])
    yield made
    made.close()


def set_aside(stub: KafkaStub) -> int:
    """Bytes, of all requests by now."""
    follower = stub._journal.follower
    stub._journal.call_or_do(follower.catch_up)
    return follower._held


def test_records_that_fetches_return_are_not_set_aside(stub: KafkaStub, consumer: Consumer):
    for _ in range(COUNT):
        stub.produce("orders", "x" * SIZE)
    read(consumer, COUNT)
    consumer.commit(asynchronous=False)
    assert set_aside(stub) < COUNT * SIZE / 4
    verdict = stub.check()
    assert verdict.ok, str(verdict)
    assert verdict.looked_at["records given"] == COUNT


def test_nor_are_those_of_a_fetch_that_has_waited(stub: KafkaStub, consumer: Consumer):
    def waits() -> bool:
        consumer.poll(0.05)
        return any(one.outcome == "pending" for one in stub.journal.requests(api="Fetch"))

    until(waits, "a fetch that waits")
    before = set_aside(stub)
    stub.produce("orders", "x" * SIZE * COUNT)
    read(consumer, 1)
    assert set_aside(stub) - before < COUNT * SIZE / 4
    assert stub.check().looked_at["records given"] == 1
