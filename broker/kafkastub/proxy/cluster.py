"""What the proxy itself asks the cluster, in threads that may wait: its nodes, its topics' names, what is there."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafkastub.client import Client, ClientError, Connector, Frames, groups
from kafkastub.proxy.naming import Address, Broker
from kafkawire.api import ApiKey
from kafkawire.catalogue import response_class
from kafkawire.codec import decode, encode
from kafkawire.header import request_header
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.sasl_authenticate_request import SaslAuthenticateRequest
from kafkawire.messages.sasl_handshake_request import SaslHandshakeRequest
from kafkawire.schema import Message

if TYPE_CHECKING:
    from kafkastub.proxy.upstream import Upstream


class LoginFailed(OSError):
    """The cluster does not know the proxy's own name."""


class Cluster:
    """The cluster behind the proxy, asked by clients of our own. Its methods block."""

    def __init__(self, addresses: Sequence[Address], upstream: Upstream) -> None:
        self._bootstrap = [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in addresses]
        self._upstream = upstream

    @property
    def may_ask(self) -> bool:
        """Whether the cluster would listen: with SASL it wants to know who asks."""
        return not self._upstream.has_sasl or self._upstream.credentials is not None

    def client(self, timeout: float = 10) -> Client:
        """To be used as a context manager."""
        return Client(self._bootstrap, timeout, "kafkastub-proxy", connector(self._upstream))

    def brokers(self, timeout: float = 10) -> tuple[list[Broker], dict[int, tuple[int, int]]]:
        """The nodes, and the versions that it serves. Raises ClientError."""
        with self.client(timeout) as client:
            answer = client.ask(MetadataRequest(topics=(), allow_auto_topic_creation=False))
            versions = client.connection().negotiate()
        found = [Broker(one.node_id, one.host, one.port) for one in answer.brokers]
        return sorted(found), versions

    def topic_names(self) -> dict[bytes, str]:
        """By id. Raises ClientError."""
        with self.client() as client:
            answer = client.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False))
        return {topic.topic_id: topic.name for topic in answer.topics if topic.name}

    def send(self, host: str, port: int, frame: bytes) -> None:
        """Send a request, its size included, and wait for the beginning of its answer. Raises OSError."""
        stream = connector(self._upstream)(host, port, 10)
        try:
            stream.sendall(frame)
            stream.recv(1)
        finally:
            stream.close()

    def end_a_session(self, pick: Pick) -> tuple[str, str, int] | None:
        """Throw a member out of its group, as an administrator does: in words, its group, and which one of that; None
        where there is none. Raises ClientError."""
        with self.client() as client:
            found = sorted(one.group_id for one in groups.list_groups(client) if one.state not in ("Empty", "Dead"))
            if not found:
                return None
            group = pick.group_of(found)
            members = sorted(groups.describe(client, group).members, key=lambda one: one.id)
            if not members:
                return None
            index = pick.member_of(len(members))
            member_id = members[index].id
            leaving = LeaveGroupRequest(
                group_id=group, member_id=member_id, members=[MemberIdentity(member_id=member_id)]
            )
            client.ask_coordinator(group, leaving)
        return f"the session of {member_id} in group {group} ends", group, index


@dataclass(frozen=True)
class Pick:
    """Which member of which group: by draws, from 0 to 1, or by name and number."""

    draw: float = 0.0
    second_draw: float = 0.0
    group: str | None = None
    member: int | None = None

    def group_of(self, groups: Sequence[str]) -> str:
        """One of these."""
        return next((one for one in groups if one == self.group), groups[int(self.draw * len(groups))])

    def member_of(self, count: int) -> int:
        """One of so many."""
        return int(self.second_draw * count) if self.member is None else self.member % count


def connector(upstream: Upstream, client_id: str = "kafkastub-proxy") -> Connector:
    """Opens streams with TLS and the login of the proxy itself, or of who else asks a cluster."""

    def open_stream(host: str, port: int, timeout: float) -> Frames:
        plain: Any = socket.create_connection(upstream.reached(host, port), timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            stream = plain
            if upstream.context is not None:
                stream = upstream.context.wrap_socket(plain, server_hostname=host)
            if upstream.credentials is not None:
                _log_in(stream, client_id, *upstream.credentials)
        except BaseException:
            plain.close()
            raise
        return stream  # type: ignore[no-any-return]

    return open_stream


def _log_in(stream: Any, client_id: str, mechanism: str, user: str, password: str) -> None:
    """Raises LoginFailed."""
    answer = _ask(stream, client_id, SaslHandshakeRequest(mechanism))
    if answer.error_code:
        raise LoginFailed(f"the cluster has no mechanism {mechanism}; it has {', '.join(answer.mechanisms)}")
    if mechanism == "PLAIN":
        _token(stream, client_id, b"\0" + user.encode() + b"\0" + password.encode())
    elif mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        _scram(stream, client_id, mechanism, user, password)
    else:
        raise LoginFailed(f"sasl.mechanism={mechanism} is refused: PLAIN and SCRAM are supported")


def _scram(stream: Any, client_id: str, mechanism: str, user: str, password: str) -> None:
    name = mechanism.removeprefix("SCRAM-").replace("-", "").lower()
    nonce = base64.b64encode(os.urandom(18)).decode()
    first = f"n={user.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
    said = _token(stream, client_id, f"n,,{first}".encode()).decode()
    parts = dict(part.split("=", 1) for part in said.split(","))
    if not parts["r"].startswith(nonce):
        raise LoginFailed("the cluster answers a login that was not asked for")
    salted = hashlib.pbkdf2_hmac(name, password.encode(), base64.b64decode(parts["s"]), int(parts["i"]))
    client_key = hmac.digest(salted, b"Client Key", name)
    last = f"c=biws,r={parts['r']}"
    signed = f"{first},{said},{last}".encode()
    signature = hmac.digest(hashlib.new(name, client_key).digest(), signed, name)
    proof = base64.b64encode(bytes(a ^ b for a, b in zip(client_key, signature, strict=True))).decode()
    final = _token(stream, client_id, f"{last},p={proof}".encode()).decode()
    server = base64.b64encode(hmac.digest(hmac.digest(salted, b"Server Key", name), signed, name)).decode()
    if final.split(",")[0] != f"v={server}":
        raise LoginFailed("who answers does not know the password: it is not the cluster")


def _token(stream: Any, client_id: str, token: bytes) -> bytes:
    answer = _ask(stream, client_id, SaslAuthenticateRequest(token))
    if answer.error_code:
        raise LoginFailed(f"the cluster refuses the login of {client_id}: {answer.error_message}")
    return bytes(answer.auth_bytes)


def _ask(stream: Any, client_id: str, request: Message) -> Any:
    key, version = request.API_KEY, 1
    contents = request_header(key, version, 0, client_id, False) + encode(request, version)
    stream.sendall(struct.pack(">i", len(contents)) + contents)
    size = struct.unpack(">i", _read(stream, 4))[0]
    return decode(response_class(ApiKey(key)), version, _read(stream, size)[4:])


def _read(stream: Any, size: int) -> bytes:
    found = b""
    while len(found) < size:
        some = stream.recv(size - len(found))
        if not some:
            raise LoginFailed("the cluster closed the connection during the login")
        found += some
    return found


__all__ = ["ClientError", "Cluster", "LoginFailed", "connector"]
