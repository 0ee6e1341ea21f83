"""TLS and mutual TLS as client libraries see it: who is served, who is refused, and that the broker stays up."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from kafkastub import KafkaStub
from kafkastub.security.tls import ClientCertificate
from tests.clients.jvm import Jvm
from tests.security.tls_clients import LIBRARIES, TOPIC, NotSent, send
from tests.waiting import until

TLS = {
    "listeners": "TLS://localhost:0",
    "listener.security.protocol.map": "TLS:SSL",
    "inter.broker.listener.name": "TLS",
}
MUTUAL = {**TLS, "ssl.client.auth": "required"}


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def java(request: pytest.FixtureRequest) -> Callable[[], Jvm]:
    return lambda: request.getfixturevalue("jvm")  # type: ignore[no-any-return]


def test_a_client_that_has_the_ca_file_is_served(library: str, java: Callable[[], Jvm]):
    with KafkaStub({TOPIC: 1}, TLS) as stub:
        send(library, stub.bootstrap_servers, stub.ca_file, jvm=java)
        assert {entry.sender.principal for entry in stub.journal} == {"User:ANONYMOUS"}
        assert {entry.sender.listener for entry in stub.journal} == {"TLS"}


def test_a_client_refuses_a_wrong_server_certificate(
    library: str, java: Callable[[], Jvm], caplog: pytest.LogCaptureFixture
):
    with KafkaStub({TOPIC: 1}, TLS) as stub:
        for wrong in ({"other_ca": True}, {"expired": True}, {"hosts": ["elsewhere.example"]}):
            stub.show_certificate(**wrong)  # type: ignore[arg-type]
            with pytest.raises(NotSent):
                send(library, stub.bootstrap_servers, stub.ca_file, jvm=java, hopeless=True)
        assert len(stub.journal) == 0
        stub.show_certificate()
        send(library, stub.bootstrap_servers, stub.ca_file, jvm=java)
    lines = [line for line in caplog.messages if "TLS handshake failed" in line]
    assert 1 <= len(lines) <= 3


def test_a_client_is_who_its_certificate_says(library: str, java: Callable[[], Jvm]):
    with KafkaStub({TOPIC: 1}, MUTUAL) as stub:
        alice = stub.client_certificate("CN=alice,OU=dev,O=Kafka")
        send(library, stub.bootstrap_servers, stub.ca_file, alice, java)
        assert {entry.sender.principal for entry in stub.journal} == {"User:CN=alice,OU=dev,O=Kafka"}


GAVE_UP = "the client ended the connection in the middle of it"
"""It was too slow for its own patience, and will be asked again."""


def test_a_client_without_a_good_certificate_is_refused_where_one_is_required(
    library: str, java: Callable[[], Jvm], caplog: pytest.LogCaptureFixture
):
    with KafkaStub({TOPIC: 1}, MUTUAL) as stub:
        wrong = (
            None,
            stub.client_certificate("CN=late", expired=True),
            stub.client_certificate("CN=mallory", other_ca=True),
        )
        lines: list[str] = []
        for number, shown in enumerate(wrong, 1):

            def is_refused(number: int = number, shown: ClientCertificate | None = shown) -> bool:
                """False where the client was so slow that it had given up before it showed anything."""
                with pytest.raises(NotSent):
                    send(library, stub.bootstrap_servers, stub.ca_file, shown, java, hopeless=True)
                lines[:] = [line for line in caplog.messages if "TLS handshake failed" in line and GAVE_UP not in line]
                return len(lines) >= number

            until(is_refused, f"{shown} is refused")
        assert len(stub.journal) == 0
        send(library, stub.bootstrap_servers, stub.ca_file, stub.client_certificate("CN=alice"), java)
    assert len(lines) == 3, lines
    for line, word in zip(lines, ("shows no certificate", "expired", "issuer"), strict=True):
        assert word in line


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_over_sasl_ssl_the_certificate_is_not_who_the_client_is(mechanism: str):
    config = {
        "listeners": "BOTH://localhost:0",
        "listener.security.protocol.map": "BOTH:SASL_SSL",
        "inter.broker.listener.name": "BOTH",
        "listener.name.both.ssl.client.auth": "required",
    }
    with KafkaStub(users={"alice": "secret"}, topics={TOPIC: 1}, config=config) as stub:
        shown = stub.client_certificate("CN=somebody")
        secure = {
            "bootstrap.servers": stub.bootstrap_servers,
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": stub.ca_file,
            "ssl.certificate.location": shown.certificate,
            "ssl.key.location": shown.key,
            "sasl.mechanism": mechanism,
            "sasl.username": "alice",
            "sasl.password": "secret",
        }
        producer = Producer(secure)
        producer.produce(TOPIC, b"one")
        assert producer.flush(20) == 0
        assert [entry.sender.principal for entry in stub.journal][-1] == "User:alice"
