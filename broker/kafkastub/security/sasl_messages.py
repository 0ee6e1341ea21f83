"""The messages of SCRAM and OAUTHBEARER, taken apart before anybody knows who sent them.

Each is cut at its separator first, and each piece is then matched against one class of characters: the time is that of
reading the message once. One expression for a whole message, as Kafka has it, is quadratic where two of its parts can
match the same text. What is allowed is what Kafka's ``ScramMessages`` and ``OAuthBearerClientInitialResponse`` allow.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_SAFE: Final = re.compile(r"[\x01-\x2b\x2d-\x3c\x3e-\x7f]*").fullmatch
"""A name of SASL, but for its escaped commas and equals signs."""
_VALUE: Final = re.compile(r"[\x01-\x2b\x2d-\x7f]+").fullmatch
_PRINTABLE: Final = re.compile(r"[\x21-\x2b\x2d-\x7e]+").fullmatch
_BASE64: Final = re.compile(r"[a-zA-Z0-9/+]*={0,2}").fullmatch
# Many small pieces: possessive, so that nothing is tried twice, and in one call, which is a tenth of the time
_EXTENSIONS: Final = re.compile(r"(?:,[A-Za-z]++=[\x01-\x2b\x2d-\x7f]++)*+").fullmatch
_PAIRS: Final = re.compile(r"\x01(?:[A-Za-z]++=[\x21-\x7e \t\r\n]++\x01)*+\x01").fullmatch
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
    """The message as the proof covers it. (Of several extensions Kafka covers another order in each run.)"""
    by_token: bool
    """Whether the extension ``tokenauth`` says that the user is a delegation token."""


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
    bound, authzid, bare = _cut(text, 2)
    rest = bare
    if rest.startswith("m="):
        reserved, rest = _cut(rest, 1)
        if _VALUE(reserved[2:]) is None:
            raise NoMessage
    name, rest = _cut(rest, 1)
    nonce, comma, extensions = rest.partition(",")
    if bound != "n" or not (name.startswith("n=") and nonce.startswith("r=")):
        raise NoMessage
    if _PRINTABLE(nonce[2:]) is None or _EXTENSIONS(comma + extensions) is None:
        raise NoMessage
    user = _name(name[2:]).replace("=2C", ",").replace("=3D", "=")
    said = extensions.rpartition("tokenauth=") if extensions else ("", "", "")
    by_token = said[0][-1:] in ("", ",") and said[2].partition(",")[0].lower() == "true"
    return ScramFirst(_authzid(authzid), user, nonce[2:], bare, by_token)


def scram_final(text: str) -> ScramFinal:
    """``c=…,r=…[,extensions],p=…``. Raises NoMessage."""
    without_proof, _, last = text.rpartition(",")
    channel, rest = _cut(without_proof, 1)
    nonce, comma, extensions = rest.partition(",")
    if not (channel.startswith("c=") and nonce.startswith("r=") and last.startswith("p=")):
        raise NoMessage
    if not (_is_base64(channel[2:]) and _PRINTABLE(nonce[2:]) and _is_base64(last[2:])):
        raise NoMessage
    if _EXTENSIONS(comma + extensions) is None:
        raise NoMessage
    return ScramFinal(nonce[2:], last[2:], without_proof)


def bearer_first(text: str) -> BearerFirst:
    """``n,[a=…],^A(key=value^A)*^A`` with a pair ``auth=Bearer …``; the last of a name counts. Raises NoMessage."""
    bound, authzid, pairs = _cut(text, 2)
    at = pairs.rfind("\x01auth=")
    if bound != "n" or at < 0 or _PAIRS(pairs) is None:
        raise NoMessage
    scheme, _, token = pairs[at + 6 : pairs.index("\x01", at + 6)].partition(" ")
    token = token.lstrip(" ")
    if _SCHEME(scheme) is None or scheme.lower() != "bearer" or _TOKEN(token) is None:
        raise NoMessage
    return BearerFirst(_authzid(authzid), token)


def _cut(text: str, commas: int) -> list[str]:
    """Its parts up to so many commas, and the rest. Raises NoMessage where there are fewer."""
    parts = text.split(",", commas)
    if len(parts) <= commas:
        raise NoMessage
    return parts


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
