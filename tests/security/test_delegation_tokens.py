"""Delegation tokens on the stub: the clock in a test's hand, several nodes, restarts, and where their secret is not."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.config import BrokerConfig, Profile
from kafkastub.security import delegation_tokens
from kafkastub.security.delegation_tokens import DelegationTokens, Principal
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.expire_delegation_token_request import ExpireDelegationTokenRequest
from kafkawire.messages.renew_delegation_token_request import RenewDelegationTokenRequest
from tests.security.delegation_steps import creation, description, secret
from tests.security.talk import Talk
from tests.security.test_secrets import told_of
from tests.security.tls_raw import context, principal
from tests.waiting import until

KEY = "a-secret-key-of-the-broker"
CONFIG: dict[str, object] = {"delegation.token.secret.key": KEY}
USERS = {"alice": "a", "bob": "b"}
HOUR = 3_600_000
NONE, MISSING, OVER = ErrorCode.NONE, ErrorCode.DELEGATION_TOKEN_NOT_FOUND, ErrorCode.DELEGATION_TOKEN_EXPIRED
NOT_ALLOWED = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
CREATE, DESCRIBE = ApiKey.CREATE_DELEGATION_TOKEN, ApiKey.DESCRIBE_DELEGATION_TOKEN


def start(data_dir: Path | None = None, **more: Any) -> KafkaStub:
    config = {**CONFIG, **more.pop("config", {})}
    return KafkaStub(users=USERS, config=config, data_dir=data_dir, **more)


def as_user(servers: str, key: ApiKey, version: int, request: Any, user: str = "alice") -> Any:
    with Talk(servers.partition(",")[0]) as talk:
        assert talk.plain(user, USERS[user]).error_code == NONE
        return talk.ask(key, version, request)


def made(stub: KafkaStub, **how: Any) -> Any:
    answer = as_user(stub.bootstrap_servers, CREATE, 3, creation(**how))
    assert answer.error_code == NONE
    return answer


def renewed(stub: KafkaStub, token: Any, ms: int = -1) -> int:
    request = RenewDelegationTokenRequest(bytes(token.hmac), ms)
    code: int = as_user(stub.bootstrap_servers, ApiKey.RENEW_DELEGATION_TOKEN, 2, request).error_code
    return code


def known(stub: KafkaStub) -> list[str]:
    return [one.token_id for one in as_user(stub.bootstrap_servers, DESCRIBE, 3, description()).tokens]


def signed_in(servers: str, token: Any) -> tuple[int, int]:
    """The code, and the session's length in ms."""
    with Talk(servers) as talk:
        answer = talk.scram(token.token_id, secret(token), extensions=",tokenauth=true")
        return answer.error_code, answer.session_lifetime_ms


@pytest.mark.behaviour("KC-2", "KE-5", "SA-11")
def test_a_token_is_gone_when_the_test_has_moved_the_clock():
    with start() as stub:
        stub.clock.freeze()
        token = made(stub)
        assert signed_in(stub.bootstrap_servers, token) == (NONE, 24 * HOUR)
        stub.clock.advance(hours=24)
        assert signed_in(stub.bootstrap_servers, token) == (NONE, 0), "the last millisecond is the token's own"
        stub.clock.advance(milliseconds=1)
        assert known(stub) == []
        assert signed_in(stub.bootstrap_servers, token)[0] == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert renewed(stub, token) == MISSING


@pytest.mark.behaviour("KR-1", "KC-2")
def test_who_renews_it_keeps_it_until_its_lifetime_is_over():
    with start() as stub:
        stub.clock.freeze()
        token = made(stub, max_ms=60 * HOUR)
        for _ in range(3):
            assert renewed(stub, token) == NONE
            stub.clock.advance(hours=20)
            assert known(stub) == [token.token_id]
        assert renewed(stub, token) == NONE
        stub.clock.advance(milliseconds=1)
        assert known(stub) == []


