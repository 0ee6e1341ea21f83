"""In front of an Apache Kafka that speaks TLS and SASL and has ACLs: who comes by the proxy is who he says, there too.

Clients speak TLS to the proxy, with another certificate than the broker's, and the proxy speaks TLS to the broker.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from kafkastub import KafkaProxy
from kafkastub.security.tls_made import Authority
from tests.oracle.apache_kafka import ApacheKafka, _free_ports
from tests.waiting import SECONDS, until

pytestmark = pytest.mark.oracle_proxy

MODULE: Final = "org.apache.kafka.common.security"
WRITES, READS, OWN = "writes", "reads", "proxy"
"""Users, by what they may do; the last one is the proxy's own, and may describe."""
PASSWORD: Final = "s3cret=; x"
CONFIG: Final[dict[str, object]] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",  # who comes over PLAINTEXT
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL",
    "inter.broker.listener.name": "PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    "listener.name.sasl_ssl.plain.sasl.jaas.config": (
        f"{MODULE}.plain.PlainLoginModule required "
        + " ".join(f'user_{user}="{PASSWORD}"' for user in (WRITES, READS, OWN))
        + ";"
    ),
    "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config": f"{MODULE}.scram.ScramLoginModule required;",
    "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": f"{MODULE}.scram.ScramLoginModule required;",
    "listener.name.sasl_ssl.oauthbearer.sasl.jaas.config": (
        f'{MODULE}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="nobody";'
    ),
    "ssl.keystore.type": "PEM",
}
MECHANISMS: Final = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]


class SecuredKafka(ApacheKafka):
    """`secured`: HOST:PORT of the listener with SASL over TLS."""

    secured: str

    def _properties(self, controller_port: int, logs: Path) -> str:
        (port,) = _free_ports(1)
        self.secured = f"127.0.0.1:{port}"
        listeners = f"PLAINTEXT://127.0.0.1:{self.port},SASL_SSL://{self.secured}"
        controller = f"CONTROLLER://127.0.0.1:{controller_port}"
        whole = super()._properties(controller_port, logs)
        return f"{whole}listeners={listeners},{controller}\nadvertised.listeners={listeners}\n"


@dataclass
class Secured:
    """A Kafka with users, and the authority that has signed its certificate."""

    servers: str
    ca: Path

    def own(self, mechanism: str) -> dict[str, str]:
        """For the proxy: as the file of a Java client has it."""
        kind = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
        jaas = f'{MODULE}.{kind}LoginModule required username="{OWN}" password="{PASSWORD}";'
        return {**self.nobody, "sasl.mechanism": mechanism, "sasl.jaas.config": jaas}

    @property
    def nobody(self) -> dict[str, str]:
        """For a proxy without a login of its own."""
        trusted = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(self.ca)}
        return {"security.protocol": "SASL_SSL", **trusted}


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    authority = Authority.made()
    chain, key = (pem.decode().strip().replace("\n", " ") for pem in authority.server(["127.0.0.1"]))
    ca = tmp_path_factory.mktemp("authority") / "ca.pem"
    ca.write_bytes(authority.certificate)
    with SecuredKafka({**CONFIG, "ssl.keystore.certificate.chain": chain, "ssl.keystore.key": key}) as broker:
        _prepare(broker.bootstrap_servers)
        yield Secured(broker.secured, ca)


def _prepare(plain: str) -> None:
    admin: Any = AdminClient({"bootstrap.servers": plain, "log_level": 0})
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        scram = ScramCredentialInfo(mechanism, 4096)
        users = [UserScramCredentialUpsertion(user, scram, PASSWORD.encode()) for user in (WRITES, READS, OWN)]
        for answer in admin.alter_user_scram_credentials(users).values():
            answer.result(SECONDS)
    topic, group = (ResourceType.TOPIC, "orders"), (ResourceType.GROUP, "readers")
    may = [
        (WRITES, *topic, AclOperation.WRITE),
        (READS, *topic, AclOperation.READ),
        (READS, *group, AclOperation.READ),
        (OWN, *topic, AclOperation.READ),
    ]
    rules = [
        AclBinding(kind, name, ResourcePatternType.LITERAL, f"User:{user}", "*", operation, AclPermissionType.ALLOW)
        for user, kind, name, operation in may
    ]
    for answer in admin.create_topics([NewTopic("orders", 1, 1)]).values():
        answer.result(SECONDS)

    def are_set() -> bool:
        try:
            for answer in admin.create_acls(rules).values():
                answer.result(SECONDS)
        except KafkaException as error:
            if error.args[0].name() != "SECURITY_DISABLED":  # a controller that has just begun has no authorizer yet
                raise
            return False
        return True

    until(are_set, "permissions that are set", SECONDS)


