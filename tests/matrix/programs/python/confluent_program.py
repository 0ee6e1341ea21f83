"""confluent-kafka plays the scenario."""

from __future__ import annotations

from typing import Any

from confluent_kafka import (
    AcknowledgeType,
    Consumer,
    ConsumerGroupTopicPartitions,
    Producer,
    ShareConsumer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from share_telling import ACCEPT, REJECT, RELEASE, Received, play_share
from telling import BATCH, BOOTSTRAP, GROUP, PARTITIONS, PROTOCOL, SECONDS, TOPIC, Row, play, value


def produce(first: int) -> dict[int, list[int]]:
    offsets: dict[int, list[int]] = {partition: [] for partition in PARTITIONS}

    def placed(error: Any, message: Any) -> None:
        if error is not None:
            raise RuntimeError(error)
        offsets[message.partition()].append(message.offset())

    producer = Producer({"bootstrap.servers": BOOTSTRAP, "acks": "all"})
    for number in range(first, first + BATCH):
        for partition in PARTITIONS:
            producer.produce(TOPIC, value(partition, number), partition=partition, on_delivery=placed)
    if producer.flush(SECONDS):
        raise RuntimeError("not everything was acknowledged")
    return offsets


class Member:
    def __init__(self, subscription: str = TOPIC, group: str = GROUP, instance: str | None = None) -> None:
        settings: dict[str, Any] = {
            "bootstrap.servers": BOOTSTRAP,
            "group.id": group,
            "group.protocol": PROTOCOL,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
        if PROTOCOL == "classic":
            settings["heartbeat.interval.ms"] = 200
        if instance is not None:
            settings["group.instance.id"] = instance
        self._consumer = Consumer(settings)
        self._consumer.subscribe([subscription])

    def poll(self) -> list[Row]:
        message = self._consumer.poll(0.05)
        if message is None:
            return []
        if message.error():
            raise RuntimeError(message.error())
        return [(message.partition(), message.offset(), message.value().decode())]

    def partitions(self) -> list[int]:
        return sorted(place.partition for place in self._consumer.assignment())

    def commit_read(self) -> None:
        self._consumer.commit(asynchronous=False)

    def commit(self, offset: int) -> None:
        offsets = [TopicPartition(TOPIC, index, offset) for index in self.partitions()]
        self._consumer.commit(offsets=offsets, asynchronous=False)

    def leave(self) -> None:
        self._consumer.close()


def delete_group() -> None:
    admin = AdminClient({"bootstrap.servers": BOOTSTRAP})
    admin.delete_consumer_groups([GROUP])[GROUP].result(SECONDS)
    left = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(GROUP)])[GROUP].result(SECONDS)
    if left.topic_partitions:
        raise RuntimeError(f"the deleted group has offsets: {left}")


class ShareWorker:
    renews = False

    def __init__(self) -> None:
        self._consumer = ShareConsumer(
            {"bootstrap.servers": BOOTSTRAP, "group.id": GROUP, "share.acknowledgement.mode": "explicit"}
        )
        self._consumer.subscribe([TOPIC])
        self._polled: list[Any] = []

    def poll(self) -> list[Received]:
        self._polled = list(self._consumer.poll(0.05))
        for message in self._polled:
            if message.error():
                raise RuntimeError(message.error())
        return [
            Received(message.partition(), message.offset(), message.value().decode(), message.delivery_count())
            for message in self._polled
        ]

    def send(self, types: list[str]) -> dict[int, str]:
        kinds = {ACCEPT: AcknowledgeType.ACCEPT, RELEASE: AcknowledgeType.RELEASE, REJECT: AcknowledgeType.REJECT}
        for message, said in zip(self._polled, types, strict=True):
            self._consumer.acknowledge(message, kinds[said])
        results = self._consumer.commit_sync(SECONDS)
        return {place.partition: error.args[0].name() for place, error in results.items() if error is not None}

    def leave(self) -> None:
        self._consumer.close()


NO_CALL = "its AdminClient has no call for it"
if PROTOCOL == "share":
    play_share(produce, ShareWorker, NO_CALL, NO_CALL, delete_group)
else:
    play(produce, Member, NO_CALL, delete_group)
