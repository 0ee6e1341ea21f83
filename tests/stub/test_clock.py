"""The clock that a test can move, against real clients."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from kafkastub import KafkaStub

FAST = {"group.initial.rebalance.delay.ms": 0}
WEEK = timedelta(days=7)
ORDERS = TopicPartition("orders", 0)


async def in_thread(work, *args, **kwargs):
    return await asyncio.get_running_loop().run_in_executor(None, lambda: work(*args, **kwargs))


async def committed(stub: KafkaStub, group: str) -> int | None:
    """What a new consumer of the group would start from; it does not join."""
    consumer = AIOKafkaConsumer(bootstrap_servers=stub.bootstrap_servers, group_id=group, enable_auto_commit=False)
    await consumer.start()
    try:
        consumer.assign([ORDERS])
        return await consumer.committed(ORDERS)
    finally:
        await consumer.stop()


async def assigned(consumer: AIOKafkaConsumer) -> None:
    async with asyncio.timeout(60):
        while not consumer.assignment():
            await consumer.getmany(timeout_ms=10)


async def test_a_live_group_keeps_its_offsets_and_a_closed_one_loses_them_at_seven_days_sharp():
    async with KafkaStub(topics={"orders": 1}, config=FAST) as stub:
        stub.clock.freeze()
        consumer = AIOKafkaConsumer(
            "orders", bootstrap_servers=stub.bootstrap_servers, group_id="g", enable_auto_commit=False
        )
        await consumer.start()
        await assigned(consumer)
        await consumer.commit({ORDERS: 42})
        await in_thread(stub.clock.advance, days=8)
        assert await consumer.committed(ORDERS) == 42
        await consumer.stop()
        await in_thread(stub.clock.advance, WEEK - timedelta(milliseconds=1))
        assert await committed(stub, "g") == 42
        await in_thread(stub.clock.advance, milliseconds=1)
        assert await committed(stub, "g") is None


async def test_infinite_retention_keeps_them_for_ever():
    async with KafkaStub(topics={"orders": 1}, config=FAST | {"offsets.retention.minutes": -1}) as stub:
        consumer = AIOKafkaConsumer(bootstrap_servers=stub.bootstrap_servers, group_id="g", enable_auto_commit=False)
        await consumer.start()
        consumer.assign([ORDERS])
        await consumer.commit({ORDERS: 42})
        await consumer.stop()
        await in_thread(stub.clock.advance, days=365_000)
        assert await committed(stub, "g") == 42


def test_a_frozen_clock_stands_still_and_advances_when_told():
    with KafkaStub() as stub:
        stub.clock.freeze()
        before = stub.clock.now_ms()
        stub.clock.advance(seconds=1.5)
        assert stub.clock.now_ms() == before + 1500
        stub.clock.unfreeze()
        assert before + 1500 <= stub.clock.now_ms() < before + 60_000


def test_a_blank_stub_can_be_set_to_any_time():
    with KafkaStub() as stub:
        stub.clock.freeze()
        moment = datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)
        stub.clock.set(moment)
        assert stub.clock.now() == moment
        assert stub.clock.now_ms() == 1_000_000_000_000


async def test_a_stub_with_groups_does_not_go_back():
    async with KafkaStub(topics={"orders": 1}, config=FAST) as stub:
        consumer = AIOKafkaConsumer(bootstrap_servers=stub.bootstrap_servers, group_id="g", enable_auto_commit=False)
        await consumer.start()
        consumer.assign([ORDERS])
        await consumer.commit({ORDERS: 1})
        await consumer.stop()
        with pytest.raises(ValueError, match="cannot go back"):
            await in_thread(stub.clock.set, datetime(2001, 1, 1, tzinfo=UTC))
        with pytest.raises(ValueError, match="only moves forward"):
            stub.clock.advance(days=-1)


async def test_advancing_leaves_sessions_alone_unless_timers_are_asked_for():
    async with KafkaStub(topics={"orders": 1}, config=FAST) as stub:
        # Its next heartbeat is far away: it does not come back while we look.
        consumer = AIOKafkaConsumer(
            "orders",
            bootstrap_servers=stub.bootstrap_servers,
            group_id="g",
            session_timeout_ms=120_000,
            heartbeat_interval_ms=100_000,
        )
        await consumer.start()
        await assigned(consumer)

        def members() -> int:
            groups = stub._running().state.coordinator.groups
            return stub._call(lambda: len(groups["g"].members) if "g" in groups else 0)

        await in_thread(stub.clock.advance, days=1)
        assert await in_thread(members) == 1
        assert await in_thread(lambda: (stub.clock.advance(minutes=5, timers=True), members())[1]) == 0
        await consumer.stop()
