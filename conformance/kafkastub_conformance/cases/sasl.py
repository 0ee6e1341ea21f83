"""SASL where there is none: the suite comes over listeners that ask for no credentials."""

from __future__ import annotations

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import NOT_EMPTY, expect
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

SOURCE = "KIP-43, KIP-152, Kafka: KafkaApis"


@case("SaslHandshake", "On a listener without SASL: ILLEGAL_SASL_STATE, whatever the mechanism.", source=SOURCE)
def no_handshake(on: Broker) -> None:
    for mechanism in ("PLAIN", "SCRAM-SHA-512", "nonsense", ""):
        expect(on.ask("SaslHandshake", mechanism=mechanism), error_code=E.ILLEGAL_SASL_STATE, mechanisms=[])


@case("SaslHandshake", "The connection goes on after it.", source=SOURCE, also=["Metadata"])
def goes_on(on: Broker) -> None:
    on.ask("SaslHandshake", mechanism="PLAIN")
    expect(on.ask("Metadata", topics=[]), brokers=NOT_EMPTY)


@case("SaslAuthenticate", "On a listener without SASL: ILLEGAL_SASL_STATE with a text.", source=SOURCE)
def no_authentication(on: Broker) -> None:
    for token in (b"\0user\0password", b""):
        answer = on.ask("SaslAuthenticate", auth_bytes=token)
        expect(answer, error_code=E.ILLEGAL_SASL_STATE, error_message=NOT_EMPTY, auth_bytes=b"", session_lifetime_ms=0)


@case(
    "SaslAuthenticate", "A handshake before it makes no difference.", source=SOURCE, also=["SaslHandshake", "Metadata"]
)
def after_a_handshake(on: Broker) -> None:
    on.ask("SaslHandshake", mechanism="PLAIN")
    expect(on.ask("SaslAuthenticate", auth_bytes=b"\0u\0p"), error_code=E.ILLEGAL_SASL_STATE)
    expect(on.ask("Metadata", topics=[]), brokers=NOT_EMPTY)
