"""Where a program plays: a broker, a folder, the processes, and a reader who looks at what comes out."""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, ConfigSource, NewTopic, OffsetSpec, ResourceType

from tests.programs.judging import Record, Wrong
from tests.programs.running import SECONDS, Running
from tests.waiting import until

ANSWER_SECONDS: Final = 60.0
SETTLED_SECONDS: Final = 0.2
"""After this a frozen program's last requests have been answered."""
READER: Final = "reader"
"""Client id of the runner's own requests."""


Row = tuple[int, str, str]
"""Partition, key and value."""


class Broker(Protocol):
    """A broker that was started for a program."""

    bootstrap_servers: str

    def restart(self) -> None:
        """kill -9, and start again on the same port with its data."""


class Stage:
    """One broker for one program.

    Attributes:
        folder: an empty one of this run.
    """

    def __init__(self, bootstrap_servers: str, folder: Path, another: Callable[[], Broker] | None = None) -> None:
        """`another` starts a second broker of the same kind, which keeps its data."""
        self.bootstrap_servers = bootstrap_servers
        self.folder = folder
        self._another = another
        self._broker: Broker | None = None
        self._suffix = uuid.uuid4().hex[:8]
        self._running: list[Running] = []
        self._settings = {"bootstrap.servers": bootstrap_servers, "client.id": READER, "log_level": 0}
        self._admin = AdminClient(self._settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in self._running:
            one.kill()

    def another(self) -> Stage:
        """A stage with a broker of its own: its processes end with this one's."""
        assert self._another is not None
        broker = self._another()
        stage = Stage(broker.bootstrap_servers, self.folder)
        stage._broker = broker
        stage._running = self._running
        return stage

    def restart_broker(self, topic: str) -> None:
        """kill -9, start it again, and wait until the topic's leaders answer. Only of `another` one."""
        assert self._broker is not None
        self._broker.restart()
        self.await_topic(topic)

    def name(self, what: str) -> str:
        """A name of this run's own."""
        return f"{what}-{self._suffix}"

    def without_suffix(self, text: str) -> str:
        """What a program has said, with the names as they are in every run."""
        return text.replace(f"-{self._suffix}", "")

    def start(self, command: Sequence[str], name: str, environment: Mapping[str, str] | None = None) -> Running:
        """Start a process; `name` is its log's, in the folder."""
        log = self.folder / f"{name}-{len(self._running)}.log"
        running = Running(command, log, environment)
        self._running.append(running)
        return running

    # topics

    def create(self, topic: str, partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        """Create a topic, wait until it is there, give its name."""
        wanted = NewTopic(topic, partitions, replication_factor=1, config=dict(config or {}))
        self._admin.create_topics([wanted])[topic].result(ANSWER_SECONDS)
        self.await_topic(topic)
        return topic

    def await_topic(self, topic: str) -> None:
        """Wait until the topic is there and its leaders answer."""

        def there() -> bool:
            with contextlib.suppress(KafkaException):
                return bool(self.ends(topic))
            return False

        until(there, f"topic {topic}", SECONDS)

    def topics_of(self, prefix: str) -> dict[str, dict[str, str]]:
        """Topics whose names begin so: the number of partitions, and what is configured for each of them."""
        found = self._admin.list_topics(timeout=ANSWER_SECONDS).topics
        names = [name for name in found if name.startswith(prefix)]
        asked = {name: ConfigResource(ResourceType.TOPIC, name) for name in names}
        answers = self._admin.describe_configs(list(asked.values()))
        told = {name: answers[resource].result(ANSWER_SECONDS).values() for name, resource in asked.items()}
        own = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
        return {
            name: {"partitions": str(len(found[name].partitions))}
            | {one.name: one.value for one in entries if one.source == own}
            for name, entries in told.items()
        }

    def fill(self, topic: str, rows: Iterable[Row], partitioner: str = "") -> None:
        """Produce records, acknowledged by all; with a partitioner their partitions are those of their keys."""
        failed: list[object] = []
        producer = self._producer(failed, partitioner)
        for row in ((-1, *row[1:]) if partitioner else row for row in rows):
            _produce(producer, topic, row)
        if producer.flush(ANSWER_SECONDS) or failed:
            raise Wrong(f"{topic} could not be filled: {failed[:1]}")

    @contextlib.contextmanager
    def feeding(self, per_second: int, *feeds: tuple[str, Sequence[Row]]) -> Iterator[None]:
        """Produce records to topics, so many a second to each, beside what the block does; at its end all are there."""
        failed: list[object] = []

        def feed() -> None:
            producer = self._producer(failed)
            started = time.monotonic()
            for number, rows in enumerate(zip(*(rows for _, rows in feeds), strict=True)):
                time.sleep(max(0.0, started + number / per_second - time.monotonic()))
                for (topic, _), row in zip(feeds, rows, strict=True):
                    _produce(producer, topic, row)
            failed.extend([] if not producer.flush(ANSWER_SECONDS) else ["not everything was acknowledged"])

        thread = threading.Thread(target=feed, daemon=True)
        thread.start()
        yield
        thread.join()
        if failed:
            raise Wrong(f"the topics could not be fed: {failed[:1]}")

    def _producer(self, failed: list[object], partitioner: str = "") -> Producer:
        """One that keeps what was not acknowledged in `failed`."""

        def placed(error: object, _: object) -> None:
            if error is not None:
                failed.append(error)

        chosen = {"partitioner": partitioner} if partitioner else {}
        return Producer({**self._settings, **chosen, "linger.ms": 20, "acks": "all", "on_delivery": placed})

    def ends(self, topic: str, committed: bool = False) -> dict[int, int]:
        """The log end offset of each partition (of read_committed: the last stable one)."""
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        asked = {TopicPartition(topic, index): OffsetSpec.latest() for index in range(self._partitions(topic))}
        if not asked:
            return {}
        found = self._admin.list_offsets(asked, isolation_level=level)
        return {place.partition: one.result(ANSWER_SECONDS).offset for place, one in found.items()}

    def open(self, *topics: str) -> int:
        """How many offsets lie behind the last stable one: of transactions that are open."""
        stable = sum(sum(self.ends(topic, committed=True).values()) for topic in topics)
        return sum(sum(self.ends(topic).values()) for topic in topics) - stable

    def some_committed(self, topic: str, than: Mapping[int, int] | None = None) -> None:
        """Wait until read_committed readers see something in each partition (more than up to these offsets)."""
        before = than or {}

        def more() -> bool:
            return all(end > before.get(partition, 0) for partition, end in self.ends(topic, committed=True).items())

        until(more, f"something committed in {topic}", SECONDS)

    def read_at_least(self, topic: str, count: int) -> None:
        """Wait until read_committed readers see so many records. What is wrong with them, a judge tells."""
        seen = 0
        deadline = time.monotonic() + SECONDS
        while seen < count and time.monotonic() < deadline:
            seen = len(self.read(topic))

    def no_transaction_is_open(self, *topics: str) -> str:
        """Wait for it; the line that tells it."""
        until(lambda: self.open(*topics) == 0, lambda: f"an end of the {self.open(*topics)} open offsets in {topics}")
        return "no transaction is open"

    def committed_offsets(self, group: str, topic: str) -> dict[int, int]:
        """The offset of each partition that has one."""
        asked = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, i) for i in range(self._partitions(topic))])
        found = self._admin.list_consumer_group_offsets([asked], require_stable=True)[group].result(ANSWER_SECONDS)
        return {place.partition: place.offset for place in found.topic_partitions if place.offset >= 0}

    def until_committed(self, group: str, topic: str) -> None:
        """Wait until the group has committed the end of each partition; markers may lie behind it."""

        def all_of_it() -> bool:
            found = self.committed_offsets(group, topic)
            return found == {partition: end for partition, end in self.ends(topic).items() if end}

        until(all_of_it, lambda: f"{self.ends(topic)} committed in {topic}: {self.committed_offsets(group, topic)}")

    def read(self, topic: str, committed: bool = True) -> list[Record]:
        """All records up to the end that there is now, partition by partition in order."""
        settings: dict[str, Any] = {
            **self._settings,
            "group.id": self.name("reading"),
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": 20,
            "isolation.level": "read_committed" if committed else "read_uncommitted",
        }
        ends = {partition: end for partition, end in self.ends(topic, committed).items() if end}
        consumer = Consumer(settings)
        try:
            return _read(consumer, topic, ends)
        finally:
            consumer.close()

    def kill_in_transaction(
        self, running: Running, *topics: str, seconds: float = SECONDS, others: float = 0.0
    ) -> None:
        """kill -9 while records of an open transaction lie in one of the topics: frozen first, and looked at again.

        Where other programs have transactions in the same topics, `others` is more than theirs take: what then still
        holds the last stable offset of a partition where it was, is the frozen one's.
        """
        deadline = time.monotonic() + seconds
        while True:
            if not running.lives:
                raise Wrong(f"it ended before it could be killed in a transaction: {running.end_of_log()}")
            if self.open(*topics):
                running.freeze()
                time.sleep(SETTLED_SECONDS)
                if self._held(topics, others) if others else self.open(*topics):
                    running.kill()
                    return
                running.thaw()
            if time.monotonic() > deadline:
                raise Wrong(f"no open transaction was seen within {seconds:g} s: {running.end_of_log()}")

    def _held(self, topics: Sequence[str], seconds: float) -> bool:
        """Whether the last stable offset of a partition is where it was so long ago, with records behind it."""
        before = {topic: self.ends(topic, committed=True) for topic in topics}
        time.sleep(seconds)
        return any(
            stable == before[topic][partition] < ends[partition]
            for topic in topics
            for ends in [self.ends(topic)]
            for partition, stable in self.ends(topic, committed=True).items()
        )

    def _partitions(self, topic: str) -> int:
        found = self._admin.list_topics(timeout=ANSWER_SECONDS).topics.get(topic)
        return 0 if found is None or found.error else len(found.partitions)


def _produce(producer: Producer, topic: str, row: Row) -> None:
    partition, key, value = row
    while True:
        try:
            producer.produce(topic, value, key, partition)
            break
        except BufferError:
            producer.poll(0.1)
    producer.poll(0)


def _read(consumer: Consumer, topic: str, ends: Mapping[int, int]) -> list[Record]:
    """The end of a partition is told by an event: the last offsets may be markers and aborted records."""
    records = []
    consumer.assign([TopicPartition(topic, partition, 0) for partition in ends])
    deadline = time.monotonic() + ANSWER_SECONDS
    missing = dict(ends)
    while missing:
        for message in consumer.consume(1000, 0.05):
            partition, error = message.partition(), message.error()
            if error and error.code() != KafkaError._PARTITION_EOF:
                raise Wrong(f"{topic} cannot be read: {error}")
            if error and message.offset() >= ends[partition]:
                missing.pop(partition, None)
            elif not error and message.offset() < ends[partition]:
                key, value = message.key() or b"", message.value() or b""
                records.append(Record(partition, message.offset(), key.decode(), value.decode()))
        if time.monotonic() > deadline:
            raise Wrong(f"the reader of {topic} does not come to the end of {missing}")
    return sorted(records)