def _token(name: str) -> tuple[str, float]:
    def part(data: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(data).encode()).rstrip(b"=").decode()

    now = int(time.time())
    return f"{part({'alg': 'none'})}.{part({'sub': name, 'iat': now, 'exp': now + 3600})}.", now + 3600.0


def client_of(proxy: KafkaProxy, mechanism: str, user: str, password: str = PASSWORD) -> dict[str, Any]:
    login: dict[str, Any] = {"sasl.username": user, "sasl.password": password}
    if mechanism == "OAUTHBEARER":
        login = {"oauth_cb": lambda _: _token(user)}
    return {
        "bootstrap.servers": proxy.bootstrap_servers,
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": proxy.ca_file,
        "sasl.mechanism": mechanism,
        "log_level": 0,
        **login,
    }


def written(config: dict[str, Any], value: bytes) -> str:
    """The name of the error, "" where it was written."""
    said = []
    producer = Producer({**config, "message.timeout.ms": int(SECONDS * 1000)})
    producer.produce("orders", value, on_delivery=lambda error, _: said.append("" if error is None else error.name()))
    assert producer.flush(2 * SECONDS) == 0
    return said[0]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("knows", ["its own login", "nothing"])
def test_each_client_may_what_it_may_directly(kafka: Secured, mechanism: str, knows: str) -> None:
    own = "SCRAM-SHA-512" if mechanism == "OAUTHBEARER" else mechanism
    config = kafka.own(own) if knows == "its own login" else kafka.nobody
    value = f"{mechanism} {knows}".encode()
    with KafkaProxy(kafka.servers, command_config=config, tls=True) as proxy:
        # a broker learns of users and permissions a moment after it has been told
        until(
            lambda: written(client_of(proxy, mechanism, WRITES), value) == "", "a record that is written", 2 * SECONDS
        )
        assert written(client_of(proxy, mechanism, READS), b"not mine") == "TOPIC_AUTHORIZATION_FAILED"
        consumer = Consumer(
            {**client_of(proxy, mechanism, READS), "group.id": "readers", "auto.offset.reset": "earliest"}
        )
        consumer.subscribe(["orders"])
        read: list[bytes] = []

        def found() -> bool:
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                read.append(message.value())
            return value in read

        until(found, "the record")
        consumer.close()
        who = {entry.sender.principal for entry in proxy.journal.requests(api="Produce", outcome="reply")}
        assert who == {f"User:{WRITES}", f"User:{READS}"}
        frames = [entry.request_frame for entry in proxy.journal]
        assert not any(PASSWORD.encode() in frame or b"eyJ" in frame for frame in frames)
        if knows != "nothing":
            assert value in [record.value for record in proxy.records("orders")]


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_who_says_a_wrong_password_is_refused_as_directly(kafka: Secured, mechanism: str) -> None:
    with KafkaProxy(kafka.servers, command_config=kafka.own("SCRAM-SHA-256"), tls=True) as proxy:
        admin = AdminClient(client_of(proxy, mechanism, WRITES, "wrong"))
        with pytest.raises(KafkaException):
            admin.list_topics(timeout=2)
        assert not proxy.journal.requests(api="Metadata", outcome="reply")
        assert proxy.journal.requests(api="SaslAuthenticate", error="SASL_AUTHENTICATION_FAILED")


def test_faults_and_the_control_port_there(kafka: Secured) -> None:
    own = kafka.own("SCRAM-SHA-256")
    with KafkaProxy(kafka.servers, command_config=own, tls=True, control_port=0, control_token="t") as proxy:
        with proxy.faults.add(api="Produce", topic="orders", error="NOT_LEADER_OR_FOLLOWER", times=2) as fault:
            assert written(client_of(proxy, "SCRAM-SHA-256", WRITES), b"in the end") == ""
            assert fault.hits == 2
        url = f"{proxy.control_url}/v1/topics/orders/records?limit=1000"
        assert httpx.get(url, timeout=SECONDS).status_code == 401
        told = httpx.get(url, headers={"authorization": "Bearer t"}, timeout=SECONDS).json()
        assert "in the end" in [record["value"] for record in told["records"]]
