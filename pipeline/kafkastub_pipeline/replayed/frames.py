"""Requests and answers of a journal's frames."""

from __future__ import annotations

from typing import Any

from kafkawire.catalogue import request_class, response_class
from kafkawire.codec import decode_from
from kafkawire.errors import MalformedMessage
from kafkawire.header import is_flexible, read_request_header, response_header_size


def request_of(api_key: int, version: int, frame: bytes | None) -> Any:
    """The message of a request's frame; None where there is none, or it cannot be read."""
    if frame is None:
        return None
    try:
        cls = request_class(api_key)
        header = read_request_header(frame, 0, len(frame), is_flexible(cls, version))
        return decode_from(cls, version, frame, header.end)[0]
    except (KeyError, MalformedMessage, ValueError):
        return None


def answer_of(api_key: int, version: int, frame: bytes | None) -> Any:
    """The message of an answer's frame, which begins with its size; None likewise."""
    if frame is None:
        return None
    try:
        cls = response_class(api_key)
        return decode_from(cls, version, frame, 4 + response_header_size(api_key, is_flexible(cls, version)))[0]
    except (KeyError, MalformedMessage, ValueError):
        return None
