"""Groups of the consumer protocol whose members mean no good: what they cost memory and the others."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

import pytest

from kafkastub import KafkaStub
from kafkastub.coordinator import GroupCoordinator
from kafkastub.handlers import k68_consumer_group_heartbeat as k68
from kafkastub.security import Operation, ResourceType
from kafkastub.state import lazy_imports
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_describe_response import ConsumerGroupDescribeResponse
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.schema import Message
from tests.hostile.test_hostile import linux, memory_mb
from tests.hostile.test_transactions_by_the_thousand import pipelined
from tests.hostile.waits import shortest_wait
from tests.process.serving import Serving
from tests.rawclient import RawClient

BEAT, DESCRIBE = ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.CONSUMER_GROUP_DESCRIBE
AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
BUT_DELETE = sum(1 << code for code in (3, 8, 10, 11))
"""Read, Describe, DescribeConfigs, AlterConfigs (KIP-430)."""
_PREFIXED, _DENY, _ALLOW = 4, 2, 3
GROUPS = 8_000
UNKNOWN = 170_000


def heartbeat(group: str, member: str = "m", epoch: int = 0, **what: object) -> ConsumerGroupHeartbeatRequest:
    """One that joins subscribes to "orders", unless `what` says otherwise."""
    joining: dict[str, object] = {"subscribed_topic_names": ["orders"], "topic_partitions": []}
    told: dict[str, object] = {"rebalance_timeout_ms": 300_000, **joining} if epoch == 0 else {}
    return ConsumerGroupHeartbeatRequest(group, member, epoch, **(told | what))  # type: ignore[arg-type]


def beat(client: RawClient, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
    return decode(ConsumerGroupHeartbeatResponse, 1, client.exchange(BEAT, 1, encode(request, 1)))


def join_all(client: RawClient, requests: Sequence[ConsumerGroupHeartbeatRequest]) -> None:
    for answer in pipelined(client, BEAT, 1, requests):
        assert decode(ConsumerGroupHeartbeatResponse, 1, answer[5:]).error_code == ErrorCode.NONE


def asked(client: RawClient, key: int, version: int, request: Message) -> Callable[[], None]:
    """Ask, and throw the answer away as it comes: what it costs us would be taken for the broker's."""
    body = encode(request, version)

    def ask() -> None:
        client.send(key, version, body, True)
        assert client.drain()

    return ask


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with Serving("--topic", "orders:100", "--config", "auto.create.topics.enable=false") as process:
        yield process


@pytest.fixture
def client(serving: Serving) -> Iterator[RawClient]:
    with RawClient(serving.servers) as made:
        beat(made, heartbeat("mine"))
        yield made


@pytest.mark.behaviour("CG-14")
def test_the_first_heartbeat_brings_its_code_in_part_by_part(monkeypatch: pytest.MonkeyPatch):
    brought: list[str] = []
    with KafkaStub(topics={"orders": 1}) as stub, RawClient(stub.bootstrap_servers) as client:
        with RawClient(stub.bootstrap_servers) as other:

            def slowly(name: str) -> None:
                if not brought:  # comes while the server is busy with that
                    other.send(ApiKey.API_VERSIONS, 0, b"")
                brought.append(name)

            def answered(state: object) -> GroupCoordinator:
                other.socket.setblocking(False)
                assert other.socket.recv(10)
                return coordinator_of(state)  # type: ignore[arg-type]

            monkeypatch.setattr(lazy_imports, "import_module", slowly)
            coordinator_of = lazy_imports.coordinator_of
            monkeypatch.setattr(lazy_imports, "coordinator_of", answered)
            assert beat(client, heartbeat("first")).error_code == ErrorCode.NONE
        monkeypatch.setattr(lazy_imports, "coordinator_of", coordinator_of)
        assert brought == k68.HEARTBEATS.modules
        assert beat(client, heartbeat("second")).error_code == ErrorCode.NONE
        assert brought == k68.HEARTBEATS.modules


