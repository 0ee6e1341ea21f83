"""Kafka's uuids: sixteen bytes, printed as 22 characters of URL-safe base64 (``org.apache.kafka.common.Uuid``)."""

from __future__ import annotations

import base64
import random
from typing import Final

ZERO: Final = bytes(16)
_RESERVED: Final = frozenset((ZERO, ZERO[:-1] + b"\x01", ZERO[:-1] + b"\x02"))


def random_uuid(source: random.Random) -> bytes:
    """A version 4 uuid, not reserved, whose text does not begin with ``-`` (which tools take for an option)."""
    while True:
        raw = bytearray(source.randbytes(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        uuid = bytes(raw)
        if uuid not in _RESERVED and not uuid_text(uuid).startswith("-"):
            return uuid


def uuid_bytes(text: str) -> bytes:
    """The sixteen bytes behind what Kafka prints. Raises ValueError."""
    uuid = base64.urlsafe_b64decode(f"{text}==")
    if len(uuid) != 16:
        raise ValueError(f"{text!r} is not a UUID")
    return uuid


def uuid_text(uuid: bytes) -> str:
    """The 22 characters that Kafka prints."""
    return base64.urlsafe_b64encode(uuid).rstrip(b"=").decode("ascii")
