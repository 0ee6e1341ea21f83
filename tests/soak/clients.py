"""The clients of the soak: each writes, and reads what it has written through a group of its type.

What takes part is decided by what the machine has; `all_of` says what is missing.
"""

from __future__ import annotations

import contextlib
import random
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from aiokafka import AIOKafkaProducer
from confluent_kafka import AcknowledgeType, Consumer, KafkaError, KafkaException, Producer, ShareConsumer
from confluent_kafka import TopicPartition as Partition

from kafkastub.client import Client as Requests
from tests.chaos import programs, workers
from tests.chaos.programs import Program
from tests.clients.adapters import connect
from tests.clients.adapters.data_kcat import KcatData, KcatReader
from tests.clients.adapters.data_kcat import kcat as kcat_path
from tests.clients.adapters.with_aiokafka import LoopThread
from tests.clients.adapters.with_confluent import ConfluentClient, ConfluentMember
from tests.clients.client import BY_DEFAULT, Client, Member, MemberOptions, Message
from tests.clients.data import Entry
from tests.clients.jvm import SOURCES as JAVA
from tests.clients.jvm import Jvm
from tests.group_configs import configure
from tests.oracle.jars import TOOLS, OracleError, compiled
from tests.soak.working import Working
from tests.toolchains import Unavailable

PARTITIONS: Final = 2
RECORDS: Final = 6
"""Of a step."""
SECONDS: Final = 30
TURN_SECONDS: Final = 15.0
"""How long one of the workers of tests/chaos has the group to itself."""
WORDS: Final = 40
"""Different ones, so that a store of Kafka Streams has a bound."""
SHARE_CONFIG: Final[dict[str, object]] = {"share.auto.offset.reset": "earliest", "share.delivery.count.limit": 10}
"""By default a record is given up after five deliveries, and chaos may lose the answers of so many."""
QUIET: Final = {"log_level": 0}
PASSING: Final = (KafkaError._PARTITION_EOF, KafkaError.UNKNOWN_TOPIC_OR_PART)


class Relay(Working):
    """A group of one member, by a library that tests/clients has an adapter for. Each step has another producer."""

    def __init__(self, name: str, connected: Callable[[], Client]) -> None:
        super().__init__(name)
        self._connected = connected
        self._client: Client | None = None
        self._member: Member | None = None

    def open(self) -> None:
        self._client = self._connected()
        options = MemberOptions(client_id=self.name, auto_commit=False)
        self._member = self._client.member(self.name, [self.name], options)

    def begin(self) -> None:
        assert self._client is not None
        values = self.values(RECORDS)
        messages = [Message(value, partition=number % PARTITIONS) for number, value in enumerate(values)]
        self._client.produce(self.name, messages)
        self.owed.update(values)

    def go_on(self) -> None:
        assert self._member is not None
        found = self._member.poll(0.2)
        for record in found:
            self.came(record.value)
        if found:
            self._member.commit()

    def at_rest(self) -> None:
        assert self._member is not None
        self._member.poll(0.05)

    def close(self) -> None:
        client, self._client, self._member = self._client, None, None
        if client is not None:
            client.close()


class ModernConfluent(ConfluentClient):
    """librdkafka's members of the consumer protocol (KIP-848)."""

    def member(self, group: str, topics: list[str], options: MemberOptions = BY_DEFAULT) -> Member:
        consumer = Consumer(
            {
                "bootstrap.servers": self._servers,
                "group.id": group,
                "group.protocol": "consumer",
                "client.id": options.client_id,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                **QUIET,
            }
        )
        consumer.subscribe(topics)
        member = ConfluentMember(consumer)
        self.members.append(member)
        return member


class Kcat(Working):
    """Each step is two runs of kcat: one writes, one reads on behind what was read before."""

    def __init__(self, name: str, servers: str) -> None:
        super().__init__(name, rest=4.0)
        self._client = KcatData(servers)
        self._reader: KcatReader | None = None

    def open(self) -> None:
        if self._reader is None:  # its position is what it has read, whatever failed
            self._reader = KcatReader(self._client, self.name, range(PARTITIONS))

    def begin(self) -> None:
        values = self.values(RECORDS)
        self._client.send(self.name, [Entry(value.encode()) for value in values])
        self.owed.update(values)

    def go_on(self) -> None:
        assert self._reader is not None
        for found in self._reader.poll():
            if found.entry.value is not None:
                self.came(found.entry.value.decode())

    def close(self) -> None:
        """There is nothing between two runs."""


