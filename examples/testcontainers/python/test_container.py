"""One broker in a container, and a test that begins with what it had at the start."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any
from urllib.request import Request, urlopen

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from kafka_stub_container import KafkaStubContainer


def why_not() -> str | None:
    """What is missing to run a container; None where an engine has the image, or CI wants it to be tried."""
    if "KAFKASTUB_ENGINE" in os.environ:
        return None
    if shutil.which("docker") is None:
        return "this machine has no docker"
    found = subprocess.run(["docker", "image", "inspect", "kafkastub"], capture_output=True, text=True, check=False)
    return found.stderr.strip() if found.returncode else None


@pytest.fixture(scope="session")
def kafka() -> Iterator[KafkaStubContainer]:
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with KafkaStubContainer(topics={"orders": 1}) as container:
        yield container


def post(kafka: KafkaStubContainer, path: str, **body: Any) -> Any:
    with urlopen(Request(kafka.control_url + path, json.dumps(body).encode())) as answer:
        return json.load(answer)


def test_an_idle_group_is_forgotten_after_a_week(kafka: KafkaStubContainer) -> None:
    post(kafka, "/v1/snapshots", id="seed")
    servers = {"bootstrap.servers": kafka.bootstrap_servers}
    producer = Producer(servers)
    producer.produce("orders", "two teapots")
    assert producer.flush(30) == 0

    orders = TopicPartition("orders", 0)
    consumer = Consumer({**servers, "group.id": "shipping", "auto.offset.reset": "earliest"})
    consumer.assign([orders])
    (order,) = consumer.consume(1, 30)
    assert order.value() == b"two teapots"
    post(kafka, "/v1/clock/freeze")
    consumer.commit(message=order, asynchronous=False)
    assert consumer.committed([orders], 30)[0].offset == 1
    post(kafka, "/v1/clock/advance", by="7d")
    assert consumer.committed([orders], 30)[0].offset < 0
    consumer.close()

    post(kafka, "/v1/snapshots/seed/restore")
    consumer = Consumer({**servers, "group.id": "shipping"})
    assert consumer.get_watermark_offsets(orders, 30) == (0, 0)
    consumer.close()
