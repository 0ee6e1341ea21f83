"""Authentication, step by step: the same on the stub and on Apache Kafka 4.4.0."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator

import pytest

from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from tests.security import brokers
from tests.security.brokers import MECHANISMS, PASSWORD, REAUTH_MS, SHORT_MS, Addresses
from tests.security.talk import Talk, bearer, unsecured_token
from tests.waiting import until

FAILED = ErrorCode.SASL_AUTHENTICATION_FAILED
OUT_OF_TURN = ErrorCode.ILLEGAL_SASL_STATE
_GENERAL = "Authentication failed during authentication due to invalid credentials with SASL mechanism "


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


@pytest.fixture
def talk(servers: Addresses) -> Iterator[Talk]:
    with Talk(servers.sasl) as one:
        yield one


@pytest.mark.behaviour("SH-1", "SA-1", "SA-5")
def test_plain(talk: Talk):
    answer = talk.shake("PLAIN")
    assert (answer.error_code, sorted(answer.mechanisms)) == (0, sorted(MECHANISMS))
    answer = talk.send(f"\0alice\0{PASSWORD}".encode())
    assert (answer.error_code, bytes(answer.auth_bytes), answer.session_lifetime_ms) == (0, b"", 0)
    assert talk.metadata().error_code == 0


@pytest.mark.behaviour("SA-1", "SA-4")
@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("\0alice\0wrong", "Authentication failed: Invalid username or password"),
        ("\0nobody\0x", "Authentication failed: Invalid username or password"),
        ("\0\0x", "Authentication failed: username not specified"),
        ("\0alice\0", "Authentication failed: password not specified"),
        ("alice", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        ("\0\0\0\0\0", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (
            f"bob\0alice\0{PASSWORD}",
            "Authentication failed: Client requested an authorization id that is different from username",
        ),
    ],
)
def test_plain_refused(talk: Talk, token: str, text: str):
    talk.shake("PLAIN")
    answer = talk.send(token.encode())
    assert (answer.error_code, answer.error_message) == (FAILED, text)
    assert talk.is_closed()


@pytest.mark.behaviour("SA-2")
@pytest.mark.parametrize(("user", "name", "lasts_ms"), [("alice", "sha256", REAUTH_MS), ("dave", "sha512", SHORT_MS)])
def test_scram(talk: Talk, user: str, name: str, lasts_ms: int):
    answer = talk.scram(user, PASSWORD, name)
    assert (answer.error_code, answer.session_lifetime_ms) == (0, lasts_ms)


@pytest.mark.behaviour("SA-4")
@pytest.mark.parametrize("user", ["alice", "nobody"])
def test_scram_does_not_tell_a_wrong_user_from_a_wrong_password(talk: Talk, user: str):
    answer = talk.scram(user, "wrong")
    assert (answer.error_code, answer.error_message) == (FAILED, f"{_GENERAL}SCRAM-SHA-256")
    assert talk.is_closed()


@pytest.mark.behaviour("SA-4")
def test_scram_by_a_mechanism_that_the_user_does_not_have(talk: Talk):
    assert talk.scram("dave", PASSWORD, "sha256").error_code == FAILED


@pytest.mark.behaviour("SA-4")
def test_scram_that_is_none(talk: Talk):
    talk.shake("SCRAM-SHA-512")
    assert talk.send(b"hello").error_message == f"{_GENERAL}SCRAM-SHA-512"


@pytest.mark.behaviour("SA-3", "SA-6")
def test_a_token(talk: Talk):
    talk.shake("OAUTHBEARER")
    now = int(time.time())
    answer = talk.send(bearer(unsecured_token(sub="erin", exp=now + 60, iat=now - 1)))
    assert answer.error_code == 0
    assert 50_000 < answer.session_lifetime_ms <= 60_000
    assert talk.metadata().error_code == 0


@pytest.mark.behaviour("SA-3")
@pytest.mark.parametrize(
    "claims", [{"sub": "erin", "exp": 1000}, {"sub": "erin"}, {"exp": 4e9}, {"sub": "erin", "exp": 4e9, "iat": 3e9}]
)
def test_a_token_that_is_refused(talk: Talk, claims: dict[str, object]):
    talk.shake("OAUTHBEARER")
    answer = talk.send(bearer(unsecured_token(**claims)))
    assert (answer.error_code, bytes(answer.auth_bytes)) == (0, b'{"status":"invalid_token"}')
    answer = talk.send(b"\x01")
    assert (answer.error_code, answer.error_message) == (FAILED, '{"status":"invalid_token"}')
    assert talk.is_closed()


@pytest.mark.behaviour("SA-3")
def test_a_token_for_somebody_else(talk: Talk):
    talk.shake("OAUTHBEARER")
    answer = talk.send(bearer(unsecured_token(sub="erin", exp=4e9), "frank"))
    assert answer.error_code == FAILED
    assert "(frank) that is different from the token's principal name (erin)" in answer.error_message


@pytest.mark.behaviour("SH-2")
def test_a_mechanism_that_is_not_enabled(talk: Talk):
    answer = talk.shake("GSSAPI")
    assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
    assert sorted(answer.mechanisms) == sorted(MECHANISMS)
    assert talk.is_closed()


@pytest.mark.behaviour("SH-3")
def test_tokens_without_a_header(talk: Talk):
    assert talk.shake("PLAIN", 0).error_code == 0
    assert talk.send_raw(f"\0alice\0{PASSWORD}".encode()) == b""
    assert talk.metadata().error_code == 0


@pytest.mark.behaviour("SH-3")
def test_wrong_tokens_without_a_header_just_close(talk: Talk):
    talk.shake("PLAIN", 0)
    assert talk.send_raw(b"\0alice\0wrong") is None


@pytest.mark.behaviour("SA-9")
def test_nobody_is_served_before(talk: Talk):
    with pytest.raises(ConnectionError):
        talk.metadata()


@pytest.mark.behaviour("SA-9")
def test_nor_after_the_versions(talk: Talk):
    request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    assert talk.ask(ApiKey.API_VERSIONS, 3, request).error_code == 0
    with pytest.raises(ConnectionError):
        talk.metadata()


@pytest.mark.behaviour("SA-9")
def test_the_versions_are_told_once(talk: Talk):
    request = ApiVersionsRequest()
    assert talk.ask(ApiKey.API_VERSIONS, 0, request).error_code == 0
    with pytest.raises(ConnectionError):
        talk.ask(ApiKey.API_VERSIONS, 0, request)


@pytest.mark.behaviour("SA-9")
def test_versions_that_do_not_exist_may_be_asked_for_again(talk: Talk):
    talk.client.send(ApiKey.API_VERSIONS, 99, b"", flexible=True)
    assert talk.client.receive() is not None
    assert talk.ask(ApiKey.API_VERSIONS, 0, ApiVersionsRequest()).error_code == 0
    assert talk.plain("alice", PASSWORD).error_code == 0


@pytest.mark.behaviour("SA-9")
def test_a_request_between_handshake_and_token(talk: Talk):
    talk.shake("PLAIN")
    assert talk.ask(ApiKey.HEARTBEAT, 4, HeartbeatRequest("g", 1, "m")).error_code == OUT_OF_TURN
    assert talk.is_closed()


@pytest.mark.behaviour("SA-8", "SH-4")
def test_once_more_on_a_session_without_end(talk: Talk):
    assert talk.plain("alice", PASSWORD).error_code == 0
    assert talk.shake("PLAIN").error_code == OUT_OF_TURN
    answer = talk.send(b"\0alice\0x")
    expected = "SaslAuthenticate request received after successful authentication"
    assert (answer.error_code, answer.error_message) == (OUT_OF_TURN, expected)
    assert talk.metadata().error_code == 0


@pytest.mark.behaviour("SA-8", "SH-4")
def test_on_a_listener_without_sasl(servers: Addresses):
    with Talk(servers.plain) as talk:
        assert talk.shake("PLAIN").error_code == OUT_OF_TURN
        assert talk.send(b"").error_code == OUT_OF_TURN
        assert talk.metadata().error_code == 0


@pytest.mark.behaviour("SA-6", "SH-5")
def test_a_session_is_renewed(talk: Talk):
    assert talk.scram("alice", PASSWORD).session_lifetime_ms == REAUTH_MS
    assert talk.metadata().error_code == 0
    assert talk.scram("alice", PASSWORD).session_lifetime_ms == REAUTH_MS
    assert talk.metadata().error_code == 0


@pytest.mark.behaviour("SA-7")
def test_a_session_is_not_renewed_by_somebody_else(talk: Talk):
    assert talk.scram("alice", PASSWORD).error_code == 0
    answer = talk.scram("carol", PASSWORD)
    text = "Cannot change principals during re-authentication from User.alice: User.carol"
    assert (answer.error_code, answer.error_message) == (FAILED, text)
    assert talk.is_closed()


@pytest.mark.behaviour("SH-5")
def test_a_session_is_not_renewed_by_another_mechanism(talk: Talk):
    assert talk.scram("alice", PASSWORD).error_code == 0
    assert talk.shake("PLAIN").error_code == 0
    with pytest.raises(ConnectionError):
        talk.send(f"\0alice\0{PASSWORD}".encode())


@pytest.mark.behaviour("SA-6")
def test_a_session_that_is_over_is_closed_with_the_next_request(talk: Talk):
    begin = time.monotonic()
    assert talk.scram("dave", PASSWORD, "sha512").error_code == 0
    with pytest.raises(ConnectionError):
        until(lambda: talk.metadata() is None, "the end of the session")
    assert time.monotonic() - begin >= SHORT_MS / 1000


@pytest.mark.behaviour("AU-5")
def test_a_user_who_is_deleted_is_served_until_the_session_is_renewed(servers: Addresses, talk: Talk):
    """Nobody looks for a user again before the connection authenticates again: Kafka: SaslServerAuthenticator."""
    with Talk(servers.plain) as admin:
        salted = hashlib.pbkdf2_hmac("sha256", b"pw", b"salt", 4096)
        made = AlterUserScramCredentialsRequest([], [ScramCredentialUpsertion("erin", 1, 4096, b"salt", salted)])
        assert admin.ask(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, made).results[0].error_code == 0
        until(lambda: _signs_in(servers, "erin"), "a user that the broker knows")
        assert talk.scram("erin", "pw").error_code == 0
        gone = AlterUserScramCredentialsRequest([ScramCredentialDeletion("erin", 1)], [])
        assert admin.ask(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, gone).results[0].error_code == 0
        until(lambda: not _signs_in(servers, "erin"), "a user that the broker does not know any more")
    assert talk.metadata().error_code == 0
    answer = talk.scram("erin", "pw")
    text = "Authentication failed during re-authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256"
    assert (answer.error_code, answer.error_message) == (FAILED, text)
    assert talk.is_closed()


def _signs_in(servers: Addresses, user: str) -> bool:
    with Talk(servers.sasl) as one:
        return not one.scram(user, "pw").error_code