class Sharing(Working):
    """A member of a share group; now and then it releases a record, which then comes once more.

    A record has come when it was delivered. Whether an acknowledgement arrived that had no answer is not known: it may
    have, and then the record never comes again.
    """

    def __init__(self, name: str, servers: str) -> None:
        super().__init__(name)
        self._servers = {"bootstrap.servers": servers, **QUIET}
        self._chance = random.Random(name)
        self._producer = Producer({**self._servers, "enable.idempotence": True})
        self._consumer: ShareConsumer | None = None
        with Requests(servers) as asking:
            configure(asking, name, SHARE_CONFIG)

    def open(self) -> None:
        self._consumer = ShareConsumer(
            {**self._servers, "group.id": self.name, "share.acknowledgement.mode": "explicit"}
        )
        self._consumer.subscribe([self.name])

    def begin(self) -> None:
        self.owed.update(delivered(self._producer, self.name, self.values(RECORDS)))

    def go_on(self) -> None:
        assert self._consumer is not None
        for message in self._consumer.poll(0.2):
            if self._chance.random() < 0.05 and message.delivery_count() == 1:
                self._consumer.acknowledge(message, AcknowledgeType.RELEASE)
            else:
                self._consumer.acknowledge(message)
                self.came(message.value().decode())
        self._consumer.commit_sync(SECONDS)

    def at_rest(self) -> None:
        assert self._consumer is not None
        for message in self._consumer.poll(0.05):
            self._consumer.acknowledge(message)

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None


class JavaSharing(Sharing):
    """The same with Java's KafkaShareConsumer."""

    def __init__(self, name: str, servers: str, jvm: Jvm) -> None:
        super().__init__(name, servers)
        self._jvm = jvm
        self._address = servers
        self._made = 0

    def open(self) -> None:
        self._made += 1
        config = {"bootstrap.servers": self._address, "group.id": self.name}
        self._ask("share_subscribe", config=config, topics=[self.name])

    def go_on(self) -> None:
        records = self._ask("share_poll", ms=200)
        if records:
            for *_, value, _ in records:
                self.came(value)
            told = [[topic, partition, offset, "accept"] for topic, partition, offset, _, _ in records]
            self._ask("share_acknowledge", records=told)

    def at_rest(self) -> None:
        """Its thread keeps the session."""

    def close(self) -> None:
        self._ask("share_close")

    def _ask(self, verb: str, **fields: Any) -> Any:
        return self._jvm.ask(verb, consumer=f"{self.name}-{self._made}", **fields)


class Counting(Working):
    """Kafka Streams counting words, as a member of a streams group. A count never falls short of what was written."""

    def __init__(self, name: str, servers: str, jvm: Jvm) -> None:
        super().__init__(name, rest=1.0)
        self._jvm = jvm
        self._producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, **QUIET})
        self._expected: Counter[str] = Counter()
        self._state = tempfile.TemporaryDirectory(prefix="soak-streams-")
        self._config = {
            "application.id": name,
            "bootstrap.servers": servers,
            "auto.offset.reset": "earliest",
            "commit.interval.ms": "1000",
            "repartition.purge.interval.ms": "1000",
            "state.dir": self._state.name,
            "num.stream.threads": "1",
            "group.protocol": "streams",
        }

    def open(self) -> None:
        topics = {"from": self.name, "to": f"{self.name}-counts"}
        self._ask("start", config=self._config, **topics)

    def begin(self) -> None:
        lines = {value: f"word{int(value.rpartition('/')[2]) % WORDS}" for value in self.values(RECORDS)}
        sent = delivered(self._producer, self.name, list(lines.values()))
        for value, word in lines.items():
            if word in sent:
                self._expected[word] += 1
                self.owed.add(value)

    def go_on(self) -> None:
        seen = self._ask("look")
        if seen["state"] in ("ERROR", "NOT_RUNNING", "PENDING_ERROR"):
            raise AssertionError(f"Kafka Streams is in state {seen['state']}")
        found = seen["counts"]
        if found is not None and all(found.get(word, 0) >= count for word, count in self._expected.items()):
            for value in list(self.owed):
                self.came(value)

    def close(self) -> None:
        self._ask("stop")

    def _ask(self, verb: str, **fields: Any) -> Any:
        return self._jvm.ask(f"word_count_{verb}", name=self.name, **fields)


