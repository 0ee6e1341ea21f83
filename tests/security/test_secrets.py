"""No secret reaches a log, the journal, an error message or a description of the configuration."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import socket
import struct
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.config import BrokerConfig, ConfigError, Profile
from kafkastub.config.kafka_table import BROKER
from kafkastub.config.own import OWN
from kafkawire.api import ApiKey
from kafkawire.header import request_header
from kafkawire.messages.alter_configs_request import AlterableConfig as OldConfig
from kafkawire.messages.alter_configs_request import AlterConfigsRequest
from kafkawire.messages.alter_configs_request import AlterConfigsResource as OldResource
from kafkawire.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.schema import Message, Struct
from tests.process.serving import refused
from tests.rawclient import RawClient
from tests.security.talk import Talk, bearer, unsecured_token

SECRET = "Tr0ub4dor-and-3"
WRONG = "Wr0ng-and-typed"
SALTED = hashlib.pbkdf2_hmac("sha256", SECRET.encode(), b"salt", 4096)
JAAS = "listener.name.sasl_plaintext.plain.sasl.jaas.config"
CONFIG = {
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,OAUTHBEARER",
    JAAS: f'org.apache.kafka.common.security.plain.PlainLoginModule required user_bob="{SECRET}" password="{SECRET}";',
}


def secrets_in(text: str) -> list[str]:
    hidden = [SECRET, WRONG, SALTED.hex(), str(SALTED)[2:-1], "c2lnbmF0dXJl"]
    return [one for one in hidden if one in text]


def told_of(entry: Any) -> str:
    """Everything that an entry of the journal shows."""
    values = [getattr(entry, name) for name in dir(entry) if not name.startswith("_")]
    shown = [value() if callable(value) else value for value in values]
    return repr([_plain(one) for one in shown])


def _plain(value: Any) -> Any:
    if isinstance(value, Struct | Message):
        return {name: _plain(getattr(value, name)) for name, *_ in value.FIELDS}
    if isinstance(value, bytes):
        return [value, value.hex()]
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def frames_in(journal: bytes) -> list[bytes]:
    """Requests and answers as a journal on disk has them, in base64."""
    rows = [json.loads(line) for line in journal.splitlines()]
    return [base64.b64decode(row[name]) for row in rows for name in ("request", "response") if row[name]]


def test_none_is_logged_or_journaled(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    folder = tmp_path / "journal"
    with KafkaStub(users={"alice": SECRET}, config=CONFIG, journal=folder) as stub:
        address = stub.bootstrap_servers
        for user, password in (("alice", SECRET), ("bob", SECRET), ("alice", WRONG), ("bob", WRONG)):
            with Talk(address) as talk:
                talk.plain(user, password)
        for password in (SECRET, WRONG):
            with Talk(address) as talk:
                talk.scram("alice", password)
        with Talk(address) as talk:
            talk.shake("OAUTHBEARER")
            talk.send(bearer(unsecured_token(sub="erin", exp=4e9)[:-1] + ".c2lnbmF0dXJl"))
        with Talk(address) as talk:
            talk.shake("PLAIN", 0)
            talk.send_raw(f"\0alice\0{SECRET}".encode())
            upsertion = ScramCredentialUpsertion("zoe", 1, 4096, b"salt", SALTED)
            talk.ask(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, AlterUserScramCredentialsRequest([], [upsertion]))
            described = talk.ask(
                ApiKey.DESCRIBE_CONFIGS, 4, DescribeConfigsRequest([DescribeConfigsResource(4, "1", None)], True)
            )
        told = [(one.name, one.value) for one in described.results[0].configs]
        assert (JAAS, None) in told
        entries = [told_of(entry) for entry in stub.journal]
        assert len(entries) >= 10
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    frames = b"".join(frames_in(written))
    assert JAAS.encode() in frames  # or they are not read as they should be
    told_by = {
        "entries": "\n".join(entries),
        "answers": repr(told),
        "log": caplog.text,
        "folder": written.decode("latin-1") + frames.decode("latin-1") + frames.hex(),
    }
    assert {name: secrets_in(text) for name, text in told_by.items()} == {name: [] for name in told_by}
    assert "authentication failed" in caplog.text


def framed(contents: bytes) -> bytes:
    return struct.pack(">i", len(contents)) + contents


def asked(key: ApiKey, version: int, body: bytes = b"") -> bytes:
    return framed(request_header(key, version, 7, "me", False) + body)


HANDSHAKE = b"\0\5PLAIN"
TOKEN = framed(f"\0alice\0{SECRET}".encode())
SEGMENTS = {
    "a token without a header": (asked(ApiKey.SASL_HANDSHAKE, 0, HANDSHAKE) + TOKEN, ["SaslHandshake"]),
    "and a request behind it": (
        asked(ApiKey.SASL_HANDSHAKE, 0, HANDSHAKE) + TOKEN + asked(ApiKey.METADATA, 1, bytes(4)),
        ["SaslHandshake", "Metadata"],
    ),
    "a wrong token without a header": (
        asked(ApiKey.SASL_HANDSHAKE, 0, HANDSHAKE) + TOKEN.replace(b"alice", b"Alice"),
        ["SaslHandshake"],
    ),
    "the versions before": (
        asked(ApiKey.API_VERSIONS, 0) + asked(ApiKey.SASL_HANDSHAKE, 0, HANDSHAKE) + TOKEN,
        ["ApiVersions", "SaslHandshake"],
    ),
    "a token before anything": (TOKEN, ["api -1"]),
    "of a user who begins like a request": (framed(f"\0\3\0{SECRET}".encode()), ["api -1"]),
    "a token in place of a request": (asked(ApiKey.SASL_HANDSHAKE, 1, HANDSHAKE) + TOKEN, ["SaslHandshake", "api -1"]),
    "with a password where a client id would be": (
        asked(ApiKey.SASL_HANDSHAKE, 1, HANDSHAKE) + framed(b"\0bob!!\0\0\x20" + SECRET.encode()),
        ["SaslHandshake", "api -1"],
    ),
    "a token of somebody who is in": (
        asked(ApiKey.SASL_HANDSHAKE, 1, HANDSHAKE)
        + asked(ApiKey.SASL_AUTHENTICATE, 0, framed(f"\0alice\0{SECRET}".encode()))
        + TOKEN,
        ["SaslHandshake", "SaslAuthenticate", "api -1"],
    ),
}


@pytest.mark.parametrize("apart", [False, True], ids=["in one segment", "one by one"])
@pytest.mark.parametrize("case", SEGMENTS)
def test_a_token_is_not_taken_for_a_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, case: str, apart: bool
) -> None:
    sent, names = SEGMENTS[case]
    folder = tmp_path / "journal"
    config = {"connection.failed.authentication.delay.ms": 0}
    with KafkaStub(users={"alice": SECRET}, config=config, journal=folder) as stub:
        with RawClient(stub.bootstrap_servers) as client:
            at = 0
            while at < len(sent):
                end = at + 4 + int.from_bytes(sent[at : at + 4]) if apart else len(sent)
                client.socket.sendall(sent[at:end])
                at = end
                if apart:
                    client.receive()
            client.socket.shutdown(socket.SHUT_WR)
            while client.receive() is not None:
                pass
        entries = list(stub.journal)
        assert [entry.api for entry in entries] == names
        told = "\n".join(told_of(entry) for entry in entries)
        exported = stub.journal.to_jsonl(tmp_path / "exported", frames=True).read_bytes()
    written = b"".join(path.read_bytes() for path in folder.iterdir())
    frames = b"".join(frames_in(written) + frames_in(exported))
    shown = told + exported.decode() + written.decode() + repr(frames) + caplog.text
    assert [one for one in (SECRET, SECRET[:3], SECRET.encode().hex()) if one in shown] == []


def test_a_token_on_a_listener_without_logins_is_not_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "journal"
    with KafkaStub(journal=folder) as stub:
        with RawClient(stub.bootstrap_servers) as client:
            client.socket.sendall(asked(ApiKey.SASL_HANDSHAKE, 0, HANDSHAKE) + TOKEN)
            assert client.receive() is not None  # ILLEGAL_SASL_STATE
            assert client.receive() is None
        entries = list(stub.journal)
        assert sorted(entry.api for entry in entries) == ["SaslHandshake", "api -1"]
        told = "\n".join(told_of(entry) for entry in entries)
    written = b"".join(path.read_bytes() for path in folder.iterdir())
    shown = told + written.decode() + repr(frames_in(written)) + caplog.text
    assert [one for one in (SECRET, SECRET.encode().hex()) if one in shown] == []


@pytest.mark.parametrize(
    "name", [name for table in (BROKER, OWN) for name, row in table.items() if row[0] == "password"]
)
def test_none_that_a_client_alters_is_journaled(tmp_path: Path, name: str):
    """Whether the broker takes it or not."""
    folder = tmp_path / "journal"
    with KafkaStub(journal=folder) as stub, Talk(stub.bootstrap_servers) as talk:
        config = AlterableConfig(f"listener.name.plaintext.{name}", 0, SECRET)
        for resource in (AlterConfigsResource(4, "1", [config]), AlterConfigsResource(32, "g", [config])):
            talk.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, IncrementalAlterConfigsRequest([resource]))
        old = AlterConfigsRequest([OldResource(4, "1", [OldConfig(f"listener.name.plaintext.{name}", SECRET)])])
        talk.ask(ApiKey.ALTER_CONFIGS, 2, old)
        told = "\n".join(told_of(entry) for entry in stub.journal)
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    frames = b"".join(frames_in(written))
    assert name in told  # of what was decoded
    assert [secrets_in(text) for text in (told, written.decode(), frames.decode("latin-1"))] == [[], [], []]


@pytest.mark.parametrize(
    "config",
    [
        {JAAS: f"PlainLoginModule {SECRET}"},
        {JAAS: f'PlainLoginModule required user_a="{SECRET}"'},
        {JAAS: f'PlainLoginModule required "{SECRET}";'},
        {"kafkastub.users": SECRET},
        {"kafkastub.users": json.dumps({"": SECRET})},
        {"kafkastub.users": json.dumps([SECRET])},
        {"kafkastub.users": {"alice": SECRET}},
    ],
)
def test_none_is_in_the_refusal_of_a_configuration(config: dict[str, object]):
    whole = {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "inter.broker.listener.name": "SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        **config,
    }
    with pytest.raises(ConfigError) as caught, KafkaStub(config=whole):
        pass
    assert secrets_in(str(caught.value)) == []


def test_none_is_in_the_refusal_of_a_command_line():
    status, said = refused("--config", f"ssl.key.password {SECRET}")
    assert (status, secrets_in(said)) == (2, [])
    assert "'ssl.key.password' is not a configuration: expected KEY=VALUE" in said


def test_none_is_in_the_description_of_a_configuration():
    config = BrokerConfig({**CONFIG, "kafkastub.users": json.dumps({"a": SECRET})}, Profile.named("kips"))
    assert secrets_in(repr(config)) == []


def test_passwords_are_not_kept_on_the_disk(tmp_path: Path):
    with KafkaStub(users={"alice": SECRET}, data_dir=tmp_path) as stub, Talk(stub.bootstrap_servers) as talk:
        assert talk.scram("alice", SECRET).error_code == 0
    found = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert found == []
