"""TLS ends at the proxy and begins anew; who logs in is who he says, to the cluster; nobody gets in by the proxy."""

from __future__ import annotations

import base64
import json
import socket
import ssl
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient

from kafkastub import ConfigError, KafkaProxy, KafkaStub
from kafkawire.api import ApiKey
from tests.rawclient import RawClient
from tests.waiting import SECONDS, until

USERS = {"alice": "secret", "bob": "hidden"}
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


@pytest.fixture
def sasl() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"t": 1}, users=USERS) as stub:
        yield stub


def login(mechanism: str, user: str = "alice", password: str = "secret") -> dict[str, Any]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
    }


def own(mechanism: str) -> dict[str, str]:
    """As a Java client's file has it."""
    kind = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
    jaas = f'org.apache.kafka.common.security.{kind}LoginModule required username="bob" password="hidden";'
    return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism, "sasl.jaas.config": jaas}


def write(servers: str, config: dict[str, Any]) -> None:
    producer = Producer({"bootstrap.servers": servers, "log_level": 2, **config})
    producer.produce("t", b"v")
    assert producer.flush(SECONDS) == 0


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("knows", ["its own login", "nothing"])
def test_a_login_passes_as_it_is(sasl: KafkaStub, mechanism: str, knows: str) -> None:
    config = own(mechanism) if knows == "its own login" else {"security.protocol": "SASL_PLAINTEXT"}
    with KafkaProxy(sasl.bootstrap_servers, command_config=config) as proxy:
        write(proxy.bootstrap_servers, login(mechanism))
        produced = sasl.journal.requests(api="Produce")
        assert [entry.sender.principal for entry in produced] == ["User:alice"]
        assert [entry.sender.principal for entry in proxy.journal.requests(api="Produce")] == ["User:alice"]
        assert not any(b"secret" in (entry.request_frame or b"") for entry in proxy.journal)
        if knows != "nothing":
            assert len(proxy.records("t")) == 1


@pytest.mark.parametrize("config", [login("PLAIN", password="wrong"), login("SCRAM-SHA-256", user="carol"), {}])
def test_who_is_not_known_gets_no_further_than_directly(sasl: KafkaStub, config: dict[str, Any]) -> None:
    with KafkaProxy(sasl.bootstrap_servers, command_config=own("PLAIN")) as proxy:
        admin = AdminClient({"bootstrap.servers": proxy.bootstrap_servers, "log_level": 2, **config})
        with pytest.raises(KafkaException):
            admin.list_topics(timeout=1)
        assert not sasl.journal.requests(api="Metadata", client_id="rdkafka", outcome="reply")


def test_tokens_without_a_header_pass_and_are_nowhere_in_the_journal(sasl: KafkaStub) -> None:
    """SaslHandshake 0: what follows it is no request."""
    with (
        KafkaProxy(sasl.bootstrap_servers, command_config=own("PLAIN")) as proxy,
        RawClient(proxy.bootstrap_servers) as client,
    ):
        client.exchange(ApiKey.SASL_HANDSHAKE, 0, struct.pack(">h", 5) + b"PLAIN")
        token = b"\0alice\0secret"
        client.socket.sendall(struct.pack(">i", len(token)) + token)
        assert client._exactly(4) == bytes(4)
        assert client.exchange(ApiKey.METADATA, 4, struct.pack(">i?", 0, True))
        assert not any(b"secret" in entry.request_frame for entry in proxy.journal)
        assert proxy.journal.requests(api="Metadata")


def unsigned_token(name: str) -> str:
    def part(data: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(data).encode()).rstrip(b"=").decode()

    now = int(time.time())
    return f"{part({'alg': 'none'})}.{part({'sub': name, 'iat': now, 'exp': now + 3600})}."