@linux
@pytest.mark.behaviour("CD-10", "DG-9")
def test_descriptions_of_many_groups_leave_others_their_turn(serving: Serving, client: RawClient):
    names = [f"no-{number}" for number in range(UNKNOWN)]
    unknown = asked(client, DESCRIBE, 1, ConsumerGroupDescribeRequest([*names, "mine"]))
    assert shortest_wait(serving.servers, unknown) < 200
    unknown = asked(client, ApiKey.DESCRIBE_GROUPS, 6, DescribeGroupsRequest([*names, "mine"]))
    assert shortest_wait(serving.servers, unknown) < 200
    there = [f"g-{number}" for number in range(GROUPS)]
    join_all(client, [heartbeat(name) for name in there])
    assert shortest_wait(serving.servers, asked(client, DESCRIBE, 1, ConsumerGroupDescribeRequest(there))) < 100
    data = client.exchange(DESCRIBE, 1, encode(ConsumerGroupDescribeRequest([*there, "no", "", *there]), 1))
    groups = decode(ConsumerGroupDescribeResponse, 1, data).groups
    assert groups[0].error_code == ErrorCode.INVALID_GROUP_ID
    assert sorted(one.group_id for one in groups if one.group_state == "Stable") == sorted(2 * there)
    assert [one.group_id for one in groups if one.error_code == ErrorCode.GROUP_ID_NOT_FOUND] == ["no"]
    join_all(client, [heartbeat(name, epoch=-1) for name in there])


@pytest.mark.parametrize(("nodes", "others"), [(1, 0), (2, 1)])
def test_many_descriptions_with_what_one_may_do(nodes: int, others: int):
    """Where somebody asks for that, it is what the entries say, not all that there is."""
    settings = {"authorizer.class.name": AUTHORIZER, "super.users": "", "allow.everyone.if.no.acl.found": True}
    with (
        KafkaStub(topics={"orders": 1}, nodes=nodes, config=settings) as stub,
        RawClient(stub.bootstrap_servers.split(",")[0]) as client,
    ):
        entries = [
            AclCreation(ResourceType.GROUP, "g-", _PREFIXED, "User:ANONYMOUS", "*", operation, permission)
            for operation, permission in ((Operation.ALL, _ALLOW), (Operation.DELETE, _DENY))
        ]
        client.exchange(ApiKey.CREATE_ACLS, 3, encode(CreateAclsRequest(entries), 3))
        names = [f"g-{number}" for number in range(150)]
        beaten = [beat(client, heartbeat(name)).error_code for name in names]
        request = ConsumerGroupDescribeRequest([*names, "no"], True)
        groups = decode(ConsumerGroupDescribeResponse, 1, client.exchange(DESCRIBE, 1, encode(request, 1))).groups
    mine = {name for name, code in zip(names, beaten, strict=True) if code == ErrorCode.NONE}
    assert {one.group_id for one in groups if one.group_state == "Stable"} == mine
    assert {one.authorized_operations for one in groups if one.group_id in mine} == {BUT_DELETE}
    assert (len(groups), len(mine) < 150) == (151, bool(others))


@linux
def test_many_who_ask_for_very_many_groups_at_once_and_do_not_read(serving: Serving, client: RawClient):
    body = encode(ConsumerGroupDescribeRequest([f"no-{number}" for number in range(100_000)]), 1)
    asked(client, DESCRIBE, 1, ConsumerGroupDescribeRequest([f"no-{number}" for number in range(100_000)]))()
    before = memory_mb(serving)
    with contextlib.ExitStack() as stack:
        many = [stack.enter_context(RawClient(serving.servers)) for _ in range(20)]
        for one in many:
            one.send(DESCRIBE, 1, body, True)
        assert many[0].drain()
        during = memory_mb(serving)
    asked(client, DESCRIBE, 1, ConsumerGroupDescribeRequest([f"no-{number}" for number in range(200)]))()
    assert during - before < 20 * 15
    assert beat(client, heartbeat("mine", epoch=2)).error_code == ErrorCode.NONE


@linux
def test_a_member_that_names_very_many_topics(serving: Serving, client: RawClient):
    versions = iter(range(1_000))

    def other_names(count: int) -> ConsumerGroupHeartbeatResponse:
        mark = next(versions)
        return beat(client, heartbeat("many", subscribed_topic_names=[f"{mark}-{one:x}" for one in range(count)]))

    def again_and_again() -> None:
        for _ in range(5):
            assert other_names(10_000).error_code == ErrorCode.NONE

    assert shortest_wait(serving.servers, again_and_again) < 60
    refused = other_names(10_001)
    assert refused.error_code == ErrorCode.INVALID_REQUEST
    assert refused.error_message == "SubscribedTopicNames has 10001 topics; this broker takes 10000."
    beat(client, heartbeat("many", epoch=-1))
