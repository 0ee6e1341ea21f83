"""Bearer tokens (JWT) without a signature, as Kafka takes them by default, and the options of a JAAS configuration.

Kafka: ``OAuthBearerUnsecuredJws``, ``OAuthBearerUnsecuredValidatorCallbackHandler``, and Jackson, which reads the JSON.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable
from typing import Any, Final, NoReturn

from kafkastub.config import ConfigError
from kafkastub.security.sasl import InvalidToken, Token

BLANK: Final = "".join(map(chr, range(0x21)))
"""What Java's ``String.trim`` takes away."""
_MOST_MS: Final = (1 << 63) - 1
_URL_SAFE: Final = re.compile(r"[-_a-zA-Z0-9]*").fullmatch


def unsecured_validator(name: str, options: dict[str, str]) -> Callable[[str, int], Token]:
    """By the options of the login module; `name` is that of the configuration. Raises ConfigError."""

    def option(key: str, default: str) -> str:
        return options.get(f"unsecuredValidator{key}", "").strip(BLANK) or default

    skew = option("AllowableClockSkewMs", "0")
    if not (skew.isascii() and skew.isdigit() and len(skew) < 11 and int(skew) < 1 << 31):
        raise ConfigError(f"{name}: unsecuredValidatorAllowableClockSkewMs is refused: allowed is a whole number of ms")
    claim, scope_claim = option("PrincipalClaimName", "sub"), option("ScopeClaimName", "scope")
    required = option("RequiredScope", "").split()
    return lambda text, now_ms: unsecured(text, now_ms, claim, int(skew), scope_claim, required)


def unsecured(
    text: str,
    now_ms: int,
    claim: str = "sub",
    skew_ms: int = 0,
    scope_claim: str = "scope",
    required: list[str] | None = None,
) -> Token:
    """What an unsecured token says; nbf is not looked at. Raises InvalidToken."""
    parts = text.split(".")
    if len(parts) != 3 or parts[2]:
        raise InvalidToken("it is not an unsecured token")
    if _claims(parts[0]).get("alg") != "none":
        raise InvalidToken("it is not an unsecured token")
    claims = _claims(parts[1])
    scope = _scope(claims.get(scope_claim))
    user, expires, issued = claims.get(claim), claims.get("exp"), claims.get("iat")
    if not isinstance(user, str) or not user.strip(BLANK):
        raise InvalidToken(f"it has no claim {claim}")
    if not isinstance(expires, (int, float)):
        raise InvalidToken("it does not say when it expires")
    if issued is not None:
        if not isinstance(issued, (int, float)) or issued * 1000 > now_ms + skew_ms:
            raise InvalidToken("it is issued in the future")
        if expires <= issued:
            raise InvalidToken("it expires before it is issued")
    if now_ms - skew_ms >= expires * 1000:
        raise InvalidToken("it has expired")
    if any(one not in scope for one in required or ()):
        raise InvalidToken("a scope is missing", "insufficient_scope", f"[{', '.join(required or ())}]")
    return Token(printable(user), min(_MOST_MS, math.floor(expires * 1000 + 0.5)) if expires < _MOST_MS else _MOST_MS)


def printable(user: str) -> str:
    """A name with "?" for each half of a surrogate pair, as Java sends it: JSON may have one, no other text has."""
    return user.encode("utf-8", "replace").decode()


def _claims(part: str) -> dict[str, Any]:
    """A part's JSON object, its values as Kafka makes them: numbers, lists of texts, and texts. Raises InvalidToken."""
    try:
        if _URL_SAFE(part) is None:
            raise InvalidToken("it is not base64 of URLs")
        data = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
        found, _ = _DECODER.raw_decode(data.decode(json.detect_encoding(data)).lstrip(" \t\r\n"))
    except (ValueError, RecursionError):
        raise InvalidToken("it is not JSON") from None
    if not isinstance(found, dict):
        raise InvalidToken("it is not a JSON object")
    return {
        name: [_text(one) for one in value] if isinstance(value, list) else _plain(value)
        for name, value in found.items()
    }


def _refused(constant: str) -> NoReturn:
    raise ValueError(constant)


_DECODER: Final = json.JSONDecoder(parse_constant=_refused)


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else _text(value)


def _text(value: Any) -> str:
    """As Jackson's ``JsonNode.asText``."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return "" if isinstance(value, (dict, list)) else str(value)


def _scope(value: Any) -> set[str]:
    """A text is one scope, whatever is in it. Raises InvalidToken."""
    if isinstance(value, (int, float)):
        raise InvalidToken("its scope is a number")
    texts = [value] if isinstance(value, str) else value or ()
    return {one.strip(BLANK) for one in texts if one.strip(BLANK)}


_OPTION: Final = re.compile(r"""([\w.\-]+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s;]+)""")


def jaas_options(name: str, text: str) -> dict[str, str]:
    """The options of the one login module of a JAAS configuration. Raises ConfigError, without any of its values."""
    head = re.match(r"\s*[\w.$]+\s+(?:required|requisite|sufficient|optional)\b", text, re.IGNORECASE)
    stripped = text.strip()
    if head is None or not stripped.endswith(";"):
        raise ConfigError(f'{name} is refused: expected MODULE required NAME="VALUE" …; with a semicolon at its end')
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
