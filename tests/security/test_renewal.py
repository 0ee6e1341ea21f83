"""Clients whose sessions are short (KIP-368): they renew them on the same connection, and nothing is lost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from tests.clients.jvm import Jvm
from tests.oracle.apache_kafka import start_java

SESSION_MS = 2000
RENEWALS = 3
PATIENCE = 120
"""Seconds: where the machine is too busy for a client to renew in time, it connects again, and we wait for more."""


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    config = {"connections.max.reauth.ms": SESSION_MS, "sasl.enabled.mechanisms": "SCRAM-SHA-256"}
    with KafkaStub(users={"alice": "secret"}, config=config, topics={"java": 1, "confluent": 1}) as running:
        yield running


def renewals(stub: KafkaStub, client_id: str) -> int:
    """How often a connection of the client's was authenticated again: of each the most that was seen."""
    shaken = Counter(
        entry.sender.connection_id for entry in stub.journal.requests(api="SaslHandshake", client_id=client_id)
    )
    return max(shaken.values(), default=1) - 1


class WithConfluent:
    """A producer and a consumer of librdkafka."""

    def __init__(self, servers: str) -> None:
        from confluent_kafka import Consumer, Producer, TopicPartition

        settings: dict[str, Any] = {
            "bootstrap.servers": servers,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.username": "alice",
            "sasl.password": "secret",
            "log_level": 0,
        }
        # Where a session ended before it was renewed, what was under way is sent again: once, and in its order.
        self.producer = Producer(settings | {"client.id": "confluent-producer", "enable.idempotence": True})
        self.consumer = Consumer(settings | {"client.id": "confluent-consumer", "group.id": "g"})
        self.consumer.assign([TopicPartition("confluent", 0, 0)])
        self.sent = 0
        self.read: list[int] = []

    def step(self) -> None:
        self.producer.produce("confluent", str(self.sent))
        self.sent += 1
        self.producer.poll(0)
        self.receive()

    def receive(self) -> None:
        message = self.consumer.poll(0.02)
        if message is not None and message.error() is None:
            self.read.append(int(message.value()))

    def close(self) -> None:
        deadline = time.monotonic() + PATIENCE
        assert self.producer.flush(PATIENCE) == 0
        while len(self.read) < self.sent and time.monotonic() < deadline:
            self.receive()
        self.consumer.close()


@pytest.mark.behaviour("SA-6", "SH-5")
def test_clients_go_on_over_several_renewals(stub: KafkaStub, jvm: Jvm, tmp_path: Path):
    """`jvm` is asked for nothing: it skips the test where there is none."""
    del jvm
    settings = tmp_path / "client.properties"
    settings.write_text(
        f"bootstrap.servers={stub.bootstrap_servers}\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="alice" password="secret";\nclient.id=java\nlinger.ms=0\n'
    )
    java = start_java(Path(__file__).parent / "Renewing.java", str(settings), "java")
    try:
        confluent = WithConfluent(stub.bootstrap_servers)
        deadline = time.monotonic() + PATIENCE
        while True:
            confluent.step()
            seen = {name: renewals(stub, name) for name in ("java", "confluent-producer", "confluent-consumer")}
            if min(seen.values()) >= RENEWALS:
                break
            assert java.poll() is None
            assert time.monotonic() < deadline, seen
        confluent.close()
        said, complained = java.communicate("end\n", timeout=PATIENCE)
    finally:
        java.kill()
        java.wait()
    assert confluent.read == list(range(confluent.sent))
    assert said, complained
    sent, read = map(int, said.split())
    assert 0 < sent == read
