"""A history that begins in the middle: what was given before it is not called skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub.client.topics import names
from tests.guarantees.reader import consumer_of, read
from tests.waiting import SECONDS

ENTRIES = 40


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1}, journal_entries=ENTRIES) as running:
        yield running


@pytest.fixture
def consumer(stub: KafkaStub) -> Iterator[Consumer]:
    # No heartbeat comes, which would name the group again.
    made = consumer_of(stub, session_timeout_ms=300_000, heartbeat_interval_ms=100_000)
    yield made
    made.close()


def push_out(stub: KafkaStub) -> None:
    with Client(stub.bootstrap_servers) as client:
        for _ in range(ENTRIES):
            names(client)


def commit(consumer: Consumer, offset: int) -> None:
    consumer.commit(offsets=[TopicPartition("orders", 0, offset)], asynchronous=False)


def test_what_was_given_before_is_not_skipped(stub: KafkaStub, consumer: Consumer):
    for number in range(10):
        stub.produce("orders", f"order {number}")
    consumer.subscribe(["orders"])
    read(consumer, 10)
    push_out(stub)
    commit(consumer, 3)
    commit(consumer, 7)
    verdict = stub.check()
    assert verdict.ok, str(verdict)
    assert "entries of the journal were gone before the check began" in verdict.undecided[0]


def test_what_is_written_since_is_skipped(stub: KafkaStub, consumer: Consumer):
    for number in range(10):
        stub.produce("orders", f"order {number}")
    consumer.assign([TopicPartition("orders", 0, 0)])
    read(consumer, 10)
    push_out(stub)
    consumer.assign([TopicPartition("orders", 0, 8)])
    read(consumer, 2)  # the log's end is known now
    consumer.unassign()
    commit(consumer, 7)
    for number in range(5):
        stub.produce("orders", f"late {number}")
    commit(consumer, 14)
    (finding,) = stub.check().findings
    assert finding.guarantee == "skipped"
    # a fetch that waited may have been given the first of them
    assert finding.offsets in (((10, 14),), ((11, 14),))


def test_what_a_client_of_no_known_group_was_given_may_have_been_the_groups(stub: KafkaStub, consumer: Consumer):
    """A transaction takes in the offsets: nothing that is left names the group of the consumer."""
    consumer.subscribe(["orders"])
    stub.produce("orders", "order 0")
    read(consumer, 1)
    servers = stub.bootstrap_servers
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "writer", "client.id": "writer"})
    producer.init_transactions(SECONDS)
    push_out(stub)
    for number in range(2):
        for one in range(5):
            stub.produce("orders", f"order {number} {one}")
        producer.begin_transaction()
        read(consumer, 5)
        end = TopicPartition("orders", 0, 6 + 5 * number)
        producer.send_offsets_to_transaction([end], consumer.consumer_group_metadata(), SECONDS)
        producer.commit_transaction(SECONDS)
    verdict = stub.check()
    assert verdict.ok, str(verdict)
    assert any("a client whose group is not known was given records of them" in one for one in verdict.undecided)
