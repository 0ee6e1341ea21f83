"""What nobody has let in yet, and what is no broker of Kafka, costs the proxy no memory, no time and no log."""

from __future__ import annotations

import base64
import errno
import logging
import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from confluent_kafka import Producer

from kafkastub import KafkaProxy, KafkaStub
from kafkastub.client import Client
from kafkastub.proxy import naming
from kafkastub.proxy.places import Place
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.codec.varint import uvarint
from kafkawire.framing import frame
from kafkawire.header import request_header
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.metadata_response import MetadataResponse, MetadataResponseBroker
from kafkawire.messages.sasl_authenticate_request import SaslAuthenticateRequest
from kafkawire.messages.sasl_handshake_request import SaslHandshakeRequest
from tests.waiting import SECONDS, until

WITH_SASL = {"security.protocol": "SASL_PLAINTEXT"}
"""The proxy itself asks nothing then."""
MUCH = 4 << 20
HUGE = 1 << 30


class Behind:
    """In the place of a broker: notes what comes, and sends what it is told to."""

    def __init__(self) -> None:
        self.came = bytearray()
        self.connections: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.at = f"127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self.connections.append(connection)
                threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _read(self, connection: socket.socket) -> None:
        with suppress(OSError):
            while some := connection.recv(1 << 16):
                self.came += some

    def close(self) -> None:
        self._listening.close()
        for connection in self.connections:
            connection.close()


@pytest.fixture
def behind() -> Iterator[Behind]:
    broker = Behind()
    yield broker
    broker.close()


