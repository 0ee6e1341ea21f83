"""Delegation tokens (KIP-48, KIP-373): what is kept of each, who may renew it, when it ends.

A token is its id; what its owner signs in with is the HMAC-SHA512 of the id by `delegation.token.secret.key`, which is
computed when it is needed and never kept. Time is broker time. Kafka: ``DelegationTokenControlManager``,
``DelegationTokenManager``, ``DelegationTokenCache``.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from kafkastub.config import BrokerConfig
from kafkastub.security.sasl import ScramCredential, TokenLogin, scram_credential_of
from kafkawire.errors import ErrorCode, KafkaError

_LAST_MS: Final = (1 << 63) - 1
_MOST: Final = 10_000
"""Tokens that are kept at once."""
_MOST_RENEWERS: Final = 50_000
"""Of all of them."""
_MOST_CHARACTERS: Final = 16_000_000
"""Of all their principals."""


class Principal(NamedTuple):
    """Whom Kafka prints as `User:alice`."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def principal_of(text: str) -> Principal:
    """What is printed so."""
    kind, _, name = text.partition(":")
    return Principal(kind, name)


class DelegationToken:
    """One token.

    Attributes:
        requester: who asked for it, the owner as a rule.
        issued_ms, expires_ms, max_ms: Unix ms; who renews it moves `expires_ms`, up to `max_ms`.
        hmac: its secret.
        people: owner, requester and renewers, who see it without any permission.
    """

    __slots__ = (
        "_credentials", "expires_ms", "hmac", "issued_ms", "max_ms", "owner", "people", "renewers", "requester",
        "token_id",
    )  # fmt: skip

    def __init__(
        self,
        token_id: str,
        owner: Principal,
        requester: Principal,
        renewers: Sequence[Principal],
        issued_ms: int,
        max_ms: int,
        expires_ms: int,
        hmac: bytes,
    ) -> None:
        self.token_id = token_id
        self.owner = owner
        self.requester = requester
        self.renewers = tuple(renewers)
        self.issued_ms = issued_ms
        self.max_ms = max_ms
        self.expires_ms = expires_ms
        self.hmac = hmac
        self.people = frozenset((owner, requester, *renewers))
        self._credentials: dict[str, ScramCredential] = {}

    def is_over(self, now_ms: int) -> bool:
        """Whether its time is over; the millisecond that it ends at is still its own."""
        return min(self.max_ms, self.expires_ms) < now_ms

    def check_renewer(self, principal: Principal) -> None:
        """Raises KafkaError for who may not renew it; who asked for it in another's name may not."""
        if principal != self.owner and principal not in self.renewers:
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)

    def credential(self, mechanism: str) -> ScramCredential:
        """Its secret as SCRAM's password; hashed when it is first needed."""
        found = self._credentials.get(mechanism)
        if found is None:
            found = self._credentials[mechanism] = scram_credential_of(mechanism, base64.b64encode(self.hmac).decode())
        return found

    @property
    def characters(self) -> int:
        """Of its principals."""
        return sum(len(one.kind) + len(one.name) for one in (self.owner, self.requester, *self.renewers))


