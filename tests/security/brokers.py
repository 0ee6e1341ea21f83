"""A stub and a real Apache Kafka with the same listeners: PLAINTEXT, and SASL_PLAINTEXT with every mechanism."""

from __future__ import annotations

import contextlib
import hashlib
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from kafkastub import KafkaProxy, KafkaStub
from kafkawire.api import ApiKey
from kafkawire.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from tests.oracle.apache_kafka import ApacheKafka
from tests.security.talk import Talk

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
_MODULE = "org.apache.kafka.common.security"
_OF = "listener.name.sasl_plaintext."
_PLAIN = _OF + "plain.sasl.jaas.config"
REAUTH_MS, SHORT_MS = 60_000, 1500
"""How long sessions by SCRAM-SHA-256 last, and those by SCRAM-SHA-512: too short for a request on a busy machine."""
CONFIG: dict[str, object] = {
    "sasl.enabled.mechanisms": ",".join(MECHANISMS),
    _PLAIN: f"{_MODULE}.plain.PlainLoginModule required "
    'user_alice="s3cret=; x" user_bob="b" user_root="r" user_dora="d";',
    _OF + "scram-sha-256.sasl.jaas.config": f"{_MODULE}.scram.ScramLoginModule required;",
    _OF + "scram-sha-512.sasl.jaas.config": f"{_MODULE}.scram.ScramLoginModule required;",
    _OF + "oauthbearer.sasl.jaas.config": f"{_MODULE}.oauthbearer.OAuthBearerLoginModule required "
    'unsecuredLoginStringClaim_sub="broker";',
    _OF + "scram-sha-256.connections.max.reauth.ms": REAUTH_MS,
    _OF + "scram-sha-512.connections.max.reauth.ms": SHORT_MS,
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
    "connection.failed.authentication.delay.ms": 0,
    "group.initial.rebalance.delay.ms": 0,
}
PASSWORD = "s3cret=; x"
"""alice's, by PLAIN and by SCRAM."""


class Addresses(NamedTuple):
    """HOST:PORT of both listeners."""

    plain: str
    sasl: str


class SaslKafka(ApacheKafka):
    """With a listener on `sasl_port`, too."""

    def _properties(self, controller_port: int, logs: Path) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.sasl_port = free.getsockname()[1]
        listeners = f"PLAINTEXT://127.0.0.1:{self.port},SASL_PLAINTEXT://127.0.0.1:{self.sasl_port}"
        whole = super()._properties(controller_port, logs).replace("\\", "\\\\")
        return (
            whole
            + f"listeners={listeners},CONTROLLER://127.0.0.1:{controller_port}\nadvertised.listeners={listeners}\n"
        )


@contextlib.contextmanager
def stub(data_dir: Path | None = None, **changes: object) -> Iterator[Addresses]:
    listeners = "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0"
    config = {**CONFIG, **_named(changes), "listeners": listeners}
    with KafkaStub(config=config, topics={"t": 1}, data_dir=data_dir) as running:
        addresses = Addresses(running.bootstrap_servers_of("PLAINTEXT"), running.bootstrap_servers_of("SASL_PLAINTEXT"))
        _add_scram_user(addresses)
        yield addresses


@contextlib.contextmanager
def kafka(**changes: object) -> Iterator[Addresses]:
    with SaslKafka(config={**CONFIG, **_named(changes)}) as running:
        addresses = Addresses(running.bootstrap_servers, f"127.0.0.1:{running.sasl_port}")
        _add_scram_user(addresses)
        yield addresses


@contextlib.contextmanager
def proxied(behind: AbstractContextManager[Addresses]) -> Iterator[Addresses]:
    """The same through proxies, one for each listener."""
    login = {"security.protocol": "SASL_PLAINTEXT"}
    with (
        behind as addresses,
        KafkaProxy(addresses.plain) as plain,
        KafkaProxy(addresses.sasl, command_config=login) as sasl,
    ):
        yield Addresses(plain.bootstrap_servers, sasl.bootstrap_servers)


def _named(changes: dict[str, object]) -> dict[str, object]:
    """Configuration as keyword arguments: an underscore is a dot."""
    return {name.replace("_", "."): value for name, value in changes.items()}


def _add_scram_user(addresses: Addresses) -> None:
    salt = b"0123456789abcdef"
    upsertions = [
        ScramCredentialUpsertion(user, number, 4096, salt, hashlib.pbkdf2_hmac(name, PASSWORD.encode(), salt, 4096))
        for user, number, name in (("alice", 1, "sha256"), ("carol", 1, "sha256"), ("dave", 2, "sha512"))
    ]
    with Talk(addresses.plain) as talk:
        answer = talk.ask(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, AlterUserScramCredentialsRequest([], upsertions))
        assert [one.error_code for one in answer.results] == [0, 0, 0]
