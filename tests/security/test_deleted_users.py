"""Users who are deleted, or have another password, while they are signed in: as on Apache Kafka 4.4.0.

A connection was let in and stays in, until its client has to say again who it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest

from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from tests.security import brokers
from tests.security.brokers import REAUTH_MS, Addresses
from tests.security.talk import Talk
from tests.waiting import until

FAILED = ErrorCode.SASL_AUTHENTICATION_FAILED
REFUSED = "Authentication failed during re-authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256"
USER, PASSWORD = "erin", "first"


@pytest.fixture(
    scope="module",
    params=[
        "stub",
        "proxy",
        pytest.param("kafka", marks=pytest.mark.oracle),
        pytest.param("proxy-kafka", marks=pytest.mark.oracle),
    ],
)
def servers(request: pytest.FixtureRequest) -> Iterator[Addresses]:
    behind = brokers.kafka() if "kafka" in request.param else brokers.stub()
    with brokers.proxied(behind) if "proxy" in request.param else behind as addresses:
        yield addresses


def set_password(servers: Addresses, password: str) -> None:
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), b"salt", 4096)
    _alter(servers, AlterUserScramCredentialsRequest([], [ScramCredentialUpsertion(USER, 1, 4096, b"salt", salted)]))
    until(lambda: signs_in(servers, password), "a user who can sign in")


def delete(servers: Addresses, password: str) -> None:
    _alter(servers, AlterUserScramCredentialsRequest([ScramCredentialDeletion(USER, 1)]))
    until(lambda: not signs_in(servers, password), "a user who cannot sign in any more")


def _alter(servers: Addresses, request: AlterUserScramCredentialsRequest) -> None:
    with Talk(servers.plain) as talk:
        answer = talk.ask(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, request)
        assert [one.error_code for one in answer.results] == [0]


def signs_in(servers: Addresses, password: str) -> bool:
    with Talk(servers.sasl) as talk:
        return bool(talk.scram(USER, password).error_code == 0)


@pytest.fixture
def signed_in(servers: Addresses) -> Iterator[Talk]:
    set_password(servers, PASSWORD)
    with Talk(servers.sasl) as talk:
        assert talk.scram(USER, PASSWORD).session_lifetime_ms == REAUTH_MS
        yield talk


@pytest.mark.behaviour("SA-2", "SA-6")
def test_who_is_deleted_goes_on_and_cannot_renew(servers: Addresses, signed_in: Talk):
    delete(servers, PASSWORD)
    assert signed_in.metadata().error_code == 0
    answer = signed_in.scram(USER, PASSWORD)
    assert (answer.error_code, answer.error_message) == (FAILED, REFUSED)
    assert signed_in.is_closed()


@pytest.mark.behaviour("SA-2", "SA-6")
def test_who_is_deleted_and_made_again_renews(servers: Addresses, signed_in: Talk):
    delete(servers, PASSWORD)
    set_password(servers, PASSWORD)
    assert signed_in.metadata().error_code == 0
    assert signed_in.scram(USER, PASSWORD).session_lifetime_ms == REAUTH_MS
    assert signed_in.metadata().error_code == 0


@pytest.mark.behaviour("SA-2", "SA-6")
@pytest.mark.parametrize(("password", "code"), [("second", 0), (PASSWORD, FAILED)], ids=["new", "old"])
def test_who_has_another_password_meanwhile_renews_by_that_one_only(
    servers: Addresses, signed_in: Talk, password: str, code: int
):
    set_password(servers, "second")
    assert signed_in.metadata().error_code == 0
    assert signed_in.scram(USER, password).error_code == code


@pytest.mark.behaviour("SA-2")
def test_who_is_deleted_between_two_steps_is_judged_by_what_was_there_at_the_first(servers: Addresses):
    set_password(servers, PASSWORD)
    with Talk(servers.sasl) as talk:
        assert talk.shake("SCRAM-SHA-256").error_code == 0
        first = talk.send(f"n,,n={USER},r=abcdef".encode())
        assert first.error_code == 0
        delete(servers, PASSWORD)
        assert talk.finish_scram(USER, PASSWORD, bytes(first.auth_bytes).decode()).error_code == 0
        assert talk.metadata().error_code == 0
