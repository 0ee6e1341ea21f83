"""Requests about delegation tokens on a disk that takes no more: refused, and none of it stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.expire_delegation_token_request import ExpireDelegationTokenRequest
from kafkawire.messages.renew_delegation_token_request import RenewDelegationTokenRequest
from kafkawire.schema import Message
from tests.persistence.test_full_disk import full
from tests.security.delegation_steps import creation, description, secret
from tests.security.talk import Talk

CREATE, RENEW, EXPIRE = ApiKey.CREATE_DELEGATION_TOKEN, ApiKey.RENEW_DELEGATION_TOKEN, ApiKey.EXPIRE_DELEGATION_TOKEN
HOUR = 3_600_000


def start(directory: Path) -> KafkaStub:
    return KafkaStub(users={"alice": "a"}, config={"delegation.token.secret.key": "key"}, data_dir=directory)


def ask(stub: KafkaStub, key: ApiKey, version: int, request: Message) -> Any:
    with Talk(stub.bootstrap_servers) as talk:
        assert talk.plain("alice", "a").error_code == 0
        return talk.ask(key, version, request)


def seen(stub: KafkaStub) -> Any:
    return ask(stub, ApiKey.DESCRIBE_DELEGATION_TOKEN, 3, description()).tokens


@pytest.mark.parametrize("key", [CREATE, RENEW, EXPIRE])
@pytest.mark.parametrize("period_ms", [-1, HOUR])
def test_what_is_refused_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: ApiKey, period_ms: int
) -> None:
    with start(tmp_path) as stub:
        token = ask(stub, CREATE, 3, creation())
        stub.clock.freeze()
    requests = {
        CREATE: (3, creation(max_ms=period_ms)),
        RENEW: (2, RenewDelegationTokenRequest(bytes(token.hmac), period_ms)),
        EXPIRE: (2, ExpireDelegationTokenRequest(bytes(token.hmac), period_ms)),
    }
    with start(tmp_path) as stub, monkeypatch.context() as patch:
        before = seen(stub)
        assert [one.token_id for one in before] == [token.token_id]
        full(patch)
        for _ in range(2):
            assert ask(stub, key, *requests[key]).error_code == ErrorCode.KAFKA_STORAGE_ERROR
            assert seen(stub) == before
        with Talk(stub.bootstrap_servers) as talk:
            assert talk.scram(token.token_id, secret(token), extensions=",tokenauth=true").error_code == 0
        stub.clock.advance(hours=25)
        assert seen(stub) == before, "nor is anything swept that could not be written"
    with start(tmp_path) as stub:
        assert seen(stub) == before
