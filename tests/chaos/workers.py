"""Workers that confirm orders, each of which has to be confirmed: a correct one, and some with a bug.

All of them pass where nothing goes wrong. A worker that raises is started again, as a supervisor does.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka.errors import KafkaError
from aiokafka.structs import ConsumerRecord, TopicPartition

QUICK: dict[str, Any] = {"retry_backoff_ms": 10, "request_timeout_ms": 2000, "metadata_max_age_ms": 500}
PATIENCE = 0.03
"""Seconds in which a confirmation has to be acknowledged, else the worker fails."""

Worker = Callable[[AIOKafkaConsumer, AIOKafkaProducer], Awaitable[None]]


@contextmanager
def working(worker: str, servers: str) -> Iterator[None]:
    """Let the worker of that name work in a thread of its own, until the end of the context."""
    over = threading.Event()

    async def work() -> None:
        task = asyncio.create_task(supervised(WORKERS[worker], servers))
        await asyncio.to_thread(over.wait)
        while not task.done():  # wait_for may keep a cancellation to itself (Python 3.11)
            task.cancel()
            await asyncio.wait([task], timeout=1)

    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


async def supervised(worker: Worker, servers: str) -> None:
    """Let it work on and on."""
    this = asyncio.current_task()
    assert this is not None
    while True:
        reading = AIOKafkaConsumer(
            bootstrap_servers=servers, group_id="confirming", auto_offset_reset="earliest",
            enable_auto_commit=False, heartbeat_interval_ms=20, session_timeout_ms=6000, max_poll_records=10,
            **QUICK,
        )  # fmt: skip
        try:
            with suppress(Exception):
                async with reading, AIOKafkaProducer(bootstrap_servers=servers, **QUICK) as writing:
                    await worker(reading, writing)
        except asyncio.CancelledError:
            # Of a fetch, maybe: where one is about to be tried again, stop() of aiokafka 0.14 ends with it too early.
            await reading._client.close()
            if this.cancelling():
                raise
        await asyncio.sleep(0.01)


async def confirm(writing: AIOKafkaProducer, record: ConsumerRecord) -> None:
    await asyncio.wait_for(writing.send_and_wait("confirmed", record.value), PATIENCE)


async def correct(reading: AIOKafkaConsumer, writing: AIOKafkaProducer) -> None:
    """Commits what it has confirmed; whatever fails, it begins anew with what is committed."""
    reading.subscribe(["orders"])
    while True:
        for partition, records in (await reading.getmany(timeout_ms=20)).items():
            for record in records:
                await confirm(writing, record)
            await reading.commit({partition: records[-1].offset + 1})


async def commits_first(reading: AIOKafkaConsumer, writing: AIOKafkaProducer) -> None:
    """Bug: what is committed and not yet confirmed is lost when it fails."""
    reading.subscribe(["orders"])
    while True:
        for partition, records in (await reading.getmany(timeout_ms=20)).items():
            await reading.commit({partition: records[-1].offset + 1})
            for record in records:
                await confirm(writing, record)


class _Book(ConsumerRebalanceListener):
    """Bug: goes on where it was in its own book, which is ahead of what was confirmed."""

    def __init__(self, reading: AIOKafkaConsumer) -> None:
        self._reading = reading
        self.at: dict[TopicPartition, int] = {}
        self.rebalances = 0

    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        self.rebalances += 1

    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        for partition in assigned & self.at.keys():
            self._reading.seek(partition, self.at[partition])


async def forgets_to_rewind(reading: AIOKafkaConsumer, writing: AIOKafkaProducer) -> None:
    """Bug: records that it had taken, and left alone in a rebalance, are not taken again."""
    book = _Book(reading)
    reading.subscribe(["orders"], listener=book)
    while True:
        for partition, records in (await reading.getmany(timeout_ms=20, max_records=60)).items():
            book.at[partition] = records[-1].offset + 1
            before = book.rebalances
            for record in records:
                if book.rebalances != before:
                    break  # it may be somebody else's by now
                await writing.send_and_wait("confirmed", record.value)  # the client tries again, and takes its time
            else:
                with suppress(KafkaError):
                    await reading.commit({partition: records[-1].offset + 1})


async def leaves_out(reading: AIOKafkaConsumer, writing: AIOKafkaProducer) -> None:
    """Bug: when a confirmation is not acknowledged in time, those behind it are left out."""
    reading.subscribe(["orders"])
    while True:
        for partition, records in (await reading.getmany(timeout_ms=20)).items():
            with suppress(TimeoutError, KafkaError):
                for record in records:
                    await confirm(writing, record)
            await reading.commit({partition: records[-1].offset + 1})


WORKERS = {worker.__name__: worker for worker in (correct, commits_first, forgets_to_rewind, leaves_out)}
