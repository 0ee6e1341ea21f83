"""Ids for members that have none. Kafka: Uuid.randomUuid."""

from __future__ import annotations

import base64
from random import Random


def random_member_id(random: Random) -> str:
    """22 characters; none begins with a dash, so that it can be given to a command."""
    while True:
        raw = bytearray(random.randbytes(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        text = base64.urlsafe_b64encode(raw).decode().rstrip("=")
        if not text.startswith("-"):
            return text
