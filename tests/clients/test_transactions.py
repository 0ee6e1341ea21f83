"""Transactions by the clients that people have: the committed is read, the aborted is not, zombies are fenced."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.errors import ProducerFenced
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka import TopicPartition as Partition
from kafka import KafkaProducer
from kafka.errors import InvalidProducerEpochError, ProducerFencedError

from kafkastub import KafkaStub
from tests.waiting import SECONDS


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"in": 1, "out": 2}) as started:
        yield started


def read(stub: KafkaStub, isolation: str = "read_committed") -> list[bytes]:
    """Every record of "out", sorted."""
    consumer = Consumer(
        {
            "bootstrap.servers": stub.bootstrap_servers,
            "group.id": "reader",
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    consumer.assign([Partition("out", index, 0) for index in range(2)])
    found: list[bytes] = []
    ends = 0
    while ends < 2:
        message = consumer.poll(SECONDS)
        assert message is not None
        if message.error():
            ends += 1
        else:
            found.append(message.value())
    consumer.close()
    return sorted(found)


def committed(stub: KafkaStub) -> int:
    """The offset of the group "team" in the first partition of "in"."""
    consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "team"})
    (place,) = consumer.committed([Partition("in", 0)], SECONDS)
    consumer.close()
    return int(place.offset)


def confluent(stub: KafkaStub, transactional_id: str = "tx") -> Producer:
    settings = {"bootstrap.servers": stub.bootstrap_servers, "transactional.id": transactional_id, "log_level": 0}
    producer = Producer(settings)
    producer.init_transactions(SECONDS)
    return producer


def test_confluents_producer(stub: KafkaStub) -> None:
    producer = confluent(stub)
    for number, commits in enumerate((True, False, True)):
        producer.begin_transaction()
        for partition in range(2):
            producer.produce("out", f"{number}-{partition}", partition=partition)
        producer.flush(SECONDS)
        if commits:
            producer.commit_transaction(SECONDS)
        else:
            producer.abort_transaction(SECONDS)
    assert read(stub) == [b"0-0", b"0-1", b"2-0", b"2-1"]
    assert len(read(stub, "read_uncommitted")) == 6


def test_confluents_offsets_are_committed_with_the_records(stub: KafkaStub) -> None:
    settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "team"}
    consumer = Consumer({**settings, "isolation.level": "read_committed"})
    producer = confluent(stub)
    place = Partition("in", 0)
    for offset, commits in ((5, True), (9, False)):
        producer.begin_transaction()
        producer.produce("out", str(offset))
        place.offset = offset
        producer.send_offsets_to_transaction([place], consumer.consumer_group_metadata(), SECONDS)
        if commits:
            producer.commit_transaction(SECONDS)
        else:
            producer.abort_transaction(SECONDS)
    consumer.close()
    assert committed(stub) == 5
    assert read(stub) == [b"5"]


def test_confluents_zombie_is_fenced(stub: KafkaStub) -> None:
    zombie = confluent(stub)
    zombie.begin_transaction()
    zombie.produce("out", "lost")
    zombie.flush(SECONDS)
    heir = confluent(stub)
    heir.begin_transaction()
    heir.produce("out", "kept")
    heir.commit_transaction(SECONDS)
    with pytest.raises(KafkaException) as raised:
        zombie.commit_transaction(SECONDS)
    assert raised.value.args[0].fatal()
    assert read(stub) == [b"kept"]


async def test_aiokafkas_producer(stub: KafkaStub) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=stub.bootstrap_servers, transactional_id="tx")
    await producer.start()
    try:
        async with producer.transaction():
            await producer.send_and_wait("out", b"kept")
            await producer.send_offsets_to_transaction({TopicPartition("in", 0): 5}, "team")
        await producer.begin_transaction()
        await producer.send_and_wait("out", b"lost")
        await producer.send_offsets_to_transaction({TopicPartition("in", 0): 9}, "team")
        await producer.abort_transaction()
    finally:
        await producer.stop()
    assert read(stub) == [b"kept"]
    assert committed(stub) == 5


async def test_aiokafkas_zombie_is_fenced(stub: KafkaStub) -> None:
    producers = [AIOKafkaProducer(bootstrap_servers=stub.bootstrap_servers, transactional_id="tx") for _ in range(2)]
    await producers[0].start()
    await producers[0].begin_transaction()
    await producers[0].send_and_wait("out", b"lost")
    await producers[1].start()
    try:
        async with producers[1].transaction():
            await producers[1].send_and_wait("out", b"kept")
        with pytest.raises(ProducerFenced):
            await producers[0].commit_transaction()
    finally:
        for producer in producers:
            await producer.stop()
    assert read(stub) == [b"kept"]


def test_kafka_pythons_producer(stub: KafkaStub) -> None:
    producer = KafkaProducer(bootstrap_servers=stub.bootstrap_servers, transactional_id="tx")
    producer.init_transactions()
    producer.begin_transaction()
    producer.send("out", b"kept").get(SECONDS)
    producer.commit_transaction()
    producer.begin_transaction()
    producer.send("out", b"lost").get(SECONDS)
    producer.abort_transaction()
    producer.close(timeout=1)
    assert read(stub) == [b"kept"]


def test_kafka_pythons_zombie_is_fenced(stub: KafkaStub) -> None:
    producers = [KafkaProducer(bootstrap_servers=stub.bootstrap_servers, transactional_id="tx") for _ in range(2)]
    producers[0].init_transactions()
    producers[0].begin_transaction()
    producers[0].send("out", b"lost").get(SECONDS)
    producers[1].init_transactions()
    with pytest.raises((ProducerFencedError, InvalidProducerEpochError)):
        producers[0].send("out", b"lost too").get(SECONDS)
    for producer in producers:
        producer.close(timeout=1)
    assert read(stub) == []
