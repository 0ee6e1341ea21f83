"""Connection limits: what a client sees of them, on the stub and on Apache Kafka 4.4.0."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from kafkastub import KafkaStub
from kafkastub.config import ConfigError
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.messages.alter_client_quotas_request import AlterClientQuotasRequest, EntityData, EntryData, OpData
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.describe_configs_response import DescribeConfigsResponse
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from tests.oracle.apache_kafka import ApacheKafka
from tests.rawclient import RawClient

BROKER = 4
MARKED = "message.max.bytes"
"""What is altered to see that what came before it is done."""
A_WHILE = 0.3
"""Seconds without an answer from which a connection counts as waiting."""
CONFIG: dict[str, object] = {
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OUTER:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT",
    "max.connections.per.ip.overrides": "127.0.0.3:2, 127.0.0.2:0",
    "num.network.threads": 1,  # each of Kafka's threads closes one of its own where there are too many
}


class Broker:
    """A broker with two listeners, `inner` (between brokers) and `outer`, and what was done to it."""

    def __init__(self, inner: str, outer: str) -> None:
        self.inner = inner
        self.outer = outer
        self.altered: set[tuple[str, str]] = set()
        self.admin = RawClient(inner, 30)
        self._clients: list[Client] = []
        self._changes = 0

    def client(self, outer: bool = True, source: str = "") -> Client:
        made = Client(self.outer if outer else self.inner, 30, source)
        self._clients.append(made)
        return made

    def alter(self, name: str, value: str | None, resource: str = "1") -> tuple[int, str | None]:
        """One entry of the broker's dynamic configuration, done when this returns: error code and text."""
        result = self._ask(name, value, resource)
        if not result[0]:
            self.altered.add((name, resource))
            # Kafka answers before it has done what was asked for, does one thing after the other, and describes what
            # is done.
            self._changes += 1
            mark = str((1 << 20) + self._changes)
            self._ask(MARKED, mark, "1")
            wait_for(lambda: self._described(MARKED) == mark, f"{name} is not {value}")
        return result

    def _ask(self, name: str, value: str | None, resource: str) -> tuple[int, str | None]:
        entry = AlterableConfig(name, 0 if value is not None else 1, value)
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(BROKER, resource, [entry])], False)
        body = self.admin.exchange(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, encode(request, 1))
        (answer,) = decode(IncrementalAlterConfigsResponse, 1, body).responses
        return answer.error_code, answer.error_message

    def _described(self, name: str) -> str | None:
        request = DescribeConfigsRequest([DescribeConfigsResource(BROKER, "1", [name])])
        body = self.admin.exchange(ApiKey.DESCRIBE_CONFIGS, 4, encode(request, 4))
        (answer,) = decode(DescribeConfigsResponse, 4, body).results
        return next((str(entry.value) for entry in answer.configs), None)

    def tidy_up(self) -> None:
        for client in self._clients:
            client.close()
        self._clients.clear()
        for name, resource in list(self.altered):
            self.alter(name, None, resource)
        self.altered.clear()
        wait_for(lambda: self.client().is_served(), "the limits are still there")
        wait_for(lambda: self.client(outer=False).is_served(), "the limits are still there")
        for client in self._clients:
            client.close()
        self._clients.clear()


class Client(RawClient):
    """One connection, and what becomes of it."""

    def is_served(self, seconds: float = A_WHILE) -> bool:
        try:
            self.send(ApiKey.API_VERSIONS, 0, b"")
        except OSError:
            return False
        readable, _, _ = select.select([self.socket], [], [], seconds)
        try:
            return bool(readable) and self.receive() is not None
        except OSError:
            return False

    def is_closed(self, seconds: float = 0) -> bool:
        readable, _, _ = select.select([self.socket], [], [], seconds)
        try:
            return bool(readable) and self.socket.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True


class _TwoListeners(ApacheKafka):
    outer = 0

    def _properties(self, controller_port: int, logs: Path) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.outer = free.getsockname()[1]
        listeners = f"PLAINTEXT://127.0.0.1:{self.port},OUTER://127.0.0.1:{self.outer}"
        told = f"listeners={listeners},CONTROLLER://127.0.0.1:{controller_port}\nadvertised.listeners={listeners}\n"
        return super()._properties(controller_port, logs) + told


@contextlib.contextmanager
def running(kind: str) -> Iterator[Broker]:
    if kind == "kafka":
        with _TwoListeners(config=CONFIG) as kafka:
            yield Broker(kafka.bootstrap_servers, f"127.0.0.1:{kafka.outer}")
    else:
        listeners = "PLAINTEXT://127.0.0.1:0,OUTER://127.0.0.1:0"
        with KafkaStub(config={**CONFIG, "listeners": listeners}) as stub:
            yield Broker(stub.bootstrap_servers_of("PLAINTEXT"), stub.bootstrap_servers_of("OUTER"))