@pytest.mark.behaviour("KE-5", "KR-2")
def test_what_is_over_is_there_until_the_next_sweep():
    with start() as stub:
        token = made(stub, max_ms=1)
        until(lambda: renewed(stub, token) == OVER, "it is over")
        assert known(stub) == [token.token_id]
    with start(config={"delegation.token.expiry.check.interval.ms": 5}) as stub:
        made(stub, max_ms=1)
        until(lambda: known(stub) == [], "it was swept")


@pytest.mark.behaviour("SA-11", "KC-3")
def test_who_signs_in_with_a_password_again_may_ask_for_tokens_again():
    with start() as stub, Talk(stub.bootstrap_servers) as talk:
        token = made(stub)
        assert talk.scram(token.token_id, secret(token), extensions=",tokenauth=true").error_code == NONE
        assert stub.journal.requests(api="SaslAuthenticate")[-1].error_names == ()
        assert talk.ask(CREATE, 3, creation()).error_code == NOT_ALLOWED
        assert talk.scram("alice", "a").error_code == NONE
        assert talk.ask(CREATE, 3, creation()).error_code == NONE


@pytest.mark.behaviour("SA-11", "SA-7")
def test_the_principal_is_the_owner_also_in_reauthentication():
    with start() as stub, Talk(stub.bootstrap_servers) as talk:
        token = made(stub, owner=("User", "bob"))
        assert talk.scram(token.token_id, secret(token), extensions=",tokenauth=true").error_code == NONE
        talk.metadata()
        assert list(stub.journal)[-1].sender.principal == "User:bob"
        mine = made(stub)
        answer = talk.scram(mine.token_id, secret(mine), extensions=",tokenauth=true")
        assert "Cannot change principals during re-authentication" in answer.error_message


@pytest.mark.behaviour("KC-3")
def test_over_tls_a_certificate_is_needed(tmp_path: Path):
    config = {
        **CONFIG,
        "listeners": "TLS://localhost:0",
        "listener.security.protocol.map": "TLS:SSL",
        "inter.broker.listener.name": "TLS",
        "ssl.client.auth": "requested",
    }
    with KafkaStub(config=config) as stub:
        for shown, code in ((None, NOT_ALLOWED), (stub.client_certificate("CN=alice").both, NONE)):
            how: ssl.SSLContext = context(stub.ca_file, shown)
            assert principal(stub.port, how) == ("User:CN=alice" if shown else "User:ANONYMOUS")
            (entry,) = stub.journal.requests(api="CreateDelegationToken")[-1:]
            assert entry.error_names == (() if code == NONE else (code.name,))


def test_where_nobody_looks_after_permissions_everybody_is_told_of_all_tokens():
    with start() as stub:
        token = made(stub)
        seen = as_user(stub.bootstrap_servers, DESCRIBE, 3, description(), user="bob").tokens
        assert [one.token_id for one in seen] == [token.token_id]


def test_every_node_knows_a_token():
    with start(nodes=3) as stub:
        first, second, third = stub.bootstrap_servers.split(",")
        token = as_user(first, CREATE, 3, creation())
        assert signed_in(second, token)[0] == NONE
        request = ExpireDelegationTokenRequest(bytes(token.hmac), -1)
        assert as_user(third, ApiKey.EXPIRE_DELEGATION_TOKEN, 2, request).error_code == NONE
        assert signed_in(first, token)[0] == ErrorCode.SASL_AUTHENTICATION_FAILED


