"""A real cluster in the stub's place (KAFKA_STUB_BOOTSTRAP)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import pytest

from kafkastub.stub.errors import TopicError
from kafkastub.stub.in_front.proxy import KafkaProxy
from kafkastub.stub.in_front.refusing import REASONS
from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from kafkastub import KafkaStub


class ClusterInFront(KafkaProxy):
    """A proxy in front of it. What only a stub can do skips the test that asks for it, with the reason."""

    def __init__(
        self,
        bootstrap_servers: str,
        topics: Mapping[str, int],
        command_config: str | None = None,
        chaos: Mapping[str, Any] | None = None,
    ) -> None:
        """`chaos`: what a proxy is told of it."""
        super().__init__(bootstrap_servers, command_config=command_config, **(chaos or {}))
        self._cluster = bootstrap_servers
        self._wanted = topics

    def start(self) -> Self:
        super().start()
        try:
            for name, partitions in self._wanted.items():
                self.create_topic(name, partitions)
        except BaseException:
            self.close()
            raise
        return self

    def create_topic(self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        """Create a topic and wait until it has its leaders; one that is there already is left as it is."""
        try:
            super().create_topic(name, partitions, configs)
        except TopicError as error:
            if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                raise

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        why = REASONS.get(name, "it has no such thing")
        pytest.skip(f"kafka_stub.{name} needs the stub, and KAFKA_STUB_BOOTSTRAP points at {self._cluster}: {why}")


def add_topics(broker: KafkaStub | KafkaProxy, topics: Mapping[str, int]) -> None:
    """Create topics on a broker that other tests use too, unless they exist.

    Raises pytest.UsageError for one that exists with another number of partitions.
    """
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
