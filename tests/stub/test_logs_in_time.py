"""Records that age on the broker's clock, under real clients."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import OffsetOutOfRangeError

from kafkastub import KafkaStub

WEEK = timedelta(days=7)
ORDERS = TopicPartition("orders", 0)


async def in_thread(work, *args, **kwargs):
    return await asyncio.get_running_loop().run_in_executor(None, lambda: work(*args, **kwargs))


async def send(stub: KafkaStub, *entries: tuple[str | None, str | None]) -> None:
    """One batch."""
    producer = AIOKafkaProducer(bootstrap_servers=stub.bootstrap_servers, linger_ms=50)
    await producer.start()
    try:
        sent = [
            await producer.send("orders", key=key and key.encode(), value=value and value.encode(), partition=0)
            for key, value in entries
        ]
        await asyncio.gather(*sent)
    finally:
        await producer.stop()


def consumer(stub: KafkaStub, **options: object) -> AIOKafkaConsumer:
    settings = {"group_id": None, "auto_offset_reset": "earliest", "fetch_max_wait_ms": 50} | options
    return AIOKafkaConsumer(bootstrap_servers=stub.bootstrap_servers, **settings)


async def values(stub: KafkaStub) -> list[tuple[int, bytes | None]]:
    """Offset and value of everything that there is to read."""
    reader = consumer(stub)
    await reader.start()
    try:
        reader.assign([ORDERS])
        await reader.seek_to_beginning()
        end = (await reader.end_offsets([ORDERS]))[ORDERS]
        found = []
        async with asyncio.timeout(60):
            while await reader.position(ORDERS) < end:
                for records in (await reader.getmany(timeout_ms=100)).values():
                    found += [(record.offset, record.value) for record in records]
        return found
    finally:
        await reader.stop()


def topic(stub: KafkaStub, configs: Mapping[str, object]) -> None:
    stub.create_topic("orders", 1, {name: str(value) for name, value in configs.items()})


async def test_a_consumer_loses_its_log_and_is_reset():
    async with KafkaStub() as stub:
        await in_thread(topic, stub, {"retention.ms": WEEK // timedelta(milliseconds=1)})
        await in_thread(stub.clock.freeze)
        await send(stub, (None, "old"), (None, "older still"))
        reader = consumer(stub)
        await reader.start()
        reader.assign([ORDERS])
        reader.seek(ORDERS, 0)
        async with asyncio.timeout(60):
            assert (await reader.getone()).value == b"old"
        await in_thread(stub.clock.advance, days=8)
        reader.seek(ORDERS, 1)
        await send(stub, (None, "new"))
        async with asyncio.timeout(60):
            record = await reader.getone()
        assert (record.offset, record.value) == (2, b"new")
        assert await reader.beginning_offsets([ORDERS]) == {ORDERS: 2}
        await reader.stop()


async def test_without_a_reset_policy_it_is_told():
    async with KafkaStub() as stub:
        await in_thread(topic, stub, {"retention.ms": 1000})
        await send(stub, (None, "old"))
        reader = consumer(stub, auto_offset_reset="none")
        await reader.start()
        await in_thread(stub.clock.advance, seconds=2)
        reader.assign([ORDERS])  # not before: an assigned consumer fetches ahead
        reader.seek(ORDERS, 0)
        with pytest.raises(OffsetOutOfRangeError):
            async with asyncio.timeout(60):
                await reader.getone()
        await reader.stop()


async def test_retention_is_sharp_to_the_millisecond():
    async with KafkaStub() as stub:
        await in_thread(topic, stub, {"retention.ms": WEEK // timedelta(milliseconds=1)})
        await in_thread(stub.clock.freeze)
        await send(stub, (None, "first"))
        await in_thread(stub.clock.advance, days=3)
        await send(stub, (None, "second"))
        await in_thread(stub.clock.advance, days=4)
        assert await values(stub) == [(0, b"first"), (1, b"second")]
        await in_thread(stub.clock.advance, milliseconds=1)
        assert await values(stub) == [(1, b"second")]


async def test_records_are_kept_for_ever_unless_told_otherwise():
    async with KafkaStub(topics={"orders": 1}) as stub:
        await send(stub, (None, "old"))
        await in_thread(stub.clock.advance, days=365_000)
        assert await values(stub) == [(0, b"old")]


async def test_the_brokers_retention_is_the_topics_unless_it_has_its_own():
    async with KafkaStub(topics={"orders": 1}, config={"log.retention.hours": 1}) as stub:
        await send(stub, (None, "old"))
        await in_thread(stub.clock.advance, hours=2)
        assert await values(stub) == []


async def test_a_log_is_kept_small():
    async with KafkaStub() as stub:
        await in_thread(topic, stub, {"retention.bytes": 100})
        for number in range(5):
            await send(stub, (None, f"number {number}" * 5))
        await in_thread(stub.clock.advance)
        assert await values(stub) == [(4, b"number 4" * 5)]


async def test_a_compacted_topic_is_compacted():
    async with KafkaStub() as stub:
        settings = {"cleanup.policy": "compact", "delete.retention.ms": 86_400_000, "min.compaction.lag.ms": 60_000}
        await in_thread(topic, stub, settings)
        await in_thread(stub.clock.freeze)
        await send(stub, ("a", "1"), ("b", "1"), ("a", "2"), ("b", None))
        await send(stub, ("c", "1"))
        await in_thread(stub.clock.advance, seconds=59)
        assert len(await values(stub)) == 5
        await in_thread(stub.clock.advance, seconds=1)
        assert await values(stub) == [(2, b"2"), (3, None), (4, b"1")]
        await in_thread(stub.clock.advance, days=1)
        assert await values(stub) == [(2, b"2"), (3, None), (4, b"1")]
        await in_thread(stub.clock.advance, milliseconds=1)
        assert await values(stub) == [(2, b"2"), (4, b"1")]
