"""aiokafka, on an event loop in a thread of its own: its consumers keep up their membership between two calls."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import KafkaError
from aiokafka.protocol.group import MemberAssignment

from kafkawire.errors import ErrorCode
from tests.clients.client import (
    BY_DEFAULT,
    DEADLINE_SECONDS,
    HEARTBEAT_MS,
    SESSION_MS,
    Client,
    Group,
    Member,
    MemberOptions,
    Message,
    Place,
    Record,
    Refused,
)

T = TypeVar("T")


class LoopThread:
    """An event loop in a thread; `run` gives a coroutine's result to the caller's thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="aiokafka")
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result(2 * DEADLINE_SECONDS)
        except KafkaError as error:
            number = getattr(error, "errno", 0)  # those of the client itself may have none
            if not number:
                raise
            raise Refused(ErrorCode(number).name) from error

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class AiokafkaMember(Member):
    def __init__(self, thread: LoopThread, consumer: AIOKafkaConsumer, started: asyncio.Task[None]) -> None:
        self._thread = thread
        self._consumer = consumer
        self._started = started
        self._polling: asyncio.Task[list[Record]] | None = None
        """What takes longer than a poll may: a rebalance, for which other members may have to be polled meanwhile."""

    def poll(self, seconds: float = 0.05) -> list[Record]:
        async def poll() -> list[Record]:
            if self._polling is None:
                self._polling = asyncio.create_task(self._records(seconds))
            await asyncio.wait([self._polling], timeout=seconds)
            if not self._polling.done():
                return []
            polled, self._polling = self._polling, None
            return polled.result()

        return self._thread.run(poll())

    def assignment(self) -> set[Place]:
        return {(place.topic, place.partition) for place in self._consumer.assignment()}

    def commit(self) -> None:
        self._thread.run(self._consumer.commit())

    def seek_to_time(self, ms: int) -> None:
        async def seek() -> None:
            wanted = dict.fromkeys(self._consumer.assignment(), ms)
            for place, found in (await self._consumer.offsets_for_times(wanted)).items():
                if found is None:
                    await self._consumer.seek_to_end(place)
                else:
                    self._consumer.seek(place, found.offset)

        self._thread.run(seek())

    def _leave(self) -> None:
        self._thread.run(self._stop())

    async def _records(self, seconds: float) -> list[Record]:
        await self._started
        batches = await self._consumer.getmany(timeout_ms=int(seconds * 1000))
        return [_record(record) for batch in batches.values() for record in batch]

    async def _stop(self) -> None:
        for task in (self._polling, self._started):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        await self._consumer.stop()


class AiokafkaClient(Client):
    def __init__(self, servers: str) -> None:
        super().__init__()
        self._servers = servers
        self._thread = LoopThread()
        self._admin: AIOKafkaAdminClient | None = None

    def produce(self, topic: str, messages: Iterable[Message], codec: str = "none") -> list[tuple[int, int]]:
        async def send() -> list[tuple[int, int]]:
            compression = None if codec == "none" else codec
            producer = AIOKafkaProducer(
                bootstrap_servers=self._servers, compression_type=compression, enable_idempotence=True, linger_ms=5
            )
            async with producer:
                sent = [
                    await producer.send(
                        topic,
                        message.value.encode(),
                        key=None if message.key is None else message.key.encode(),
                        partition=message.partition,
                        timestamp_ms=message.timestamp,
                    )
                    for message in messages
                ]
                return [(placed.partition, placed.offset) for placed in await asyncio.gather(*sent)]

        return self._thread.run(send())

    def member(self, group: str, topics: list[str], options: MemberOptions = BY_DEFAULT) -> Member:
        if options.assignor != "range":
            raise NotImplementedError

        async def start() -> Member:
            consumer = AIOKafkaConsumer(
                *topics,
                bootstrap_servers=self._servers,
                group_id=group,
                client_id=options.client_id,
                group_instance_id=options.instance,
                enable_auto_commit=options.auto_commit,
                auto_offset_reset="earliest",
                partition_assignment_strategy=[RangePartitionAssignor],
                heartbeat_interval_ms=HEARTBEAT_MS,
                session_timeout_ms=SESSION_MS,
                fetch_max_wait_ms=options.fetch_wait_ms,
            )
            return AiokafkaMember(self._thread, consumer, asyncio.create_task(consumer.start()))

        member = self._thread.run(start())
        self.members.append(member)
        return member

    def create_topic(self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        new = NewTopic(topic, partitions, 1, topic_configs=dict(configs or {}))
        response = self._ask("create_topics", [new])
        _check(code for _, code, *_ in response.topic_errors)

    def delete_topic(self, topic: str) -> None:
        _check(code for _, code in self._ask("delete_topics", [topic]).topic_error_codes)

    def topics(self) -> dict[str, int]:
        return {topic["topic"]: len(topic["partitions"]) for topic in self._ask("describe_topics")}

    def topic_config(self, topic: str) -> dict[str, str | None]:
        [response] = self._ask("describe_configs", [ConfigResource(ConfigResourceType.TOPIC, topic)])
        [(code, _, _, _, entries)] = response.resources
        _check([code])
        return {entry[0]: entry[1] for entry in entries}

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        changed = ConfigResource(ConfigResourceType.TOPIC, topic, configs={name: value})
        [response] = self._ask("alter_configs", [changed])
        _check(resource[0] for resource in response.resources)

    def groups(self) -> set[str]:
        return {group for group, _ in self._ask("list_consumer_groups")}

    def describe_group(self, group: str) -> Group:
        [response] = self._ask("describe_consumer_groups", [group])
        [(code, _, state, _, assignor, members, *_)] = response.groups
        _check([code])
        assignments: dict[str, set[Place]] = {}
        for member in members:
            decoded = MemberAssignment.decode(member[-1])
            assignments[member[-4]] = {(topic, index) for topic, indexes in decoded.assignment for index in indexes}
        return Group(state, assignor, assignments)

    def committed(self, group: str) -> dict[Place, int]:
        found = self._ask("list_consumer_group_offsets", group)
        return {(place.topic, place.partition): offset.offset for place, offset in found.items()}

    def close(self) -> None:
        super().close()
        if self._admin is not None:
            self._thread.run(self._admin.close())
        self._thread.close()

    def _ask(self, method: str, *args: Any) -> Any:
        async def ask() -> Any:
            if self._admin is None:
                self._admin = AIOKafkaAdminClient(bootstrap_servers=self._servers)
                await self._admin.start()
            return await getattr(self._admin, method)(*args)

        return self._thread.run(ask())


def _record(record: ConsumerRecord[bytes, bytes]) -> Record:
    assert record.value is not None
    key = None if record.key is None else record.key.decode()
    return Record(record.topic, record.partition, record.offset, key, record.value.decode(), record.timestamp)


def _check(codes: Iterable[int]) -> None:
    for code in codes:
        if code:
            raise Refused(ErrorCode(code).name)
