"""kafka-python plays the scenario."""

from __future__ import annotations

import contextlib

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.errors import NoError
from telling import BATCH, BOOTSTRAP, GROUP, PARTITIONS, SECONDS, TOPIC, Row, play, value


def produce(first: int) -> dict[int, list[int]]:
    producer = KafkaProducer(bootstrap_servers=BOOTSTRAP, acks="all")
    sent = {
        partition: [
            producer.send(TOPIC, value(partition, number), partition=partition)
            for number in range(first, first + BATCH)
        ]
        for partition in PARTITIONS
    }
    producer.flush(SECONDS)
    offsets = {partition: [one.get(SECONDS).offset for one in futures] for partition, futures in sent.items()}
    producer.close()
    return offsets


class Member:
    def __init__(self) -> None:
        self._consumer = KafkaConsumer(
            TOPIC,
            bootstrap_servers=BOOTSTRAP,
            group_id=GROUP,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=200,
            session_timeout_ms=45_000,
            fetch_max_wait_ms=100,
        )
        # 3.0.12 joins a second time when it learns of its topic after the first, and can then lose that assignment
        self._consumer.partitions_for_topic(TOPIC)

    def poll(self) -> list[Row]:
        batches = self._consumer.poll(timeout_ms=100).values()
        return [(one.partition, one.offset, one.value.decode()) for batch in batches for one in batch]

    def partitions(self) -> list[int]:
        return sorted(place.partition for place in self._consumer.assignment())

    def commit_read(self) -> None:
        self._consumer.commit()

    def commit(self, offset: int) -> None:
        place = OffsetAndMetadata(offset, "", -1)
        self._consumer.commit({TopicPartition(TOPIC, index): place for index in self.partitions()})

    def leave(self) -> None:
        self._consumer.close(autocommit=False)


def delete_offset() -> None:
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=BOOTSTRAP)) as admin:
        place = TopicPartition(TOPIC, 0)
        outcome = admin.delete_group_offsets(GROUP, [place])[place]
        if outcome is not NoError:
            raise RuntimeError(outcome)


def delete_group() -> None:
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=BOOTSTRAP)) as admin:
        deleted = admin.delete_groups([GROUP])[GROUP]
        if deleted != "OK":
            raise RuntimeError(deleted)


play(produce, Member, delete_offset, delete_group)
