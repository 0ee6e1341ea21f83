"""aiokafka plays the scenario."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from telling import BATCH, BOOTSTRAP, GROUP, PARTITIONS, SECONDS, TOPIC, Row, play, value

T = TypeVar("T")
NO_CALL = "its admin client has no call for it"


async def produce(first: int) -> dict[int, list[int]]:
    async with AIOKafkaProducer(bootstrap_servers=BOOTSTRAP, acks="all") as producer:
        offsets = {}
        for partition in PARTITIONS:
            numbers = range(first, first + BATCH)
            sent = [await producer.send(TOPIC, value(partition, number), partition=partition) for number in numbers]
            offsets[partition] = [placed.offset for placed in await asyncio.gather(*sent)]
        return offsets


async def started() -> AIOKafkaConsumer:
    consumer = AIOKafkaConsumer(
        TOPIC,
        bootstrap_servers=BOOTSTRAP,
        group_id=GROUP,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        heartbeat_interval_ms=200,
        session_timeout_ms=45_000,
        fetch_max_wait_ms=100,
    )
    await consumer.start()
    return consumer


async def main() -> None:
    """The scenario waits in a thread: the members have to send their heartbeats meanwhile."""
    loop = asyncio.get_running_loop()

    def run(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, loop).result(SECONDS)

    class Member:
        def __init__(self) -> None:
            self._consumer = run(started())

        def poll(self) -> list[Row]:
            batches = run(self._consumer.getmany(timeout_ms=100)).values()
            return [(one.partition, one.offset, one.value.decode()) for batch in batches for one in batch]

        def partitions(self) -> list[int]:
            return sorted(place.partition for place in self._consumer.assignment())

        def commit_read(self) -> None:
            run(self._consumer.commit())

        def commit(self, offset: int) -> None:
            run(self._consumer.commit({TopicPartition(TOPIC, index): offset for index in self.partitions()}))

        def leave(self) -> None:
            run(self._consumer.stop())

    await asyncio.to_thread(play, lambda first: run(produce(first)), Member, NO_CALL, NO_CALL)


asyncio.run(main())
