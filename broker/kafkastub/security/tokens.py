"""Bearer tokens (JWT): unsecured ones, and signed ones whose keys are in a JWKS file.

Kafka: ``OAuthBearerUnsecuredValidatorCallbackHandler``, ``OAuthBearerValidatorCallbackHandler``.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from kafkastub.config import ConfigError
from kafkastub.security.sasl import InvalidToken, Token

_SIGNED_BY: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")


def unsecured(text: str, now_ms: int, claim: str = "sub", skew_ms: int = 0) -> Token:
    """What an unsecured token says. Raises InvalidToken."""
    parts = text.split(".")
    if len(parts) != 3 or parts[2]:
        raise InvalidToken("it is no unsecured token")
    try:
        head, claims = (json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in parts[:2])
    except (ValueError, RecursionError):
        raise InvalidToken("it is no JSON") from None
    if not isinstance(head, dict) or not isinstance(claims, dict) or head.get("alg") != "none":
        raise InvalidToken("it is no unsecured token")
    return _checked(claims, now_ms, claim, skew_ms)


def signed(
    keys_url: str, claim: str, skew_ms: int, audiences: list[str], issuer: str | None
) -> Callable[[str, int], Token]:
    """A validator of tokens that are signed with a key of that JWKS file (a file: URL). Raises ConfigError.

    Needs the extra `security`.
    """
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
        keys = jwt.PyJWKSet.from_json(Path(unquote(where.path)).read_text())
    except (OSError, ValueError, jwt.PyJWTError) as error:
        raise ConfigError(f"{name}={keys_url} is refused: {error}") from None

    def validate(text: str, now_ms: int) -> Token:
        try:
            kid = jwt.get_unverified_header(text).get("kid")
            for key in keys.keys:
                if kid in (None, key.key_id):
                    options: Any = {"verify_exp": False, "verify_nbf": False, "verify_iat": False}
                    options["verify_aud"] = bool(audiences)
                    claims = jwt.decode(
                        text, key, algorithms=_SIGNED_BY, audience=audiences or None, issuer=issuer, options=options
                    )
                    return _checked(claims, now_ms, claim, skew_ms)
        except jwt.PyJWTError as error:
            raise InvalidToken(type(error).__name__) from None
        raise InvalidToken("its key is not in the file")

    return validate


def _checked(claims: dict[str, Any], now_ms: int, claim: str, skew_ms: int) -> Token:
    """Raises InvalidToken."""
    user, expires = claims.get(claim), claims.get("exp")
    if not isinstance(user, str) or not user.strip():
        raise InvalidToken(f"it has no claim {claim}")
    if not isinstance(expires, (int, float)) or isinstance(expires, bool) or not abs(expires) < 1e12:
        raise InvalidToken("it does not say when it expires")
    issued = claims.get("iat")
    if issued is not None and (not isinstance(issued, (int, float)) or issued * 1000 > now_ms + skew_ms):
        raise InvalidToken("it is issued in the future")
    if now_ms - skew_ms >= expires * 1000:
        raise InvalidToken("it has expired")
    return Token(user, int(expires * 1000))


_OPTION: Final = re.compile(r"""([\w.\-]+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s;]+)""")


def jaas_options(name: str, text: str) -> dict[str, str]:
    """The options of the one login module of a JAAS configuration. Raises ConfigError, without any of its values."""
    head = re.match(r"\s*[\w.$]+\s+(?:required|requisite|sufficient|optional)\b", text, re.IGNORECASE)
    stripped = text.strip()
    if head is None or not stripped.endswith(";"):
        raise ConfigError(f'{name} is refused: wanted is MODULE required NAME="VALUE" …; with a semicolon at its end')
    options: dict[str, str] = {}
    rest = stripped[len(head.group().lstrip()) : -1]
    at = 0
    while at < len(rest):
        if rest[at].isspace():
            at += 1
            continue
        match = _OPTION.match(rest, at)
        if match is None:
            raise ConfigError(f'{name} is refused: one of its options is not NAME="VALUE"')
        value = match[2]
        if value[0] in "\"'":
            value = re.sub(r"\\(.)", r"\1", value[1:-1])
        options[match[1]] = value
        at = match.end()
    return options