def test_a_bearer_token_passes_as_it_is() -> None:
    config = {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "inter.broker.listener.name": "SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "sasl.mechanism.inter.broker.protocol": "OAUTHBEARER",
        "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
            'unsecuredLoginStringClaim_sub="thePrincipalName";'
        ),
    }
    with (
        KafkaStub(topics={"t": 1}, config=config) as stub,
        KafkaProxy(stub.bootstrap_servers, command_config={"security.protocol": "SASL_PLAINTEXT"}) as proxy,
    ):
        client = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "OAUTHBEARER",
            "oauth_cb": lambda _: (unsigned_token("dave"), time.time() + 3600),
        }
        write(proxy.bootstrap_servers, client)
        assert [entry.sender.principal for entry in stub.journal.requests(api="Produce")] == ["User:dave"]
        assert [entry.sender.principal for entry in proxy.journal.requests(api="Produce")] == ["User:dave"]


@pytest.fixture
def secured() -> Iterator[KafkaStub]:
    with KafkaStub(
        topics={"t": 1}, config={"listeners": "SSL://127.0.0.1:0", "inter.broker.listener.name": "SSL"}
    ) as stub:
        yield stub


def test_tls_ends_here_and_begins_anew(secured: KafkaStub) -> None:
    config = {"security.protocol": "SSL", "ssl.truststore.type": "PEM", "ssl.truststore.location": secured.ca_file}
    with KafkaProxy(secured.bootstrap_servers, command_config=config, tls=True) as proxy:
        write(proxy.bootstrap_servers, {"security.protocol": "SSL", "ssl.ca.location": proxy.ca_file})
        assert len(proxy.records("t")) == 1
        assert [entry.sender.listener for entry in proxy.journal.requests(api="Produce")] == ["SSL"]
        with proxy.faults.add(api="Produce", error="NOT_LEADER_OR_FOLLOWER", times=1) as fault:
            write(proxy.bootstrap_servers, {"security.protocol": "SSL", "ssl.ca.location": proxy.ca_file})
            assert fault.hits == 1


def test_plain_clients_of_a_cluster_with_tls(secured: KafkaStub) -> None:
    config = {"security.protocol": "SSL", "ssl.ca.location": secured.ca_file}
    with KafkaProxy(secured.bootstrap_servers, command_config=config) as proxy:
        write(proxy.bootstrap_servers, {})
        big = b"x" * 900_000
        proxy.produce("t", big)
        assert [len(one.value or b"") for one in proxy.records("t")] == [1, 900_000]


def test_a_cluster_that_is_not_trusted_is_not_reached(secured: KafkaStub) -> None:
    from kafkastub.proxy.proxy import UnreachableError

    with pytest.raises(UnreachableError, match="does not answer"):
        KafkaProxy(secured.bootstrap_servers, command_config={"security.protocol": "SSL"}).start()


def test_a_certificate_of_the_proxy_lets_nobody_in_who_has_none() -> None:
    stub_config = {
        "listeners": "SSL://127.0.0.1:0", "inter.broker.listener.name": "SSL", "ssl.client.auth": "required",
    }  # fmt: skip
    with KafkaStub(topics={"t": 1}, config=stub_config) as stub:
        shown = stub.client_certificate("CN=proxy")
        config = {
            "security.protocol": "SSL",
            "ssl.ca.location": stub.ca_file,
            "ssl.certificate.location": shown.certificate,
            "ssl.key.location": shown.key,
        }
        with pytest.raises(ConfigError, match="identify every client"):
            KafkaProxy(stub.bootstrap_servers, command_config=config).start()
        with pytest.raises(ConfigError, match=r"set ssl\.client\.auth=required"):
            KafkaProxy(stub.bootstrap_servers, command_config=config, tls=True).start()
        here = {"ssl.client.auth": "required"}
        with KafkaProxy(stub.bootstrap_servers, command_config=config, tls=True, config=here) as proxy:
            context = ssl.create_default_context(cafile=proxy.ca_file)
            context.check_hostname = False
            with (
                suppress(ssl.SSLError, ConnectionError),
                socket.create_connection((proxy.host, proxy.port), SECONDS) as plain,
                context.wrap_socket(plain) as sock,
            ):
                sock.sendall(bytes(100))
                assert sock.recv(1) == b""
            until(lambda: not proxy._proxy().clients, "a connection that is refused")
            assert not stub.journal.requests(api="Produce")
