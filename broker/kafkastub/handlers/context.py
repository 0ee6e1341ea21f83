"""What a handler knows of a request beside its body."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kafkastub.security.access import Access
from kafkastub.state.quota_usage import Usage
from kafkawire.api import ApiKey
from kafkawire.codec.reader import text_as_java

if TYPE_CHECKING:
    from kafkastub.security.session import SaslSession
    from kafkastub.state.broker_state import BrokerState
    from kafkawire.schema import Message


class ConnectionInfo:
    """One client connection, as far as handlers care."""

    __slots__ = (
        "client_host", "client_id", "client_id_bytes", "gone", "id", "last_requests", "listener", "node_id", "on_gone",
        "peer", "principal", "protocol", "sasl", "software_name", "software_version", "usage",
    )  # fmt: skip

    def __init__(
        self,
        id: int,
        client_host: str,
        peer: str,
        listener: str = "PLAINTEXT",
        node_id: int = 1,
        protocol: str = "PLAINTEXT",
    ) -> None:
        self.id = id
        self.listener = listener
        """The name of the listener that it came in on."""
        self.protocol = protocol
        """That listener's security protocol."""
        self.node_id = node_id
        """The node that it is a connection to."""
        self.principal = "User:ANONYMOUS"
        """As Kafka prints it. The listener's protocol may know better."""
        self.sasl: SaslSession | None = None
        """On a listener with SASL: how far it has come."""
        self.client_host = client_host
        """As Kafka prints an address: `/127.0.0.1`."""
        self.peer = peer
        """`HOST:PORT`, for log lines."""
        self.client_id = ""
        """Of the last request that had one; most clients send the same each time, so it is decoded once."""
        self.client_id_bytes = b""
        self.last_requests: dict[bytes, tuple[bytes, Message]] = {}
        """The last request of some APIs, by key and version: its bytes, and what they say."""
        self.software_name = "unknown"
        """From ApiVersions v3+ (KIP-511)."""
        self.software_version = "unknown"
        self.usage: Usage | None = None
        """Where there are quotas."""
        self.on_gone: Callable[[], None] | None = None
        """Of who has to know when the connection has gone."""
        self.gone = False
        """Whether it has: the journal keeps this for longer."""

    def remember_client_id(self, raw: bytes) -> None:
        """The client id of the request at hand, as its bytes."""
        self.client_id_bytes = raw
        self.client_id = text_as_java(raw)

    def forget(self) -> None:
        """The connection has gone. The journal keeps this for as long as one of its requests: what is long goes."""
        self.gone = True
        gone, self.on_gone = self.on_gone, None
        if gone is not None:
            gone()
        self.client_id_bytes, self.client_id = b"", ""
        self.last_requests.clear()
        self.principal = _cut(self.principal)
        self.software_name, self.software_version = _cut(self.software_name), _cut(self.software_version)
        if self.sasl is not None:
            self.sasl.forget()


_LONGEST: Final = 1_000
"""Characters of a name that are kept of a connection that has gone."""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


class RequestContext:
    """Made anew for each request; `broker_ms` and `timer_ms` are read once, so that a handler has one now."""

    __slots__ = (
        "api_key", "api_version", "broker_ms", "client_id", "connection", "correlation_id", "pace", "state",
        "timer_ms",
    )  # fmt: skip

    def __init__(
        self,
        state: BrokerState,
        connection: ConnectionInfo,
        api_key: ApiKey,
        api_version: int,
        correlation_id: int,
        client_id: str | None,
        broker_ms: int,
        timer_ms: int,
    ) -> None:
        self.state = state
        self.connection = connection
        self.api_key = api_key
        self.api_version = api_version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.broker_ms = broker_ms
        """Broker time, Unix milliseconds: stamps and retention. A test can move it."""
        self.pace = state.pace
        """To be called between two things of many: while a large request is served, others have their turn there. What
        is done later, within somebody else's request, never pauses.
        """
        self.timer_ms = timer_ms
        """Monotonic milliseconds: sessions, rebalances, long polls."""

    @property
    def listener(self) -> str:
        """The name of the listener that the client came in on."""
        return self.connection.listener

    @property
    def node_id(self) -> int:
        """The node that is asked."""
        return self.connection.node_id

    @property
    def principal(self) -> str:
        """Who asks, as Kafka prints it: `User:ANONYMOUS`."""
        return self.connection.principal

    @property
    def may_ask_for_tokens(self) -> bool:
        """Whether who has come in so may ask about delegation tokens. Kafka: ``KafkaApis.allowTokenRequests``"""
        connection = self.connection
        if connection.protocol == "PLAINTEXT" or (connection.sasl is not None and connection.sasl.by_token):
            return False
        return connection.protocol != "SSL" or connection.principal != "User:ANONYMOUS"

    @property
    def client_host(self) -> str:
        return self.connection.client_host

    @property
    def access(self) -> Access:
        """What the principal may do; to be asked for only where there is an authorizer."""
        authorizer = self.state.authorizer
        assert authorizer is not None
        return Access(authorizer, self.connection.principal, self.connection.client_host)