class Resets:
    """A logger for librdkafka that counts where it has gone to another offset by itself, and why."""

    def __init__(self, errors: Counter[str]) -> None:
        self._errors = errors

    def log(self, level: int, text: str, *args: object) -> None:
        line = text % args
        if "OFFSET" in line:
            self._errors[line] += 1


def reader_of(servers: str, group: str, assigned: list[Partition], errors: Counter[str]) -> Consumer:
    """A consumer of committed records without a group that one joins. It reads twice rather than not at all."""
    reader = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": group,
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "log_level": 4,
        },
        logger=Resets(errors),
    )
    reader.assign(assigned)
    return reader


class Transacting(Working):
    """Transactions that are committed, aborted and cut off; a reader sees those of the first kind alone."""

    def __init__(self, name: str, servers: str) -> None:
        super().__init__(name)
        self._servers = servers
        self._chance = random.Random(name)
        self._void: set[str] = set()
        """Written in transactions that nobody has committed. Only the newest are kept."""
        assigned = [Partition(name, index, 0) for index in range(PARTITIONS)]
        self._reader = reader_of(servers, f"{name}-reader", assigned, self.errors)

    def open(self) -> None:
        """A transaction has a producer of its own often enough: it is made where there is none."""

    def begin(self) -> None:
        values = self.values(RECORDS)
        ending = self._chance.choice(("commit", "commit", "abort", "cut off", "timed out"))
        if ending != "commit":
            self._void = {*list(self._void)[-500:], *values}
        if ending == "timed out":
            self._leave_open(values)
        elif self.transact(values, ending):
            self.owed.update(values)

    def transact(self, values: list[str], ending: str) -> bool:
        """Whether it was committed."""
        raise NotImplementedError

    def _leave_open(self, values: list[str]) -> None:
        """The coordinator aborts it after a second."""
        config = {"transactional.id": f"{self.name}-left-open", "transaction.timeout.ms": 1000}
        producer = Producer({"bootstrap.servers": self._servers, **config, **QUIET})
        producer.init_transactions(SECONDS)
        producer.begin_transaction()
        delivered(producer, self.name, values)

    def go_on(self) -> None:
        for message in self._reader.consume(100, 0.2):
            error = message.error()
            if error is None:
                value = message.value().decode()
                if value in self._void:
                    self.wrong.append(f"{value} was read, and its transaction was never committed")
                self.came(value)
            elif error.code() not in PASSING:
                raise KafkaException(error)


class ConfluentTransacting(Transacting):
    _producer: Producer | None = None

    def transact(self, values: list[str], ending: str) -> bool:
        if self._producer is None:
            self._producer = Producer(
                {"bootstrap.servers": self._servers, "transactional.id": self.name, "linger.ms": 5, **QUIET}
            )
            self._producer.init_transactions(SECONDS)
        self._producer.begin_transaction()
        for number, value in enumerate(values):
            self._producer.produce(self.name, value, partition=number % PARTITIONS)
        self._producer.flush(SECONDS)
        if ending == "cut off":
            self._producer = None
        elif ending == "abort":
            self._producer.abort_transaction(SECONDS)
        else:
            self._producer.commit_transaction(SECONDS)
        return ending == "commit"

    def close(self) -> None:
        self._producer = None


class AiokafkaTransacting(Transacting):
    _producer: AIOKafkaProducer | None = None
    _thread: LoopThread | None = None

    def transact(self, values: list[str], ending: str) -> bool:
        self._thread = self._thread or LoopThread()
        self._thread.run(self._transact(values, ending))
        return ending == "commit"

    async def _transact(self, values: list[str], ending: str) -> None:
        if self._producer is None:
            self._producer = AIOKafkaProducer(bootstrap_servers=self._servers, transactional_id=self.name)
            await self._producer.start()
        await self._producer.begin_transaction()
        for number, value in enumerate(values):
            await self._producer.send_and_wait(self.name, value.encode(), partition=number % PARTITIONS)
        if ending == "cut off":
            cut, self._producer = self._producer, None
            await cut.client.close()  # stop() would abort
            await cut.stop()
        elif ending == "abort":
            await self._producer.abort_transaction()
        else:
            await self._producer.commit_transaction()

    def close(self) -> None:
        producer, self._producer = self._producer, None
        if self._thread is not None and producer is not None:
            self._thread.run(producer.stop())