@pytest.fixture(scope="module", params=["stub", pytest.param("kafka", marks=pytest.mark.oracle)])
def shared(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with running(request.param) as broker:
        yield broker
        broker.admin.close()


@pytest.fixture
def broker(shared: Broker) -> Iterator[Broker]:
    yield shared
    shared.tidy_up()


def wait_for(what: Callable[[], Any], why: str, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.02)


def closed(clients: list[Client]) -> list[int]:
    return [number for number, client in enumerate(clients) if client.is_closed()]


def test_an_address_has_so_many_connections_and_no_more(broker: Broker):
    first, second = (broker.client(source="127.0.0.3") for _ in range(2))
    assert first.is_served(30)
    assert second.is_served(30)
    assert broker.client(source="127.0.0.3").is_closed(30)
    assert broker.client(outer=False, source="127.0.0.3").is_closed(30)  # all listeners together
    assert broker.client(source="127.0.0.2").is_closed(30)
    assert broker.client().is_served(30)
    first.close()
    wait_for(lambda: broker.client(source="127.0.0.3").is_served(), "the place of one that has gone is not free")
    assert second.is_served(30)


def test_the_limit_of_an_address_changes_while_it_serves(broker: Broker):
    here = [broker.client(source="127.0.0.9") for _ in range(3)]
    assert all(client.is_served(30) for client in here)
    assert broker.alter("max.connections.per.ip.overrides", "127.0.0.9:1", "") == (0, None)
    wait_for(lambda: broker.client(source="127.0.0.9").is_closed(A_WHILE), "the new limit does not count")
    assert not closed(here)
    assert broker.client(source="127.0.0.3").is_served(30)


def test_a_listener_that_is_full_lets_nobody_in_until_somebody_leaves(broker: Broker):
    here = [broker.client() for _ in range(3)]
    assert all(client.is_served(30) for client in here)
    assert broker.alter("listener.name.outer.max.connections", "3") == (0, None)
    waiting = [broker.client() for _ in range(2)]
    assert not any(client.is_served() for client in waiting)
    assert not closed([*here, *waiting])
    assert broker.client(outer=False).is_served(30)
    here[0].close()
    assert waiting[0].receive() is not None
    assert not select.select([waiting[1].socket], [], [], A_WHILE)[0]
    assert broker.alter("listener.name.outer.max.connections", "4") == (0, None)
    assert waiting[1].receive() is not None


def test_too_many_connections_wait_and_those_between_brokers_take_the_place_of_the_idlest(broker: Broker):
    here = [broker.client() for _ in range(6)]
    assert all(client.is_served(30) for client in here)
    assert broker.alter("max.connections", "7") == (0, None)  # these and the one that asks
    waiting = broker.client()
    assert not waiting.is_served()
    assert here[0].is_served(30)
    inner = broker.client(outer=False)  # max.connections is the limit of each listener, too
    assert inner.is_served(30)
    wait_for(lambda: closed(here) == [1], f"closed is another one: {closed(here)}")
    assert not select.select([waiting.socket], [], [], A_WHILE)[0]
    assert broker.alter("max.connections", "4") == (0, None)
    wait_for(lambda: len(closed(here)) == 4, "the limit is lower, and nobody is closed")
    assert closed(here) == [1, 2, 3, 4]
    assert inner.is_served(30)
    assert broker.alter("max.connections", "100") == (0, None)
    assert waiting.receive() is not None


def invalid(value: str, name: str, why: str) -> str:
    return f"Invalid value {value} for configuration {name}: {why}"


def not_for_kafka(name: str, value: int) -> str:
    text = f"org.apache.kafka.common.config.ConfigException: Invalid {name} {value}"
    return f"Invalid value {text} for configuration Invalid dynamic configuration"


TOTAL, PER_IP, OVERRIDES = "max.connections", "max.connections.per.ip", "max.connections.per.ip.overrides"
RATE = "max.connection.creation.rate"
OF_OUTER = "listener.name.outer."
NO_NUMBER, TOO_SMALL = "Not a number of type INT", "Value must be at least 0"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        (PER_IP, "-1", invalid("-1", PER_IP, TOO_SMALL)),
        (PER_IP, "x", invalid("x", PER_IP, NO_NUMBER)),
        (OVERRIDES, "x", f"Error parsing configuration property '{OVERRIDES}': begin 0, end -1, length 1"),
        (OVERRIDES, "127.0.0.9:y", 'For input string: "y"'),
        (OVERRIDES, "b@d:3", f"{OVERRIDES} contains invalid addresses : b@d"),
        (OVERRIDES, "127.0.0.9 : 3,", None),
        (OVERRIDES, "::9:3", None),
        (OVERRIDES, "", None),
        (TOTAL, "0", not_for_kafka(TOTAL, 0)),
        (TOTAL, "x", invalid("x", TOTAL, NO_NUMBER)),
        (RATE, "0", not_for_kafka(RATE, 0)),
        (OF_OUTER + TOTAL, "0", not_for_kafka(TOTAL, 0)),
        (OF_OUTER + TOTAL, "-3", invalid("-3", TOTAL, TOO_SMALL)),
        (OF_OUTER + RATE, "0", not_for_kafka(RATE, 0)),
        ("listener.name.nosuch.max.connections", "0", None),
        ("connections.max.idle.ms", "4", "Cannot update these configs dynamically: [connections.max.idle.ms]"),
    ],
)
def test_what_may_be_altered_and_what_is_refused(broker: Broker, name: str, value: str, text: str | None):
    expected = 42 if text else 0, text
    assert broker.alter(name, value) == expected
    assert broker.alter(name, value, "") == expected


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("max.connections", -1, "a whole number of 32 bits, at least 0"),
        ("max.connections.per.ip", "many", "a whole number of 32 bits, at least 0"),
        ("max.connections.per.ip.overrides", "localhost", "a comma separated list of HOST:NUMBER"),
        ("max.connections.per.ip.overrides", "b@d:1", "a comma separated list of HOST:NUMBER"),
        ("listener.name.plaintext.max.connections", "x", "a whole number of 32 bits, at least 0"),
        ("listener.name.plaintext.max.connection.creation.rate", "-2", "a whole number of 32 bits, at least 0"),
        ("connection.failed.authentication.delay.ms", -1, "a whole number of 32 bits, at least 0"),
    ],
)
def test_a_broker_is_not_started_with_what_is_none(name: str, value: object, rule: str):
    with pytest.raises(ConfigError, match=rule) as refused:
        KafkaStub(config={name: value}).start()
    assert str(refused.value).startswith(f"{name}={value} is refused: allowed is ")


