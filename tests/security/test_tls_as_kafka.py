"""Certificates, principals and alerts: Apache Kafka's and the stub's, with the same certificates."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import NameOID

from kafkastub import KafkaStub
from kafkastub.security.tls_names import NoRuleApplies, PrincipalRules, RuleError, subject_of
from tests.oracle.apache_kafka import run_java
from tests.security.tls_oracle import LISTENERS, Authority, TlsKafka, listener_settings
from tests.security.tls_raw import asked, context, everything, principal

ODD = r"CN=a\,b\+c\;\"\<\>\\\#\=é \ ,DC=x,UID=u,EMAILADDRESS=a@b.c,SERIALNUMBER=12,C=DE,ST=s,STREET=st,L=l"
SUBJECTS = (
    "CN=alice,OU=dev",
    "CN=Alice,OU=LOWER,O=x",
    "CN=Alice,OU=lower,O=x",
    "CN=Alice,OU=upper,O=x",
    "CN=Bob",
    "CN=Carl",
    "CN=a+OU=b,O=c",
    r"CN=\ x\ ",
    ODD,
)
JAVA_TO_OPENSSL = {
    # Java's alerts are the general ones, OpenSSL's say more. No client tells them apart.
    ("none", "TLSv1.3"): ("alert bad certificate", "alert certificate required"),
    ("none", "TLSv1.2"): ("alert bad certificate", "alert handshake failure"),
    ("late", "TLSv1.3"): ("alert certificate unknown", "alert certificate expired"),
    ("late", "TLSv1.2"): ("alert certificate unknown", "alert certificate expired"),
    ("mallory", "TLSv1.3"): ("alert certificate unknown", "alert unknown ca"),
    ("mallory", "TLSv1.2"): ("alert certificate unknown", "alert unknown ca"),
}


class Pki:
    """One authority, and files with what it and another one signed."""

    def __init__(self, folder: Path) -> None:
        self.ca = Authority.made()
        self._folder = folder
        self.ca_file = str(folder / "ca.pem")
        Path(self.ca_file).write_bytes(self.ca.certificate)
        self.settings = listener_settings(self.ca.server(["localhost"]), self.ca.certificate)
        self.wrong = {
            "none": None,
            "late": self.file("late", self.ca.client("CN=late", expired=True)),
            "mallory": self.file("mallory", Authority.made("another").client("CN=mallory")),
        }

    def file(self, name: str, made: tuple[bytes, bytes]) -> str:
        path = self._folder / f"{name}.pem"
        path.write_bytes(b"".join(made))
        return str(path)


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    return Pki(tmp_path_factory.mktemp("pki"))


@pytest.fixture(scope="module")
def kafka(pki: Pki) -> Iterator[TlsKafka]:
    with TlsKafka(config=pki.settings) as running:
        yield running


@pytest.fixture
def stub(pki: Pki) -> Iterator[KafkaStub]:
    places = ",".join(f"{name}://127.0.0.1:0" for name in LISTENERS)
    with KafkaStub(config={**pki.settings, "listeners": f"PLAINTEXT://127.0.0.1:0,{places}"}) as running:
        yield running


def ports(stub: KafkaStub) -> dict[str, int]:
    return dict(zip(LISTENERS, stub.ports[1:], strict=True))


def stubs_principal(stub: KafkaStub, port: int, how: ssl.SSLContext) -> str:
    before = len(stub.journal)
    said = asked(port, how)
    return list(stub.journal)[before].sender.principal if said == "answered" else said


@pytest.mark.oracle
@pytest.mark.parametrize("listener", LISTENERS)
def test_a_principal_is_as_kafka_writes_it(pki: Pki, kafka: TlsKafka, stub: KafkaStub, listener: str):
    for number, subject in enumerate(SUBJECTS):
        how = context(pki.ca_file, pki.file(f"{number}", pki.ca.client(subject)))
        wanted = principal(kafka.ports[listener], how)
        assert stubs_principal(stub, ports(stub)[listener], how) == wanted, subject


@pytest.mark.oracle
@pytest.mark.parametrize("listener", ["TLS", "OLDER", "ASKED"])
def test_who_has_no_good_certificate_is_refused_as_by_kafka(pki: Pki, kafka: TlsKafka, stub: KafkaStub, listener: str):
    version = "TLSv1.2" if listener == "OLDER" else "TLSv1.3"
    for name, file in pki.wrong.items():
        how = context(pki.ca_file, file)
        said = principal(kafka.ports[listener], how), stubs_principal(stub, ports(stub)[listener], how)
        if (listener, name) == ("ASKED", "none"):
            assert said == ("User:ANONYMOUS", "User:ANONYMOUS")
        else:
            assert said == JAVA_TO_OPENSSL[name, version]


@pytest.mark.oracle
@pytest.mark.parametrize("words", [b"\0\0\0\x0a\0\x12\0\0\0\0\0\1\xff\xff", b"GET / HTTP/1.1\r\n\r\n"])
def test_a_client_without_tls_gets_the_alert_that_kafka_sends(kafka: TlsKafka, stub: KafkaStub, words: bytes):
    got = []
    for port in (kafka.ports["TLS"], ports(stub)["TLS"]):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.sendall(words)
            got.append(everything(client))
    assert got[0] == got[1] != b""


RULES = (
    "DEFAULT", "", "default", "RULE:", "RULE:a/b", "RULE:a/b/X", "RULE:^(a/b/", "DEFAULT/L", "DEFAULT,DEFAULT",
    ",,DEFAULT", "RULE:.*/x/", "RULE:CN=(.*)/$1$2/", "RULE:CN=(.*)/$12/", "RULE:CN=.*/$0/", "RULE:CN=.*/$1/",
    "RULE:CN=.*/$/", "RULE:CN=(.*)/a$/", r"RULE:CN=(.*)/a\$1/", r"RULE:CN=(.*)/$1\/x\/",
    "RULE:CN=(?<w>[^,]*).*/$1/U", "RULE:^a$/b/,DEFAULT",
    r"RULE:^CN=(.*?),OU=(.*?)$/$2-$1/L , RULE:.*(CN|OU)=(\w+).*/$2/",
    "RULE:CN=(a)|CN=(b)/$1$2/", "RULE:(?i)cn=(.*)/$1/L", "RULE:CN=(.*)/$01/", "RULE: CN=(.*) / $1 /L",
    "RULE:CN=(.*)/$1/LU", "RULE:CN=(.*)/$1/l",
)  # fmt: skip
NAMES = ("CN=alice", "CN=Alice,OU=Dev", "CN=a", "CN=b", "", "CN=a\\,b,O=é")


@pytest.mark.oracle
def test_rules_are_read_and_used_as_by_kafka():
    pairs = [(rules, name) for rules in RULES for name in NAMES]
    asked = "\n".join(f"{rules}\t{name}" for rules, name in pairs)
    answers = run_java(Path(__file__).parent / "Names.java", stdin=asked).stdout.splitlines()
    assert len(answers) == len(pairs)
    differing = [(*pair, answer, mapped(*pair)) for pair, answer in zip(pairs, answers, strict=True)
                 if mapped(*pair) != answer]  # fmt: skip
    assert differing == []


def mapped(rules: str, name: str) -> str:
    try:
        return PrincipalRules(rules).principal(name)
    except RuleError:
        return "refused"
    except NoRuleApplies:
        return "none"


@pytest.mark.oracle
def test_a_subject_is_printed_as_by_java(tmp_path: Path):
    texts = []
    for number, kind in enumerate(_ASN1Type):
        if kind in (_ASN1Type.BitString, _ASN1Type.OctetString, _ASN1Type.UTCTime, _ASN1Type.GeneralizedTime):
            continue
        oids = (NameOID.COMMON_NAME, NameOID.EMAIL_ADDRESS, NameOID.USER_ID, NameOID.DOMAIN_COMPONENT)
        subject = x509.Name([x509.NameAttribute(oid, " a,b=c 1 ", kind) for oid in oids])
        now = datetime.now(UTC)
        key = ec.generate_private_key(ec.SECP256R1())
        made = (
            x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
            .serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1)).sign(key, SHA256())
        )  # fmt: skip
        path = tmp_path / f"{number}.pem"
        path.write_bytes(made.public_bytes(Encoding.PEM))
        texts.append((str(path), subject_of(made.public_bytes(Encoding.DER)), kind))
    said = run_java(
        Path(__file__).parent / "Names.java", stdin="\n".join(path for path, *_ in texts)
    ).stdout.splitlines()
    assert [(kind, text) for _, text, kind in texts] == [
        (kind, line) for (*_, kind), line in zip(texts, said, strict=True)
    ]