def begun(key: int, version: int, size: int) -> bytes:
    """The beginning of a request that has tags in its header, of which the first never ends."""
    return struct.pack(">ihhih", size, key, version, 1, -1) + b"\x01\x00" + uvarint(size // 2)


@pytest.mark.parametrize("journal", [False, True])
@pytest.mark.parametrize(
    ("key", "version"), [(ApiKey.PRODUCE, 9), (ApiKey.API_VERSIONS, 3), (ApiKey.SASL_AUTHENTICATE, 2)]
)
def test_a_huge_request_of_a_stranger_is_not_kept(behind: Behind, key: int, version: int, journal: bool) -> None:
    with (
        KafkaProxy(behind.at, command_config=WITH_SASL, journal=journal) as proxy,
        socket.create_connection((proxy.host, proxy.port), SECONDS) as client,
    ):
        client.sendall(begun(key, version, HUGE) + bytes(MUCH))
        until(lambda: len(behind.came) > MUCH, "what is sent arrives behind the proxy")


@pytest.mark.parametrize(("key", "version"), [(ApiKey.PRODUCE, 9), (ApiKey.METADATA, 12)])
def test_a_large_request_of_a_stranger_is_not_kept_for_a_rule(behind: Behind, key: int, version: int) -> None:
    with KafkaProxy(behind.at, command_config=WITH_SASL, journal=False) as proxy:
        proxy.faults.add(api=["Produce", "Metadata"], error="UNKNOWN_SERVER_ERROR")
        with socket.create_connection((proxy.host, proxy.port), SECONDS) as client:
            client.sendall(struct.pack(">ihhih", 100 << 20, key, version, 1, -1) + bytes(MUCH))
            until(lambda: len(behind.came) > MUCH, "what is sent arrives behind the proxy")


def test_a_produce_whose_header_is_no_header_passes(behind: Behind, caplog: pytest.LogCaptureFixture) -> None:
    wrong = frame(struct.pack(">hhih", ApiKey.PRODUCE, 9, 1, -1) + b"\xff" * 30)
    with (
        caplog.at_level(logging.ERROR),
        KafkaProxy(behind.at, command_config=WITH_SASL, journal=False) as proxy,
        socket.create_connection((proxy.host, proxy.port), SECONDS) as client,
    ):
        client.sendall(wrong)
        until(lambda: bytes(behind.came) == wrong, "the broker sees it")
    assert not caplog.records


def test_a_header_that_goes_back_and_forth_stops_nobody(behind: Behind) -> None:
    """Tags whose sizes are negative: behind each is the one in front of it."""
    tags = b"\xff\xff\xff\xff\x07" + b"\x00" + b"\xfa\xff\xff\xff\x0f"
    endless = frame(struct.pack(">hhih", ApiKey.PRODUCE, 9, 1, -1) + tags + bytes(20))
    with (
        KafkaProxy(behind.at, command_config=WITH_SASL, journal=False) as proxy,
        socket.create_connection((proxy.host, proxy.port), SECONDS) as client,
    ):
        client.sendall(endless)
        until(lambda: bytes(behind.came) == endless, "the broker sees it")


@pytest.mark.parametrize("claims", [b"[]", b"3", b"[" * 100_000])
def test_a_token_without_claims_passes(behind: Behind, caplog: pytest.LogCaptureFixture, claims: bytes) -> None:
    token = b"n,,\x01auth=Bearer h." + base64.urlsafe_b64encode(claims) + b".s\x01\x01"
    handshake = frame(
        request_header(ApiKey.SASL_HANDSHAKE, 1, 1, None, False), encode(SaslHandshakeRequest("OAUTHBEARER"), 1)
    )
    login = frame(
        request_header(ApiKey.SASL_AUTHENTICATE, 1, 2, None, False), encode(SaslAuthenticateRequest(token), 1)
    )
    with (
        caplog.at_level(logging.ERROR),
        KafkaProxy(behind.at, command_config=WITH_SASL) as proxy,
        socket.create_connection((proxy.host, proxy.port), SECONDS) as client,
    ):
        client.sendall(handshake + login)
        until(lambda: bytes(behind.came) == handshake + login, "the broker sees it")
    assert not caplog.records


def test_requests_that_nobody_knows_are_not_remembered_in_the_place_of_others(behind: Behind) -> None:
    with KafkaProxy(behind.at, command_config=WITH_SASL, journal=False) as proxy:
        with socket.create_connection((proxy.host, proxy.port), SECONDS) as client:
            unknown = b"".join(frame(struct.pack(">hhi", 1000, version, 1)) for version in range(6000))
            client.sendall(unknown)
            until(lambda: len(behind.came) == len(unknown), "all of it arrives")
        routes = proxy._proxy().route
        name = struct.pack(">hh", ApiKey.METADATA, 12)
        assert routes(name) is routes(name)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_large_request_of_somebody_who_has_logged_in_meets_a_rule(mechanism: str) -> None:
    with (
        KafkaStub(topics={"t": 1}, users={"alice": "secret"}, config={"message.max.bytes": 1 << 24}) as stub,
        KafkaProxy(stub.bootstrap_servers, command_config=WITH_SASL) as proxy,
    ):
        login = {"sasl.mechanism": mechanism, "sasl.username": "alice", "sasl.password": "secret"}
        producer = Producer(
            {"bootstrap.servers": proxy.bootstrap_servers, "message.max.bytes": 1 << 24, **WITH_SASL, **login}
        )
        with proxy.faults.add(api="Produce", error="NOT_LEADER_OR_FOLLOWER", times=1) as fault:
            producer.produce("t", bytes(MUCH))
            assert producer.flush(SECONDS) == 0
            assert fault.hits == 1


def test_who_asks_and_asks_is_read_on_when_he_has_answers(behind: Behind) -> None:
    one = frame(struct.pack(">hhi", ApiKey.LIST_GROUPS, 0, 1))
    with (
        KafkaProxy(behind.at, command_config=WITH_SASL, journal=False) as proxy,
        socket.create_connection((proxy.host, proxy.port), 1) as client,
    ):
        with pytest.raises(TimeoutError):
            client.sendall(one * 2_000_000)
        until(lambda: len(behind.came) >= 10_000 * len(one), "the first of them")
        came = len(behind.came)
        assert came // len(one) < 100_000
        behind.connections[-1].sendall(frame((1).to_bytes(4) + bytes(2)) * (came // len(one)))
        until(lambda: len(behind.came) > came, "more of them")


def test_a_node_is_there_while_the_proxy_has_no_descriptors_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which whoever opens enough connections brings about: others are let in as soon as there are some again."""

    async def connect(*_: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    shut: list[Place] = []
    with KafkaStub() as stub, KafkaProxy(stub.bootstrap_servers) as proxy:
        with monkeypatch.context() as patch:
            patch.setattr(proxy._proxy(), "connect", connect)
            patch.setattr(Place, "shut", lambda place: shut.append(place))
            with socket.create_connection((proxy.host, proxy.port), SECONDS) as client, suppress(ConnectionResetError):
                assert client.recv(1) == b""
        assert not shut
        with Client(proxy.bootstrap_servers) as asking:
            asking.connection().negotiate()


def metadata(brokers: list[MetadataResponseBroker]) -> bytes:
    answer = MetadataResponse(brokers=brokers, cluster_id="c", controller_id=1, topics=[])
    return frame((1).to_bytes(4) + b"\0", encode(answer, 12))


def ask_metadata(client: socket.socket) -> None:
    client.sendall(frame(request_header(ApiKey.METADATA, 12, 1, None, True), encode(MetadataRequest(topics=[]), 12)))


@pytest.mark.parametrize(("key", "version"), [(ApiKey.API_VERSIONS, 3), (ApiKey.METADATA, 12)])
def test_an_answer_that_ends_too_early_ends_the_connection_in_a_sentence(
    behind: Behind, caplog: pytest.LogCaptureFixture, key: int, version: int
) -> None:
    with (
        caplog.at_level(logging.ERROR),
        KafkaProxy(behind.at, command_config=WITH_SASL, journal=False) as proxy,
        socket.create_connection((proxy.host, proxy.port), SECONDS) as client,
    ):
        client.sendall(frame(request_header(key, version, 1, None, True)))
        until(lambda: behind.came, "the broker is asked")
        behind.connections[-1].sendall(frame((1).to_bytes(4)))
        with suppress(ConnectionResetError):
            assert client.recv(1) == b""
    assert [record.name for record in caplog.records] == ["kafkastub"]


def test_the_brokers_of_a_long_answer_are_read_a_few_times(behind: Behind, monkeypatch: pytest.MonkeyPatch) -> None:
    count, looked = 200_000, []
    read = naming._metadata_prefix

    def counted(data: bytes, *others: object) -> object:
        looked.append(len(data))
        return read(data, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(naming, "_metadata_prefix", counted)
    answer = metadata([MetadataResponseBroker(1, "127.0.0.1", 9092)] * count)
    with (
        KafkaProxy(behind.at, command_config=WITH_SASL, journal=False) as proxy,
        socket.create_connection((proxy.host, proxy.port), SECONDS) as client,
    ):
        ask_metadata(client)
        until(lambda: behind.came, "the broker is asked")
        for at in range(0, len(answer), 4096):
            behind.connections[-1].sendall(answer[at : at + 4096])
        with client.makefile("rb") as stream:
            assert len(stream.read(int.from_bytes(stream.read(4)))) > len(answer) - count * 2
    assert sum(looked) < 4 * len(answer)


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 99_999), ("a" * 70 + ".example", 9092)])
def test_a_node_whose_address_is_none_cannot_be_reached(behind: Behind, host: str, port: int) -> None:
    with (
        KafkaProxy(behind.at, command_config=WITH_SASL, journal=False) as proxy,
        socket.create_connection((proxy.host, proxy.port), SECONDS) as client,
    ):
        ask_metadata(client)
        until(lambda: behind.came, "the broker is asked")
        behind.connections[-1].sendall(metadata([MetadataResponseBroker(7, host, port)]))
        client.recv(4)
        until(lambda: len(proxy.ports) == 2, "the node has a place")
        with (
            socket.create_connection((proxy.host, proxy.ports[1]), SECONDS) as other,
            suppress(ConnectionResetError),
        ):
            assert other.recv(1) == b""
