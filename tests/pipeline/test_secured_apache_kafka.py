"""A real Apache Kafka with SASL over TLS and permissions, as `--command-config` reaches it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed: make test-pipeline installs it")
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AclOperation,
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from kafkastub.security.tls_made import Authority
from kafkastub_pipeline import cluster
from kafkastub_pipeline.errors import PipelineError
from tests.expiry.wire import Wire
from tests.oracle.apache_kafka import ApacheKafka, _free_ports
from tests.pipeline.acls import AUTHORIZER, CLIENTS, LOG, allow, topic
from tests.pipeline.test_round_trip import rows
from tests.waiting import until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.oracle
MODULE: Final = "org.apache.kafka.common.security"
PASSWORD: Final = "s3cret=; x"
READS, DESCRIBES, HAS_NO_GROUP, NOBODY = "reads", "describes", "has-no-group", "nobody"
"""Users, by what they may do."""
STORE: Final = "store-password"
SECONDS: Final = 120
"""A real broker learns of users and permissions in its own time."""
CONFIG: Final[dict[str, object]] = {
    **AUTHORIZER,
    "super.users": "User:ANONYMOUS",  # who comes over PLAINTEXT
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL",
    "inter.broker.listener.name": "PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
    "listener.name.sasl_ssl.plain.sasl.jaas.config": (
        f'{MODULE}.plain.PlainLoginModule required user_{NOBODY}="{PASSWORD}";'
    ),
    "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": f"{MODULE}.scram.ScramLoginModule required;",
    "ssl.keystore.type": "PEM",
    "offsets.topic.num.partitions": 2,
    "transaction.state.log.num.partitions": 1,
    "log.retention.ms": -1,
}


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
    """A Kafka with a history, and the authority that has signed its certificate."""

    plain: str
    servers: str
    ca: Path

    def options(self, user: str = READS, password: str = PASSWORD, **more: str) -> list[tuple[str, str]]:
        """A client's properties; names in `more` have underscores for dots."""
        plain = user == NOBODY
        found = {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "PLAIN" if plain else "SCRAM-SHA-512",
            "sasl.jaas.config": (
                f"{MODULE}.{'plain.Plain' if plain else 'scram.Scram'}LoginModule required"
                f' username="{user}" password="{password}";'
            ),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.ca),
        }
        return list((found | {name.replace("_", "."): value for name, value in more.items()}).items())


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    authority = Authority.made()
    chain, key = (pem.decode().strip().replace("\n", " ") for pem in authority.server(["127.0.0.1"]))
    ca = tmp_path_factory.mktemp("authority") / "ca.pem"
    ca.write_bytes(authority.certificate)
    config = {**CONFIG, "ssl.keystore.certificate.chain": chain, "ssl.keystore.key": key}
    with SecuredKafka(config=config) as broker:
        found = Secured(broker.bootstrap_servers, broker.secured, ca)
        _history(found.plain)
        _users(found.plain)
        yield found


def _history(plain: str) -> None:
    with Wire(plain) as wire:
        wire.create_topics("orders", "audit", "hidden", partitions=1)
        producer = Producer({"bootstrap.servers": plain, "transactional.id": "t", "log_level": 0})
        producer.init_transactions(SECONDS)
        producer.begin_transaction()
        for name in ("orders", "audit", "hidden"):
            producer.produce(name, b"x")
        producer.commit_transaction(SECONDS)
        wire.commit("all read", {("orders", 0): 1})  # the mark of the transaction is left
        wire.commit("billing", {("orders", 0): 0, ("audit", 0): 0, ("hidden", 0): 0})


def _users(plain: str) -> None:
    admin: Any = AdminClient({"bootstrap.servers": plain, "log_level": 0})
    scram = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    wanted = [UserScramCredentialUpsertion(user, scram, PASSWORD.encode()) for user in (READS, DESCRIBES, HAS_NO_GROUP)]
    for answer in admin.alter_user_scram_credentials(wanted, request_timeout=SECONDS).values():
        answer.result(SECONDS)
    allow(plain, DESCRIBES, LOG)
    for user in (READS, HAS_NO_GROUP):
        allow(plain, user, LOG, AclOperation.READ)
    allow(plain, READS, CLIENTS)
    allow(plain, READS, topic("orders"), AclOperation.READ)
    allow(plain, READS, topic("audit"))


def why(servers: str, options: list[tuple[str, str]]) -> str:
    """Why the cluster cannot be read: the sentence, or nothing."""
    try:
        cluster.reached(servers, options, timeout=SECONDS)
    except PipelineError as error:
        return str(error)
    return ""


