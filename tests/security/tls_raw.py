"""A client of TLS by hand: Python's own ssl, one request, and what became of it."""

from __future__ import annotations

import re
import socket
import ssl
import struct
from contextlib import closing
from typing import NamedTuple

from kafkawire.codec import decode, encode
from kafkawire.messages.create_delegation_token_request import CreateDelegationTokenRequest
from kafkawire.messages.create_delegation_token_response import CreateDelegationTokenResponse

SECONDS = 60
API_VERSIONS = struct.pack(">ihhih", 10, 18, 0, 7, -1)
"""A frame with ApiVersions v0, correlation id 7."""


class Certificate(NamedTuple):
    """Path of a PEM file with a key and its certificate, and what they are for in a test."""

    name: str
    file: str | None


def context(ca_file: str, both: str | None = None, version: ssl.TLSVersion | None = None) -> ssl.SSLContext:
    made = ssl.create_default_context(cafile=ca_file)
    if version is not None:
        made.maximum_version = version
    if both is not None:
        made.load_cert_chain(both)
    return made


def connected(port: int, how: ssl.SSLContext, name: str = "localhost") -> ssl.SSLSocket:
    """Through the handshake. Raises SSLError."""
    plain = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
    try:
        return how.wrap_socket(plain, server_hostname=name)
    except BaseException:
        plain.close()
        raise


def asked(port: int, how: ssl.SSLContext, name: str = "localhost") -> str:
    """What became of ApiVersions: "answered", "closed", or the alert that ended it, without OpenSSL's prefix."""
    try:
        with closing(connected(port, how, name)) as client:
            client.sendall(API_VERSIONS)
            return "answered" if exactly(client, 8)[4:] == struct.pack(">i", 7) else "closed"
    except (ssl.SSLError, ConnectionError) as error:
        return alert(error)


def principal(port: int, how: ssl.SSLContext) -> str:
    """Whom Apache Kafka takes the client for, as it writes into a delegation token; else as `asked`."""
    request = encode(CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1), 3)
    frame = struct.pack(">hhih", 38, 3, 1, -1) + b"\0" + request
    try:
        with closing(connected(port, how)) as client:
            client.sendall(struct.pack(">i", len(frame)) + frame)
            head = exactly(client, 4)
            if not head:
                return "closed"
            answer = decode(CreateDelegationTokenResponse, 3, exactly(client, struct.unpack(">i", head)[0])[5:])
            return f"{answer.principal_type}:{answer.principal_name}"
    except (ssl.SSLError, ConnectionError) as error:
        return alert(error)


def alert(error: OSError) -> str:
    """`bad certificate` of OpenSSL's many ways to say so."""
    reason = getattr(error, "reason", None) or type(error).__name__
    return re.sub(r"^(TLSV1|TLSV13|SSLV3)_ALERT_", "alert ", str(reason)).replace("_", " ").lower()


def exactly(client: socket.socket, size: int) -> bytes:
    """So many bytes, or fewer where the other side has ended."""
    got = b""
    while len(got) < size and (more := client.recv(size - len(got))):
        got += more
    return got


def everything(client: socket.socket) -> bytes:
    """All bytes until the other side ends."""
    got = b""
    try:
        while more := client.recv(65536):
            got += more
    except ConnectionResetError:
        pass
    return got
