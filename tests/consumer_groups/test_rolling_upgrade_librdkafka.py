"""Consumers of librdkafka go from the classic protocol to the new one and back, one by one and under load."""

from __future__ import annotations

import threading
import uuid
from collections import defaultdict
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupType, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafkastub import KafkaStub
from tests.consumer_groups.test_rolling_upgrade import CONFIG
from tests.oracle.apache_kafka import ApacheKafka
from tests.waiting import SECONDS, until

PARTITIONS = range(6)


class Ledger:
    """What was read and committed, by all consumers together."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.read: dict[int, set[int]] = defaultdict(set)
        self.committed: dict[int, int] = defaultdict(int)
        self.again = 0

    def note(self, messages: list[Message]) -> dict[int, int]:
        upto: dict[int, int] = {}
        with self.lock:
            for message in messages:
                partition, offset = message.partition(), message.offset()
                self.again += offset < self.committed[partition]
                self.read[partition].add(offset)
                upto[partition] = offset + 1
        return upto

    def done(self, upto: dict[int, int]) -> None:
        with self.lock:
            for partition, offset in upto.items():
                self.committed[partition] = max(self.committed[partition], offset)

    def count(self) -> int:
        with self.lock:
            return sum(map(len, self.read.values()))


class Worker:
    """A consumer in a thread of its own: reads, notes what it has read, commits."""

    def __init__(self, servers: str, name: str, protocol: str, ledger: Ledger) -> None:
        settings: dict[str, Any] = {
            "bootstrap.servers": servers, "group.id": name, "group.protocol": protocol,
            "enable.auto.commit": False, "auto.offset.reset": "earliest",
        }  # fmt: skip
        if protocol == "classic":
            settings |= {"heartbeat.interval.ms": 100, "session.timeout.ms": 10_000}
        self.has: list[int] = []
        self.failure: Exception | None = None
        self._ledger, self._name, self._end = ledger, name, threading.Event()
        self._consumer = Consumer(settings)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._consumer.subscribe([self._name])
            while not self._end.is_set():
                messages = [one for one in self._consumer.consume(20, 0.05) if not one.error()]
                self.has = [place.partition for place in self._consumer.assignment()]
                if messages:
                    upto = self._ledger.note(messages)
                    try:
                        self._consumer.commit(asynchronous=False)
                    except KafkaException:
                        continue  # somebody else has these partitions now, and reads them anew
                    self._ledger.done(upto)
            self._consumer.close()
        except Exception as error:
            self.failure = error
        self.has = []

    def end(self) -> None:
        self._end.set()
        self._thread.join(SECONDS)
        assert self.failure is None, self.failure


def roll(servers: str) -> list[str]:
    name = f"rolling-{uuid.uuid4().hex[:8]}"
    admin, producer = AdminClient({"bootstrap.servers": servers}), Producer({"bootstrap.servers": servers})
    ledger = Ledger()
    admin.create_topics([NewTopic(name, len(PARTITIONS))])[name].result(SECONDS)
    stages: list[str] = []
    sent = 0

    def settled(stage: str, workers: list[Worker]) -> None:
        """Until the three read all partitions between them, and what is sent now has been read."""
        nonlocal sent

        def shared() -> bool:
            failed = [worker.failure for worker in workers if worker.failure is not None]
            assert not failed, failed
            return all(worker.has for worker in workers) and sorted(
                partition for worker in workers for partition in worker.has
            ) == list(PARTITIONS)

        until(shared, lambda: f"{stage}: {[worker.has for worker in workers]}")
        for partition in PARTITIONS:
            for _ in range(20):
                producer.produce(name, b"v", partition=partition)
                sent += 1
        producer.flush(SECONDS)
        until(lambda: ledger.count() == sent, lambda: f"{stage}: {ledger.count()} of {sent} are read")
        described = admin.describe_consumer_groups([name])[name].result(SECONDS)
        stages.append(f"{stage}: {'Consumer' if described.type is ConsumerGroupType.CONSUMER else 'Classic'}")

    workers = [Worker(servers, name, "classic", ledger) for _ in range(3)]
    settled("all classic", workers)
    for protocol in ("consumer", "classic"):
        for number in range(3):
            for partition in PARTITIONS:  # under load: these are there while partitions move
                producer.produce(name, b"v", partition=partition)
                sent += 1
            workers[number].end()
            workers[number] = Worker(servers, name, protocol, ledger)
            settled(f"worker {number} {protocol}", workers)
    for worker in workers:
        worker.end()
    return [*stages, f"read again {ledger.again}"]


STAGES = [
    "all classic: Classic",
    *(f"worker {number} consumer: Consumer" for number in range(3)),
    "worker 0 classic: Consumer",
    "worker 1 classic: Consumer",
    "worker 2 classic: Classic",
    "read again 0",
]


def test_no_record_is_lost_and_none_is_read_again_after_its_commit():
    with KafkaStub(config=CONFIG) as stub:
        assert roll(stub.bootstrap_servers) == STAGES


@pytest.mark.oracle
def test_apache_kafka_rolls_the_same_way():
    with ApacheKafka(config=CONFIG) as kafka:
        assert roll(kafka.bootstrap_servers) == STAGES
