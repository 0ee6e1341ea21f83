"""The client libraries behind `tests.clients.client.Client`, by name."""

from __future__ import annotations

from collections.abc import Callable

from tests.clients.client import Client
from tests.clients.jvm import Jvm

NAMES = ("aiokafka", "confluent-kafka", "kafka-python", "java")


def connect(name: str, servers: str, jvm: Callable[[], Jvm]) -> Client:
    """The client library `name`, for the broker at `servers`; of the other libraries nothing is imported."""
    if name == "aiokafka":
        from tests.clients.adapters.with_aiokafka import AiokafkaClient

        return AiokafkaClient(servers)
    if name == "confluent-kafka":
        from tests.clients.adapters.with_confluent import ConfluentClient

        return ConfluentClient(servers)
    if name == "kafka-python":
        from tests.clients.adapters.with_kafka_python import KafkaPythonClient

        return KafkaPythonClient(servers)
    from tests.clients.adapters.with_java import JavaClient

    return JavaClient(servers, jvm())