def test_connections_are_made_no_faster_than_the_rate():
    config = {"max.connection.creation.rate": 10, "quota.window.num": 2, "quota.window.size.seconds": 1}
    with KafkaStub(config=config) as stub:
        begin = time.monotonic()
        clients = [Client(stub.bootstrap_servers) for _ in range(25)]
        assert all(client.is_served(30) for client in clients)
        # the first window has room for its ten; whoever comes then waits until the rate is down to ten a second
        assert time.monotonic() - begin > 0.8
        for client in clients:
            client.close()


def test_after_a_reset_nobody_waits_by_the_clock_of_before():
    config = {"max.connection.creation.rate": 1, "quota.window.num": 2, "quota.window.size.seconds": 5}
    with KafkaStub(config=config, control_port=0) as stub:
        stub.clock.advance(minutes=30, timers=True)
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(Client(stub.bootstrap_servers)) for _ in range(8)]
            assert not all(client.is_served() for client in clients)
            httpx.post(f"{stub.control_url}/v1/reset", timeout=60).raise_for_status()
            assert stack.enter_context(Client(stub.bootstrap_servers)).is_served(30)


def test_an_address_that_makes_connections_too_fast_is_turned_away():
    """KIP-612."""
    with KafkaStub(config={"quota.window.num": 2}) as stub, RawClient(stub.bootstrap_servers) as admin:
        entry = EntryData([EntityData("ip", "127.0.0.5")], [OpData("connection_creation_rate", 2.0, False)])
        admin.exchange(ApiKey.ALTER_CLIENT_QUOTAS, 1, encode(AlterClientQuotasRequest([entry], False), 1))
        clients = [Client(stub.bootstrap_servers, source="127.0.0.5") for _ in range(8)]
        served = [client.is_served(30) for client in clients]  # or closed
        assert served[0]
        assert not all(served)
        wait_for(lambda: closed(clients) == [number for number, good in enumerate(served) if not good], "not closed")
        with Client(stub.bootstrap_servers) as other:
            assert other.is_served(30)
        for client in clients:
            client.close()


def test_a_node_has_limits_of_its_own():
    with KafkaStub(nodes=2, config={"max.connections": 1}) as stub:
        first, second = stub.bootstrap_servers.split(",")
        with Client(first) as one, Client(second) as other, Client(first) as more:
            assert one.is_served(30)
            assert other.is_served(30)
            assert not more.is_served()
            stub.nodes[2].stop()
            one.close()
            assert more.receive() is not None


def test_a_rate_of_one_listener_is_not_the_others():
    config = CONFIG | {
        "listeners": "PLAINTEXT://127.0.0.1:0,OUTER://127.0.0.1:0",
        "listener.name.outer.max.connection.creation.rate": 50,
    }
    with KafkaStub(config=config) as stub:
        for name in ("PLAINTEXT", "OUTER"):
            with RawClient(stub.bootstrap_servers_of(name), 30) as client:
                assert client.exchange(18, 0, b"")


@pytest.mark.parametrize("host", ["a..b", "a" * 70])
def test_a_name_that_cannot_be_one_is_left_out(host: str):
    config: dict[str, object] = {"max.connections.per.ip.overrides": f"{host}:5,127.0.0.1:7"}
    with KafkaStub(config=config) as stub, RawClient(stub.bootstrap_servers, 30) as client:
        assert client.exchange(18, 0, b"")
