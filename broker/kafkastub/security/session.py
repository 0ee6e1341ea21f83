"""How far one connection of a SASL listener has come. Kafka: ``SaslServerAuthenticator``.

VERSIONS    ApiVersions or SaslHandshake are awaited; after an ApiVersions that was served, only SaslHandshake
HANDSHAKE   SaslHandshake is awaited
TOKENS      SaslAuthenticate is awaited, or tokens without a header after SaslHandshake version 0
OPEN        the client is who it says; a session that ends asks for another SaslHandshake (KIP-368)
FAILED      it is not, and the connection ends
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Final, NamedTuple

from kafkastub.security.credentials import ListenerSasl, ScramUsers
from kafkastub.security.delegation_tokens import DelegationTokens
from kafkastub.security.sasl import Mechanism, SaslError

_AT_LEAST_MS: Final = 1000
"""Between two re-authentications."""


class State(Enum):
    """See above."""

    VERSIONS = auto()
    HANDSHAKE = auto()
    TOKENS = auto()
    OPEN = auto()
    FAILED = auto()


class Failure(NamedTuple):
    """Authentication failed: what the client is told, and what the log says. No secret is in either."""

    told: str
    why: str


class SaslSession:
    """One connection.

    Attributes:
        state: how far it is.
        raw: whether tokens come without a header.
        principal: as Kafka prints it, from the first success on.
        by_token: whether the last success was by a delegation token.
        failure: what was wrong, where the client was heard and refused.
        ends_at_once: whether a failure is none that the client is kept waiting for
            (`connection.failed.authentication.delay.ms`).
        opened: called when the client is who it says, if anybody wants to know.
    """

    def __init__(self, listener: ListenerSasl, scram: ScramUsers, tokens: DelegationTokens) -> None:
        self.listener = listener
        self.state = State.VERSIONS
        self.raw = False
        self.principal: str | None = None
        self.by_token = False
        self.failure: Failure | None = None
        self.ends_at_once = False
        self.opened: Callable[[], None] | None = None
        self._scram = scram
        self._tokens = tokens
        self._name = ""
        self._mechanism: Mechanism | None = None
        self._refused_for: str | None = None
        self._ends_at: int | None = None
        self._renewable = False
        self._began_at: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether the client is who it says."""
        return self.state is State.OPEN

    def has_ended(self, timer_ms: int) -> bool:
        """Whether the session's time is over, so that the connection may not be used any more."""
        return self._ends_at is not None and timer_ms >= self._ends_at

    def may_begin_again(self, timer_ms: int) -> bool:
        """Whether a SaslHandshake begins another authentication now."""
        if self._ends_at is None or not self._renewable:
            return False
        return self._began_at is None or timer_ms - self._began_at >= _AT_LEAST_MS

    def begin(self, name: str, version: int, timer_ms: int, now_ms: Callable[[], int]) -> bool:
        """A SaslHandshake; whether its mechanism is enabled."""
        again = self.principal is not None
        if name not in self.listener.mechanisms:
            self.state = State.FAILED
            self.ends_at_once = again
            return False
        if again:
            self._began_at = timer_ms
            if name != self._name:
                self._refused_for = (
                    f"SASL mechanism '{name}' requested by client is not supported for re-authentication of mechanism "
                    f"'{self._name}'"
                )
        else:
            self._name, self.raw = name, version == 0
        self._mechanism = self.listener.begin(name, self._scram, self._tokens, now_ms)
        self.state = State.TOKENS
        return True

    def token(self, token: bytes, version: int, now_ms: int, timer_ms: int) -> tuple[bytes, int] | None:
        """The answer to a token and the session's length in ms (0: without end).

        None where the connection ends: with `failure` where the client is told, else without a word.
        """
        mechanism, again = self._mechanism, self.principal is not None
        if mechanism is None or self._refused_for is not None:
            self.state = State.FAILED
            return None
        self._renewable = self._renewable or version > 0
        try:
            answer = mechanism.evaluate(token)
            if not mechanism.complete:
                return answer, 0
            principal = f"User:{mechanism.user}"
            if again and principal != self.principal:
                before, now = (one.replace(":", ".", 1) for one in (self.principal or "", principal))
                text = f"Cannot change principals during re-authentication from {before}: {now}"
                raise SaslError("the client wants to be another principal than before", text)
        except SaslError as error:
            self.state, self._mechanism = State.FAILED, None
            told = error.told or self._in_general(again)
            self.failure = Failure(told, f"{self._name}: {error}")
            self.ends_at_once = self.raw and not error.told
            return None
        self.principal, self._mechanism, self.state = principal, None, State.OPEN
        self.by_token = mechanism.by_token
        if self.opened is not None:
            self.opened()
        length = self._length(mechanism.expires_ms, now_ms)
        self._ends_at = None if length is None else timer_ms + length
        return answer, length or 0

    def forget(self) -> None:
        """The connection ends: nothing more is needed of what the client has sent. The journal may keep it for long."""
        self._mechanism = self.failure = self.principal = None
        self.opened = None

    def _in_general(self, again: bool) -> str:
        what = "re-authentication" if again else "authentication"
        return f"Authentication failed during {what} due to invalid credentials with SASL mechanism {self._name}"

    def _length(self, expires_ms: int | None, now_ms: int) -> int | None:
        most = self.listener.max_reauth_ms(self._name)
        bounds = [] if expires_ms is None else [expires_ms - now_ms]
        if most > 0:
            bounds.append(most)
        return max(0, min(bounds)) if bounds else None
