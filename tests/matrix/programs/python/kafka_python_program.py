"""kafka-python plays the scenario."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.errors import NoError
from telling import BATCH, BOOTSTRAP, GROUP, MIDDLE, PARTITIONS, SECONDS, TOPIC, Row, shared, tell, value


def produce(first: int) -> dict[int, list[int]]:
    """A batch to each partition, from this number on; gives the offsets."""
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


def member() -> KafkaConsumer:
    consumer = KafkaConsumer(
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
    consumer.partitions_for_topic(TOPIC)
    return consumer


def poll(consumer: KafkaConsumer) -> list[Row]:
    batches = consumer.poll(timeout_ms=100).values()
    return [(one.partition, one.offset, one.value.decode()) for batch in batches for one in batch]


def poll_all(consumers: list[KafkaConsumer]) -> list[list[Row]]:
    """Each in a thread of its own: one's rebalance waits for the others."""
    with ThreadPoolExecutor(len(consumers)) as pool:
        return list(pool.map(poll, consumers))


def until(done: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError(what)


def read(consumers: list[KafkaConsumer], count: int) -> list[list[Row]]:
    """Poll all until they have so many records together."""
    found: list[list[Row]] = [[] for _ in consumers]

    def enough() -> bool:
        for rows, polled in zip(found, poll_all(consumers), strict=True):
            rows += polled
        return sum(map(len, found)) >= count

    until(enough, f"{count} records; there came {found}")
    return found


def assigned(consumer: KafkaConsumer) -> list[int]:
    return sorted(place.partition for place in consumer.assignment())


def settled(consumers: list[KafkaConsumer]) -> list[list[int]]:
    """Poll all until each has partitions and together they have all."""

    def even() -> bool:
        if any(poll_all(consumers)):
            raise RuntimeError("a record was delivered again")
        parts = [assigned(consumer) for consumer in consumers]
        return shared(parts)

    until(even, "both have partitions")
    return [assigned(consumer) for consumer in consumers]


def main() -> None:
    tell("produce", offsets=produce(0))

    first = member()
    (records,) = read([first], BATCH * len(PARTITIONS))
    first.commit()
    tell("consume", records=records)

    members = [first, member()]
    tell("rebalance", members=settled(members))
    produce(BATCH)
    tell("share", records=read(members, BATCH * len(PARTITIONS)))
    for one in members:
        one.commit({TopicPartition(TOPIC, index): OffsetAndMetadata(MIDDLE, "", -1) for index in assigned(one)})
    tell("commit", committed=dict.fromkeys(PARTITIONS, MIDDLE))
    for one in members:
        one.close(autocommit=False)
    tell("leave")

    again = member()
    (records,) = read([again], (2 * BATCH - MIDDLE) * len(PARTITIONS))
    again.commit()
    again.close()
    tell("resume", records=records)

    admin = KafkaAdminClient(bootstrap_servers=BOOTSTRAP)
    place = TopicPartition(TOPIC, 0)
    outcome = admin.delete_group_offsets(GROUP, [place])[place]
    if outcome is not NoError:
        raise RuntimeError(outcome)
    tell("delete_offsets")
    deleted = admin.delete_groups([GROUP])[GROUP]
    if deleted != "OK":
        raise RuntimeError(deleted)
    tell("delete_group")
    admin.close()


main()
