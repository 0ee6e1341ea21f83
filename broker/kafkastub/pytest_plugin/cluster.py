"""A real cluster in the stub's place (KAFKA_STUB_BOOTSTRAP)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self

import pytest

from kafkastub.client import of_groups
from kafkastub.client import topics as of_topics
from kafkastub.client.errors import BrokerError, ClientError
from kafkastub.stub.errors import TopicError
from kafkastub.stub.in_front.proxy import KafkaProxy
from kafkastub.stub.in_front.refusing import REASONS
from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from kafkastub import KafkaStub
    from kafkastub.client import Client

_WRITE_GROUPS: Final = frozenset({
    "JoinGroup", "OffsetCommit", "TxnOffsetCommit", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat",
    "StreamsGroupHeartbeat", "AlterShareGroupOffsets",
})  # fmt: skip
"""APIs whose requests make a group that was not there."""


class ClusterInFront(KafkaProxy):
    """A proxy in front of it. What only a stub can do skips the test that asks for it, with the reason.

    At its end it deletes the topics that it has created. One that a test has for itself also deletes the groups that
    the test's clients have made: a stub would have gone with all of them.
    """

    def __init__(
        self,
        bootstrap_servers: str,
        topics: Mapping[str, int],
        command_config: str | None = None,
        chaos: Mapping[str, Any] | None = None,
        own: bool = False,
    ) -> None:
        """`chaos`: what a proxy is told of it. `own`: whether one test has it for itself."""
        super().__init__(bootstrap_servers, command_config=command_config, **(chaos or {}))
        self._cluster = bootstrap_servers
        self._wanted, self._own = topics, own
        self._created: list[str] = []
        self._groups_before: frozenset[str] | None = None
        """None before the start, and of a proxy that tests share."""

    def start(self) -> Self:
        super().start()
        try:
            if self._own:
                with self._client() as client:
                    self._groups_before = frozenset(_group_ids(client))
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
        else:
            self._created.append(name)

    def close(self) -> None:
        """Delete what the test has made, and stop. What cannot be deleted, such as a group with members, stays."""
        created, self._created = self._created, []
        before, self._groups_before = self._groups_before, None
        if created or before is not None:
            with suppress(ClientError, OSError, RuntimeError):  # the cluster has gone, or the proxy
                self._delete(created, before)
        super().close()

    def _delete(self, topics: list[str], groups_before: frozenset[str] | None) -> None:
        groups: set[str] = set()
        if groups_before is not None:
            asked = self.journal.requests(where=lambda entry: entry.api in _WRITE_GROUPS)
            groups = {name for entry in asked for name in entry.groups} - groups_before
        with self._client() as client:
            delete(client, topics, groups)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        why = REASONS.get(name, "it has no such thing")
        pytest.skip(f"kafka_stub.{name} needs the stub, and KAFKA_STUB_BOOTSTRAP points at {self._cluster}: {why}")


def delete(client: Client, topics: Iterable[str], groups: Iterable[str]) -> None:
    """Delete topics and groups, one by one: what cannot be deleted keeps nothing else from it."""
    for topic in topics:
        with suppress(BrokerError):
            of_topics.delete(client, [topic])
    for group in groups:
        with suppress(BrokerError):
            of_groups.delete(client, group)


def delete_prefixed(broker: KafkaProxy, prefix: str) -> None:
    """Delete topics and groups whose names begin like that."""
    with broker._client() as client:
        topics = [name for name in of_topics.names(client) if name.startswith(prefix)]
        delete(client, topics, [name for name in _group_ids(client) if name.startswith(prefix)])


def _group_ids(client: Client) -> Iterator[str]:
    """Groups of all types."""
    for node in client.nodes():
        for row in of_groups.listed(client, node, (), ()):
            yield row.group_id


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
