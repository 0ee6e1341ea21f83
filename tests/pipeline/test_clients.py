"""A client's properties, as operators have them, reach both clients; what cannot be translated is refused by name."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafkastub import KafkaStub
from kafkastub_pipeline.clients import for_java, for_librdkafka, read_properties
from kafkastub_pipeline.errors import PipelineError
from tests.expiry.wire import Wire

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MODULE = "org.apache.kafka.common.security"
PASSWORD = 's3c"ret\\=; x'
QUOTED = '"s3c\\"ret\\\\=; x"'
PLAIN = f'{MODULE}.plain.PlainLoginModule required username="alice" password={QUOTED};'
SCRAM = f'{MODULE}.scram.ScramLoginModule required username="alice" password={QUOTED};'


def _file(path: Path, **properties: str) -> str:
    """As `java.util.Properties` reads it: a backslash is written twice."""
    lines = ["# of the operator", ""]
    lines += [f"{name.replace('_', '.')}={value}".replace("\\", "\\\\") for name, value in properties.items()]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_a_properties_file_is_read_as_java_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        "! a remark\n#another = one\n\n  a = b \\\n     c\\\\\nwith\\ space\\=:\\u00e9\\t.\nalone\nd e=f\ng==h\nlast=\\"
    )
    assert read_properties(str(file)) == [
        ("a", "b c\\"),
        ("with space=", "é\t."),
        ("alone", ""),
        ("d", "e=f"),
        ("g", "=h"),
        ("last", ""),
    ]
    with pytest.raises(PipelineError, match=r"--command-config .* cannot be read: No such file"):
        read_properties(str(tmp_path / "nowhere"))


@pytest.mark.parametrize(("mechanism", "jaas"), [("PLAIN", PLAIN), ("SCRAM-SHA-512", SCRAM)])
def test_a_user_in_either_dialect(mechanism: str, jaas: str) -> None:
    both = [("security.protocol", "SASL_SSL"), ("sasl.mechanism", mechanism)]
    java = {**dict(both), "sasl.jaas.config": jaas}
    librdkafka = {**dict(both), "sasl.username": "alice", "sasl.password": PASSWORD}
    for given in (java, librdkafka):
        assert for_java(list(given.items())) == java
        assert for_librdkafka(list(given.items())) == librdkafka
    aliased = [("security.protocol", "SASL_SSL"), ("sasl.mechanisms", mechanism), ("sasl.jaas.config", jaas)]
    assert for_librdkafka(aliased) == librdkafka


def test_certificates_in_either_dialect(tmp_path: Path) -> None:
    ca, key, chain = (tmp_path / name for name in ("ca.pem", "key.pem", "chain.pem"))
    ca.write_text("-----BEGIN CERTIFICATE-----\nca\n")
    key.write_text("-----BEGIN PRIVATE KEY-----\nkey\n")
    chain.write_text("-----BEGIN CERTIFICATE-----\nchain\n")
    trusted = {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": ca.read_text()}
    for given in (
        {"ssl.truststore.location": str(ca), "ssl.truststore.type": "PEM"},
        {"ssl.ca.location": str(ca)},
        {"ssl.ca.pem": ca.read_text()},
    ):
        assert for_java(list(given.items())) == trusted
        assert for_librdkafka(list(given.items())) == {"ssl.ca.pem": ca.read_text()}
    mine = {"ssl.key.location": str(key), "ssl.certificate.location": str(chain), "ssl.key.password": "p"}
    assert for_librdkafka(list(mine.items())) == mine
    assert for_java(list(mine.items())) == {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": key.read_text(),
        "ssl.keystore.certificate.chain": chain.read_text(),
        "ssl.key.password": "p",
    }
    store = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(chain), "ssl.key.password": "p"}
    assert for_java(list(store.items())) == store
    assert for_librdkafka(list(store.items())) == {
        "ssl.certificate.location": str(chain),
        "ssl.key.location": str(chain),
        "ssl.key.password": "p",
    }


def test_what_one_client_alone_has_a_use_for_goes_to_it() -> None:
    given = {
        "request.timeout.ms": "1000",
        "socket.timeout.ms": "2000",
        "client.id": "operator",
        "key.deserializer": "x",
        "isolation.level": "read_uncommitted",
        "ssl.endpoint.identification.algorithm": "",
    }
    unnamed = {"client.id": "operator", "ssl.endpoint.identification.algorithm": ""}
    assert for_java(list(given.items())) == {**unnamed, "request.timeout.ms": "1000"}
    assert for_librdkafka(list(given.items())) == {
        "client.id": "operator",
        "ssl.endpoint.identification.algorithm": "none",
        "socket.timeout.ms": "2000",
    }


SASL = {"security.protocol": "SASL_PLAINTEXT"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sasl.mechansim": "PLAIN"}, "sasl.mechansim is not a property .* is sasl.mechanism meant"),
        ({"bananas": "1"}, "bananas is not a property"),
        ({**SASL, "sasl.mechanism": "GSSAPI"}, "sasl.mechanism is GSSAPI: the pipeline has PLAIN, SCRAM-SHA-256"),
        (SASL, "sasl.mechanism is missing"),
        ({**SASL, "sasl.mechanism": "PLAIN"}, "needs a user"),
        ({**SASL, "sasl.mechanism": "PLAIN", "sasl.jaas.config": SCRAM}, "ScramLoginModule: .* needs PlainLoginModule"),
        ({**SASL, "sasl.mechanism": "PLAIN", "sasl.jaas.config": "secret"}, "is not as Java has it"),
        ({**SASL, "sasl.mechanism": "PLAIN", "sasl.jaas.config": PLAIN[:-1]}, "is not as Java has it"),
        (
            {**SASL, "sasl.mechanism": "SCRAM-SHA-256", "sasl.jaas.config": SCRAM[:-1] + " tokenauth=true;"},
            "a delegation token cannot be used",
        ),
        ({"sasl.oauthbearer.token.endpoint.url": "http://x"}, "sasl.oauthbearer.token.endpoint.url cannot be used"),
        ({"enable.ssl.certificate.verification": "false"}, "Spark's client always verifies"),
        ({"ssl.truststore.location": "/nowhere/ca.pem"}, "ssl.truststore.location: /nowhere/ca.pem cannot be read"),
        ({"ssl.ca.location": "/x", "ssl.truststore.location": "/x"}, "say the same thing twice"),
        ({"ssl.key.pem": "x"}, "belong together"),
    ],
)
def test_what_cannot_be_translated_is_refused_by_its_name(given: dict[str, str], words: str) -> None:
    with pytest.raises(PipelineError, match=words) as refused:
        for_java(list(given.items())), for_librdkafka(list(given.items()))
    assert "s3c" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_key_store_in_javas_old_format(tmp_path: Path) -> None:
    (tmp_path / "mine.jks").write_bytes(bytes.fromhex("feedfeed00000002"))
    with pytest.raises(PipelineError, match=r"old format JKS; convert it to PKCS#12 with `keytool"):
        for_librdkafka([("ssl.keystore.location", str(tmp_path / "mine.jks"))])


def _committed(stub: KafkaStub, listener: str) -> None:
    with Wire(stub.bootstrap_servers_of(listener)) as wire:
        wire.commit("group", {("orders", 0): 1, ("orders", 1): 2})


def _read(spark: SparkSession, servers: str, options: list[tuple[str, str]]) -> int:
    """How many records both clients see: one asks for the partitions, the other reads them."""
    from kafkastub_pipeline.cluster import beginnings, snapshot
    from kafkastub_pipeline.sources import read_kafka

    seen = beginnings(servers, options)
    assert snapshot(servers, options).partitions["orders", 1].high_watermark == 0
    return read_kafka(spark, servers, seen.log_partitions, options).count()


BOTH: dict[str, object] = {"inter.broker.listener.name": "PLAINTEXT", "offsets.topic.num.partitions": 2}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_cluster_with_users(spark: SparkSession, tmp_path: Path, mechanism: str) -> None:
    listeners = "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0"
    users = {"alice": PASSWORD}
    with KafkaStub(users=users, config={**BOTH, "listeners": listeners}, topics={"orders": 2}) as stub:
        _committed(stub, "PLAINTEXT")
        of_file = _file(
            tmp_path / "client.properties",
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism=mechanism,
            sasl_jaas_config=PLAIN if mechanism == "PLAIN" else SCRAM,
        )
        assert _read(spark, stub.bootstrap_servers_of("SASL_PLAINTEXT"), read_properties(of_file)) == 2


def test_a_cluster_with_an_authority_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    """It wants certificates, too. PEM as the stub has it, and a store that keytool makes of it, which Java reads."""
    listeners = "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0"
    config = {**BOTH, "listeners": listeners, "ssl.client.auth": "required"}
    with KafkaStub(config=config, topics={"orders": 2}) as stub:
        _committed(stub, "PLAINTEXT")
        servers, mine = stub.bootstrap_servers_of("SSL"), stub.client_certificate()
        options = {"security.protocol": "SSL", "ssl.truststore.type": "PEM", "ssl.truststore.location": stub.ca_file}
        files = {"ssl.certificate.location": mine.certificate, "ssl.key.location": mine.key}
        assert _read(spark, servers, [*options.items(), *files.items()]) == 2
        store, keytool = str(tmp_path / "trusted.p12"), shutil.which("keytool")
        assert keytool is not None
        command = [keytool, "-importcert", "-noprompt", "-alias", "ca", "-file", stub.ca_file]
        subprocess.run([*command, "-keystore", store, "-storepass", "secret"], check=True, capture_output=True)
        options = {"security.protocol": "SSL", "ssl.truststore.location": store, "ssl.truststore.password": "secret"}
        options |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": mine.both}
        assert _read(spark, servers, list(options.items())) == 2
        with pytest.raises(PipelineError, match=r"cannot be read with ssl\.truststore\.password"):
            for_java(list({**options, "ssl.truststore.password": "wrong!"}.items()))


def test_the_files_properties_reach_the_command(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What stands on the command line wins over the file."""
    from kafkastub_pipeline.cli import main

    del spark
    listeners = "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0"
    with KafkaStub(users={"alice": "a"}, config={**BOTH, "listeners": listeners}, topics={"orders": 2}) as stub:
        _committed(stub, "PLAINTEXT")
        file = _file(
            tmp_path / "client.properties",
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="PLAIN",
            sasl_jaas_config=f'{MODULE}.plain.PlainLoginModule required username="alice" password="b";',
        )
        command = ["stream", "--bootstrap-servers", stub.bootstrap_servers_of("SASL_PLAINTEXT"), "--available-now"]
        command += ["--command-config", file, "--out", str(tmp_path / "out"), "--checkpoint", str(tmp_path / "c")]
        assert main(command) == 2
        assert "refuses the user" in capsys.readouterr().err
        right = f'{MODULE}.plain.PlainLoginModule required username="alice" password="a";'
        assert main([*command, "--client-config", f"sasl.jaas.config={right}"]) == 0
    assert any((tmp_path / "out").glob("*.parquet"))
