"""The same test body on the stub, through a proxy in front of a stub, and through one in front of Apache Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, cast

import pytest

from kafkastub import KafkaProxy, KafkaStub, NotInFront
from kafkastub.client import Client, ClientError
from kafkastub.client import groups as of_groups
from kafkastub.client.routing import TRANSACTION
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from tests.waiting import until

T = TypeVar("T")

FRONTS = ["stub", "proxy", pytest.param("proxy-kafka", marks=pytest.mark.oracle_proxy)]
"""For a fixture's `params`."""


class Skipping(KafkaProxy):
    """A proxy that skips a test which asks for what only a stub can do."""

    def _call(self, work: Callable[[], T]) -> T:
        """In its thread."""
        return self._thread.call(work)

    def __getattr__(self, name: str) -> Any:
        if name == "_running":
            pytest.skip("this is a proxy in front of a cluster: there is nothing to look into")
        try:
            return super().__getattr__(name)
        except NotInFront as error:
            pytest.skip(str(error))


@contextmanager
def front(
    request: pytest.FixtureRequest,
    topics: Mapping[str, int] | None = None,
    config: Mapping[str, object] | None = None,
    profile: str = "kips",
    **arguments: Any,
) -> Iterator[KafkaStub]:
    """What `request.param` says; in front of Apache Kafka, without what earlier tests have left there."""
    if request.param == "stub":
        with KafkaStub(topics=topics, config=config, profile=profile, **arguments) as stub:
            yield stub
    elif request.param == "proxy":
        with (
            KafkaStub(topics=topics, config=config, profile=profile) as behind,
            Skipping(behind.bootstrap_servers, **arguments) as proxy,
        ):
            yield cast(KafkaStub, proxy)
    else:
        kafka = request.getfixturevalue("apache_kafka")
        clean(kafka.bootstrap_servers)
        with Skipping(kafka.bootstrap_servers, **arguments) as proxy:
            for name, partitions in (topics or {}).items():
                proxy.create_topic(name, partitions)
            with Client(kafka.bootstrap_servers) as client:
                for group in "abgh":  # a new cluster has no coordinators before somebody asks
                    client.coordinator(group)
                    client.ask_coordinator(group, DescribeGroupsRequest(groups=[group]))
                # ... and no producer ids
                until(lambda: not client.ask(InitProducerIdRequest(None, 1000)).error_code, "producer ids")
                for name in ("a", "b", "tx", "xt"):
                    until(lambda name=name: _is_coordinated(client, name), f"a coordinator of transaction {name}")
            yield cast(KafkaStub, proxy)


def _is_coordinated(client: Client, transactional_id: str) -> bool:
    asked = DescribeTransactionsRequest([transactional_id])
    (told,) = client.ask_coordinator(transactional_id, asked, TRANSACTION).transaction_states
    return told.error_code in (ErrorCode.NONE, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)


def clean(bootstrap_servers: str) -> None:
    """No topics but the cluster's own, no groups."""
    from kafkastub.client import topics

    with Client(bootstrap_servers) as client:
        topics.delete(client, [name for name in topics.names(client) if not name.startswith("__")])
        for group in of_groups.list_groups(client):
            with suppress(ClientError):
                of_groups.delete(client, group.group_id)
        until(lambda: all(name.startswith("__") for name in topics.names(client)), "topics gone")
