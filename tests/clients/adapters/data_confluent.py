"""confluent-kafka (librdkafka) as a data-plane client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition

from kafkawire.errors import ErrorCode
from tests.clients.client import DEADLINE_SECONDS, Refused
from tests.clients.data import BY_DEFAULT, FETCH_WAIT_MS, ONE_RECORD, DataClient, Entry, Found, Reader, Sending

UNLIMITED = 1_000_000


class ConfluentReader(Reader):
    def __init__(self, consumer: Consumer, topic: str) -> None:
        self._consumer = consumer
        self._topic = topic

    def poll(self, seconds: float = 0.05) -> list[Found]:
        delivered = self._consumer.consume(1000, seconds)
        for message in delivered:
            if message.error():
                raise KafkaException(message.error())
        return [_found(message) for message in delivered]

    def seek(self, partition: int, offset: int) -> None:
        self._consumer.seek(TopicPartition(self._topic, partition, offset))

    def seek_to_beginning(self, partition: int) -> None:
        self.seek(partition, OFFSET_BEGINNING)

    def seek_to_end(self, partition: int) -> None:
        # where the end is now: OFFSET_END would be looked up some time after seek() has returned
        _, end = self._consumer.get_watermark_offsets(TopicPartition(self._topic, partition), DEADLINE_SECONDS)
        self.seek(partition, end)

    def seek_to_time(self, partition: int, ms: int) -> None:
        [found] = self._consumer.offsets_for_times([TopicPartition(self._topic, partition, ms)], DEADLINE_SECONDS)
        self.seek(partition, found.offset)

    def pause(self, partition: int) -> None:
        self._consumer.pause([TopicPartition(self._topic, partition)])

    def resume(self, partition: int) -> None:
        self._consumer.resume([TopicPartition(self._topic, partition)])

    def close(self) -> None:
        self._consumer.close()


class ConfluentData(DataClient):
    def __init__(self, servers: str) -> None:
        super().__init__()
        self._servers = servers

    def send(self, topic: str, entries: Sequence[Entry], sending: Sending = BY_DEFAULT) -> list[int]:
        config: dict[str, Any] = {
            "bootstrap.servers": self._servers,
            "compression.codec": sending.codec,
            "enable.idempotence": sending.idempotent,
            "linger.ms": 50,
            "message.max.bytes": sending.request_bytes,
            "batch.size": max(1, sending.batch_bytes),
            "batch.num.messages": 1 if sending.batch_bytes == ONE_RECORD else UNLIMITED,
        }
        producer = Producer(config)
        outcomes: dict[int, Any] = {}
        for index, one in enumerate(entries):
            given = {"timestamp": one.timestamp} if one.timestamp is not None else {}
            producer.produce(
                topic,
                one.value,
                one.key,
                partition=one.partition,
                headers=list(one.headers),
                on_delivery=_kept(outcomes, index),
                **given,
            )
            producer.poll(0)
        left = producer.flush(DEADLINE_SECONDS)
        producer.close()
        assert left == 0, f"{left} records were not delivered"
        for outcome in outcomes.values():
            if not isinstance(outcome, int):
                raise Refused(ErrorCode(outcome.code()).name)
        return [outcomes[index] for index in range(len(entries))]

    def _opened(self, topic: str, partitions: Sequence[int]) -> Reader:
        consumer = Consumer(
            {
                "bootstrap.servers": self._servers,
                "group.id": "unused",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": FETCH_WAIT_MS,
            }
        )
        consumer.list_topics(
            topic, DEADLINE_SECONDS
        )  # else it asks too early for offsets, and again after half a second
        consumer.assign([TopicPartition(topic, index, OFFSET_BEGINNING) for index in partitions])
        return ConfluentReader(consumer, topic)


def _kept(outcomes: dict[int, Any], index: int) -> Callable[[Any, Any], None]:
    def delivered(error: Any, message: Any) -> None:
        outcomes[index] = message.offset() if error is None else error

    return delivered


def _found(message: Any) -> Found:
    headers = tuple((name, value) for name, value in message.headers() or ())
    entry = Entry(message.value(), message.key(), headers, message.timestamp()[1], message.partition())
    return Found(message.offset(), entry)