def test_tokens_outlive_the_process_and_their_secret_is_not_in_its_files(tmp_path: Path):
    directory = tmp_path / "data"
    with start(directory) as stub:
        kept = made(stub, max_ms=60 * HOUR, renewers=[("User", "bob")])
        gone = made(stub)
        assert renewed(stub, kept, HOUR) == NONE
        before = as_user(stub.bootstrap_servers, DESCRIBE, 3, description()).tokens
        request = ExpireDelegationTokenRequest(bytes(gone.hmac), -1)
        assert as_user(stub.bootstrap_servers, ApiKey.EXPIRE_DELEGATION_TOKEN, 2, request).error_code == NONE
    state = directory / "kafkastub.json"
    assert state.stat().st_mode & 0o777 == 0o600
    assert kept.token_id in state.read_text()
    for path in directory.rglob("*"):
        assert path.is_dir() or hidden_in(path.read_bytes(), kept, gone) == []
    with start(directory) as stub:
        assert as_user(stub.bootstrap_servers, DESCRIBE, 3, description()).tokens == before[:1]
        assert signed_in(stub.bootstrap_servers, kept)[0] == NONE
    with start(directory, config={"delegation.token.secret.key": ""}) as stub:
        answer = as_user(stub.bootstrap_servers, DESCRIBE, 3, description())
        assert answer.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        assert signed_in(stub.bootstrap_servers, kept)[0] == ErrorCode.SASL_AUTHENTICATION_FAILED
    with start(directory, config={"delegation.token.secret.key": "another"}) as stub:
        assert known(stub) == [kept.token_id]
        assert renewed(stub, kept) == MISSING, "its hmac is another one now"
    with start(directory) as stub:
        stub.clock.advance(hours=2)
        assert known(stub) == []
    with start(directory) as stub:
        assert known(stub) == []


def hidden_in(data: bytes, *tokens: Any) -> list[bytes]:
    """Which of the secrets are there."""
    keys = [bytes(one.hmac) for one in tokens]
    words = [KEY.encode(), *keys, *(key.hex().encode() for key in keys), *(secret(one).encode() for one in tokens)]
    return [one for one in words if one in data]


def test_no_hmac_is_logged_or_journaled(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    folder = tmp_path / "journal"
    with start(journal=folder) as stub:
        token = made(stub)
        assert renewed(stub, token) == NONE
        assert known(stub) == [token.token_id]
        assert signed_in(stub.bootstrap_servers, token)[0] == NONE
        request = ExpireDelegationTokenRequest(bytes(token.hmac), -1)
        as_user(stub.bootstrap_servers, ApiKey.EXPIRE_DELEGATION_TOKEN, 2, request)
        told = "".join(told_of(entry) for entry in stub.journal)
        assert token.token_id in told, "what is no secret is told"
    texts = [told.encode(), caplog.text.encode(), *(path.read_bytes() for path in folder.rglob("*") if path.is_file())]
    assert [hidden_in(text, token) for text in texts] == [[] for _ in texts]
    assert repr(bytes(token.hmac))[2:-1] not in told


@pytest.mark.behaviour("KC-8")
@pytest.mark.parametrize(("most", "value"), [("_MOST", 2), ("_MOST_RENEWERS", 2), ("_MOST_CHARACTERS", 60)])
def test_no_more_are_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch, most: str, value: int):
    monkeypatch.setattr(delegation_tokens, most, value)
    tokens = DelegationTokens(BrokerConfig(CONFIG, Profile.named("kafka")))
    alice = Principal("User", "alice")

    def create(token_id: str) -> None:
        tokens.create(token_id, alice, alice, [alice], -1, 0)

    for token_id in ("a", "b"):
        create(token_id)
    with pytest.raises(KafkaError) as refused:
        create("c")
    assert refused.value.code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert len(tokens.sweep(1 << 62)) == 2
    create("c")
    assert [token.token_id for token in tokens] == ["c"]


@pytest.mark.parametrize(
    ("names", "enabled"), [({"delegation.token.secret.key": ""}, False), ({}, False), (CONFIG, True)]
)
def test_tokens_need_a_secret_key(names: dict[str, object], enabled: bool):
    assert DelegationTokens(BrokerConfig(names, Profile.named("kafka"))).enabled is enabled
