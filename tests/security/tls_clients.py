"""Four client libraries that send one record over TLS, and say whether they could."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kafkastub.security.tls import ClientCertificate
from tests.clients.client import Refused

if TYPE_CHECKING:
    from tests.clients.jvm import Jvm

LIBRARIES = ("aiokafka", "confluent-kafka", "kafka-python", "java")
TOPIC = "orders"
SECONDS = 20


class NotSent(Exception):
    """The client gave up; the text is what it says."""


def send(
    library: str,
    servers: str,
    ca_file: str,
    shown: ClientCertificate | None = None,
    jvm: Callable[[], Jvm] | None = None,
    *,
    hopeless: bool = False,
) -> None:
    """Send one record to TOPIC. Raises NotSent. `hopeless`: no client needs to try for long."""
    if library == "java":
        assert jvm is not None
        _with_java(servers, ca_file, shown, jvm())
    elif library == "kafka-python":
        if hopeless:
            _without_success(servers, ca_file, shown)
        else:
            _with_kafka_python(servers, ca_file, shown, SECONDS * 1000)
    elif library == "aiokafka":
        _with_aiokafka(servers, ca_file, shown)
    else:
        _with_confluent(servers, ca_file, shown)


def _with_aiokafka(servers: str, ca_file: str, shown: ClientCertificate | None) -> None:
    from aiokafka import AIOKafkaProducer
    from aiokafka.errors import KafkaError
    from aiokafka.helpers import create_ssl_context

    certificate, key = (None, None) if shown is None else (shown.certificate, shown.key)
    context = create_ssl_context(cafile=ca_file, certfile=certificate, keyfile=key)

    async def one() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=servers, security_protocol="SSL", ssl_context=context)
        try:
            await producer.start()
            await producer.send_and_wait(TOPIC, b"one")
        except KafkaError as error:
            raise NotSent(str(error)) from error
        finally:
            await producer.stop()

    asyncio.run(one())


def _with_confluent(servers: str, ca_file: str, shown: ClientCertificate | None) -> None:
    from confluent_kafka import KafkaError, Producer

    said: list[KafkaError] = []
    settings = {"bootstrap.servers": servers, "security.protocol": "SSL", "ssl.ca.location": ca_file, "log_level": 0}
    if shown is not None:
        settings |= {"ssl.certificate.location": shown.certificate, "ssl.key.location": shown.key}
    producer = Producer({**settings, "error_cb": said.append})
    delivered: list[object] = []
    producer.produce(TOPIC, b"one", on_delivery=lambda error, _: delivered.append(error))
    deadline = time.monotonic() + SECONDS
    while not delivered and not said and time.monotonic() < deadline:
        producer.poll(0.05)
    if said:
        producer.purge()
        producer.flush(1)
        raise NotSent(said[0].str())
    assert delivered == [None]


def _with_kafka_python(servers: str, ca_file: str, shown: ClientCertificate | None, patience_ms: int) -> None:
    from kafka import KafkaProducer
    from kafka.errors import KafkaError

    certificate, key = (None, None) if shown is None else (shown.certificate, shown.key)
    try:
        producer = KafkaProducer(
            bootstrap_servers=servers,
            security_protocol="SSL",
            ssl_cafile=ca_file,
            ssl_certfile=certificate,
            ssl_keyfile=key,
            bootstrap_timeout_ms=patience_ms,
        )
    except KafkaError as error:
        raise NotSent(str(error)) from error
    try:
        producer.send(TOPIC, b"one").get(SECONDS)
    finally:
        producer.close()


def _without_success(servers: str, ca_file: str, shown: ClientCertificate | None) -> None:
    """In a process of its own: kafka-python keeps the sockets of a failed start, and nobody has a handle to them."""
    code = "import sys; from tests.security import tls_clients as c; c.alone(*sys.argv[1:])"
    command = [sys.executable, "-c", code, servers, ca_file, *(shown or ())]
    root = Path(__file__).resolve().parents[2]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=60)
    if ended.returncode:
        assert "NotSent" in ended.stderr, ended.stderr
        raise NotSent(ended.stderr.splitlines()[-1])


def alone(servers: str, ca_file: str, *shown: str) -> None:
    """What that process does."""
    _with_kafka_python(servers, ca_file, ClientCertificate(*shown) if shown else None, 700)


def _with_java(servers: str, ca_file: str, shown: ClientCertificate | None, jvm: Jvm) -> None:
    settings = {
        "bootstrap.servers": servers,
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": ca_file,
        "max.block.ms": str(SECONDS * 1000),
    }
    if shown is not None:
        settings |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": shown.both}
    for name in ("key", "value"):
        settings[f"{name}.serializer"] = "org.apache.kafka.common.serialization.StringSerializer"
    try:
        jvm.ask("produce", topic=TOPIC, config=settings, records=[[None, None, "one", None]])
    except Refused as refused:  # to Kafka's Errors an authentication that failed is a kind of InvalidConfiguration
        if "SslAuthenticationException" not in str(refused.__cause__):
            raise
        raise NotSent(str(refused.__cause__)) from refused
