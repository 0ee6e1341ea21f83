"""What a check sets aside while the broker serves: requests and answers, without the records that fetches return."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Final

import pytest
from confluent_kafka import Consumer, Producer

from kafkastub import KafkaStub
from kafkastub.handlers.context import ConnectionInfo
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages.metadata_request import MetadataRequest
from tests.conftest import CONFIG
from tests.guarantees.reader import consumer_of, read
from tests.rawclient import RawClient
from tests.waiting import until

SIZE: Final = 20_000
"""Bytes of a record."""
COUNT: Final = 40


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1}, check=True, config=CONFIG) as running:
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


def infos() -> int:
    return sum(type(one) is ConnectionInfo for one in gc.get_objects())


def connects(stub: KafkaStub, times: int) -> None:
    """So many connections that come, ask and go."""
    asked = encode(MetadataRequest(topics=None), 1)
    for _ in range(times):
        client = RawClient(stub.bootstrap_servers)
        client.exchange(ApiKey.METADATA, 1, asked)
        client.close()


def begun(stub: KafkaStub) -> Producer:
    """A producer with an open transaction."""
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "transactional.id": "shop", "log_level": 0})
    producer.init_transactions(10)
    producer.begin_transaction()
    producer.produce("orders", "one")
    producer.flush(10)
    return producer


def test_little_is_kept_of_connections_that_have_gone():
    with KafkaStub(topics={"orders": 1}, check=True, journal_entries=10) as stub:
        before = infos()
        connects(stub, 500)
        assert stub.check().ok
        assert infos() - before < 250


def test_whose_connection_has_gone_long_ago_is_known():
    with KafkaStub(topics={"orders": 1}, check=True, journal_entries=10) as stub:
        begun(stub)
        connects(stub, 500)
        until(lambda: stub.check().of("transaction_left_open"), "the finding")


@pytest.mark.parametrize("before", [10, 500])
def test_a_connection_is_not_one_of_the_same_number_before_a_restart(before: int):
    stub = KafkaStub(topics={"orders": 1}, check=True)
    with stub:
        connects(stub, before)
        assert stub.check().ok
    with stub:
        producer = begun(stub)
        assert not stub.check().of("transaction_left_open")
        producer.abort_transaction(10)
