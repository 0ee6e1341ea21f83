"""Which bearer tokens are good: the same as by Kafka's own validators, unsecured and signed, as recorded."""

from __future__ import annotations

import contextlib
import json
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from tests.security.talk import Talk, bearer
from tests.security.token_cases import URL, Case, cases
from tests.security.token_matrix import Keys, answers_of_kafka, recorded

NOW = 1_800_000_000
"""The stub's time in seconds; a recording has offsets from now."""
LENIENT = {"signed : body a comma too many", "signed : body leading zero"}
"""What jose4j's reader of JSON takes, and nobody else."""


@pytest.fixture(scope="module")
def keys() -> Keys:
    return Keys()


@contextlib.contextmanager
def stub_for(
    kind: str, settings: tuple[tuple[str, str], ...], keys: Keys, folder: Path, control_port: int | None = None
) -> Iterator[KafkaStub]:
    config: dict[str, object] = {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "inter.broker.listener.name": "SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "connection.failed.authentication.delay.ms": 0,
    }
    if kind == "signed":
        path = folder / "jwks.json"
        path.write_text(json.dumps(keys.jwks()))
        unverified = {f"sasl.oauthbearer.allow.unverified.{what}": True for what in ("audience", "issuer")}
        config |= {URL: path.as_uri(), **unverified, **dict(settings)}
    else:
        options = " ".join(f'{name}="{value}"' for name, value in settings)
        config["listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config"] = (
            f"OAuthBearerLoginModule required {options};"
        )
    with KafkaStub(config=config, control_port=control_port) as stub:
        stub.clock.freeze()
        stub.clock.set(datetime.fromtimestamp(NOW, UTC))
        yield stub


def answer_of(stub: KafkaStub, token: str) -> list[Any]:
    """As a recording has it: an end near now as an offset."""
    with Talk(stub.bootstrap_servers) as talk:
        talk.shake("OAUTHBEARER")
        answer = talk.send(bearer(token))
        if answer.error_code:
            return ["broken"]
        if answer.auth_bytes:
            return ["refused", json.loads(bytes(answer.auth_bytes))["status"]]
    entry = stub.journal.tail(1)[0]
    user = entry.sender.principal.removeprefix("User:").replace("\n", "\\n")
    ms = answer.session_lifetime_ms
    return ["accepted", user, ms if abs(ms) < 10_000_000 else ms + 1000 * NOW]


def expected(answer: list[Any]) -> list[Any]:
    """What the stub says where Kafka says this."""
    if answer[0] == "broken":  # an exception that nobody expects ends the connection; here it is one more bad token
        return ["refused", "invalid_token"]
    return [*answer[:2], max(0, answer[2])] if answer[0] == "accepted" else answer


@pytest.mark.behaviour("SA-3")
def test_the_stub_takes_the_tokens_that_kafka_takes(keys: Keys, tmp_path: Path):
    by_settings: dict[tuple[str, Any], list[tuple[str, Case]]] = {}
    for name, case in cases().items():
        by_settings.setdefault((case.kind, case.settings), []).append((name, case))
    told, differing = recorded(), {}
    assert list(told) == list(cases())
    for (kind, settings), members in by_settings.items():
        with stub_for(kind, settings, keys, tmp_path) as stub:
            for name, case in members:
                answer = answer_of(stub, keys.token(case, NOW))
                if name not in LENIENT and answer != expected(told[name]):
                    differing[name] = answer, expected(told[name])
    assert differing == {}


@pytest.mark.oracle
def test_kafkas_validators_answer_as_recorded():
    assert answers_of_kafka() == recorded()


def test_half_a_surrogate_pair_in_a_name_does_not_break_the_journal(keys: Keys, tmp_path: Path):
    case = cases()["unsecured : sub half a pair"]
    with stub_for("unsecured", (), keys, tmp_path, control_port=0) as stub:
        with Talk(stub.bootstrap_servers) as talk:
            talk.shake("OAUTHBEARER")
            assert talk.send(bearer(keys.token(case, NOW))).error_code == 0
            talk.metadata()
            lines = stub.journal.to_jsonl(tmp_path / "journal", frames=True).read_text().splitlines()
            with urllib.request.urlopen(f"{stub.control_url}/v1/journal") as answer:
                listed = json.load(answer)
        assert json.loads(lines[-1])["principal"] == "User:?x"
        assert "User:?x" in json.dumps(listed)
