"""`connection.failed.authentication.delay.ms` (KIP-306): which failures Kafka is slow to tell, and which it is not."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import pytest

from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from tests.security import brokers
from tests.security.brokers import PASSWORD, Addresses
from tests.security.talk import Talk, bearer, unsecured_token

DELAY_MS = 2500
TRIES = 3
"""How often a case that should not have been late is tried again by itself."""
FAILED = ErrorCode.SASL_AUTHENTICATION_FAILED
OUT_OF_TURN = ErrorCode.ILLEGAL_SASL_STATE
TOO_LARGE = struct.pack(">i", 600_000) + b"\xff" * 20
"""More than sasl.server.max.receive.size is announced."""


class Ended(NamedTuple):
    """What a client is told, and whether it was kept waiting for it, or for the end."""

    told: int | None
    late: bool


def heartbeat(talk: Talk) -> Any:
    return talk.ask(ApiKey.HEARTBEAT, 4, HeartbeatRequest("g", 1, "m"))


def send(talk: Talk, data: bytes) -> None:
    talk.client.socket.sendall(data)


def shaken(mechanism: str, version: int = 1) -> Callable[[Talk], object]:
    return lambda talk: talk.shake(mechanism, version)


def first_token(talk: Talk) -> None:
    talk.shake("OAUTHBEARER")
    assert talk.send(bearer(unsecured_token(sub="erin", exp=1000))).error_code == 0


def open_session(talk: Talk) -> None:
    assert talk.scram("alice", PASSWORD).error_code == 0


def at_another_mechanism(talk: Talk) -> None:
    open_session(talk)
    assert talk.shake("PLAIN").error_code == 0


# what comes before, what is done then, how it ends
CASES: dict[str, tuple[Callable[[Talk], object], Callable[[Talk], Any], Ended]] = {
    "a wrong password": (shaken("PLAIN"), lambda talk: talk.send(b"\0alice\0wrong"), Ended(FAILED, True)),
    "a wrong proof": (shaken("SCRAM-SHA-256"), lambda talk: talk.scram("alice", "x", shaken=True), Ended(FAILED, True)),
    "no token": (shaken("PLAIN"), lambda talk: talk.send(b"x"), Ended(FAILED, True)),
    "a bad token": (first_token, lambda talk: talk.send(b"\x01"), Ended(FAILED, True)),
    "a mechanism that is not enabled": (lambda _: None, lambda talk: talk.shake("GSSAPI"), Ended(33, True)),
    "a request out of turn": (shaken("PLAIN"), heartbeat, Ended(OUT_OF_TURN, True)),
    "a handshake out of turn": (shaken("PLAIN"), lambda talk: talk.shake("PLAIN"), Ended(OUT_OF_TURN, True)),
    "a wrong password without header": (
        shaken("PLAIN", 0),
        lambda talk: send(talk, b"\0\0\0\x0c\0alice\0wrong"),
        Ended(None, True),
    ),
    "a frame too large": (lambda _: None, lambda talk: send(talk, TOO_LARGE), Ended(None, True)),
    "a token too large": (shaken("PLAIN"), lambda talk: send(talk, TOO_LARGE), Ended(None, True)),
    "somebody else in the session": (open_session, lambda talk: talk.scram("carol", PASSWORD), Ended(FAILED, True)),
    "a wrong password in the session": (open_session, lambda talk: talk.scram("alice", "x"), Ended(FAILED, True)),
    "another mechanism in the session": (at_another_mechanism, lambda talk: talk.send(b"\0a\0b"), Ended(None, True)),
    "no mechanism in the session": (open_session, lambda talk: talk.shake("GSSAPI"), Ended(None, False)),
    "a request before": (lambda _: None, heartbeat, Ended(None, False)),
    "nothing of SCRAM, without header": (
        shaken("SCRAM-SHA-256", 0),
        lambda talk: send(talk, b"\0\0\0\4junk"),
        Ended(None, False),
    ),
    "a token that is none": (shaken("PLAIN"), lambda talk: talk.client.send(36, 1, b"\0"), Ended(None, False)),
    "a version that is none": (
        shaken("PLAIN"),
        lambda talk: talk.client.send(36, 9, b"", flexible=True),
        Ended(None, False),
    ),
    "no request at all": (lambda _: None, lambda talk: send(talk, b"\0\0\0\x14" + b"\xff" * 20), Ended(None, False)),
}


@pytest.fixture(
    scope="module",
    params=[
        "stub",
        "stub with data_dir",
        "proxy",
        pytest.param("kafka", marks=pytest.mark.oracle),
        pytest.param("proxy-kafka", marks=pytest.mark.oracle),
    ],
)
def servers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    delay: dict[str, object] = {"connection_failed_authentication_delay_ms": DELAY_MS}
    start: AbstractContextManager[Addresses]
    if "kafka" in request.param:
        start = brokers.kafka(**delay)
    else:
        folder = tmp_path_factory.mktemp("data") if "data_dir" in request.param else None
        start = brokers.stub(folder, **delay)
    with brokers.proxied(start) if "proxy" in request.param else start as addresses:
        yield addresses


def end_of(servers: Addresses, before: Callable[[Talk], object], then: Callable[[Talk], Any]) -> Ended:
    with Talk(servers.sasl) as talk:
        talk.client.socket.settimeout(60)
        before(talk)
        begin = time.monotonic()
        try:
            told = getattr(then(talk), "error_code", None)
        except ConnectionError:
            told = None
        assert talk.is_closed()
        return Ended(told, time.monotonic() - begin >= DELAY_MS / 1000 * 0.95)


@pytest.mark.behaviour("SA-10", "SH-2")
def test_a_failure_is_told_late_and_a_broken_request_ends_the_connection_at_once(servers: Addresses):
    with ThreadPoolExecutor(len(CASES)) as pool:
        running = {name: pool.submit(end_of, servers, before, then) for name, (before, then, _) in CASES.items()}
        ended = {name: one.result() for name, one in running.items()}
    wanted = {name: end for name, (_, _, end) in CASES.items()}
    for _ in range(TRIES):
        for name, (before, then, end) in CASES.items():
            if ended[name].late and not end.late:  # that the machine is busy makes a case late, too
                ended[name] = end_of(servers, before, then)
    assert ended == wanted


@pytest.mark.behaviour("SA-10")
def test_nothing_is_heard_from_a_client_that_is_kept_waiting(servers: Addresses):
    with Talk(servers.sasl) as talk, Talk(servers.sasl) as other:
        talk.client.socket.settimeout(60)
        talk.shake("PLAIN")
        token = b"\0alice\0wrong"
        talk.client.send(ApiKey.SASL_AUTHENTICATE, 1, struct.pack(">i", len(token)) + token)
        talk.client.send(ApiKey.SASL_HANDSHAKE, 1, b"\0\5PLAIN")
        assert other.plain("alice", PASSWORD).error_code == 0
        assert talk.client.receive() is not None
        assert talk.is_closed()


@pytest.mark.behaviour("SA-4")
def test_nobody_has_a_second_try_on_a_connection(servers: Addresses):
    with Talk(servers.sasl) as talk:
        talk.client.socket.settimeout(60)
        assert talk.plain("alice", "wrong").error_code == FAILED
        with pytest.raises(OSError):  # closed, and it may be by a reset
            talk.plain("alice", PASSWORD)


def test_a_client_that_does_not_wait_for_it_leaves_nothing():
    from kafkastub import KafkaStub

    with KafkaStub(users={"alice": "secret"}) as stub:
        with Talk(stub.bootstrap_servers) as talk:
            talk.shake("PLAIN")
            talk.client.send(ApiKey.SASL_AUTHENTICATE, 1, struct.pack(">i", 8) + b"\0alice\0x")
        begin = time.monotonic()
        with Talk(stub.bootstrap_servers) as talk:  # Kafka's default, and the stub's
            assert talk.plain("alice", "wrong").error_code == FAILED
        assert time.monotonic() - begin >= 0.095
