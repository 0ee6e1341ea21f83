"""A broker with something of everything in it: what the page is shown, photographed and checked with."""

from __future__ import annotations

import io
import json
import struct
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Final, Self

import fastavro
import httpx
from confluent_kafka import Consumer, Producer, ShareConsumer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from kafkastub.client import Client
from kafkastub.client.groups import commit, offsets
from tests.page.views import VIEWS
from tests.process.serving import Controlled
from tests.streams_instance import QUICK as STREAMS_QUICK
from tests.streams_instance import Instance, settle, words
from tests.stub.test_share_groups import QUICK as SHARE_QUICK
from tests.waiting import SECONDS, until

START: Final = "2030-02-25T09:00:00Z"
"""Broker time a week before the pictures: they shall not change with the day on which they are made."""
DAY_MS: Final = 86_400_000
HOUR_MS: Final = 3_600_000
PAYMENT: Final = {
    "type": "record",
    "name": "Payment",
    "fields": [
        {"name": "order", "type": "long"},
        {"name": "amount", "type": "double"},
        {"name": "currency", "type": {"type": "enum", "name": "Currency", "symbols": ["EUR", "CHF"]}},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}
"""The Avro schema of what is in topic payments."""
TOPICS: Final = {"orders": 3, "payments": 2, "shipments": 1, "lines": 2}
CONFIG: Final = {
    **SHARE_QUICK,
    **STREAMS_QUICK,
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 100,
    # Nobody is thrown out, and no record given back, while pictures are taken.
    "group.streams.max.session.timeout.ms": 3_600_000,
    "group.streams.session.timeout.ms": 3_600_000,
    "group.share.max.record.lock.duration.ms": 3_600_000,
    "group.share.record.lock.duration.ms": 3_600_000,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "default.replication.factor": 2,
    # By the machine's clock, like Kafka's brokers: the records here are of 2030.
    "log.message.timestamp.after.max.ms": 2**62,
}


def order(number: int) -> tuple[bytes, bytes]:
    """Key and value of a record in topic orders."""
    customer = f"c-{number % 17}"
    content = {"order": 4700 + number, "customer": customer, "total": 12.5 + number, "paid": True}
    return customer.encode(), json.dumps(content).encode()


def payment(number: int) -> tuple[bytes, bytes]:
    """Key and value of a record in topic payments: Avro, behind the id of its schema as Confluent's registry has it."""
    content = {"order": 4700 + number, "amount": 12.5 + number, "currency": "EUR", "note": None}
    packed = io.BytesIO()
    fastavro.schemaless_writer(packed, fastavro.parse_schema(PAYMENT), content)
    return f"{4700 + number}".encode(), b"\0" + struct.pack(">i", 7) + packed.getvalue()


QUIETLY: Final[dict[str, Any]] = {"log_level": 0}
"""librdkafka tells of each node that goes."""


class Asking:
    """JSON over HTTP to a control port, as a program does it; what is refused is an error."""

    def __init__(self, url: str) -> None:
        self.client = httpx.Client(base_url=url, timeout=SECONDS)

    def __call__(self, method: str, path: str, body: Any = None, **parameters: Any) -> Any:
        answer = self.client.request(method, path, json=body, params=parameters or None)
        assert answer.status_code < 300, (method, path, answer.text)
        return answer.json() if answer.content else None

    def close(self) -> None:
        self.client.close()


class Reader:
    """A consumer that polls in a thread of its own until it is told to stop; it can be paused, as a slow one is."""

    def __init__(self, servers: str, group: str, topics: list[str], client_id: str, **settings: Any) -> None:
        self.seen = 0
        self._going = threading.Event()
        self._going.set()
        self._paused = threading.Event()
        self._ended = threading.Event()
        self._consumer = Consumer(
            {
                **QUIETLY,
                "bootstrap.servers": servers,
                "group.id": group,
                "client.id": client_id,
                "auto.offset.reset": "earliest",
                "auto.commit.interval.ms": 100,
                "fetch.wait.max.ms": 50,
                **settings,
            }
        )
        self._topics = topics
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._consumer.subscribe(self._topics)
        stopped = False
        while not self._ended.is_set():
            assigned = self._consumer.assignment()
            if self._going.is_set() and stopped:
                self._consumer.resume(assigned)
                stopped = False
            elif not self._going.is_set() and not stopped and assigned:
                self._consumer.pause(assigned)
                self._paused.set()
                stopped = True
            message = self._consumer.poll(0.05)
            if message is not None and message.error() is None:
                self.seen += 1
        self._consumer.close()

    def pause(self) -> None:
        """It stays a member and reads nothing, from now on."""
        self._going.clear()
        assert self._paused.wait(SECONDS), "it has been assigned nothing"

    def go_on(self) -> None:
        self._paused.clear()
        self._going.set()

    def close(self) -> None:
        self._ended.set()
        self._thread.join(SECONDS)


class Shop:
    """A shop's broker: three nodes of which the second is down, topics, groups of each type, a fault that holds, …

    Attributes:
        url: of the control port.
        servers: of the broker.
        ask: HTTP to the control port.
        readers: consumers, the two of `billing` first.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self.readers: list[Reader] = []
        self._kept: list[Any] = []
        """Producers: one that is collected is gone, and what it holds open with it."""

    def __enter__(self) -> Self:
        with self._stack:
            topics = [f"{name}:{partitions}" for name, partitions in TOPICS.items()]
            configs = [f"{key}={value}" for key, value in CONFIG.items()]
            process = self._stack.enter_context(Controlled("--nodes", "3", "--config", *configs, "--topic", *topics))
            self.url, self.servers = process.url, process.servers
            self.ask = Asking(self.url)
            self._stack.callback(self.ask.close)
            self._old_times()
            self._records()
            self._groups()
            self._share_group()
            self._streams_group()
            self._transactions()
            self._faults()
            self._rest()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def address(self, view: str) -> str:
        """Where that view (`views.VIEWS`) is in this shop; an entry of the journal is made for it."""
        found = VIEWS[view]
        if "{entry}" in found:
            with Client(self.servers, client_id="auditor") as client:
                offsets(client, "experiment")
            asked = self.ask("GET", "/v1/journal", api="OffsetFetch", client_id="auditor", limit=1)
            found = found.format(entry=asked["entries"][0]["sequence"])
        return found

    # -- what is there -------------------------------------------------------------------------------------------

    def _old_times(self) -> None:
        """One node goes; groups that nobody is in, whose offsets go in an hour, in two days and in six."""
        ask = self.ask
        ask("POST", "/v1/nodes/2/stop")
        ask("POST", "/v1/clock/freeze")
        begins = ask("POST", "/v1/clock/set", {"to": START})["now_ms"]
        self.produce("orders", [(b"warm-up", b"{}")])
        with Client(self.servers) as client:
            for group, at in (
                ("nightly-export", begins + HOUR_MS),
                ("experiment", begins + 2 * DAY_MS),
                ("fraud-check", begins + 6 * DAY_MS),
            ):
                ask("POST", "/v1/clock/set", {"to": at})
                commit(client, group, {("orders", 0): 1, ("orders", 1): 0})
        ask("POST", "/v1/snapshots", {"id": "before-the-release"})
        ask("POST", "/v1/clock/set", {"to": begins + 7 * DAY_MS})

    def produce(self, topic: str, records: Sequence[tuple[bytes | None, bytes | None]], **more: Any) -> None:
        """Records of (key, value), the last one now by broker time, `apart_ms` between two of them."""
        now = self.ask("GET", "/v1/clock")["now_ms"]
        apart_ms = more.pop("apart_ms", 0)
        producer = Producer({**QUIETLY, "bootstrap.servers": self.servers, "client.id": "till", "linger.ms": 0})
        failures: list[Any] = []
        for number, (key, value) in enumerate(records):
            when = now - (len(records) - 1 - number) * apart_ms
            producer.produce(
                topic, value, key, timestamp=when, on_delivery=lambda error, _: error and failures.append(error), **more
            )
        assert producer.flush(SECONDS) == 0
        assert failures == []

    def _records(self) -> None:
        headers = [("trace", b"4bf92f3577b34da6"), ("source", b"till")]
        self.produce("orders", [order(number) for number in range(240)], headers=headers, apart_ms=60_000)
        self.produce("payments", [payment(number) for number in range(40)], apart_ms=300_000)
        parcels = [(f"{4700 + each}".encode(), f"parcel {each} has left the house".encode()) for each in range(12)]
        self.produce("shipments", [*parcels, (b"4700", None), (b"label", bytes(range(256)))], apart_ms=60_000)
        self.produce("lines", [(None, f"line {number}".encode()) for number in range(12)])

    def _groups(self) -> None:
        """`billing` of the new protocol falls behind, `reports` of the old one has read everything."""
        for name in ("billing-1", "billing-2"):
            self.read("billing", ["orders", "payments"], name, **{"group.protocol": "consumer"})
        reports = self.read("reports", ["orders"], "reports-1", **{"session.timeout.ms": 45_000})
        until(lambda: reports.seen == 241, lambda: f"reports has {reports.seen}")
        for group, members in (("billing", 2), ("reports", 1)):
            self.ask("GET", f"/v1/groups/{group}/wait", state="Stable", members=members, lag=0, timeout=60)
        for reader in self.readers[:2]:
            reader.pause()
        self.produce("orders", [order(number) for number in range(240, 270)])
        until(lambda: reports.seen == 271, lambda: f"reports has {reports.seen}")

    def read(self, group: str, topics: list[str], client_id: str, **settings: Any) -> Reader:
        """One more consumer, there until the end."""
        reader = Reader(self.servers, group, topics, client_id, **settings)
        self._stack.callback(reader.close)
        self.readers.append(reader)
        return reader

    def _share_group(self) -> None:
        """`couriers` has taken records and said nothing of most of them."""
        self.ask("PUT", "/v1/share-groups/couriers/configs", {"configs": {"share.auto.offset.reset": "earliest"}})
        settings = {**QUIETLY, "bootstrap.servers": self.servers, "group.id": "couriers", "client.id": "courier-1"}
        worker = ShareConsumer({**settings, "share.acknowledgement.mode": "explicit"})
        self._stack.callback(worker.close)
        worker.subscribe(["shipments"])
        taken: list[Any] = []
        until(lambda: taken.extend(worker.poll(0.1)) or taken, "records for a courier")
        for message in taken[:3]:
            worker.acknowledge(message)
        worker.commit_sync()

    def _streams_group(self) -> None:
        instances = [Instance(self.servers, name, "word-count", words("lines", "word-count")) for name in ("a", "b")]
        for instance in instances:
            self._stack.callback(instance.__exit__, None, None, None)
            instance.beat()
        settle(*instances)

    def _transactions(self) -> None:
        for name, ends in (("checkout-1", True), ("checkout-2", False)):
            producer = Producer(
                {**QUIETLY, "bootstrap.servers": self.servers, "transactional.id": name, "client.id": name}
            )
            producer.init_transactions(SECONDS)
            producer.begin_transaction()
            producer.produce("payments", b"\0" + name.encode(), partition=0)
            producer.flush(SECONDS)
            if ends:
                producer.commit_transaction(SECONDS)
            self._kept.append(producer)
        self.ask("POST", "/v1/hanging-transactions", {"topic": "shipments", "partition": 0, "value": "left open"})

    def _faults(self) -> None:
        """One that has hit, one that waits for its request, one that holds a producer."""
        self.ask("POST", "/v1/faults", {"name": "slow-metadata", "api": "Metadata", "delay_ms": 5})
        refusing = {"name": "full", "api": "OffsetCommit", "group": "nightly-export", "error": "NOT_COORDINATOR"}
        self.ask("POST", "/v1/faults", {**refusing, "times": 3})
        self.ask(
            "POST", "/v1/faults", {"name": "hold-loader", "api": "Produce", "client_id": "loader", "hold": "before"}
        )
        loader = Producer({**QUIETLY, "bootstrap.servers": self.servers, "client.id": "loader", "linger.ms": 0})
        self._kept.append(loader)
        loader.produce("orders", b"held", partition=0)
        loader.poll(0)
        self.ask("GET", "/v1/faults/hold-loader/wait", held=1, timeout=60)

    def _rest(self) -> None:
        ask = self.ask
        ask("POST", "/v1/quotas", {"client_id": "loader", "quotas": {"producer_byte_rate": 1048576}})
        ask("POST", "/v1/quotas", {"user": "analyst", "quotas": {"consumer_byte_rate": 524288}})
        ask("POST", "/v1/snapshots", {"id": "with-orders"})
        admin = AdminClient({"bootstrap.servers": self.servers})
        both = ResourcePatternType.LITERAL, ResourcePatternType.PREFIXED
        bindings = [
            AclBinding(ResourceType.TOPIC, "orders", both[0], "User:billing", "*", *_rule(AclOperation.READ)),
            AclBinding(ResourceType.TOPIC, "pay", both[1], "User:analyst", "10.0.0.7", *_rule(AclOperation.DESCRIBE)),
            AclBinding(
                ResourceType.GROUP, "reports", both[0], "User:guest", "*", AclOperation.ALL, AclPermissionType.DENY
            ),
        ]
        for future in admin.create_acls(bindings).values():
            future.result(SECONDS)


def _rule(operation: Any) -> tuple[Any, Any]:
    return operation, AclPermissionType.ALLOW
