"""SASL mechanisms, the server's side: bytes in, bytes out. Nothing of a secret is ever in an error's text.

Kafka: ``PlainSaslServer``, ``ScramSaslServer``, ``OAuthBearerSaslServer``.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Protocol

from kafkastub.security.sasl_messages import NoMessage, bearer_first, scram_final, scram_first

PLAIN: Final = "PLAIN"
SCRAM_SHA_256: Final = "SCRAM-SHA-256"
SCRAM_SHA_512: Final = "SCRAM-SHA-512"
OAUTHBEARER: Final = "OAUTHBEARER"
SCRAM_HASHES: Final = {SCRAM_SHA_256: "sha256", SCRAM_SHA_512: "sha512"}
MIN_ITERATIONS: Final = 4096


class SaslError(Exception):
    """Authentication failed; the text has nothing that the client has said.

    Attributes:
        told: what the client is told of it; None for Kafka's general sentence, which names the mechanism alone.
    """

    def __init__(self, why: str, told: str | None = None) -> None:
        super().__init__(why)
        self.told = told


class Mechanism(Protocol):
    """One authentication under way.

    Attributes:
        user: who it is, once `complete`.
        expires_ms: when the credential ends (Unix ms), None where it does not say.
        by_token: whether the credential is a delegation token.
    """

    user: str
    complete: bool
    expires_ms: int | None
    by_token: bool

    def evaluate(self, token: bytes) -> bytes:
        """The answer to the client's next token. Raises SaslError."""


class Plain:
    """RFC 4616."""

    def __init__(self, users: Mapping[str, str]) -> None:
        self._users = users
        self.user = ""
        self.complete = False
        self.expires_ms: int | None = None
        self.by_token = False

    def evaluate(self, token: bytes) -> bytes:
        """Raises SaslError."""
        parts = token.decode("utf-8", "replace").split("\0", 3)
        if len(parts) != 3:
            raise _told(f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(parts)}")
        authorization_id, user, password = parts
        if not user:
            raise _told("Authentication failed: username not specified")
        if not password:
            raise _told("Authentication failed: password not specified")
        expected = self._users.get(user)
        if expected is None or not hmac.compare_digest(expected.encode(), password.encode()):
            raise _told("Authentication failed: Invalid username or password")
        if authorization_id not in ("", user):
            raise _told(_OTHER_ID)
        self.user, self.complete = user, True
        return b""


_OTHER_ID: Final = "Authentication failed: Client requested an authorization id that is different from username"


def _told(text: str) -> SaslError:
    return SaslError(text, text)


class ScramCredential(NamedTuple):
    """What a server keeps of a SCRAM user's password (RFC 5802)."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


def scram_credential(mechanism: str, salt: bytes, salted_password: bytes, iterations: int) -> ScramCredential:
    """Of a password that is salted and hashed already, as AlterUserScramCredentials brings it."""
    name = SCRAM_HASHES[mechanism]
    client_key = hmac.digest(salted_password, b"Client Key", name)
    server_key = hmac.digest(salted_password, b"Server Key", name)
    return ScramCredential(salt, hashlib.new(name, client_key).digest(), server_key, iterations)


def scram_credential_of(mechanism: str, password: str) -> ScramCredential:
    """Of a password as it is."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac(SCRAM_HASHES[mechanism], password.encode(), salt, MIN_ITERATIONS)
    return scram_credential(mechanism, salt, salted, MIN_ITERATIONS)


class TokenLogin(NamedTuple):
    """What signing in by a delegation token is measured by, and whom it makes of a client."""

    owner: str
    credential: ScramCredential
    expires_ms: int


