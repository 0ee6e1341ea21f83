"""What somebody may cost the others whom nobody knows yet: tokens of SASL as long as may be, and logins."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Callable, Iterator

import pytest

from kafkawire.errors import ErrorCode
from tests.hostile.prober import LONGEST_MS, probing
from tests.hostile.test_hostile import FLAT_MB, linux, memory_mb
from tests.ports import reserved_port
from tests.process.serving import Serving
from tests.security.talk import Talk, bearer, unsecured_token

MECHANISMS = "PLAIN,SCRAM-SHA-256,OAUTHBEARER"
LONG = 520_000
"""Bytes of a token: sasl.server.max.receive.size is 524,288 by default."""
TRIES = 3
"""A machine may be busy; what holds others up does so every time."""


class Doors(Serving):
    """A broker with a listener for everybody, and one with SASL."""

    def __init__(self, *args: str) -> None:
        self._ports = contextlib.ExitStack()
        plain, sasl = (self._ports.enter_context(reserved_port()) for _ in range(2))
        self.plain, self.sasl = f"127.0.0.1:{plain}", f"127.0.0.1:{sasl}"
        super().__init__(
            "--config", f"listeners=PLAINTEXT://{self.plain},SASL_PLAINTEXT://{self.sasl}",
            "--config", f"sasl.enabled.mechanisms={MECHANISMS}",
            "--config", 'kafkastub.users={"alice":"secret"}',
            "--config", "connection.failed.authentication.delay.ms=0",
            *args, port=None,
        )  # fmt: skip

    def __exit__(self, *details: object) -> None:
        super().__exit__(None, None, None)
        self._ports.close()


@pytest.fixture(scope="module")
def doors() -> Iterator[Doors]:
    with Doors() as process:
        yield process


def filled(head: str, piece: str, end: str) -> bytes:
    return (head + piece * ((LONG - len(head) - len(end)) // len(piece)) + end).encode()


def a_token_of(claims: str) -> bytes:
    parts = [base64.urlsafe_b64encode(one.encode()).decode().rstrip("=") for one in ('{"alg":"none"}', claims)]
    return bearer(".".join(parts) + ".")


DEEP = 300_000
TOKENS = {
    "OAUTHBEARER, ever more auth": ("OAUTHBEARER", filled("n,,\1", "auth=b c\1", "")),
    "OAUTHBEARER, ever more tokens": ("OAUTHBEARER", filled("n,,\1", "auth=bearer cccccccccc=\1", "x\1")),
    "OAUTHBEARER, spaces": ("OAUTHBEARER", filled("n,,\1auth=b", " ", "\1\1")),
    "OAUTHBEARER, a name": ("OAUTHBEARER", filled("n,a=", "=2C", "\1")),
    "OAUTHBEARER, points": ("OAUTHBEARER", filled("n,,\1auth=bearer ", ".", "\1\1")),
    "OAUTHBEARER, deep JSON": ("OAUTHBEARER", a_token_of("[" * DEEP)),
    "OAUTHBEARER, a long number": ("OAUTHBEARER", a_token_of('{"exp":' + "9" * DEEP + "}")),
    "SCRAM, extensions": ("SCRAM-SHA-256", filled("n,,n=a,r=b", ",a=b", "\0")),
    "SCRAM, a name": ("SCRAM-SHA-256", filled("n,,n=", "=2C", "\0")),
    "SCRAM, equals signs": ("SCRAM-SHA-256", filled("n,,n=a,r=b", ",a==", ",")),
    "PLAIN, zeros": ("PLAIN", bytes(LONG)),
    "PLAIN, a password": ("PLAIN", filled("\0alice\0", "x", "")),
}


@pytest.mark.parametrize("kind", TOKENS)
def test_a_long_token_does_not_hold_others_up(doors: Doors, kind: str):
    mechanism, token = TOKENS[kind]
    longest = []
    for _ in range(TRIES):
        with probing(doors.plain) as prober, Talk(doors.sasl) as talk:
            assert talk.shake(mechanism).error_code == 0
            answer = talk.send(token)
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED or b"invalid_token" in answer.auth_bytes
        longest.append(prober.longest_ms)
        if longest[-1] <= LONGEST_MS:
            return
    pytest.fail(f"others waited {longest} ms")


NAME = "x" * 370_000
"""So long may a name be whose token has at most sasl.server.max.receive.size bytes."""
LOGINS = 40
LINE = 2_000
"""Bytes in the log for one login, and its end, at most."""


def fails_for_another(talk: Talk, number: int) -> None:
    token = bearer(unsecured_token(sub="erin", exp=4e9), f"{number}{NAME}")
    talk.shake("OAUTHBEARER")
    assert talk.send(token).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED


def is_somebody(talk: Talk, number: int) -> None:
    talk.shake("OAUTHBEARER")
    assert talk.send(bearer(unsecured_token(sub=f"{number}{NAME}", exp=4e9))).error_code == 0
    assert talk.metadata().error_code == 0


def has_no_such_user(talk: Talk, number: int) -> None:
    talk.shake("SCRAM-SHA-256")
    answer = talk.send(f"n,,n={number}{NAME},r=abc".encode())
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED


def goes_in_the_middle(talk: Talk, number: int) -> None:
    talk.shake("SCRAM-SHA-256")
    assert talk.send(f"n,,n=alice,r={number}{NAME}".encode()).error_code == 0


def says_no_password(talk: Talk, number: int) -> None:
    talk.shake("PLAIN")
    assert talk.send(f"\0{number}{NAME}\0x".encode()).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED


def names_a_mechanism(talk: Talk, number: int) -> None:
    answer = talk.shake(f"{number}{NAME[:30_000]}")
    assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM


@linux
@pytest.mark.parametrize(
    "login", [fails_for_another, is_somebody, has_no_such_user, goes_in_the_middle, says_no_password, names_a_mechanism]
)
def test_many_logins_with_long_names_leave_nothing(login: Callable[[Talk, int], None]):
    def log_in(numbers: range) -> None:
        for number in numbers:
            with Talk(doors.sasl) as talk:
                login(talk, number)

    with Doors("--config", "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
               "--config", "allow.everyone.if.no.acl.found=true") as doors:  # fmt: skip
        log_in(range(25))  # so many fill the journal
        before, said = memory_mb(doors), len(doors.stderr)
        longest = []
        for attempt in range(TRIES):
            with probing(doors.plain) as prober:
                log_in(range(25 + LOGINS * attempt, 25 + LOGINS * (attempt + 1)))
            longest.append(prober.longest_ms)
        assert memory_mb(doors) - before < FLAT_MB
        assert len(doors.stderr) - said < TRIES * LOGINS * LINE
        assert min(longest) <= LONGEST_MS
