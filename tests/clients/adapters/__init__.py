"""The client libraries behind `tests.clients.client.Client`, and behind `tests.clients.data.DataClient`, by name."""

from __future__ import annotations

from collections.abc import Callable

from tests.clients.client import Client
from tests.clients.data import DataClient
from tests.clients.jvm import Jvm

NAMES = ("aiokafka", "confluent-kafka", "kafka-python", "java")
DATA_NAMES = (*NAMES, "kcat")


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


def connect_data(name: str, servers: str, jvm: Callable[[], Jvm]) -> DataClient:
    """As `connect`, for the data plane."""
    if name == "aiokafka":
        from tests.clients.adapters.data_aiokafka import AiokafkaData

        return AiokafkaData(servers)
    if name == "confluent-kafka":
        from tests.clients.adapters.data_confluent import ConfluentData

        return ConfluentData(servers)
    if name == "kafka-python":
        from tests.clients.adapters.data_kafka_python import KafkaPythonData

        return KafkaPythonData(servers)
    if name == "kcat":
        from tests.clients.adapters.data_kcat import KcatData

        return KcatData(servers)
    from tests.clients.adapters.data_java import JavaData

    return JavaData(servers, jvm())