class Scram:
    """RFC 5802 without channel binding. The user may be a delegation token, by its id (KIP-48)."""

    def __init__(
        self,
        mechanism: str,
        credential: Callable[[str], ScramCredential | None],
        token: Callable[[str], TokenLogin | None],
    ) -> None:
        self._hash = SCRAM_HASHES[mechanism]
        self._find = credential
        self._find_token = token
        self._credential: ScramCredential | None = None
        self._first = ""
        """The first messages of both sides, as the proof covers them."""
        self._nonce = ""
        self.user = ""
        self.complete = False
        self.expires_ms: int | None = None
        self.by_token = False

    def evaluate(self, token: bytes) -> bytes:
        """Raises SaslError."""
        text = token.decode("utf-8", "replace")
        return (self._begin(text) if self._credential is None else self._finish(text, self._credential)).encode()

    def _begin(self, text: str) -> str:
        try:
            first = scram_first(text)
        except NoMessage:
            raise SaslError("the client's first message is not SCRAM's") from None
        user: str = first.user
        if first.by_token:
            token = self._find_token(user)
            if token is None:
                raise SaslError("there is no such delegation token")
            user, credential, self.expires_ms = token
            self.by_token = True
        else:
            found = self._find(user)
            if found is None:
                raise SaslError("there is no such user")
            credential = found
        if (first.authzid or first.user) != first.user:
            raise _told(_OTHER_ID)
        self._nonce = first.nonce + secrets.token_urlsafe(20)
        salt = base64.b64encode(credential.salt).decode()
        answer = f"r={self._nonce},s={salt},i={credential.iterations}"
        self._first = f"{first.bare},{answer}"
        self._credential, self.user = credential, user
        return answer

    def _finish(self, text: str, credential: ScramCredential) -> str:
        try:
            final = scram_final(text)
        except NoMessage:
            raise SaslError("the client's final message is not SCRAM's") from None
        if final.nonce != self._nonce:
            raise SaslError("the client's final message is not SCRAM's")
        message = f"{self._first},{final.without_proof}".encode()
        signature = hmac.digest(credential.stored_key, message, self._hash)
        proof = base64.b64decode(final.proof)
        client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=False))
        if len(proof) != len(signature) or not hmac.compare_digest(
            hashlib.new(self._hash, client_key).digest(), credential.stored_key
        ):
            raise SaslError("the password is wrong")
        self.complete = True
        return "v=" + base64.b64encode(hmac.digest(credential.server_key, message, self._hash)).decode()


class Token(NamedTuple):
    """What a valid bearer token says."""

    user: str
    expires_ms: int


class InvalidToken(Exception):
    """A bearer token is refused; `status`, and the `scope` that is missing, is what the client is told (RFC 7628)."""

    def __init__(self, why: str, status: str = "invalid_token", scope: str | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.scope = scope


class OAuthBearer:
    """RFC 7628. Extensions are read and not used."""

    def __init__(self, validate: Callable[[str], Token]) -> None:
        """`validate` gives what a token says; it raises InvalidToken."""
        self._validate = validate
        self._refused: str | None = None
        self.user = ""
        self.complete = False
        self.expires_ms: int | None = None
        self.by_token = False

    def evaluate(self, token: bytes) -> bytes:
        """Raises SaslError."""
        if token == b"\x01" and self._refused is not None:
            raise _told(self._refused)
        self._refused = None
        try:
            first = bearer_first(token.decode("utf-8", "replace"))
        except NoMessage:
            raise SaslError("the client's first message is not OAUTHBEARER's") from None
        try:
            found = self._validate(first.token)
        except InvalidToken as error:
            scope = "" if error.scope is None else f', "scope":"{error.scope}"'
            self._refused = f'{{"status":"{error.status}"{scope}}}'
            return self._refused.encode()
        if (first.authzid or found.user) != found.user:
            raise SaslError(
                "the client asks for another authorization id than its token's principal",
                f"Authentication failed: Client requested an authorization id ({first.authzid}) that is different "
                f"from the token's principal name ({found.user})",
            )
        self.user, self.expires_ms, self.complete = found.user, found.expires_ms, True
        return b""
