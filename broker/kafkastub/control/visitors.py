"""Who may ask: nobody whom a foreign web site has sent.

A page can have its own name point at 127.0.0.1 (DNS rebinding). To the browser the control port is that site then, so
that it reads and changes what it likes; what gives it away is the Host header, which a page cannot choose. A site has a
name of the public DNS. Whoever asks by an address, or by a name that the public DNS does not have, is none.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable, Mapping
from typing import Final

from kafkastub.control.problems import Problem

ANY: Final = "*"
_PRIVATE: Final = (".localhost", ".internal")
"""Ends of names that are never given to anybody (RFC 6761, ICANN 2024): host.docker.internal."""
_FOREIGN: Final = frozenset((b"cross-site", b"same-site"))


class Visitors:
    """Tells those who may ask from the others."""

    def __init__(self, bound: str, allowed: Iterable[str] = ()) -> None:
        """`bound` is the host that is listened on; `allowed` are names beside those that are good in any case."""
        self._names = {bound.lower(), socket.gethostname().lower(), *allowed}

    def check(self, method: str, headers: Mapping[bytes, bytes]) -> None:
        """Raises Problem for a request that a foreign page has caused."""
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._knows(host):
            raise Problem(
                403,
                f"{host!r} is not among the names of the control port: ask by its address, or allow the name with "
                f"--control-allowed-hosts",
            )
        origin = headers.get(b"origin")
        if origin is not None and origin.partition(b"://")[2] != headers.get(b"host"):
            raise Problem(403, f"a page of {origin.decode('latin-1')} may not use the control port")
        if headers.get(b"sec-fetch-site") in _FOREIGN and not _is_visit(method, headers):
            raise Problem(403, "a page of another site may not use the control port")

    def _knows(self, host: str) -> bool:
        """Whether a Host header names us; its port may be that of somebody in between."""
        if host.startswith("["):
            return _is_address(host[1:].partition("]")[0])
        name = host.partition(":")[0].lower().removesuffix(".")
        if ANY in self._names or name in self._names:
            return True
        return "." not in name or name.endswith(_PRIVATE) or _is_address(name)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_visit(method: str, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser goes there as to a page of its own, by a link: the other site sees nothing of it."""
    return method == "GET" and headers.get(b"sec-fetch-mode") == b"navigate"
