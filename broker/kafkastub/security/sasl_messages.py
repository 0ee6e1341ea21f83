"""The messages of SCRAM and OAUTHBEARER, taken apart before anybody knows who sent them.

Each is cut at its separator first, and each piece is then matched against one class of characters: the time is that of
reading the message once. One expression for a whole message, as Kafka has it, is quadratic where two of its parts can
match the same text. What is allowed is what Kafka's ``ScramMessages`` and ``OAuthBearerClientInitialResponse`` allow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

_SAFE: Final = re.compile(r"[\x01-\x2b\x2d-\x3c\x3e-\x7f]*").fullmatch
"""A name of SASL, but for its escaped commas and equals signs."""
_VALUE: Final = re.compile(r"[\x01-\x2b\x2d-\x7f]+").fullmatch
_PRINTABLE: Final = re.compile(r"[\x21-\x2b\x2d-\x7e]+").fullmatch
_BASE64: Final = re.compile(r"[a-zA-Z0-9/+]*={0,2}").fullmatch
_LETTERS: Final = re.compile(r"[A-Za-z]+").fullmatch
_BEARER_VALUE: Final = re.compile(r"[\x21-\x7e \t\r\n]+").fullmatch
_SCHEME: Final = re.compile(r"[a-zA-Z0-9_]+").fullmatch
_TOKEN: Final = re.compile(r"[-_~+/.a-zA-Z0-9]+=*").fullmatch


class NoMessage(ValueError):
    """The text is none of that mechanism."""


class ScramFirst(NamedTuple):
    """What a client of SCRAM begins with."""

    authzid: str
    """Whom it wants to be, "" where it does not say."""
    user: str
    nonce: str
    bare: str
    """The message as the proof covers it."""


class ScramFinal(NamedTuple):
    """What a client of SCRAM proves."""

    nonce: str
    proof: str
    """In base64."""
    without_proof: str


class BearerFirst(NamedTuple):
    """What a client of OAUTHBEARER says."""

    authzid: str
    token: str


def scram_first(text: str) -> ScramFirst:
    """``n,[a=…],[m=…,]n=…,r=…[,extensions]``. Raises NoMessage."""
    parts = text.split(",")
    if len(parts) < 4 or parts[0] != "n":
        raise NoMessage
    authzid = _authzid(parts[1])
    rest = parts[2:]
    if rest[0].startswith("m=") and _VALUE(rest[0][2:]):
        rest = rest[1:]
    if len(rest) < 2 or not (rest[0].startswith("n=") and rest[1].startswith("r=")):
        raise NoMessage
    nonce = rest[1][2:]
    if _PRINTABLE(nonce) is None:
        raise NoMessage
    _check_extensions(rest[2:])
    user = _name(rest[0][2:]).replace("=2C", ",").replace("=3D", "=")
    return ScramFirst(authzid, user, nonce, ",".join(parts[2:]))


def scram_final(text: str) -> ScramFinal:
    """``c=…,r=…[,extensions],p=…``. Raises NoMessage."""
    without_proof, _, last = text.rpartition(",")
    parts = without_proof.split(",")
    if len(parts) < 2 or not (parts[0].startswith("c=") and parts[1].startswith("r=") and last.startswith("p=")):
        raise NoMessage
    nonce = parts[1][2:]
    if not (_is_base64(parts[0][2:]) and _PRINTABLE(nonce) and _is_base64(last[2:])):
        raise NoMessage
    _check_extensions(parts[2:])
    return ScramFinal(nonce, last[2:], without_proof)


def bearer_first(text: str) -> BearerFirst:
    """``n,[a=…],^A(key=value^A)*^A`` with a pair ``auth=Bearer …``; the last of a name counts. Raises NoMessage."""
    parts = text.split(",", 2)
    if len(parts) < 3 or parts[0] != "n":
        raise NoMessage
    pairs = parts[2].split("\x01")
    if len(pairs) < 3 or pairs[0] or pairs[-1] or pairs[-2]:
        raise NoMessage
    auth = ""
    for pair in pairs[1:-2]:
        key, _, value = pair.partition("=")
        if _LETTERS(key) is None or _BEARER_VALUE(value) is None:
            raise NoMessage
        if key == "auth":
            auth = value
    scheme, _, token = auth.partition(" ")
    token = token.lstrip(" ")
    if _SCHEME(scheme) is None or scheme.lower() != "bearer" or _TOKEN(token) is None:
        raise NoMessage
    return BearerFirst(_authzid(parts[1]), token)


def _authzid(part: str) -> str:
    if not part:
        return ""
    if not part.startswith("a="):
        raise NoMessage
    return _name(part[2:])


def _name(text: str) -> str:
    """It, as it stands there. Raises NoMessage where it is no name of SASL."""
    if not text or _SAFE(text.replace("=2C", "").replace("=3D", "")) is None:
        raise NoMessage
    return text


def _is_base64(text: str) -> bool:
    return len(text) % 4 == 0 and _BASE64(text) is not None


def _check_extensions(parts: Iterable[str]) -> None:
    for part in parts:
        key, _, value = part.partition("=")
        if _LETTERS(key) is None or _VALUE(value) is None:
            raise NoMessage
