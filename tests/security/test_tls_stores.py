"""Key stores and trust stores in Kafka's configuration: PEM in the text, PEM files, PKCS12; and what is refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates
from cryptography.x509 import load_pem_x509_certificate

from kafkastub import KafkaStub
from kafkastub.config import BrokerConfig, ConfigError, Listener, Profile
from kafkastub.security.tls_made import Authority
from kafkastub.security.tls_stores import ListenerSettings
from tests.security.tls_raw import asked, context

BASE = {
    "listeners": "TLS://localhost:0",
    "listener.security.protocol.map": "TLS:SSL",
    "inter.broker.listener.name": "TLS",
}
PASSWORD = "correct-horse"
CA = Authority.made()
CERTIFICATE, KEY = (pem.decode() for pem in CA.server(["localhost"]))
OTHER_KEY = CA.server(["localhost"])[1].decode()
TRUSTED = CA.certificate.decode()
ONE_LINE = CERTIFICATE.replace("\n", " ")
INLINE = {
    "ssl.keystore.type": "PEM",
    "ssl.keystore.certificate.chain": CERTIFICATE,
    "ssl.keystore.key": KEY,
    "ssl.truststore.type": "PEM",
    "ssl.truststore.certificates": TRUSTED,
    "ssl.client.auth": "required",
}


def encrypted(form: PrivateFormat = PrivateFormat.PKCS8) -> str:
    made = load_pem_private_key(KEY.encode(), None)
    hidden = BestAvailableEncryption(PASSWORD.encode()) if form is PrivateFormat.PKCS8 else NoEncryption()
    return made.private_bytes(Encoding.PEM, form, hidden).decode()


def without(*names: str, **more: str) -> dict[str, str]:
    return {name: text for name, text in INLINE.items() if name not in names} | more


def serves(tmp_path: Path, config: dict[str, str]) -> None:
    """A client that the CA signed is served under its name, and one without a certificate is not."""
    (tmp_path / "ca.pem").write_text(TRUSTED)
    (tmp_path / "alice.pem").write_bytes(b"".join(CA.client("CN=alice")))
    with KafkaStub(config={**BASE, **config}) as stub:
        assert asked(stub.port, context(str(tmp_path / "ca.pem"), str(tmp_path / "alice.pem"))) == "answered"
        assert asked(stub.port, context(str(tmp_path / "ca.pem"))).startswith("alert")
        assert [entry.sender.principal for entry in stub.journal] == ["User:CN=alice"]
        with pytest.raises(RuntimeError, match="your key stores"):
            assert stub.ca_file
        with pytest.raises(RuntimeError, match=r"no ssl\.truststore of your own"):
            stub.client_certificate()


def refusal(config: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as refused, KafkaStub(config={**BASE, **config}):
        pass
    said = str(refused.value)
    assert "\n" not in said
    assert PASSWORD not in said
    assert "BEGIN" not in said
    return said


def test_pem_in_the_configuration(tmp_path: Path):
    serves(tmp_path, INLINE)


def test_pem_on_one_line_as_a_properties_file_has_it(tmp_path: Path):
    serves(tmp_path, {name: text.replace("\n", " ").strip() for name, text in INLINE.items()})


def test_pem_with_an_encrypted_key(tmp_path: Path):
    serves(tmp_path, {**INLINE, "ssl.keystore.key": encrypted(), "ssl.key.password": PASSWORD})


def test_pem_files(tmp_path: Path):
    (tmp_path / "server.pem").write_text("Some words before.\n" + KEY + CERTIFICATE)
    (tmp_path / "trusted.pem").write_text(TRUSTED + Authority.made("one more").certificate.decode())
    files = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(tmp_path / "server.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(tmp_path / "trusted.pem"),
        "ssl.client.auth": "required",
    }
    serves(tmp_path, files)
    serves(tmp_path, {f"listener.name.tls.{name}": text for name, text in files.items()})


@pytest.mark.parametrize("kind", ["PKCS12", "JKS"])  # Java reads PKCS12 as its default type JKS, too
def test_pkcs12_files(tmp_path: Path, kind: str):
    key, certificate = load_pem_private_key(KEY.encode(), None), load_pem_x509_certificate(CERTIFICATE.encode())
    authority = load_pem_x509_certificate(TRUSTED.encode())
    hidden = BestAvailableEncryption(PASSWORD.encode())
    store = serialize_key_and_certificates(b"server", key, certificate, [authority], hidden)  # type: ignore[arg-type]
    (tmp_path / "server.p12").write_bytes(store)
    (tmp_path / "trusted.p12").write_bytes(serialize_key_and_certificates(b"ca", None, None, [authority], hidden))
    stores = {
        "ssl.keystore.type": kind,
        "ssl.keystore.location": str(tmp_path / "server.p12"),
        "ssl.keystore.password": PASSWORD,
        "ssl.truststore.type": kind,
        "ssl.truststore.location": str(tmp_path / "trusted.p12"),
        "ssl.truststore.password": PASSWORD,
        "ssl.client.auth": "required",
    }
    serves(tmp_path, stores)
    assert "password is wrong" in refusal({**stores, "ssl.keystore.password": "wrong"})


def test_stores_of_keytool(tmp_path: Path):
    keytool = shutil.which("keytool")
    if keytool is None:
        pytest.skip("this machine has no keytool")

    (tmp_path / "ca.pem").write_text(TRUSTED)
    store = str(tmp_path / "trusted.p12")
    command = [keytool, "-importcert", "-noprompt", "-alias", "ca", "-file", str(tmp_path / "ca.pem")]
    command += ["-keystore", store, "-storetype", "PKCS12", "-storepass", PASSWORD]
    subprocess.run(command, check=True, capture_output=True)
    more = {"ssl.truststore.location": store, "ssl.truststore.password": PASSWORD}
    serves(tmp_path, without("ssl.truststore.type", "ssl.truststore.certificates", **more))


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (without("ssl.keystore.type"), "ssl.keystore.type=PEM only, and that is JKS"),
        (without("ssl.keystore.key"), "ssl.keystore.key must be set too"),
        (without("ssl.keystore.certificate.chain"), "ssl.keystore.certificate.chain must be set too"),
        ({**INLINE, "ssl.keystore.location": "x"}, "only one of them may be"),
        ({**INLINE, "ssl.keystore.key": OTHER_KEY}, "the key does not belong to the first certificate"),
        ({**INLINE, "ssl.keystore.key": encrypted()}, "ssl.key.password is needed"),
        ({**INLINE, "ssl.keystore.key": encrypted(), "ssl.key.password": "x"}, "ssl.key.password is wrong"),
        ({**INLINE, "ssl.keystore.key": encrypted(PrivateFormat.TraditionalOpenSSL)}, "PKCS#8"),
        ({**INLINE, "ssl.keystore.key": "x"}, "expected one private key, found 0"),
        ({**INLINE, "ssl.keystore.certificate.chain": KEY}, "there is no certificate in it"),
        (without("ssl.truststore.type"), "ssl.truststore.type=PEM only, and that is JKS"),
        ({**INLINE, "ssl.truststore.certificates": "x"}, "there is no certificate in it"),
        ({**INLINE, "ssl.truststore.location": "x"}, "only one of them may be"),
        ({"ssl.keystore.location": "/nowhere/x.p12"}, "/nowhere/x.p12 cannot be read (No such file or directory)"),
        ({"ssl.keystore.password": PASSWORD}, "there is no ssl.keystore.location"),
        ({"ssl.truststore.password": PASSWORD}, "there is no ssl.truststore.location"),
        ({"ssl.keystore.type": "BKS", "ssl.keystore.location": __file__}, "BKS is not a type that is known"),
        ({"ssl.enabled.protocols": "TLSv1,TLSv1.1"}, "too old"),
        ({"ssl.principal.mapping.rules": "RULE:x"}, "RULE:x is not a rule"),
        ({"listener.name.tls.ssl.client.auth": "perhaps"}, "listener.name.tls.ssl.client.auth is refused"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_sentence(config: dict[str, str], words: str):
    assert words in refusal(config)


def test_a_store_of_another_type_than_said_is_refused(tmp_path: Path):
    (tmp_path / "pem").write_text(KEY + CERTIFICATE)
    (tmp_path / "jks").write_bytes(b"\xfe\xed\xfe\xed\0\0\0\2")
    (tmp_path / "text").write_text("words")
    (tmp_path / "bytes").write_bytes(b"\xff")
    jks = refusal({"ssl.keystore.location": str(tmp_path / "jks")})
    assert "only Java reads" in jks
    assert "keytool -importkeystore" in jks
    assert "so set ssl.keystore.type=PEM" in refusal({"ssl.keystore.location": str(tmp_path / "pem")})
    assert "not a PKCS12 file" in refusal({"ssl.keystore.location": str(tmp_path / "text")})
    for name in ("text", "bytes"):
        config = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(tmp_path / name)}
        assert "there is no certificate in it" in refusal(config) or "not a PEM file" in refusal(config)


def test_a_file_without_what_it_is_for_is_refused(tmp_path: Path):
    authority = load_pem_x509_certificate(TRUSTED.encode())
    key = load_pem_private_key(KEY.encode(), None)
    hidden = BestAvailableEncryption(PASSWORD.encode())
    store = serialize_key_and_certificates(b"ca", None, None, [authority], hidden)
    (tmp_path / "no-key.p12").write_bytes(store)
    store = serialize_key_and_certificates(b"server", key, None, None, hidden)  # type: ignore[arg-type]
    (tmp_path / "key-alone.p12").write_bytes(store)
    files = {"ssl.keystore.location": str(tmp_path / "no-key.p12"), "ssl.keystore.password": PASSWORD}
    assert "holds no private key with a certificate" in refusal(files)
    files = {"ssl.truststore.location": str(tmp_path / "key-alone.p12"), "ssl.truststore.password": PASSWORD}
    assert "holds no certificates" in refusal(files)


def test_a_pem_file_has_no_password_of_its_own(tmp_path: Path):
    (tmp_path / "server.pem").write_text(KEY + CERTIFICATE)
    for store, words in (("keystore", "its key's is ssl.key.password"), ("truststore", "a PEM file has none")):
        config = {f"ssl.{store}.type": "PEM", f"ssl.{store}.location": str(tmp_path / "server.pem")}
        assert words in refusal({**config, f"ssl.{store}.password": PASSWORD})


def test_a_certificate_is_asked_for_on_sasl_ssl_only_where_that_is_said_of_the_listener():
    listener = Listener("SECURE", "", 0, "SASL_SSL")
    for config, becomes in (
        ({"ssl.client.auth": "required"}, "none"),
        ({"listener.name.secure.ssl.client.auth": "required"}, "required"),
    ):
        assert ListenerSettings(BrokerConfig(config, Profile.named("kafka")), listener).client_auth == becomes
