"""CRC-32C, found when the first checksum is wanted: importing the library costs start-up 15 ms."""

from __future__ import annotations

from typing import Any

_function: Any = None


def crc32c(data: bytes | bytearray | memoryview, value: int = 0) -> int:
    """The CRC-32C of `data`, going on from `value`."""
    global _function
    if _function is None:
        import crc32c as library

        _function = library.crc32c
    return int(_function(data, value))
