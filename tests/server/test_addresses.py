"""Where a client comes from, on listeners of both kinds of addresses: as Java tells it, to ACLs, groups and limits."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkastub import KafkaStub
from kafkastub.server.connection_limits import client_host, plain_ip
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from tests.oracle.apache_kafka import ApacheKafka
from tests.rawclient import RawClient
from tests.security.talk import Talk
from tests.waiting import until

CONFIG: dict[str, object] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": True,
    "group.initial.rebalance.delay.ms": 0,
}
GROUP, READ, DENY, LITERAL = 3, 3, 2, 3
V4, V6 = "127.0.0.1", "0:0:0:0:0:0:0:1"


class _EveryAddress(ApacheKafka):
    def _properties(self, controller_port: int, logs: Path) -> str:
        whole = super()._properties(controller_port, logs).replace("\\", "\\\\")
        listeners = f"PLAINTEXT://:{self.port},CONTROLLER://127.0.0.1:{controller_port}"
        return whole + f"listeners={listeners}\nadvertised.listeners=PLAINTEXT://localhost:{self.port}\n"


@pytest.fixture(params=["stub", pytest.param("kafka", marks=pytest.mark.oracle)])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    """A broker that listens on every address of the machine."""
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    if request.param == "kafka":
        with _EveryAddress(CONFIG) as broker:
            yield broker.port
    else:
        with KafkaStub(config=CONFIG | {"listeners": "PLAINTEXT://:0"}) as stub:
            yield stub.port


def join(client: Talk, group: str) -> None:
    """Kafka makes the coordinator's topic first, when somebody asks for the coordinator."""
    protocols = [JoinGroupRequestProtocol("range", b"")]
    request = JoinGroupRequest(group, 60_000, 60_000, "", None, "consumer", protocols)
    client.ask(ApiKey.FIND_COORDINATOR, 2, FindCoordinatorRequest(group))
    until(lambda: client.ask(ApiKey.JOIN_GROUP, 3, request).error_code == ErrorCode.NONE, "the coordinator")


def test_a_client_has_the_address_that_java_prints(port: int):
    with Talk(f"127.0.0.1:{port}") as four, Talk(f"::1:{port}") as six:
        for client, group, host in ((four, "by-four", V4), (six, "by-six", V6)):
            join(client, group)
            (told,) = client.ask(ApiKey.DESCRIBE_GROUPS, 4, DescribeGroupsRequest([group])).groups
            assert [member.client_host for member in told.members] == [f"/{host}"]


@pytest.mark.parametrize("host", [V4, V6, "::1", "::ffff:127.0.0.1"])
def test_an_entry_holds_for_the_address_that_java_prints(port: int, host: str):
    """A Deny that does not match lets in whom it was to keep out."""
    with Talk(f"127.0.0.1:{port}") as four, Talk(f"::1:{port}") as six:
        entry = AclCreation(GROUP, "closed", LITERAL, "User:*", host, READ, DENY)
        opposite = AclCreation(GROUP, "closed", LITERAL, "User:*", "*", READ, 3)
        for each in four.ask(ApiKey.CREATE_ACLS, 3, CreateAclsRequest([entry, opposite])).results:
            assert each.error_code == ErrorCode.NONE

        def refused(client: Talk) -> bool:
            code = client.ask(ApiKey.HEARTBEAT, 3, HeartbeatRequest("closed", 1, "x")).error_code
            return bool(code == ErrorCode.GROUP_AUTHORIZATION_FAILED)

        if host in (V4, V6):
            until(lambda: refused(four if host == V4 else six), "the entry")  # Kafka publishes it a moment later
        assert (refused(four), refused(six)) == (host == V4, host == V6)


def test_limits_count_an_address_once_however_it_came_in():
    limits = {"max.connections.per.ip": 0, "max.connections.per.ip.overrides": "127.0.0.1:1,::1:1"}
    with KafkaStub(config={"listeners": "PLAINTEXT://:0", **limits}) as stub:
        for address in (f"127.0.0.1:{stub.port}", f"::1:{stub.port}"):
            with RawClient(address) as first, RawClient(address) as second:
                assert first.exchange(18, 0, b"")
                with pytest.raises(ConnectionError):
                    second.exchange(18, 0, b"")


def test_the_journal_and_the_log_tell_addresses_with_their_ports():
    with KafkaStub(config={"listeners": "PLAINTEXT://:0"}) as stub:
        peers = []
        for address in (f"127.0.0.1:{stub.port}", f"::1:{stub.port}"):
            with RawClient(address) as client:
                client.exchange(18, 0, b"")
                peers.append(client.socket.getsockname()[1])
        told = [entry.sender.peer for entry in stub.journal]
        assert told == [f"127.0.0.1:{peers[0]}", f"[{V6}]:{peers[1]}"]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("::1", V6),
        ("::", "0:0:0:0:0:0:0:0"),
        ("2001:db8::A:0:0:1", "2001:db8:0:0:a:0:0:1"),
        ("::10.0.0.1", "0:0:0:0:0:0:a00:1"),
        ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1"),
        ("no address", "no address"),
        ("no:address", "no:address"),
    ],
)  # fmt: skip
def test_an_address_as_java_prints_it(text: str, printed: str):
    """By ``InetAddress.getByName(text).getHostAddress()``, Java 17; of a link's the interface is left out here."""
    assert plain_ip(text) == printed


def test_an_address_of_a_link_has_the_number_of_the_interface():
    assert client_host(("fe80::1", 9092, 0, 2)) == "fe80:0:0:0:0:0:0:1%2"
    assert client_host(("::1", 9092, 0, 0)) == V6
    assert client_host(("::ffff:10.0.0.1", 9092, 0, 2)) == "10.0.0.1"
    assert client_host(("10.0.0.1", 9092)) == "10.0.0.1"
