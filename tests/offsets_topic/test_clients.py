"""Client libraries read `__consumer_offsets` from its beginning, compacted or not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from confluent_kafka import OFFSET_BEGINNING, Consumer
from confluent_kafka import TopicPartition as LibrdkafkaPartition
from kafka import KafkaConsumer
from kafka import TopicPartition as KafkaPythonPartition

from kafkastub import KafkaStub
from kafkawire.codec import decode, encode
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_commit_response import OffsetCommitResponse
from kafkawire.messages.offset_commit_value import OffsetCommitValue
from kafkawire.offsets_topic import decode_record
from tests.rawclient import RawClient
from tests.waiting import SECONDS

TOPIC = "__consumer_offsets"
COMMITS = 300
Records = list[tuple[int, bytes | None, bytes | None]]
"""(offset, key, value)."""


def by_aiokafka(servers: str, end: int) -> Records:
    async def read() -> Records:
        consumer = AIOKafkaConsumer(bootstrap_servers=servers, isolation_level="read_committed")
        await consumer.start()
        try:
            partition = TopicPartition(TOPIC, 0)
            consumer.assign([partition])
            await consumer.seek_to_beginning(partition)
            assert await consumer.end_offsets([partition]) == {partition: end}
            found: Records = []
            while not found or found[-1][0] < end - 1:
                record = await asyncio.wait_for(consumer.getone(), SECONDS)
                found.append((record.offset, record.key, record.value))
            return found
        finally:
            await consumer.stop()

    return asyncio.run(read())


def by_librdkafka(servers: str, end: int) -> Records:
    settings = {"bootstrap.servers": servers, "group.id": "reader", "isolation.level": "read_committed"}
    consumer = Consumer({**settings, "enable.auto.commit": False})
    try:
        consumer.assign([LibrdkafkaPartition(TOPIC, 0, OFFSET_BEGINNING)])
        assert consumer.get_watermark_offsets(LibrdkafkaPartition(TOPIC, 0), timeout=SECONDS) == (0, end)
        found: Records = []
        while not found or found[-1][0] < end - 1:
            message = consumer.poll(SECONDS)
            assert message is not None
            assert message.error() is None
            found.append((message.offset() or 0, message.key(), message.value()))  # type: ignore[arg-type]
        return found
    finally:
        consumer.close()


def by_kafka_python(servers: str, end: int) -> Records:
    patience_ms = int(SECONDS * 1000)
    consumer = KafkaConsumer(
        bootstrap_servers=servers, isolation_level="read_committed", consumer_timeout_ms=patience_ms
    )
    try:
        partition = KafkaPythonPartition(TOPIC, 0)
        consumer.assign([partition])
        consumer.seek_to_beginning(partition)
        found: Records = []
        for record in consumer:
            found.append((record.offset, record.key, record.value))
            if record.offset >= end - 1:
                break
        return found
    finally:
        consumer.close()


def committed(servers: str) -> None:
    """Offsets of up to ten partitions, many times."""
    with RawClient(servers) as client:
        for number in range(COMMITS):
            partitions = [OffsetCommitRequestPartition(p, number, -1, "") for p in range(number % 9, 10)]
            request = OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("orders", partitions=partitions)])
            answer = decode(OffsetCommitResponse, 8, client.exchange(8, 8, encode(request, 8)))
            assert {p.error_code for p in answer.topics[0].partitions} == {0}


@pytest.mark.parametrize("history", [20, 100_000], ids=["compacted", "whole"])
@pytest.mark.parametrize("read", [by_aiokafka, by_librdkafka, by_kafka_python])
def test_a_client_reads_the_last_offset_of_each_partition(read: Callable[[str, int], Records], history: int) -> None:
    config = {"offsets.topic.num.partitions": 1, "kafkastub.offsets.history.records": history}
    with KafkaStub(topics={"orders": 10}, config=config) as stub:
        committed(stub.bootstrap_servers)
        end = sum(10 - number % 9 for number in range(COMMITS))
        found = read(stub.bootstrap_servers, end)
    assert [at for at, _, _ in found] == sorted({at for at, _, _ in found})
    assert len(found) == end if history > COMMITS * 10 else len(found) < 100
    last: dict[str, int] = {}
    for _, key, value in found:
        record = decode_record(key, value)
        assert isinstance(record.value, OffsetCommitValue)
        last[repr(record.key)] = record.value.offset
    wanted = {p: max(n for n in range(COMMITS) if p >= n % 9) for p in range(10)}
    assert last == {f"OffsetCommitKey(group='g', topic='orders', partition={p})": o for p, o in wanted.items()}
