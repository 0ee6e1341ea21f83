"""Requests of all APIs and versions, and what can be done to them."""

from __future__ import annotations

import random
import struct
from typing import Any

from kafkawire.codec import encode
from kafkawire.codec.layout import FieldLayout, StructLayout
from kafkawire.header import is_flexible, request_header
from kafkawire.messages import REQUESTS
from kafkawire.schema import Message
from tests.wire.catalogue import by_name, layout

HARMLESS: dict[str, dict[str, Any]] = {
    "CreatePartitionsRequest": {"validate_only": True},
    "CreateTopicsRequest": {"validate_only": True},
    "FetchRequest": {"max_wait_ms": 0},
    "JoinGroupRequest": {"session_timeout_ms": 0},
    "ProduceRequest": {"acks": 1},
    "OffsetCommitRequest": {"generation_id_or_member_epoch": 3, "member_id": "nobody"},
}
"""Values with which a request is refused or changes nothing: what was asked for rightly may well cost memory."""

NAMES = ["", "g", "nowhere", "a-longer-name-of-something", "ü"]
TARGETS = ["orders", "orders", "__consumer_offsets"]
"""Of what is there, for requests that change nothing of it."""

ODD = [
    b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\x00\x00\x10\x00", b"\xff\xff\xff\xff\x07",
    b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x80\x01", b"\x7f\xff", b"\x80\x00", b"\x00\x00\x00", b"\xff\x01",
    b"\x01", b"\xed\xa0\x80", b"\x02\x05\x01\x00\x06\x00",
]  # fmt: skip

GARBAGE = [
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(60),
    b"\x00\x00\x00\x00", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x06\x40\x00\x01", b"SSH-2.0-OpenSSH\r\n",
]  # fmt: skip


def good_requests(served: dict[int, range], rng: random.Random, each: int = 3) -> list[bytes]:
    """Contents of frames that the broker understands: every API (key -> versions) at every version."""
    found = []
    for key, offered in served.items():
        _, name, (first, last) = REQUESTS[key]
        for version in range(max(first, offered.start), min(last + 1, offered.stop)):
            for _ in range(each):
                body = encode(_filled(name, version, rng), version)
                flexible = is_flexible(by_name()[name], version)
                found.append(request_header(key, version, rng.randrange(1 << 30), "hostile", flexible) + body)
    return found


def _filled(name: str, version: int, rng: random.Random) -> Message:
    names = NAMES if name.startswith(("Delete", "OffsetDelete", "Create", "Alter", "Incremental")) else NAMES + TARGETS
    made = _struct(layout(by_name()[name], version), rng, names)
    for field, value in HARMLESS.get(name, {}).items():
        setattr(made, field, value)
    return made


def _struct(of: StructLayout, rng: random.Random, names: list[str]) -> Any:
    made = of.cls()
    for field in (*of.fields, *of.tagged):
        if field.array:
            value: Any = [_single(field, rng, names) for _ in range(rng.choice([0, 1, 1, 2, 9]))]
        elif field.nullable and rng.random() < 0.3:
            value = None
        else:
            value = _single(field, rng, names)
        setattr(made, field.name, value)
    return made


def _single(field: FieldLayout, rng: random.Random, names: list[str]) -> Any:
    match field.kind:
        case "struct":
            assert field.struct is not None
            return _struct(field.struct, rng, names)
        case "string":
            return rng.choice(names)
        case "bytes" | "records":
            return rng.randbytes(rng.choice([0, 1, 70]))
        case "uuid":
            return rng.choice([bytes(16), rng.randbytes(16)])
        case "bool":
            return rng.random() < 0.5
        case "float64":
            return rng.random()
    signed, bits = not field.kind.startswith("u"), int(field.kind.removeprefix("u").removeprefix("int"))
    if rng.random() < 0.1:
        return rng.choice([2 ** (bits - 1) - 1, -(2 ** (bits - 1)) if signed else 2**bits - 1])
    return rng.choice([0, 1, 2, 5, -1 if signed else 3])


def hostile(good: bytes, rng: random.Random) -> bytes:
    """A frame with something wrong: mostly its contents, sometimes its size, its values alone, or everything."""
    kind = rng.random()
    if kind < 0.02:
        return rng.choice(GARBAGE)
    if kind < 0.05:
        data = rng.randbytes(rng.randrange(60))
        return struct.pack(">i", len(data)) + data
    data = bytearray(good)
    for _ in range(rng.choice([0, 1, 1, 2, 4])):
        # Mostly behind key and version: an API that does not exist is soon found out.
        at = rng.randrange(4 if rng.random() < 0.95 else 0, max(5, len(data) + 1))
        match rng.randrange(6):
            case 0:
                del data[at:]
            case 1:
                data[at : at + 1] = rng.randbytes(1)
            case 2:
                odd = rng.choice(ODD)
                data[at : at + len(odd)] = odd
            case 3:
                data[at:at] = rng.choice(ODD)
            case 4:
                del data[at : at + rng.randrange(1, 9)]
            case 5:
                data += rng.randbytes(rng.randrange(1, 40))
    size = len(data)
    if kind > 0.98:
        size = rng.choice([size - 1, size // 2, size + 1, size + 1000, 104857601, 2**31 - 1, -1])
    return struct.pack(">i", size) + bytes(data)
