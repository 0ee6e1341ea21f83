"""kafka-python as a data-plane client."""

from __future__ import annotations

from collections.abc import Sequence

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import BrokerResponseError

from kafkawire.errors import ErrorCode
from tests.clients.client import DEADLINE_SECONDS, Refused
from tests.clients.data import BY_DEFAULT, FETCH_WAIT_MS, DataClient, Entry, Found, Reader, Sending


class KafkaPythonReader(Reader):
    def __init__(self, consumer: KafkaConsumer, topic: str) -> None:
        self._consumer = consumer
        self._topic = topic

    def poll(self, seconds: float = 0.05) -> list[Found]:
        batches = self._consumer.poll(timeout_ms=seconds * 1000)
        return [
            Found(one.offset, Entry(one.value, one.key, tuple(one.headers), one.timestamp, one.partition))
            for batch in batches.values()
            for one in batch
        ]

    def seek(self, partition: int, offset: int) -> None:
        self._consumer.seek(self._place(partition), offset)

    def seek_to_beginning(self, partition: int) -> None:
        self._consumer.seek_to_beginning(self._place(partition))

    def seek_to_end(self, partition: int) -> None:
        self._consumer.seek_to_end(self._place(partition))
        self._consumer.position(self._place(partition))  # goes there now, not with the next poll

    def seek_to_time(self, partition: int, ms: int) -> None:
        place = self._place(partition)
        self._consumer.seek(place, self._consumer.offsets_for_times({place: ms})[place].offset)

    def pause(self, partition: int) -> None:
        self._consumer.pause(self._place(partition))

    def resume(self, partition: int) -> None:
        self._consumer.resume(self._place(partition))

    def close(self) -> None:
        self._consumer.close()

    def _place(self, partition: int) -> TopicPartition:
        return TopicPartition(self._topic, partition)


class KafkaPythonData(DataClient):
    null_headers = False
    empty_records = False

    def __init__(self, servers: str) -> None:
        super().__init__()
        self._servers = servers

    def send(self, topic: str, entries: Sequence[Entry], sending: Sending = BY_DEFAULT) -> list[int]:
        producer = KafkaProducer(
            bootstrap_servers=self._servers,
            compression_type=None if sending.codec == "none" else sending.codec,
            batch_size=sending.batch_bytes,
            max_request_size=sending.request_bytes,
            enable_idempotence=sending.idempotent,
            linger_ms=50,
        )
        try:
            sent = [
                producer.send(
                    topic,
                    value=one.value,
                    key=one.key,
                    headers=list(one.headers),
                    partition=one.partition,
                    timestamp_ms=one.timestamp,
                )
                for one in entries
            ]
            producer.flush(DEADLINE_SECONDS)
            return [future.get(DEADLINE_SECONDS).offset for future in sent]
        except BrokerResponseError as error:
            raise Refused(ErrorCode(error.errno).name) from error
        finally:
            producer.close()

    def _opened(self, topic: str, partitions: Sequence[int]) -> Reader:
        consumer = KafkaConsumer(
            bootstrap_servers=self._servers,
            group_id=None,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=FETCH_WAIT_MS,
        )
        consumer.assign([TopicPartition(topic, index) for index in partitions])
        return KafkaPythonReader(consumer, topic)
