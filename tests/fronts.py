"""The same test body on the stub, through a proxy in front of a stub, and through one in front of Apache Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import pytest

from kafkastub import KafkaProxy, KafkaStub, NotInFront
from kafkastub.client import Client, of_groups
from kafkastub.client.errors import BrokerError
from kafkastub.client.routing import TRANSACTION
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
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
    """No topics but the cluster's own, no groups of any type, with members or without."""
    from kafkastub.client import topics

    with Client(bootstrap_servers) as client:
        topics.delete(client, [name for name in topics.names(client) if not name.startswith("__")])
        until(lambda: not _left(client), "groups gone")
        until(lambda: all(name.startswith("__") for name in topics.names(client)), "topics gone")


def _left(client: Client) -> list[str]:
    """The groups that are there although they have been asked to go."""
    rows = [row for node in client.nodes() for row in of_groups.listed(client, node, (), ())]
    for row in rows:
        try:
            of_groups.delete(client, row.group_id)
        except BrokerError as error:
            if error.code == ErrorCode.NON_EMPTY_GROUP:
                _expel(client, row.group_id, row.group_type)
    return [row.group_id for row in rows]


def _expel(client: Client, group: str, group_type: str) -> None:
    """Let its members leave; those of a streams group go when their sessions end."""
    match group_type:
        case "consumer":
            (told,) = client.ask_coordinator(group, ConsumerGroupDescribeRequest([group])).groups
            for member in told.members:
                epoch = -2 if member.instance_id is not None else -1
                left = ConsumerGroupHeartbeatRequest(group, member.member_id, epoch, member.instance_id)
                client.ask_coordinator(group, left)
        case "share":
            (told,) = client.ask_coordinator(group, ShareGroupDescribeRequest([group])).groups
            for member in told.members:
                client.ask_coordinator(group, ShareGroupHeartbeatRequest(group, member.member_id, -1))
        case "classic":
            (told,) = client.ask_coordinator(group, DescribeGroupsRequest(groups=[group])).groups
            leaving = [MemberIdentity(member.member_id, member.group_instance_id) for member in told.members]
            client.ask_coordinator(group, LeaveGroupRequest(group, members=leaving))
