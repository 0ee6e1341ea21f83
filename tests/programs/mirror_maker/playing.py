"""MirrorMaker 2 between two brokers, exactly once: killed in the middle of a transaction and started again.

The topic that it mirrors is written in transactions, every fifth of them aborted: MirrorMaker reads read_committed.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Final

from confluent_kafka import Consumer, Producer, TopicPartition

from tests.programs.connect.playing import BUILT, FLAGS, build, version
from tests.programs.judging import Wrong, aborted, each_once, in_order
from tests.programs.running import Running
from tests.programs.stage import ANSWER_SECONDS, Stage
from tests.toolchains import java_program
from tests.waiting import until

__all__ = ["build", "play", "version"]

MAIN: Final = "org.apache.kafka.connect.mirror.MirrorMaker"
PARTITIONS: Final = 2
TRANSACTIONS: Final = 400
SIZE: Final = 25
"""Records in each partition a transaction."""
ABORTED: Final = 5
RATE: Final = 20
"""Transactions a second."""


def play(stage: Stage) -> Iterator[str]:
    """The stage is the target; the source is another broker."""
    other = stage.another()
    source = other.create(stage.name("orders"), PARTITIONS)
    target, group = f"source.{source}", stage.name("readers")
    written: dict[int, list[str]] = {index: [] for index in range(PARTITIONS)}
    with _writing(other, source, written):
        first = _start(stage, other, source)
        stage.await_topic(target)
        stage.some_committed(target)
        stage.kill_in_transaction(first, target)
        yield "the first: killed in a transaction"
        _start(stage, other, source)
    places = _commit(other, source, group)
    stage.read_at_least(target, sum(map(len, written.values())))
    yield stage.no_transaction_is_open(target)
    committed = stage.read(target)
    yield each_once((value for values in written.values() for value in values), (one.value for one in committed))
    yield in_order(committed, written)
    yield aborted(committed, stage.read(target, committed=False))
    yield _translated(stage, target, group, {index: written[index][: places[index]] for index in places})


def _start(stage: Stage, other: Stage, topic: str) -> Running:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    properties = stage.folder / "mirror.properties"
    settings: dict[str, object] = {
        "clusters": "source, target",
        "source.bootstrap.servers": other.bootstrap_servers,
        "target.bootstrap.servers": stage.bootstrap_servers,
        "source->target.enabled": "true",
        "source->target.topics": topic,
        "source->target.sync.group.offsets.enabled": "true",
        "target->source.enabled": "false",
        "target.exactly.once.source.support": "enabled",
        "source.consumer.isolation.level": "read_committed",
        "source.consumer.auto.offset.reset": "earliest",
        "dedicated.mode.enable.internal.rest": "true",
        "listeners": f"http://127.0.0.1:{port}",
        "replication.factor": 1,
        "checkpoints.topic.replication.factor": 1,
        "heartbeats.topic.replication.factor": 1,
        "offset-syncs.topic.replication.factor": 1,
        "offset.storage.replication.factor": 1,
        "status.storage.replication.factor": 1,
        "config.storage.replication.factor": 1,
        "refresh.topics.interval.seconds": 1,
        "refresh.groups.interval.seconds": 1,
        "emit.checkpoints.interval.seconds": 1,
        "sync.group.offsets.interval.seconds": 1,
        "target.session.timeout.ms": 6000,
        "target.heartbeat.interval.ms": 1000,
        # a worker reads its offsets' topic to the end first: what a dead one has left open there has to time out
        "target.producer.transaction.timeout.ms": 6000,
        "target.scheduled.rebalance.max.delay.ms": 0,
        "target.plugin.discovery": "service_load",
    }
    properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return stage.start(java_program(BUILT, MAIN, str(properties), heap_mb=192, flags=FLAGS), "mirror")


@contextlib.contextmanager
def _writing(stage: Stage, topic: str, written: dict[int, list[str]]) -> Iterator[None]:
    """Transactions beside what the block does; at its end all are there, and `written` has the committed values."""
    failed: list[Exception] = []

    def write() -> None:
        try:
            _write(stage, topic, written)
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    yield
    thread.join()
    if failed:
        raise Wrong(f"the source could not be written: {failed[0]}")


def _write(stage: Stage, topic: str, written: dict[int, list[str]]) -> None:
    producer = Producer(
        {
            "bootstrap.servers": stage.bootstrap_servers,
            "client.id": "orders",
            "transactional.id": f"{topic}-writer",
            "log_level": 0,
        }
    )
    producer.init_transactions(ANSWER_SECONDS)
    for number in range(TRANSACTIONS):
        time.sleep(1 / RATE)
        values = {index: [f"{index}-{number * SIZE + row}" for row in range(SIZE)] for index in range(PARTITIONS)}
        producer.begin_transaction()
        for index, rows in values.items():
            for value in rows:
                producer.produce(topic, value, partition=index)
        producer.flush(ANSWER_SECONDS)
        if number % ABORTED == 0:
            producer.abort_transaction(ANSWER_SECONDS)
        else:
            producer.commit_transaction(ANSWER_SECONDS)
            for index, rows in values.items():
                written[index] += rows


def _commit(stage: Stage, topic: str, group: str) -> dict[int, int]:
    """A group at the source commits a place in the middle of each partition; how many records lie before it."""
    places: dict[int, int] = {}
    offsets = []
    records = stage.read(topic)
    for index in range(PARTITIONS):
        ours = [record for record in records if record.partition == index]
        places[index] = len(ours) // 2
        offsets.append(TopicPartition(topic, index, ours[places[index]].offset))
    consumer = Consumer({"bootstrap.servers": stage.bootstrap_servers, "group.id": group})
    consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()
    return places


def _translated(stage: Stage, target: str, group: str, before: dict[int, list[str]]) -> str:
    """The line that tells that the group has a place in the mirrored topic, and that nothing unread lies before it.

    Raises Wrong. How far back the place is, is MirrorMaker's choice (offset.lag.max).
    """
    places = until(
        lambda: len(found := stage.committed_offsets(group, target)) == PARTITIONS and found, "translated offsets"
    )
    for record in stage.read(target):
        if places and record.offset < places[record.partition] and record.value not in before[record.partition]:
            raise Wrong(f"the group was moved past {record.value}, which it has not read")
    return "a group's offsets are translated, past nothing that it has not read"
