"""Who may ask: nobody whom a foreign web site has sent.

A page can have its own name point at 127.0.0.1 (DNS rebinding). To the browser the control port is that site then, so
that it reads and changes what it likes; what gives it away is the Host header, which a page cannot choose. A site has a
name of the public DNS. Whoever asks by an address, or by a name that the public DNS does not have, is none.

A Host header that is not well formed names nobody: what one program reads as an address another one reads as a name.
Headers that somebody in between adds (`X-Forwarded-Host`) are not believed.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable, Mapping
from typing import Any, Final

from kafkastub.control.problems import Problem, named
from kafkastub.printable import printable

ANY: Final = "*"
_PRIVATE: Final = (".localhost", ".internal")
"""Ends of names that are never given to anybody (RFC 6761, ICANN 2024): host.docker.internal."""
_FOREIGN: Final = frozenset((b"cross-site", b"same-site"))
_HOST: Final = re.compile(
    r"(?:\[(?P<six>[0-9a-f:.]+(?:%[a-z0-9._~-]+)?)\]|(?P<name>[a-z0-9._-]+))(?::(?P<port>[1-9][0-9]{0,4}))?"
)
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
"""Between two dots of a name; `_` is no letter of the DNS, but Docker's services have it."""
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A name that ends with that is an address to browsers (WHATWG URL, "ends in a number"): 127.1, 0x7f000001."""
_LAST_PORT: Final = 65535
_LONGEST: Final = 100
"""Characters of an origin that is named."""
_ONCE: Final = (b"host", b"origin", b"sec-fetch-site", b"sec-fetch-mode", b"authorization")
"""Headers by which it is decided who may ask: of two that differ, another program may read the other one."""


def read_headers(scope: Mapping[str, Any]) -> dict[bytes, bytes]:
    """A request's headers. Raises Problem where they, or its target, do not say who is asked."""
    if not scope["path"].startswith("/"):
        raise Problem(400, "the target of a request is a path that begins with /: this is not a proxy")
    given: list[tuple[bytes, bytes]] = scope["headers"]
    headers = dict(given)
    if len(headers) < len(given):
        names = [name for name, _ in given]
        for name in _ONCE:
            if names.count(name) > 1:
                raise Problem(400, f"the header {name.decode().title()} is there more than once")
    if b"host" not in headers:
        raise Problem(400, "the header Host is missing: it says by which name the control port is asked")
    return headers


class Visitors:
    """Tells those who may ask from the others."""

    def __init__(self, bound: str, allowed: Iterable[str] = ()) -> None:
        """`bound` is the host that is listened on; `allowed` are names beside those that are good in any case."""
        self._names = {bound.lower(), socket.gethostname().lower(), *allowed}

    def check(self, method: str, headers: Mapping[bytes, bytes]) -> None:
        """Raises Problem for a request that a foreign page has caused."""
        host = headers[b"host"].decode("latin-1")
        if not self._knows(host):
            raise Problem(
                403,
                f"{named(host)} is not among the names of the control port: ask by its address, or allow the name with "
                f"--control-allowed-hosts",
            )
        origin = headers.get(b"origin")
        if origin is not None and origin.partition(b"://")[2] != headers.get(b"host"):
            raise Problem(
                403, f"a page of {printable(origin.decode('latin-1'), _LONGEST)} may not use the control port"
            )
        if headers.get(b"sec-fetch-site") in _FOREIGN and not _is_visit(method, headers):
            raise Problem(403, "a page of another site may not use the control port")

    def _knows(self, host: str) -> bool:
        """Whether a Host header names us; its port may be that of somebody in between."""
        parts = _HOST.fullmatch(host.lower())
        if parts is None or int(parts["port"] or _LAST_PORT) > _LAST_PORT:
            return False
        if parts["six"] is not None:
            return _is_address(parts["six"], ipaddress.IPv6Address)
        name = parts["name"].removesuffix(".")
        labels = name.split(".")
        if not all(map(_LABEL.fullmatch, labels)):
            return False
        if name in self._names or _is_address(name, ipaddress.IPv4Address):
            return True
        if _NUMBER.fullmatch(labels[-1]):
            return False
        return ANY in self._names or len(labels) == 1 or name.endswith(_PRIVATE)


def _is_address(text: str, kind: type[ipaddress.IPv4Address | ipaddress.IPv6Address]) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _is_visit(method: str, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser goes there as to a page of its own, by a link: the other site sees nothing of it."""
    return method == "GET" and headers.get(b"sec-fetch-mode") == b"navigate"
