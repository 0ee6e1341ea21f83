"""aiokafka as a data-plane client."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from tests.clients.adapters.with_aiokafka import LoopThread
from tests.clients.data import BY_DEFAULT, FETCH_WAIT_MS, DataClient, Entry, Found, Reader, Sending

LINGER_MS = 50


class AiokafkaReader(Reader):
    def __init__(self, thread: LoopThread, consumer: AIOKafkaConsumer, topic: str) -> None:
        self._thread = thread
        self._consumer = consumer
        self._topic = topic

    def poll(self, seconds: float = 0.05) -> list[Found]:
        batches = self._thread.run(self._consumer.getmany(timeout_ms=int(seconds * 1000)))
        return [
            Found(one.offset, Entry(one.value, one.key, tuple(one.headers), one.timestamp, one.partition))
            for batch in batches.values()
            for one in batch
        ]

    def seek(self, partition: int, offset: int) -> None:
        self._consumer.seek(self._place(partition), offset)

    def seek_to_beginning(self, partition: int) -> None:
        self._thread.run(self._consumer.seek_to_beginning(self._place(partition)))

    def seek_to_end(self, partition: int) -> None:
        self._thread.run(self._consumer.seek_to_end(self._place(partition)))

    def seek_to_time(self, partition: int, ms: int) -> None:
        place = self._place(partition)
        found = self._thread.run(self._consumer.offsets_for_times({place: ms}))[place]
        assert found is not None
        self._consumer.seek(place, found.offset)

    def pause(self, partition: int) -> None:
        async def pause() -> None:  # it makes a future, and wants to be on the loop for that
            self._consumer.pause(self._place(partition))

        self._thread.run(pause())

    def resume(self, partition: int) -> None:
        async def resume() -> None:
            self._consumer.resume(self._place(partition))

        self._thread.run(resume())

    def close(self) -> None:
        self._thread.run(self._consumer.stop())

    def _place(self, partition: int) -> TopicPartition:
        return TopicPartition(self._topic, partition)


class AiokafkaData(DataClient):
    empty_records = False
    knows_invalid_record = False

    def __init__(self, servers: str) -> None:
        super().__init__()
        self._servers = servers
        self._thread = LoopThread()

    def send(self, topic: str, entries: Sequence[Entry], sending: Sending = BY_DEFAULT) -> list[int]:
        async def send() -> list[int]:
            producer = AIOKafkaProducer(
                bootstrap_servers=self._servers,
                compression_type=None if sending.codec == "none" else sending.codec,
                max_batch_size=max(1, sending.batch_bytes),
                max_request_size=sending.request_bytes,
                enable_idempotence=sending.idempotent,
                linger_ms=LINGER_MS,
            )
            async with producer:
                sent = [
                    await producer.send(
                        topic,
                        one.value,
                        key=one.key,
                        partition=one.partition,
                        timestamp_ms=one.timestamp,
                        headers=list(one.headers),
                    )
                    for one in entries
                ]
                return [placed.offset for placed in await asyncio.gather(*sent)]

        return self._thread.run(send())

    def _opened(self, topic: str, partitions: Sequence[int]) -> Reader:
        async def start() -> AIOKafkaConsumer:
            consumer = AIOKafkaConsumer(
                bootstrap_servers=self._servers, auto_offset_reset="earliest", fetch_max_wait_ms=FETCH_WAIT_MS
            )
            await consumer.start()
            consumer.assign([TopicPartition(topic, index) for index in partitions])
            return consumer

        return AiokafkaReader(self._thread, self._thread.run(start()), topic)

    def close(self) -> None:
        super().close()
        self._thread.close()