class Orders(Working):
    """Orders for the workers of tests/chaos, which take turns: each has to be confirmed by some of them."""

    def __init__(self, servers: str, turns: dict[str, Callable[[], Any]]) -> None:
        super().__init__("orders")
        self._servers = servers
        self._turns = turns
        self.turns: Counter[str] = Counter()
        """Of each worker, those in which it has confirmed something."""
        self._producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, **QUIET})
        self._reader = reader_of(servers, "orders-reader", [Partition("confirmed", 0, 0)], self.errors)
        self._shifts = threading.Thread(target=self._shift, daemon=True)

    def start(self) -> None:
        super().start()
        self._shifts.start()

    def _shift(self) -> None:
        while not self._over.is_set():
            for name, turn in self._turns.items():
                before = self.done
                try:
                    with turn():
                        self._over.wait(TURN_SECONDS)
                except AssertionError as error:
                    self._note(error)
                if self.done > before:
                    self.turns[name] += 1
                if self._over.is_set():
                    return

    def open(self) -> None:
        """The clients live as long as this."""

    def begin(self) -> None:
        self.owed.update(delivered(self._producer, "orders", self.values(4 * RECORDS)))

    def go_on(self) -> None:
        for message in self._reader.consume(100, 0.2):
            error = message.error()
            if error is None:
                self.came(message.value().decode())
            elif error.code() not in PASSING:
                raise KafkaException(error)

    def close(self) -> None:
        """As `open`."""

    def stop(self) -> None:
        super().stop()
        self._shifts.join(2 * SECONDS)


def delivered(producer: Producer, topic: str, values: list[str]) -> set[str]:
    """Send, wait, and give the values that the broker has acknowledged."""
    done: set[str] = set()

    def told(value: str) -> Callable[[Any, Any], None]:
        return lambda error, _: None if error else done.add(value)

    for number, value in enumerate(values):
        partition = -1 if topic == "orders" else number % PARTITIONS
        producer.produce(topic, value, partition=partition, on_delivery=told(value))
    producer.flush(SECONDS)
    return done


def all_of(servers: str, stack: contextlib.ExitStack, jvms: bool = True) -> tuple[list[Working], dict[str, str]]:
    """The clients, and what is missing here: its name and why."""
    missing: dict[str, str] = {}
    found: list[Working] = [
        Relay(f"{name}-classic", lambda name=name: connect(name, servers, Jvm))  # type: ignore[misc]
        for name in ("aiokafka", "confluent-kafka", "kafka-python")
    ]
    found += [
        Relay("confluent-kafka-consumer", lambda: ModernConfluent(servers)),
        Sharing("confluent-kafka-share", servers),
        ConfluentTransacting("confluent-kafka-transactions", servers),
        AiokafkaTransacting("aiokafka-transactions", servers),
    ]
    if kcat_path() is None:
        missing["kcat"] = "this machine has no kcat"
    else:
        found.append(Kcat("kcat", servers))
    turns: dict[str, Callable[[], Any]] = {"aiokafka-classic": lambda: workers.working("correct", servers)}
    if jvms:
        try:
            compiled(JAVA / "Driver.java")
            compiled(JAVA / "Tools.java", TOOLS)
            jvm = stack.enter_context(Jvm())
            found += [
                Relay("java-classic", lambda: connect("java", servers, lambda: jvm)),
                JavaSharing("java-share", servers, jvm),
                Counting("java-streams", servers, jvm),
            ]
        except OracleError as error:
            missing["java"] = str(error)
    for name, command in (("java", programs.java), ("franz-go", programs.go)):
        if jvms or name != "java":
            try:
                program = stack.enter_context(Program(command()))
            except (OracleError, Unavailable) as error:
                missing[f"{name} workers"] = str(error)
                continue
            for protocol in ("classic", "consumer"):
                turns[f"{name}-{protocol}"] = lambda program=program, protocol=protocol: program(  # type: ignore[misc]
                    f"{protocol}-correct", servers
                )
    found.append(Orders(servers, turns))
    return found, missing


def topics(clients: list[Working]) -> dict[str, int]:
    """That they need."""
    found = {one.name: PARTITIONS for one in clients}
    return {**found, "confirmed": 1, **{f"{name}-counts": 1 for name in found if name.endswith("streams")}}
