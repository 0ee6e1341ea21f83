"""What a broker says it can: one ApiVersions request over a plain socket."""

from __future__ import annotations

import socket
import struct

from kafkastub_pipeline.topics import GROUP
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.api_versions_response import ApiVersionsResponse

Advertised = dict[int, tuple[str, int, int]]
"""API key to its name and range of versions."""

_VERSION = 0
_CLIENT = GROUP.encode()
_SECONDS = 10


def advertised(bootstrap_servers: str) -> Advertised | None:
    """API keys with names and versions, of the first broker that answers in clear; None where none does (TLS, SASL)."""
    for server in bootstrap_servers.split(","):
        host, _, port = server.strip().rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS) as connection:
                header = struct.pack(">hhih", int(ApiKey.API_VERSIONS), _VERSION, 1, len(_CLIENT)) + _CLIENT
                request = header + bytes(encode(ApiVersionsRequest(), _VERSION))
                connection.sendall(struct.pack(">i", len(request)) + request)
                with connection.makefile("rb") as answers:
                    (size,) = struct.unpack(">i", answers.read(4))
                    frame = answers.read(size)
            answer = decode(ApiVersionsResponse, _VERSION, frame[4:])
        except (OSError, ValueError, struct.error):
            continue
        return {one.api_key: (_name(one.api_key), one.min_version, one.max_version) for one in answer.api_keys}
    return None


def _name(key: int) -> str:
    try:
        return ApiKey(key).camel
    except ValueError:
        return str(key)
