"""Bearer tokens (JWT) that are signed with a key of a JWKS file.

Kafka: ``BrokerJwtValidator``, ``OAuthBearerUtils``, and jose4j as it is set up there. Keys are read, and signatures
proved, by PyJWT (the extra `security`); which claims must be there, and of which type, is decided here, as jose4j does.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn
from urllib.parse import unquote, urlsplit

from kafkastub.config import ConfigError
from kafkastub.security.sasl import InvalidToken, Token
from kafkastub.security.tokens import BLANK, printable

_ALGORITHMS: Final = {
    **{f"{family}{bits}": kind for family, kind in (("RS", "RSA"), ("PS", "RSA"), ("ES", "EC"), ("HS", "oct"))
       for bits in (256, 384, 512)},
    "EdDSA": "OKP",
}  # fmt: skip
"""The kind of key that each takes. "none" is no algorithm here."""
_CURVES: Final = {"ES256": "secp256r1", "ES384": "secp384r1", "ES512": "secp521r1"}
_LEAST_RSA_BITS: Final = 2048
_NESTED: Final = ("jwt", "application/jwt")
_MOST_MS: Final = (1 << 63) - 1


class Rules(NamedTuple):
    """What a listener asks of tokens."""

    claim: str
    """That has the user's name."""
    scope: str
    """The claim that has the scopes, which nothing is done with."""
    skew_seconds: int
    audiences: list[str]
    """Whom tokens have to be for."""
    any_audience: bool
    """Where there are none of these: whether a token may be for somebody all the same."""
    issuer: str | None


class _Key(NamedTuple):
    id: str | None
    kind: str
    use: str | None
    operations: list[str] | None
    algorithm: str | None
    key: Any


def signed_validator(keys_url: str, rules: Rules) -> Callable[[str, int], Token]:
    """A validator of tokens that are signed with a key of that JWKS file (a file: URL). Raises ConfigError."""
    name = "sasl.oauthbearer.jwks.endpoint.url"
    where = urlsplit(keys_url)
    if where.scheme != "file":
        raise ConfigError(f"{name}={keys_url} is refused: allowed is the URL of a file, for example file:///jwks.json")
    try:
        import cryptography  # without it PyJWT takes keys of RSA and of curves for none at all
        import jwt
    except ImportError as error:
        raise ConfigError(
            f"{name} needs the extra security ({error.name} is missing): pip install 'kafkastub[security]'"
        ) from None
    assert cryptography
    try:
        keys = _keys(json.loads(Path(unquote(where.path)).read_text()), jwt)
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{name}={keys_url} is refused: {error}") from None
    algorithms = jwt.algorithms.get_default_algorithms()

    def proved(algorithm: str, key: Any, data: bytes, signature: bytes) -> bool:
        try:
            return bool(algorithms[algorithm].verify(data, key, signature))
        except Exception:  # whatever cryptography has against it: a signature of odd form is none
            return False

    return lambda text, now_ms: _validated(text, now_ms // 1000, keys, rules, proved)


def _keys(document: Any, jwt: Any) -> list[_Key]:
    """The keys that can be used. Raises ValueError where there is none."""
    found = []
    listed = document.get("keys") if isinstance(document, dict) else None
    for one in listed if isinstance(listed, list) else ():
        try:
            read = jwt.PyJWK(one)
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError):
            continue  # of a kind that nobody here knows
        found.append(_Key(one.get("kid"), one["kty"], one.get("use"), one.get("key_ops"), one.get("alg"), read.key))
    if not found:
        raise ValueError('there is no key in it: expected {"keys": [...]} (RFC 7517)')
    return found


def _validated(
    text: str, now: int, keys: list[_Key], rules: Rules, proved: Callable[[str, Any, bytes, bytes], bool]
) -> Token:
    """`now` is in seconds. Raises InvalidToken."""
    parts = text.split(".")
    if len(parts) != 3 or not all(parts):
        raise InvalidToken("it has not three parts")
    header = _json(parts[0])
    algorithm, kid, critical = header.get("alg"), header.get("kid"), header.get("crit")
    if not isinstance(algorithm, str) or algorithm not in _ALGORITHMS:
        raise InvalidToken("its algorithm is none that can be used")
    if critical or header.get("b64") is False or str(header.get("cty")).lower() in _NESTED:
        raise InvalidToken("its header asks for what is not known here")
    if kid is not None and not isinstance(kid, str):
        raise InvalidToken("its kid is not a string")
    key = _chosen(algorithm, kid, keys)
    if key is None or not _is_strong(algorithm, key):
        raise InvalidToken("its key is not in the file, or too short")
    if not proved(algorithm, key, f"{parts[0]}.{parts[1]}".encode(), _decoded(parts[2])):
        raise InvalidToken("its signature is wrong")
    return _checked(_json(parts[1]), now, rules)


