"""Request and response headers. Versions: `ApiMessageType.requestHeaderVersion` and `responseHeaderVersion`."""

from __future__ import annotations

import struct
from typing import NamedTuple

from kafkawire.api import ApiKey
from kafkawire.codec.layout import MOST_TAGS
from kafkawire.codec.reader import text_as_java
from kafkawire.codec.varint import SMALL, read_uvarint
from kafkawire.errors import MalformedMessage
from kafkawire.schema import Message

_fixed = struct.Struct(">hhih")


class RequestHeader(NamedTuple):
    """The fields in front of every request."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    end: int
    """Where the request's body begins."""


def is_flexible(cls: type[Message], version: int) -> bool:
    """Whether `version` of a message has tagged fields (KIP-482)."""
    return cls.FLEXIBLE is not None and cls.FLEXIBLE[0] <= version <= cls.FLEXIBLE[1]


def read_request_header(data: bytes, start: int, end: int, flexible: bool) -> RequestHeader:
    """The header of the request in `data[start:end]`. Raises MalformedMessage."""
    if end - start < 10:
        raise MalformedMessage("request header", "", 0, f"{end - start} bytes, at least 10 wanted")
    api_key, api_version, correlation_id, size = _fixed.unpack_from(data, start)
    position = start + 10
    client_id = None
    if size >= 0:
        if position + size > end:
            raise MalformedMessage("request header", "client_id", 8, f"{size} bytes wanted, {end - position} left")
        client_id = text_as_java(data[position : position + size])
        position += size
    if flexible:
        position = _skip_tags(data, position, start, end)
    return RequestHeader(api_key, api_version, correlation_id, client_id, position)


def _skip_tags(data: bytes, position: int, start: int, end: int) -> int:
    at = position
    try:
        count, position = read_uvarint(data, position)
        if not 0 <= count <= MOST_TAGS:
            raise ValueError(f"{count} of them, {MOST_TAGS} are the most")
        for _ in range(count):
            _, position = read_uvarint(data, position)
            size, position = read_uvarint(data, position)
            position += size
            if size < 0 or position > end:
                raise ValueError(f"a tag of {size} bytes")
    except (IndexError, ValueError) as error:
        raise MalformedMessage("request header", "tagged fields", at - start, str(error)) from None
    if position > end:
        raise MalformedMessage("request header", "tagged fields", at - start, "they end behind the frame")
    return position


def request_header(api_key: int, api_version: int, correlation_id: int, client_id: str | None, flexible: bool) -> bytes:
    """The bytes of a request header."""
    raw = b"" if client_id is None else client_id.encode()
    size = -1 if client_id is None else len(raw)
    return _fixed.pack(api_key, api_version, correlation_id, size) + raw + (SMALL[0] if flexible else b"")


def response_header_size(api_key: int, flexible: bool) -> int:
    """Bytes before the body: the correlation id, and an empty tag section where the response is flexible.

    The answer to ApiVersions has none: a client reads it before it knows the broker's versions (KIP-511).
    """
    return 5 if flexible and api_key != ApiKey.API_VERSIONS else 4
