"""aiokafka plays the scenario."""

from __future__ import annotations

import asyncio

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from telling import BATCH, BOOTSTRAP, GROUP, MIDDLE, PARTITIONS, SECONDS, TOPIC, Row, shared, tell, value


async def produce(first: int) -> dict[int, list[int]]:
    """A batch to each partition, from this number on; gives the offsets."""
    async with AIOKafkaProducer(bootstrap_servers=BOOTSTRAP, acks="all") as producer:
        offsets = {}
        for partition in PARTITIONS:
            numbers = range(first, first + BATCH)
            sent = [await producer.send(TOPIC, value(partition, number), partition=partition) for number in numbers]
            offsets[partition] = [placed.offset for placed in await asyncio.gather(*sent)]
        return offsets


async def member() -> AIOKafkaConsumer:
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


async def poll(consumer: AIOKafkaConsumer) -> list[Row]:
    batches = (await consumer.getmany(timeout_ms=100)).values()
    return [(one.partition, one.offset, one.value.decode()) for batch in batches for one in batch]


async def read(consumers: list[AIOKafkaConsumer], count: int) -> list[list[Row]]:
    """Poll all until they have so many records together."""
    found: list[list[Row]] = [[] for _ in consumers]
    async with asyncio.timeout(SECONDS):
        while sum(map(len, found)) < count:
            for rows, polled in zip(found, await asyncio.gather(*map(poll, consumers)), strict=True):
                rows += polled
    return found


def assigned(consumer: AIOKafkaConsumer) -> list[int]:
    return sorted(place.partition for place in consumer.assignment())


async def settled(consumers: list[AIOKafkaConsumer]) -> list[list[int]]:
    """Poll all until each has partitions and together they have all."""
    async with asyncio.timeout(SECONDS):
        while True:
            parts = [assigned(consumer) for consumer in consumers]
            if shared(parts):
                return parts
            if any(await asyncio.gather(*map(poll, consumers))):
                raise RuntimeError("a record was delivered again")


async def told(step: str, **seen: object) -> None:
    """In a thread: the members have to send their heartbeats meanwhile."""
    await asyncio.to_thread(tell, step, **seen)


async def main() -> None:
    await told("produce", offsets=await produce(0))

    first = await member()
    (records,) = await read([first], BATCH * len(PARTITIONS))
    await first.commit()
    await told("consume", records=records)

    members = [first, await member()]
    await told("rebalance", members=await settled(members))
    await produce(BATCH)
    await told("share", records=await read(members, BATCH * len(PARTITIONS)))
    for one in members:
        await one.commit({TopicPartition(TOPIC, index): MIDDLE for index in assigned(one)})
    await told("commit", committed=dict.fromkeys(PARTITIONS, MIDDLE))
    for one in members:
        await one.stop()
    await told("leave")

    again = await member()
    (records,) = await read([again], (2 * BATCH - MIDDLE) * len(PARTITIONS))
    await again.commit()
    await again.stop()
    await told("resume", records=records)

    await told("delete_offsets", cannot="its admin client has no call for it")
    await told("delete_group", cannot="its admin client has no call for it")


asyncio.run(main())