def _chosen(algorithm: str, kid: str | None, keys: list[_Key]) -> Any:
    """The key, None where none fits (jose4j: ``VerificationJwkSelector``)."""
    fitting = [
        one
        for one in keys
        if one.kind == _ALGORITHMS[algorithm]
        and kid in (None, one.id)
        and one.use in (None, "sig")
        and (one.operations is None or "verify" in one.operations)
    ]
    if len(fitting) > 1:
        fitting = [one for one in fitting if one.algorithm in (None, algorithm)]
    return fitting[0].key if fitting else None


def _is_strong(algorithm: str, key: Any) -> bool:
    """Whether jose4j takes a key of this size or curve for it."""
    if algorithm in _CURVES:
        return bool(key.curve.name == _CURVES[algorithm])
    if algorithm.startswith("HS"):
        return 8 * len(key) >= int(algorithm[2:])
    return algorithm == "EdDSA" or key.key_size >= _LEAST_RSA_BITS


def _checked(claims: dict[str, Any], now: int, rules: Rules) -> Token:
    """Raises InvalidToken."""
    times = {name: _seconds(claims.get(name), name) for name in ("exp", "iat", "nbf")}
    expires, issued, begins = times["exp"], times["iat"], times["nbf"]
    if expires is None or issued is None:
        raise InvalidToken("it does not say when it expires, or when it was issued")
    if now - rules.skew_seconds >= expires or 1000 * expires > _MOST_MS:
        raise InvalidToken("it has expired")
    if issued < 0 or expires < issued:
        raise InvalidToken("it expires before it is issued")
    if begins is not None and (begins > now + rules.skew_seconds or expires < begins):
        raise InvalidToken("it is not valid yet")
    for name in ("iss", "sub", "jti"):
        if not isinstance(claims.get(name), str | None):
            raise InvalidToken(f"its claim {name} is not a string")
    if rules.issuer is not None and claims.get("iss") != rules.issuer:
        raise InvalidToken("its issuer is not the one that is expected")
    if rules.audiences or not rules.any_audience:
        _check_audience(claims.get("aud"), rules.audiences)
    _check_scope(claims.get(rules.scope))
    user = claims.get(rules.claim)
    if not isinstance(user, str) or not user.strip(BLANK):
        raise InvalidToken("it has no claim with a user's name")
    return Token(printable(user.strip(BLANK)), 1000 * expires)


def _seconds(value: Any, name: str) -> int | None:
    """Whole seconds of a time. Raises InvalidToken."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1 << 63:
        raise InvalidToken(f"its claim {name} is not a time")
    return int(value)


def _check_audience(said: Any, expected: list[str]) -> None:
    """A token for somebody is for nobody else, one that nobody expects included. Raises InvalidToken."""
    if said is None and not expected:
        return
    named = [said] if isinstance(said, str) else said
    if not isinstance(named, list) or not all(isinstance(one, str) for one in named) or not set(named) & set(expected):
        raise InvalidToken("it is for another audience")


def _check_scope(said: Any) -> None:
    """Raises InvalidToken where it has an empty scope, or one twice."""
    scopes = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    texts = [one.strip(BLANK) for one in scopes if isinstance(one, str)]
    if len(texts) < len(scopes) or not all(texts) or len(set(texts)) < len(texts):
        raise InvalidToken("its scope is none")


def _decoded(part: str) -> bytes:
    """Raises InvalidToken. jose4j overlooks characters that are none of base64, of which a token may have the tilde."""
    plain = part.rstrip("=").translate(_URL_SAFE)
    try:
        return base64.urlsafe_b64decode(plain + "=" * (-len(plain) % 4))
    except ValueError:
        raise InvalidToken("it is not base64") from None


_URL_SAFE: Final = str.maketrans("+/", "-_", "~")


def _json(part: str) -> dict[str, Any]:
    """Raises InvalidToken."""
    try:
        found = _DECODER.decode(_decoded(part).decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise InvalidToken("it is not JSON") from None
    if not isinstance(found, dict):
        raise InvalidToken("it is not a JSON object")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands there twice")
    return found


def _long(digits: str) -> int:
    number = int(digits)
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError("a number of more than 64 bits")
    return number


def _refused(constant: str) -> NoReturn:
    raise ValueError(constant)


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_once, parse_int=_long, parse_constant=_refused, strict=False)
