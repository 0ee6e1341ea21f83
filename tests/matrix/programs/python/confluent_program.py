"""confluent-kafka plays the scenario."""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from telling import BATCH, BOOTSTRAP, GROUP, MIDDLE, PARTITIONS, SECONDS, TOPIC, Row, shared, tell, value


def produce(first: int) -> dict[int, list[int]]:
    """A batch to each partition, from this number on; gives the offsets."""
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


def member() -> Consumer:
    settings: dict[str, Any] = {
        "bootstrap.servers": BOOTSTRAP,
        "group.id": GROUP,
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "heartbeat.interval.ms": 200,
    }
    consumer = Consumer(settings)
    consumer.subscribe([TOPIC])
    return consumer


def poll(consumer: Consumer) -> list[Row]:
    message = consumer.poll(0.05)
    if message is None:
        return []
    if message.error():
        raise RuntimeError(message.error())
    return [(message.partition(), message.offset(), message.value().decode())]


def read(consumers: list[Consumer], count: int) -> list[list[Row]]:
    """Poll all until they have so many records together."""
    found: list[list[Row]] = [[] for _ in consumers]
    deadline = time.monotonic() + SECONDS
    while sum(map(len, found)) < count:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{count} records; there came {found}")
        for rows, consumer in zip(found, consumers, strict=True):
            rows += poll(consumer)
    return found


def assigned(consumer: Consumer) -> list[int]:
    return sorted(place.partition for place in consumer.assignment())


def settled(consumers: list[Consumer]) -> list[list[int]]:
    """Poll all until each has partitions and together they have all."""
    deadline = time.monotonic() + SECONDS
    while True:
        parts = [assigned(consumer) for consumer in consumers]
        if shared(parts):
            return parts
        if time.monotonic() > deadline:
            raise TimeoutError(f"the members have {parts}")
        for consumer in consumers:
            if poll(consumer):
                raise RuntimeError("a record was delivered again")


def main() -> None:
    tell("produce", offsets=produce(0))

    first = member()
    (records,) = read([first], BATCH * len(PARTITIONS))
    first.commit(asynchronous=False)
    tell("consume", records=records)

    members = [first, member()]
    tell("rebalance", members=settled(members))
    produce(BATCH)
    tell("share", records=read(members, BATCH * len(PARTITIONS)))
    for one in members:
        one.commit(offsets=[TopicPartition(TOPIC, index, MIDDLE) for index in assigned(one)], asynchronous=False)
    tell("commit", committed=dict.fromkeys(PARTITIONS, MIDDLE))
    for one in members:
        one.close()
    tell("leave")

    again = member()
    (records,) = read([again], (2 * BATCH - MIDDLE) * len(PARTITIONS))
    again.commit(asynchronous=False)
    again.close()
    tell("resume", records=records)

    admin = AdminClient({"bootstrap.servers": BOOTSTRAP})
    tell("delete_offsets", cannot="its AdminClient has no call for it")
    admin.delete_consumer_groups([GROUP])[GROUP].result(SECONDS)
    left = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(GROUP)])[GROUP].result(SECONDS)
    if left.topic_partitions:
        raise RuntimeError(f"the deleted group has offsets: {left}")
    tell("delete_group")


main()
