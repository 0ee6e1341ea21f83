"""One listener of one node on the network: a bound address, and who comes in there.

What the listener's security protocol makes of a new connection is decided here, in `NodeListener.admit`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kafkastub.config import Listener
from kafkastub.handlers.context import ConnectionInfo
from kafkastub.server.connection_limits import client_host

if TYPE_CHECKING:
    from kafkastub.security.credentials import ListenerSasl
    from kafkastub.security.tls import ListenerTls
    from kafkastub.server.acceptor import Acceptor

_BACKLOG = 1024


class ListenError(OSError):
    """The address cannot be bound; the text is one sentence for a user."""


class NodeListener:
    """One listener of one node.

    Attributes:
        node_id, configured: whose, and which.
        name: the listener's.
        host, port: the address that is bound, from `open` on.
        is_open: whether clients get in.
        sasl: what clients have to say before they are served; None where they need not say anything.
        tls: what is between the socket and the requests; None where nothing is.
    """

    def __init__(self, node_id: int, listener: Listener, tls: ListenerTls | None = None) -> None:
        self.node_id = node_id
        self.tls = tls
        self.sasl: ListenerSasl | None = None
        self.configured = listener
        self.name = listener.name
        self.host = listener.host
        self.port = listener.port
        self._acceptor: Acceptor | None = None
        self._kept: socket.socket | None = None
        """Holds the address while it is closed, so that nobody else gets it meanwhile."""

    @property
    def is_open(self) -> bool:
        return self._acceptor is not None

    def admit(self, number: int, peer: Sequence[Any]) -> ConnectionInfo:
        """A new connection, as the listener's protocol sees it: on PLAINTEXT everybody is User:ANONYMOUS at once.

        So is who comes in over TLS until the handshake is done (`server/tls.py`). `peer` is the socket's address.
        """
        host, port = client_host(peer), peer[1]
        shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        return ConnectionInfo(number, f"/{host}", shown, self.name, self.node_id, self.configured.protocol)

    def open(self, acceptor: Callable[[socket.socket], Acceptor]) -> None:
        """Bind, if the address is not held already, and accept. Raises ListenError."""
        try:
            sock = self._kept or bound(self.host, self.port)
            self._kept = None
            try:
                sock.listen(_BACKLOG)
            except BaseException:
                sock.close()
                raise
        except OSError as error:
            raise ListenError(why_not(self.host, self.port, error)) from error
        self._acceptor = acceptor(sock)
        at = sock.getsockname()
        self.host, self.port = str(at[0]), int(at[1])

    def renewed(self) -> None:
        """There is another clock."""
        if self._acceptor is not None:
            self._acceptor.renewed()

    async def close(self, *, keep_address: bool = False) -> None:
        """Let nobody in any more; the address is held for the next `open` where asked for."""
        acceptor, self._acceptor = self._acceptor, None
        if acceptor is not None:
            await acceptor.close()
        if self._kept is not None and not keep_address:
            self._kept.close()
            self._kept = None
        if acceptor is not None and keep_address:
            with contextlib.suppress(OSError):  # somebody else was quicker
                self._kept = bound(self.host, self.port)


def reachable_host(host: str) -> str:
    """A host that clients can be told: of the wildcard and of "" one that they reach.

    `""` is what Kafka calls null: it tells the machine's name then (``InetAddress.getCanonicalHostName``).
    """
    return {"": socket.gethostname(), "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def bound(host: str, port: int) -> socket.socket:
    """A socket at the address; "" is every address that the machine has, of both kinds where it has both."""
    if not host and socket.has_dualstack_ipv6():
        sock = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            return _bind(sock, ("", port))
        except OSError as error:  # a kernel that knows IPv6 and has no address of that kind
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                raise
    host = host or "0.0.0.0"
    # As bytes, where it can be: for text Python loads its codec for names in other alphabets, a few ms.
    name = host.encode() if host.isascii() else host
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    # A name that has addresses of both kinds is its IPv4 one, as for Java.
    family, _, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    return _bind(socket.socket(family, socket.SOCK_STREAM), address)


def _bind(sock: socket.socket, address: object) -> socket.socket:
    try:
        if os.name == "posix":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setblocking(False)
        sock.bind(address)  # type: ignore[arg-type]
    except BaseException:
        sock.close()
        raise
    return sock


def why_not(host: str, port: int, error: OSError) -> str:
    where = host or "any address"
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {where} is taken by another process; choose another, or 0 for any free one"
    if error.errno == errno.EACCES:
        return f"port {port} on {where} needs privileges that this process does not have"
    # a name that cannot be resolved has a number of its own
    number = error.errno or 0
    words = error.strerror if isinstance(error, socket.gaierror) else os.strerror(number) if number > 0 else None
    return f"cannot listen on {host}:{port}: {words or error.strerror or error}"
