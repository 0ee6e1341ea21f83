"""Variable-length integers (KIP-482: unsigned; record fields: zig-zag). Source: `ByteUtils`."""

from __future__ import annotations

SMALL = tuple(bytes((value,)) for value in range(128))
"""The encodings of 0..127."""


def uvarint(value: int) -> bytes:
    """Encode an unsigned varint of at most 32 bits."""
    if value < 128:
        return SMALL[value]
    if value < 1 << 14:
        return bytes((value & 127 | 128, value >> 7))
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_uvarint(data: bytes, position: int) -> tuple[int, int]:
    """Decode an "unsigned" varint of at most five bytes: (value, position behind it).

    The value is what Java makes of the low 32 bits, a signed int: so 2^32 - 1 comes out as -1, and as a length is null.
    Raises IndexError behind the end and ValueError beyond five bytes.
    """
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return ((value + 0x80000000) & 0xFFFFFFFF) - 0x80000000, position
        shift += 7
        if shift > 28:
            raise ValueError("varint is longer than 5 bytes")


def varint(value: int) -> bytes:
    """Encode a zig-zag varint (32 or 64 bits)."""
    value = (value << 1) ^ (value >> 63)
    if value < 128:
        return SMALL[value]
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: bytes | memoryview, position: int, most: int = 5) -> tuple[int, int]:
    """Decode a zig-zag varint of at most `most` bytes (5 for 32 bits, 10 for 64): (value, position behind it).

    Raises IndexError behind the end and ValueError beyond `most` bytes.
    """
    value = shift = 0
    for _ in range(most):
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
    raise ValueError(f"varint is longer than {most} bytes")
