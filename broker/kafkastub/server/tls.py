"""TLS between a connection's bytes and its requests. Loaded with the first listener that speaks it.

Not the loop's own: that one keeps a client's failure to itself. Here an alert always reaches the client, and each kind
of failure is one line in the log that says what to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from kafkastub.security.tls import ListenerTls, NoRuleApplies
from kafkastub.state.rate_limiter import RateLimiter

if TYPE_CHECKING:
    from kafkastub.server.acceptor import ProtocolFactory
    from kafkastub.server.connection import Connection
    from kafkastub.server.connection_limits import Slot

_READ: Final = 1 << 18
_FLUSH: Final = 1 << 20
"""Bytes of plain text after which what they became is handed on."""
_HANDSHAKE: Final = 0x16
"""The first byte of every TLS connection."""
_NOT_TLS: Final = b"\x15\x03\x03\x00\x02\x02\x50"
"""The alert (fatal, internal_error) that Java sends to a client that does not speak TLS; OpenSSL sends none."""
_ALERTS: Final = {
    "UNKNOWN_CA": "it does not trust the authority; give it the CA file",
    "CERTIFICATE_UNKNOWN": "it does not trust the authority (give it the CA file), or the host name is another one",
    "BAD_CERTIFICATE": "it does not trust the authority (give it the CA file), or the host name is another one",
    "CERTIFICATE_EXPIRED": "it has expired",
}
"""What a client's alert says of our certificate, by the end of OpenSSL's name for it."""


class PlainTextProtocol(Protocol):
    """What gets the plain text: the protocol of a listener without TLS."""

    connection: Connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None: ...

    def data_received(self, data: bytes) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    def connection_lost(self, exc: BaseException | None) -> None: ...


def behind_tls(
    tls: ListenerTls, plain_protocol: Callable[[Slot], PlainTextProtocol], now: Callable[[], int], log: Any
) -> ProtocolFactory:
    """The protocols of a listener that speaks TLS, from those of one that does not. `now` gives timer time in ms."""
    log_limiter = RateLimiter()
    return lambda slot: TlsProtocol(tls, plain_protocol(slot), now, log, log_limiter)


class TlsProtocol(asyncio.Protocol):
    """Stands between a socket's transport and a `PlainTextProtocol` protocol, which sees a `TlsTransport`."""

    def __init__(
        self, tls: ListenerTls, inner: PlainTextProtocol, now: Callable[[], int], log: Any, log_limiter: RateLimiter
    ) -> None:
        # for its life
        self._tls = tls
        self._inner = inner
        self._now = now
        self._log = log
        self._log_limiter = log_limiter
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._ssl = tls.context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._raw: asyncio.Transport
        # as it goes
        self.secured = False
        """Whether the handshake is done."""
        self._heard = b""
        """The first bytes, for the log."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._raw = cast(asyncio.Transport, transport)
        # It counts, and may be shut or found idle, from here on; nothing is served before the handshake is done.
        self._inner.connection_made(TlsTransport(self, self._raw))

    def data_received(self, data: bytes) -> None:
        self._incoming.write(data)
        if not self.secured:
            if len(self._heard) < 4:
                self._heard += data[:4]
            if not self._shake_hands():
                return
        self._receive()

    def eof_received(self) -> None:
        if not self.secured and self._heard:  # who connects and goes was only looking whether somebody is there
            self._fail("the client ended the connection in the middle of it")

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._inner.connection_lost(exc)

    def send(self, data: Any) -> None:
        """Encrypt and hand on."""
        view = memoryview(data)
        at, size = 0, len(view)
        while at < size:
            at += self._ssl.write(view[at:])  # a record at a time: 16 KB
            if self._outgoing.pending > _FLUSH:
                self._flush()
        self._flush()

    def say_goodbye(self) -> None:
        """Tell the client that nothing follows, so that it does not take the end for a fault."""
        if self.secured and not self._raw.is_closing():
            with contextlib.suppress(ssl.SSLError):  # it wants the client's goodbye, too: Kafka does not wait either
                self._ssl.unwrap()
            self._flush()

    def _shake_hands(self) -> bool:
        """One step of the handshake; whether it is done."""
        info = self._inner.connection.info
        try:
            self._ssl.do_handshake()
            if self._tls.protocol == "SSL":
                info.principal = self._tls.principal(self._ssl)
        except ssl.SSLWantReadError:
            self._flush()
            self._inner.connection.active_ms = self._now()
            return False
        except ssl.SSLError as error:
            self._fail(self._why(error))
            return False
        except NoRuleApplies as error:
            self._fail(str(error))
            return False
        self.secured = True
        self._flush()
        return True

    def _receive(self) -> None:
        parts: list[bytes] = []
        over = False
        try:
            while self._incoming.pending or self._ssl.pending():
                part = self._ssl.read(_READ)
                if not part:
                    over = True
                    break
                parts.append(part)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:  # the client's goodbye, or bytes that are none of its: nothing that follows can be read
            over = True
        if parts:
            self._inner.data_received(parts[0] if len(parts) == 1 else b"".join(parts))
        self._flush()
        if over and not self._raw.is_closing():
            self._raw.close()

    def _flush(self) -> None:
        if self._outgoing.pending and not self._raw.is_closing():
            self._raw.write(self._outgoing.read())

    def _fail(self, why: str) -> None:
        """Say it once in a while, and end the connection with an alert."""
        info = self._inner.connection.info
        if self._log_limiter.allows((why, info.client_host), self._now()):
            self._log.warning("TLS handshake failed", peer=info.peer, listener=info.listener, why=why)
        if self._heard[0] == _HANDSHAKE:
            self._flush()  # the alert
        else:
            self._raw.write(_NOT_TLS)
        self._raw.close()

    def _why(self, error: ssl.SSLError) -> str:
        reason = error.reason or ""
        if self._heard[0] != _HANDSHAKE:
            return "the client does not speak TLS, and this listener does: set the client's security.protocol"
        if isinstance(error, ssl.SSLCertVerificationError):
            return f"the client's certificate is refused: {error.verify_message}"
        if reason == "PEER_DID_NOT_RETURN_A_CERTIFICATE":
            return "the client shows no certificate, and ssl.client.auth is required"
        for alert, meaning in _ALERTS.items():
            if reason.endswith(f"ALERT_{alert}"):
                return f"the client refuses the certificate shown to it ({alert.lower()}): {meaning}"
        if reason in ("UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION", "VERSION_TOO_LOW"):
            return (
                f"the client and ssl.enabled.protocols={','.join(self._tls.enabled)} have no version of TLS in common"
            )
        return reason.lower().replace("_", " ") or str(error)


class TlsTransport(asyncio.Transport):
    """What a `PlainTextProtocol` protocol takes for its socket's transport."""

    def __init__(self, protocol: TlsProtocol, raw: asyncio.Transport) -> None:
        super().__init__()
        self._protocol = protocol
        self._raw = raw
        self._closing = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._raw.get_extra_info(name, default)

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        if not self._raw.is_closing():
            self._protocol.send(data)

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview[Any]]) -> None:
        for data in list_of_data:
            self.write(data)

    def is_closing(self) -> bool:
        return self._raw.is_closing()

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._protocol.say_goodbye()
        self._raw.close()

    def abort(self) -> None:
        self._raw.abort()

    def pause_reading(self) -> None:
        self._raw.pause_reading()

    def resume_reading(self) -> None:
        self._raw.resume_reading()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._raw.set_write_buffer_limits(high, low)

    def get_write_buffer_size(self) -> int:
        return self._raw.get_write_buffer_size()
