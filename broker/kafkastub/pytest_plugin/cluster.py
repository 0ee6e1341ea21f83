"""A real cluster in the stub's place (KAFKA_STUB_BOOTSTRAP)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import pytest

from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from kafkastub import KafkaStub
    from kafkastub.client import Client

_SECONDS: Final = 30
"""In which a new topic has to have its leaders."""


class RealCluster:
    """What of a stub a real cluster has too. Whatever else a test asks for skips it, with the reason."""

    def __init__(self, bootstrap_servers: str, topics: Mapping[str, int]) -> None:
        self.bootstrap_servers = bootstrap_servers
        """`HOST:PORT`, for a client's `bootstrap.servers`."""
        host, _, port = bootstrap_servers.split(",", maxsplit=1)[0].rpartition(":")
        self.host, self.port = host.strip("[]"), int(port)
        for name, partitions in topics.items():
            self.create_topic(name, partitions)

    def create_topic(self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        """Create a topic and wait until it has its leaders; one that is there already is left as it is."""
        from kafkastub.client import BrokerError, Client, topics

        with Client(self.bootstrap_servers) as client:
            try:
                topics.create(client, name, partitions=partitions, configs=dict(configs or {}))
            except BrokerError as error:
                if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                    raise
            deadline = time.monotonic() + _SECONDS
            while not _complete(client, name):
                if time.monotonic() > deadline:
                    raise TimeoutError(f"topic {name} has no leaders after {_SECONDS} s on {self.bootstrap_servers}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        pytest.skip(f"kafka_stub.{name} needs the stub, and KAFKA_STUB_BOOTSTRAP points at {self.bootstrap_servers}")


def add_topics(broker: KafkaStub | RealCluster, topics: Mapping[str, int]) -> None:
    """Create topics on a broker that other tests use too, unless they exist.

    Raises pytest.UsageError for one that exists with another number of partitions.
    """
    from kafkastub import TopicError
    from kafkastub.client import Client
    from kafkastub.client.topics import describe

    for name, partitions in topics.items():
        try:
            broker.create_topic(name, partitions)
        except TopicError as error:
            if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                raise
            with Client(broker.bootstrap_servers) as client:
                there = len(describe(client, [name])[name].partitions)
            if there != partitions:
                raise pytest.UsageError(
                    f"@pytest.mark.kafka_stub(topics={{{name!r}: {partitions}}}): on kafka_stub_server, which all "
                    f"tests share, {name} has {there} by now; take kafka_stub, or another name (kafka_topic gives one)"
                ) from None


def _complete(client: Client, name: str) -> bool:
    """Whether every partition of the topic has a leader."""
    from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic

    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    (topic,) = client.ask(request).topics
    return topic.error_code == ErrorCode.NONE and all(partition.leader_id >= 0 for partition in topic.partitions)
