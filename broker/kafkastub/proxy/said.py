"""What clients say of themselves: their software, how they log in, as whom. For the journal; nothing hangs on it."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, Final

from kafkawire.header import read_request_header

if TYPE_CHECKING:
    from kafkastub.proxy.routes import Route

_LONGEST: Final = 1_000


def _body(route: Route, data: bytes, start: int, end: int) -> Any:
    """None where it cannot be read."""
    if route.fast_decode is None:
        return None
    try:
        header = read_request_header(data, start, end, route.flexible_request)
        return route.fast_decode(data[:end], header.end, end)[0]
    except Exception:
        return None


def software(route: Route, data: bytes, start: int, end: int) -> tuple[str, str] | None:
    """Name and version, from ApiVersions 3 on (KIP-511)."""
    found = _body(route, data, start, end)
    if found is None or route.version < 3:
        return None
    return found.client_software_name[:_LONGEST], found.client_software_version[:_LONGEST]


def mechanism(route: Route, data: bytes, start: int, end: int) -> str:
    """Of SaslHandshake; "" where it says none."""
    found = _body(route, data, start, end)
    return "" if found is None else str(found.mechanism)[:_LONGEST]


def principal(mechanism: str, route: Route, data: bytes, start: int, end: int) -> str | None:
    """Who logs in by this SaslAuthenticate, as Kafka would call him; None where that is not said here."""
    found = _body(route, data, start, end)
    if found is None:
        return None
    try:
        name = _name(mechanism, bytes(found.auth_bytes))
    except Exception:  # it is as the client likes it
        return None
    return None if name is None else f"User:{name[:_LONGEST]}"


def _name(mechanism: str, token: bytes) -> str | None:
    if mechanism == "PLAIN":
        return token.split(b"\0")[1].decode()
    if mechanism.startswith("SCRAM-"):
        for part in token.decode().split(","):
            if part.startswith("n=") and part[2:]:
                return part[2:].replace("=2C", ",").replace("=3D", "=")
        return None
    if mechanism == "OAUTHBEARER":
        for field in token.split(b"\x01"):
            if field.startswith(b"auth=Bearer "):
                claims = field.removeprefix(b"auth=Bearer ").split(b".")[1]
                return str(json.loads(base64.urlsafe_b64decode(claims + b"=="))["sub"])
    return None