def says(servers: str, options: list[tuple[str, str]], words: str) -> None:
    """In the end, that is: until then the broker may not have heard of the user, or not of what it may do."""
    told = ""

    def said() -> bool:
        nonlocal told
        told = why(servers, options)
        assert "\n" not in told
        assert PASSWORD not in told
        return words in told if words else not told

    until(said, lambda: f"{words!r}, but {told!r}", SECONDS)


def test_who_is_not_let_in_is_told_why(kafka: Secured) -> None:
    says(kafka.servers, kafka.options(), "")
    refused = f"{kafka.servers} refuses the user: Authentication failed"
    says(kafka.servers, kafka.options(password="wrong"), f"{refused} during authentication due to invalid credentials")
    says(
        kafka.servers, kafka.options(NOBODY, "wrong"), f"{refused}: Invalid username or password; check sasl.mechanism"
    )
    unknown = kafka.options(sasl_mechanism="SCRAM-SHA-256")
    says(
        kafka.servers, unknown, "Unsupported SASL mechanism: broker's supported mechanisms: PLAIN,SCRAM-SHA-512; check"
    )
    other = kafka.ca.with_name("other.pem")
    other.write_bytes(Authority.made().certificate)
    untrusted = f"the certificate of {kafka.servers} is not trusted: give ssl.truststore.location"
    says(kafka.servers, kafka.options(ssl_truststore_location=str(other)), untrusted)
    nameless = kafka.options(security_protocol="SASL_PLAINTEXT")
    says(kafka.plain, nameless, f"{kafka.plain} asks for no user: its security.protocol is PLAINTEXT or SSL")
    says(kafka.servers, nameless, "every connection is closed at once; check --bootstrap-servers and security.protocol")


def test_who_may_not_read_the_log_is_told_what_is_missing(kafka: Secured) -> None:
    says(kafka.servers, kafka.options(NOBODY), "or this user needs the permission Describe and Read on it")
    says(kafka.servers, kafka.options(DESCRIBES), "needs the permission Read on the topic, and has Describe")
    says(kafka.servers, kafka.options(HAS_NO_GROUP), "--operation Describe --group kafkastub-pipeline")
    says(kafka.servers, kafka.options(HAS_NO_GROUP, group_id="mine"), "--operation Describe --group mine)")


def test_the_tables_of_a_user_with_the_permissions_of_the_guide(
    spark: SparkSession, kafka: Secured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it may not read has no lag in seconds, what it may not describe has none at all; nobody waits for either."""
    from kafkastub_pipeline.cli import main

    monkeypatch.setattr(cluster, "TIMEOUT", 600.0)  # for what does not come: the test would not end
    store, keytool = tmp_path / "trusted.p12", shutil.which("keytool")
    assert keytool is not None
    command = [keytool, "-importcert", "-noprompt", "-alias", "ca", "-file", str(kafka.ca)]
    subprocess.run([*command, "-keystore", str(store), "-storepass", STORE], check=True, capture_output=True)
    options = kafka.options(
        ssl_truststore_location=str(store), ssl_truststore_type="PKCS12", ssl_truststore_password=STORE
    )
    says(kafka.servers, options, "")
    visible = {"orders", "audit", LOG[1]}
    until(lambda: visible <= set(cluster.reached(kafka.servers, options)[1].topics), "permissions", SECONDS)
    file = tmp_path / "client.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in options))
    where = "--bootstrap-servers", kafka.servers, "--command-config", str(file), "--out", str(tmp_path / "out")
    assert main(["run", *where, "--retention-minutes", "10080", "--profile", "kafka"]) == 0
    lag = {(r.group_id, r.topic): r for r in rows(spark, tmp_path / "out", "lag")}
    assert {place: (r.lag_records, r.topic_missing) for place, r in lag.items()} == {
        ("all read", "orders"): (1, False),
        ("billing", "orders"): (2, False),
        ("billing", "audit"): (2, False),
        ("billing", "hidden"): (None, None),
    }
    methods = {place: r.lag_method for place, r in lag.items()}
    assert methods["billing", "audit"] in ("interpolation", "commit age")
    assert {place: method for place, method in methods.items() if place[1] != "audit"} == {
        ("all read", "orders"): "none left",  # the mark of a transaction is no record
        ("billing", "orders"): "next record",
        ("billing", "hidden"): None,
    }
    assert {r.group_id for r in rows(spark, tmp_path / "out", "offset_current")} == {"all read", "billing"}
