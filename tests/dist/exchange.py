"""Run where the wheel is installed: `exchange.py HOST:PORT` writes a record and reads it again with aiokafka."""

from __future__ import annotations

import asyncio
import sys
from importlib.metadata import version

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

import kafkastub


async def exchange(servers: str) -> bytes:
    async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
        await producer.send_and_wait("orders", b"one order")
    consumer = AIOKafkaConsumer("orders", bootstrap_servers=servers, group_id="g", auto_offset_reset="earliest")
    async with consumer:
        message = await consumer.getone()
        await consumer.commit()
    return message.value


if __name__ == "__main__":
    assert "site-packages" in kafkastub.__file__, kafkastub.__file__
    assert version("kafkastub") == kafkastub.__version__
    print(asyncio.run(asyncio.wait_for(exchange(sys.argv[1]), 60)).decode())