class DelegationTokens:
    """Those of one cluster.

    Attributes:
        enabled: whether there is a secret key. Without it those of old are kept, and of no use.
    """

    def __init__(self, config: BrokerConfig) -> None:
        self._secret: bytes = (config["delegation.token.secret.key"] or "").encode()
        self.enabled = bool(self._secret)
        self._lifetime_ms: int = config["delegation.token.max.lifetime.ms"]
        self._renewal_ms: int = config["delegation.token.expiry.time.ms"]
        self._tokens: dict[str, DelegationToken] = {}
        self._by_hmac: dict[bytes, DelegationToken] = {}
        self._characters = self._renewers = 0

    def __len__(self) -> int:
        return len(self._tokens)

    def __iter__(self) -> Iterator[DelegationToken]:
        """In the order in which they were made."""
        return iter(self._tokens.values())

    def create(
        self,
        token_id: str,
        owner: Principal,
        requester: Principal,
        renewers: Sequence[Principal],
        lifetime_ms: int,
        now_ms: int,
    ) -> DelegationToken:
        """A new one; no lifetime, and none that is longer than the broker's, is more than that. Raises KafkaError."""
        most = self._lifetime_ms if lifetime_ms <= 0 else min(self._lifetime_ms, lifetime_ms)
        max_ms = _later(now_ms, most)
        expires_ms = min(max_ms, _later(now_ms, self._renewal_ms))
        made = DelegationToken(
            token_id, owner, requester, renewers, now_ms, max_ms, expires_ms, self._hmac_of(token_id)
        )
        if (
            len(self) >= _MOST
            or self._renewers + len(renewers) > _MOST_RENEWERS
            or self._characters + made.characters > _MOST_CHARACTERS
        ):
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        self._keep(made)
        return made

    def renew(self, secret: bytes, principal: Principal, period_ms: int, now_ms: int) -> int:
        """When it expires now. Raises KafkaError, that it is over before that it is somebody else's."""
        token = self._find(secret)
        if token.is_over(now_ms):
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_EXPIRED)
        token.check_renewer(principal)
        period_ms = self._renewal_ms if period_ms <= 0 else min(self._renewal_ms, period_ms)
        token.expires_ms = min(token.max_ms, _later(now_ms, period_ms))
        return token.expires_ms

    def expire(self, secret: bytes, principal: Principal, period_ms: int, now_ms: int) -> int:
        """When it expires now; a period below zero means at once, and it is gone. Raises KafkaError."""
        token = self._find(secret)
        token.check_renewer(principal)
        if period_ms < 0:
            self._forget(token)
            return now_ms
        if token.is_over(now_ms):
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_EXPIRED)
        token.expires_ms = min(token.max_ms, _later(now_ms, period_ms))
        return token.expires_ms

    def _find(self, secret: bytes) -> DelegationToken:
        if not self.enabled:
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
        token = self._by_hmac.get(secret)
        if token is None:
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
        return token

    def sweep(self, now_ms: int) -> list[DelegationToken]:
        """Take out, and give, those whose time is over."""
        over = [token for token in self if token.is_over(now_ms)]
        for token in over:
            self._forget(token)
        return over

    def login(self, token_id: str, mechanism: str) -> TokenLogin | None:
        """How to sign in by it, None where there is none; one that is over is there until the next sweep."""
        token = self._tokens.get(token_id) if self.enabled else None
        if token is None:
            return None
        return TokenLogin(token.owner.name, token.credential(mechanism), token.expires_ms)

    def document(self) -> Iterator[list[Any]]:
        """All of them, for a file; no secret is in it."""
        for one in list(self):
            people = [list(one.owner), list(one.requester), [list(each) for each in one.renewers]]
            yield [one.token_id, *people, one.issued_ms, one.max_ms, one.expires_ms]

    def restore(self, document: Iterable[Any]) -> None:
        """Nothing but what `document` gave."""
        self._tokens.clear()
        self._by_hmac.clear()
        self._characters = self._renewers = 0
        for token_id, owner, requester, renewers, issued_ms, max_ms, expires_ms in document:
            self._keep(
                DelegationToken(
                    token_id,
                    Principal(*owner),
                    Principal(*requester),
                    [Principal(*each) for each in renewers],
                    issued_ms,
                    max_ms,
                    expires_ms,
                    self._hmac_of(token_id),
                )
            )

    def _keep(self, token: DelegationToken) -> None:
        self._tokens[token.token_id] = token
        self._by_hmac[token.hmac] = token
        self._characters += token.characters
        self._renewers += len(token.renewers)

    def _forget(self, token: DelegationToken) -> None:
        del self._tokens[token.token_id], self._by_hmac[token.hmac]
        self._characters -= token.characters
        self._renewers -= len(token.renewers)

    def _hmac_of(self, token_id: str) -> bytes:
        return hmac.digest(self._secret, token_id.encode(), "sha512")


def _later(now_ms: int, ms: int) -> int:
    return min(_LAST_MS, now_ms + ms)
